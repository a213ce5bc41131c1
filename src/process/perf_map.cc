#include "process/perf_map.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "process/credentials.h"
#include "process/proc_file.h"
#include "process/regular_file.h"

namespace offcpu {
namespace {

constexpr size_t kMaxOwnStatusBytes = 1 << 20;  // there may be 65,536 groups

// The pid in the innermost namespace: the last number of "NStgid:\t1\t2\t3".
std::optional<uint32_t> InnermostPid(std::string_view status) {
  const size_t at = status.find("\nNStgid:\t");
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view line = status.substr(at + 1);
  line = line.substr(0, line.find('\n'));
  uint32_t number = 0;
  if (!absl::SimpleAtoi(std::string(line.substr(line.rfind('\t') + 1)), &number)) return std::nullopt;
  return number;
}

// With O_PATH, and no symbolic link on the way.
OwnedFd OpenPlain(int directory, const char* name, uint64_t flags, uint64_t resolve) {
  open_how how = {};
  how.flags = O_PATH | O_CLOEXEC | O_NOFOLLOW | flags;
  how.resolve = RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS | resolve;
  return OwnedFd(static_cast<int>(syscall(SYS_openat2, directory, name, &how, sizeof(how))));
}

PerfMapRefusal RefusalOfErrno() {
  if (errno == ELOOP) return PerfMapRefusal::kSymbolicLink;
  return errno == EXDEV ? PerfMapRefusal::kMounted : PerfMapRefusal::kNone;
}

PerfMapRefusal Judge(const Credentials& who, const struct stat& directory, const struct stat& file) {
  if (S_ISLNK(file.st_mode)) return PerfMapRefusal::kSymbolicLink;
  if (!S_ISREG(file.st_mode)) return PerfMapRefusal::kNotRegular;
  if (file.st_nlink > 1) return PerfMapRefusal::kSeveralNames;
  if (file.st_uid != who.uid && file.st_uid != 0) return PerfMapRefusal::kOtherOwner;
  if (!MaySearch(who, directory) || !MayRead(who, file)) return PerfMapRefusal::kNotReadable;
  return (file.st_mode & S_IWOTH) != 0 ? PerfMapRefusal::kWritable : PerfMapRefusal::kNone;
}

// The file below the process's root, if it may count.
OwnedFd OpenTrusted(pid_t pid, const Credentials& who, const std::string& name, PerfMapRefusal* refusal) {
  const OwnedFd root(open(absl::StrCat("/proc/", pid, "/root").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!root) return OwnedFd();
  const OwnedFd directory = OpenPlain(root.get(), "tmp", O_DIRECTORY, RESOLVE_IN_ROOT);
  const OwnedFd file =
      directory ? OpenPlain(directory.get(), name.c_str(), 0, RESOLVE_BENEATH | RESOLVE_NO_XDEV) : OwnedFd();
  if (!file) {
    *refusal = RefusalOfErrno();
    return OwnedFd();
  }
  struct stat directory_stat;
  struct stat file_stat;
  if (fstat(directory.get(), &directory_stat) != 0 || fstat(file.get(), &file_stat) != 0) return OwnedFd();
  *refusal = Judge(who, directory_stat, file_stat);
  return *refusal == PerfMapRefusal::kNone ? OpenRegularFile(file) : OwnedFd();
}

}  // namespace

std::string_view Name(PerfMapRefusal refusal) {
  switch (refusal) {
    case PerfMapRefusal::kNone:
      return "none";
    case PerfMapRefusal::kSymbolicLink:
      return "symbolic link";
    case PerfMapRefusal::kNotRegular:
      return "not a regular file";
    case PerfMapRefusal::kMounted:
      return "mounted over";
    case PerfMapRefusal::kSeveralNames:
      return "several names";
    case PerfMapRefusal::kOtherOwner:
      return "another user's";
    case PerfMapRefusal::kNotReadable:
      return "not readable by the process";
    case PerfMapRefusal::kWritable:
      return "writable by everybody";
  }
  return "none";
}

PerfMap OpenPerfMap(pid_t pid) {
  const absl::StatusOr<std::string> status = ReadProcFile(absl::StrCat("/proc/", pid, "/status"), kMaxOwnStatusBytes);
  if (!status.ok()) return {};
  const std::optional<uint32_t> number = InnermostPid(*status);
  const std::optional<Credentials> who = ParseCredentials(*status);
  if (!number.has_value() || !who.has_value()) return {};
  PerfMap map;
  const std::string name = absl::StrCat("perf-", *number, ".map");
  OwnedFd file = OpenTrusted(pid, *who, name, &map.refusal);
  if (!file) return map;
  auto code = std::make_shared<CodeObject>(CodeKind::kPerfMap, absl::StrCat("/tmp/", name));
  code->file = std::move(file);
  code->memory = MemoryLease(nullptr, who->uid);
  map.code = std::move(code);
  return map;
}

bool IsPerfMapPath(std::string_view path) {
  constexpr std::string_view kBegin = "perf-";
  constexpr std::string_view kEnd = ".map";
  const std::string_view name = path.substr(path.rfind('/') + 1);
  if (!name.starts_with(kBegin) || !name.ends_with(kEnd) || name.size() <= kBegin.size() + kEnd.size()) return false;
  const std::string_view pid = name.substr(kBegin.size(), name.size() - kBegin.size() - kEnd.size());
  return std::all_of(pid.begin(), pid.end(), absl::ascii_isdigit);
}

bool SamePerfMap(const CodeObject& a, const CodeObject& b) {
  struct stat a_stat;
  struct stat b_stat;
  const bool are_maps = a.kind() == CodeKind::kPerfMap && b.kind() == CodeKind::kPerfMap;
  return are_maps && fstat(a.file.get(), &a_stat) == 0 && fstat(b.file.get(), &b_stat) == 0 &&
         a_stat.st_dev == b_stat.st_dev && a_stat.st_ino == b_stat.st_ino;
}

}  // namespace offcpu
