#include "symbolize/debug_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "os/regular_file.h"
#include "process/elf/debug_link.h"

namespace offcpu {
namespace {

constexpr off_t kMaxLinkedBytes = off_t{1} << 30;  // a larger file is not read for its CRC

bool IsTrusted(const struct stat& st) { return st.st_uid == 0 || st.st_uid == geteuid(); }

OwnedFd Open(const std::string& path) {
  struct stat st;
  OwnedFd file(open(path.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  if (!file || fstat(file.get(), &st) != 0) return OwnedFd();
  if (S_ISLNK(st.st_mode)) {
    if (!IsTrusted(st)) return OwnedFd();
    file = OwnedFd(open(path.c_str(), O_PATH | O_CLOEXEC));
    if (!file || fstat(file.get(), &st) != 0) return OwnedFd();
  }
  const bool is_for_all = (st.st_mode & S_IROTH) != 0 && (st.st_mode & S_IWOTH) == 0;
  return IsTrusted(st) && is_for_all ? OpenRegularFile(file) : OwnedFd();
}

std::optional<uint32_t> Crc(int fd) {
  struct stat st;
  if (fstat(fd, &st) != 0 || st.st_size > kMaxLinkedBytes) return std::nullopt;
  std::vector<unsigned char> chunk(256u << 10);
  uLong crc = crc32(0, nullptr, 0);
  for (off_t at = 0; at < st.st_size;) {
    ssize_t n = pread(fd, chunk.data(), chunk.size(), at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return std::nullopt;
    crc = crc32(crc, chunk.data(), static_cast<uInt>(n));
    at += n;
  }
  return static_cast<uint32_t>(crc);
}

}  // namespace

bool HasBuildId(const OwnedFd& fd, const std::string& build_id) {
  const FileMemory file(fd.get());
  const auto elf = ElfFile::Parse(file);
  return elf.ok() && elf->BuildId() == build_id;
}

bool HasCrcOfLink(const OwnedFd& fd, const ElfFile& elf) {
  const std::optional<DebugLink> link = ReadDebugLink(elf);
  return link.has_value() && Crc(fd.get()) == link->crc;
}

OwnedFd OpenDebugFileAt(const std::string& path, const std::string& build_id) {
  OwnedFd fd = Open(path);
  if (build_id.empty() || !fd || !HasBuildId(fd, build_id)) return OwnedFd();
  return fd;
}

OwnedFd OpenDebugFileByBuildId(const std::string& directory, const std::string& build_id) {
  constexpr std::string_view kHex = "0123456789abcdef";
  if (build_id.size() < 4 || build_id.find_first_not_of(kHex) != std::string::npos) return OwnedFd();
  return OpenDebugFileAt(
      absl::StrCat(directory, "/.build-id/", build_id.substr(0, 2), "/", build_id.substr(2), ".debug"), build_id);
}

OwnedFd OpenDebugFileByLink(const std::string& directory, const std::string& path, const ElfFile& elf,
                            const std::string& build_id) {
  auto link = ReadDebugLink(elf);
  size_t slash = path.rfind('/');
  // The path is the target's word: it must not lead out of the directory.
  if (!link || !path.starts_with('/') || path.find("/../") != std::string::npos) return OwnedFd();
  OwnedFd fd = Open(absl::StrCat(directory, path.substr(0, slash + 1), link->name));
  if (!fd || !HasCrcOfLink(fd, elf)) return OwnedFd();
  if (!build_id.empty() && !HasBuildId(fd, build_id)) return OwnedFd();
  return fd;
}

}  // namespace offcpu
