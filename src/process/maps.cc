#include "process/maps.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace offcpu {
namespace {

// Takes the fields of one line from its front.
class Fields {
 public:
  explicit Fields(std::string_view line) : rest_(line) {}

  // A number and the `end` character behind it.
  template <typename T>
  bool Number(int base, char end, T* value) {
    auto [p, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), *value, base);
    if (error != std::errc()) return false;
    rest_.remove_prefix(static_cast<size_t>(p - rest_.data()));
    return Take(end);
  }
  bool Flag(char set, bool* value) {
    *value = Take(set);
    return *value || Take('-');
  }
  bool Take(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

// The kernel escapes a newline in a path, and nothing else.
std::string Unescape(std::string_view path) {
  constexpr std::string_view kNewline = "\\012";
  std::string result;
  while (!path.empty()) {
    size_t at = std::min(path.find(kNewline), path.size());
    result.append(path.substr(0, at));
    if (at == path.size()) break;
    result += '\n';
    path.remove_prefix(at + kNewline.size());
  }
  return result;
}

void SetPath(std::string_view path, Mapping* m) {
  constexpr std::string_view kDeleted = " (deleted)";
  m->deleted = path.ends_with(kDeleted);
  if (m->deleted) path.remove_suffix(kDeleted.size());
  m->path = Unescape(path);
}

std::optional<Mapping> ParseLine(std::string_view line) {
  Mapping m;
  Fields f(line);
  if (!f.Number(16, '-', &m.begin) || !f.Number(16, ' ', &m.end) || m.begin >= m.end) return std::nullopt;
  if (!f.Flag('r', &m.readable) || !f.Flag('w', &m.writable) || !f.Flag('x', &m.executable)) return std::nullopt;
  m.shared = f.Take('s');
  if (!m.shared && !f.Take('p')) return std::nullopt;
  if (!f.Take(' ') || !f.Number(16, ' ', &m.offset)) return std::nullopt;
  if (!f.Number(16, ':', &m.dev_major) || !f.Number(16, ' ', &m.dev_minor)) return std::nullopt;
  // Where there is no path some kernels end the line right behind the inode.
  std::string_view inode = f.rest().substr(0, std::min(f.rest().find(' '), f.rest().size()));
  auto [p, error] = std::from_chars(inode.data(), inode.data() + inode.size(), m.inode);
  if (error != std::errc() || p != inode.data() + inode.size()) return std::nullopt;
  std::string_view path = f.rest().substr(inode.size());
  path.remove_prefix(std::min(path.find_first_not_of(' '), path.size()));
  SetPath(path, &m);
  return m;
}

}  // namespace

absl::StatusOr<std::vector<Mapping>> ParseMaps(std::string_view text) {
  std::vector<Mapping> mappings;
  while (!text.empty()) {
    size_t length = std::min(text.find('\n'), text.size());
    std::optional<Mapping> m = ParseLine(text.substr(0, length));
    if (!m) return absl::InvalidArgumentError(absl::StrCat("malformed mapping, number ", mappings.size()));
    if (!mappings.empty() && m->begin < mappings.back().end) {
      return absl::InvalidArgumentError(absl::StrCat("mapping out of order, number ", mappings.size()));
    }
    if (mappings.size() == kMaxMappings) return absl::ResourceExhaustedError("too many mappings");
    mappings.push_back(*std::move(m));
    text.remove_prefix(std::min(length + 1, text.size()));
  }
  return mappings;
}

}  // namespace offcpu
