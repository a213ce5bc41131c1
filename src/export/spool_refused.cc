#include "export/spool_refused.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "export/spool_files.h"
#include "export/spool_record.h"

namespace offcpu {
namespace {

constexpr char kDirectory[] = "refused";
constexpr size_t kDigits = 20;

OwnedFd OpenRefused(const OwnedFd& spool) {
  return OwnedFd(openat(spool.get(), kDirectory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

uint64_t NumberOf(std::string_view name) {
  return std::max(SpoolFileNumber(name, kRecordSuffix), SpoolFileNumber(name, kDamagedSuffix));
}

void KeepNewest(const OwnedFd& refused) {
  std::vector<std::pair<uint64_t, std::string>> files;
  const absl::Status listed = ListDirectory(refused, [&files](const char* name) {
    if (const uint64_t number = NumberOf(name); number != 0) files.emplace_back(number, name);
  });
  if (!listed.ok()) return;  // what was seen of them may be the oldest
  std::sort(files.begin(), files.end(), std::greater<>());
  size_t kept = 0;
  uint64_t bytes = 0;
  for (const auto& [number, name] : files) {
    struct stat st = {};
    if (fstatat(refused.get(), name.c_str(), &st, AT_SYMLINK_NOFOLLOW) != 0) continue;
    const uint64_t size = static_cast<uint64_t>(st.st_size);
    if (kept < kMaxRefusedRecords && size <= kMaxRefusedBytes - bytes) {
      ++kept;
      bytes += size;
    } else {
      unlinkat(refused.get(), name.c_str(), 0);
    }
  }
}

}  // namespace

std::string SpoolFileName(uint64_t number, std::string_view suffix) {
  return absl::StrCat(absl::Dec(number, absl::kZeroPad20)).append(suffix);
}

uint64_t SpoolFileNumber(std::string_view name, std::string_view suffix) {
  if (name.size() != kDigits + suffix.size() || !name.ends_with(suffix)) return 0;
  const std::string_view digits = name.substr(0, kDigits);
  uint64_t number = 0;
  if (!std::all_of(digits.begin(), digits.end(),
                   [](char c) { return absl::ascii_isdigit(static_cast<unsigned char>(c)); }) ||
      !absl::SimpleAtoi(std::string(digits), &number))
    return 0;
  return number <= kMaxSpoolNumber ? number : 0;
}

void MoveToRefused(const OwnedFd& spool, uint64_t number, std::string_view suffix) {
  const std::string name = SpoolFileName(number, kRecordSuffix);
  mkdirat(spool.get(), kDirectory, S_IRWXU);
  const OwnedFd refused = OpenRefused(spool);
  const std::string kept = SpoolFileName(number, suffix);
  if (!refused || renameat(spool.get(), name.c_str(), refused.get(), kept.c_str()) != 0) {
    unlinkat(spool.get(), name.c_str(), 0);
  }
  if (refused) KeepNewest(refused);
}

uint64_t HighestRefused(const OwnedFd& spool) {
  uint64_t highest = 0;
  if (const OwnedFd refused = OpenRefused(spool)) {
    // If it cannot be listed, a number may come again, which only matters to who looks at the old one.
    ListDirectory(refused, [&highest](const char* name) { highest = std::max(highest, NumberOf(name)); }).IgnoreError();
  }
  return highest;
}

}  // namespace offcpu
