#include "recorder/operands.h"

#include <pwd.h>

#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "process/container.h"
#include "process/control_groups.h"

namespace offcpu {
namespace {

// The id of the thread group that `tid` belongs to; 0 if there is no such thread.
pid_t ProcessOf(pid_t tid) {
  std::ifstream status(absl::StrCat("/proc/", tid, "/status"));
  std::string line;
  pid_t tgid = 0;
  while (std::getline(status, line)) {
    if (std::sscanf(line.c_str(), "Tgid: %d", &tgid) == 1) break;
  }
  return tgid;
}

// Fields of /proc/PID/stat.
struct Stat {
  char state = 0;
  uint32_t flags = 0;
  int64_t threads = 0;  // of the process: those that are not reaped

  bool has_ended() const { return state == 'Z' || state == 'X'; }
};

std::optional<Stat> ReadStat(pid_t id) {
  std::ifstream file(absl::StrCat("/proc/", id, "/stat"));
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const size_t name_end = text.rfind(')');  // a name may hold anything
  if (name_end == std::string::npos) return std::nullopt;
  Stat stat;
  const int found = std::sscanf(text.c_str() + name_end + 1,
                                " %c %*d %*d %*d %*d %*d %" SCNu32 " %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %" SCNd64,
                                &stat.state, &stat.flags, &stat.threads);
  return found == 3 ? std::optional(stat) : std::nullopt;
}

}  // namespace

absl::Status CheckProcess(pid_t pid) {
  const pid_t process = ProcessOf(pid);
  if (process == 0) return absl::NotFoundError(absl::StrCat("no process has the pid ", pid));
  if (process != pid) {
    return absl::InvalidArgumentError(
        absl::StrCat(pid, " is a thread of process ", process, ": use -t ", pid, " or -p ", process));
  }
  if (!ProcessHasEnded(pid)) return absl::OkStatus();
  return absl::NotFoundError(absl::StrCat("process ", pid, " has ended, and its parent has not reaped it"));
}

absl::Status CheckUserProcess(pid_t pid) {
  if (absl::Status status = CheckProcess(pid); !status.ok()) return status;
  if (!IsKernelThread(pid)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(pid, " is a kernel thread: it has neither user stacks nor mapped objects"));
}

absl::Status CheckThread(pid_t tid) {
  if (ProcessOf(tid) == 0) return absl::NotFoundError(absl::StrCat("no thread has the id ", tid));
  return ThreadHasEnded(tid) ? absl::NotFoundError(absl::StrCat("thread ", tid, " has ended")) : absl::OkStatus();
}

bool IsKernelThread(pid_t id) {
  constexpr uint32_t kKernelThread = 0x00200000;  // the kernel's PF_KTHREAD
  const std::optional<Stat> stat = ReadStat(id);
  return stat.has_value() && (stat->flags & kKernelThread) != 0;
}

absl::StatusOr<uid_t> FindUser(const std::string& name) {
  uint32_t uid = 0;
  if (absl::SimpleAtoi(name, &uid)) return uid;
  const passwd* user = getpwnam(name.c_str());
  if (user == nullptr) return absl::NotFoundError(absl::StrCat("no user is called ", name));
  return user->pw_uid;
}

absl::StatusOr<WaitKind> FindState(const std::string& name) {
  constexpr std::pair<WaitKind, const char*> kStates[] = {{WaitKind::kSleeping, "S"},
                                                          {WaitKind::kDisk, "D"},
                                                          {WaitKind::kStopped, "T"},
                                                          {WaitKind::kPreempted, "R"},
                                                          {WaitKind::kYielded, "Y"}};
  for (const auto& [kind, letter] : kStates) {
    if (name == letter || name == Name(kind)) return kind;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("no state is called '", name, "'; the states are sleeping, disk, stopped, preempted and yielded"));
}

bool ThreadHasEnded(pid_t tid) {
  const std::optional<Stat> stat = ReadStat(tid);
  return !stat.has_value() || stat->has_ended();
}

bool ProcessHasEnded(pid_t pid) {
  const std::optional<Stat> stat = ReadStat(pid);
  return !stat.has_value() || (stat->has_ended() && stat->threads <= 1);
}

absl::StatusOr<std::string> CgroupDirectory(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return path;
  const absl::StatusOr<std::string> mount = ControlGroupRoot();
  if (!mount.ok()) return mount.status();
  const std::string below = absl::StrCat(*mount, "/", path);
  if (std::filesystem::is_directory(below, error)) return below;
  return absl::NotFoundError(absl::StrCat("no cgroup ", path, " (also looked below ", *mount, " too)"));
}

absl::StatusOr<std::string> ContainerDirectory(const std::string& id) {
  const absl::StatusOr<std::string> mount = ControlGroupRoot();
  if (!mount.ok()) return mount.status();
  return FindContainerCgroup(*mount, id);
}

}  // namespace offcpu
