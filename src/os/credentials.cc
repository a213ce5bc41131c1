#include "os/credentials.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace offcpu {
namespace {

constexpr size_t kForFiles = 3;  // real, effective, saved, for file systems

std::optional<std::vector<uint32_t>> NumbersOf(std::string_view status, std::string_view key) {
  const size_t at = status.find(absl::StrCat("\n", std::string(key), ":"));
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view line = status.substr(at + key.size() + 2);
  const std::string text(line.substr(0, line.find('\n')));
  std::vector<uint32_t> numbers;
  for (const auto& word : absl::StrSplit(text, absl::ByAnyChar("\t "), absl::SkipEmpty())) {
    uint32_t number = 0;
    if (!absl::SimpleAtoi(word, &number)) return std::nullopt;
    numbers.push_back(number);
  }
  return numbers;
}

// `others`: the bit of the mode for all others.
bool Grants(const Credentials& who, const struct stat& file, mode_t others) {
  if (who.uid == 0) return true;
  if (file.st_uid == who.uid) return (file.st_mode & (others << 6)) != 0;
  const bool in_group =
      file.st_gid == who.gid || std::find(who.groups.begin(), who.groups.end(), file.st_gid) != who.groups.end();
  return (file.st_mode & (in_group ? others << 3 : others)) != 0;
}

}  // namespace

std::optional<Credentials> ParseCredentials(std::string_view status) {
  const auto uids = NumbersOf(status, "Uid");
  const auto gids = NumbersOf(status, "Gid");
  auto groups = NumbersOf(status, "Groups");
  if (!uids || !gids || !groups || uids->size() <= kForFiles || gids->size() <= kForFiles) return std::nullopt;
  return Credentials{.uid = (*uids)[kForFiles], .gid = (*gids)[kForFiles], .groups = *std::move(groups)};
}

bool MayRead(const Credentials& who, const struct stat& file) { return Grants(who, file, S_IROTH); }

bool MaySearch(const Credentials& who, const struct stat& directory) { return Grants(who, directory, S_IXOTH); }

}  // namespace offcpu
