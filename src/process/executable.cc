#include "process/executable.h"

#include <unistd.h>

#include <array>
#include <string_view>

#include "absl/strings/str_cat.h"

namespace offcpu {

std::string ExecutableOf(pid_t pid) {
  constexpr std::string_view kDeleted = " (deleted)";
  std::array<char, kMostExecutableBytes + kDeleted.size() + 1> bytes;
  const ssize_t size = readlink(absl::StrCat("/proc/", pid, "/exe").c_str(), bytes.data(), bytes.size());
  if (size <= 0 || static_cast<size_t>(size) == bytes.size()) return "";
  std::string_view path(bytes.data(), static_cast<size_t>(size));
  if (path.ends_with(kDeleted)) path.remove_suffix(kDeleted.size());
  return path.size() > kMostExecutableBytes ? "" : std::string(path);
}

}  // namespace offcpu
