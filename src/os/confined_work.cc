#include "os/confined_work.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <utility>

#include "os/owned_fd.h"
#include "os/proc_file.h"

namespace offcpu {
namespace {

using Clock = std::chrono::steady_clock;

constexpr id_t kNobody = 65534;
#ifdef OFFCPU_SANITIZED
constexpr bool kLimitsMemory = false;  // sanitizers take memory of their own
#else
constexpr bool kLimitsMemory = true;
#endif

// Memory, and files that are open or opened to be read; and what sanitizers ask before a process ends.
constexpr uint32_t kAllowed[] = {
    SYS_read,     SYS_write,     SYS_pread64,        SYS_lseek,     SYS_close,       SYS_fstat,         SYS_newfstatat,
    SYS_mmap,     SYS_munmap,    SYS_mremap,         SYS_madvise,   SYS_brk,         SYS_mprotect,      SYS_fcntl,
    SYS_futex,    SYS_getpid,    SYS_gettid,         SYS_exit,      SYS_exit_group,  SYS_clock_gettime, SYS_readlinkat,
    SYS_statfs,   SYS_getrandom, SYS_rt_sigprocmask, SYS_faccessat, SYS_sigaltstack,
#if defined(__x86_64__)  // has their older forms as well
    SYS_readlink, SYS_access,    SYS_stat,           SYS_lstat,
#endif
};

// Those that open a file, and which of their arguments says for what.
constexpr std::pair<uint32_t, int> kOpening[] = {
    {SYS_openat, 2},
#if defined(__x86_64__)
    {SYS_open, 1},
#endif
};

#if defined(__x86_64__)
constexpr uint32_t kMachine = AUDIT_ARCH_X86_64;
#else
constexpr uint32_t kMachine = AUDIT_ARCH_AARCH64;
#endif

// Which system calls are allowed; others fail with EPERM. Opening is, if nothing is to be written.
std::vector<sock_filter> CallFilter() {
  constexpr auto kCall = static_cast<uint32_t>(offsetof(seccomp_data, nr));
  constexpr auto kArch = static_cast<uint32_t>(offsetof(seccomp_data, arch));
  const auto flags_of = [](int argument) {
    return static_cast<uint32_t>(offsetof(seccomp_data, args)) + 8 * static_cast<uint32_t>(argument);
  };
  const auto load = [](uint32_t offset) { return sock_filter(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset)); };
  const sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  const sock_filter refuse = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
  std::vector<sock_filter> filter = {load(kArch), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kMachine, 1, 0), refuse,
                                     load(kCall)};
  for (const uint32_t call : kAllowed) {
    filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1));
    filter.push_back(allow);
  }
  for (const auto& [call, argument] : kOpening) {
    filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 4));
    filter.push_back(load(flags_of(argument)));
    filter.push_back(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, O_ACCMODE | O_CREAT | O_TRUNC, 0, 1));
    filter.push_back(refuse);
    filter.push_back(allow);
  }
  filter.push_back(refuse);
  return filter;
}

// Private memory that may be written, of this process, in bytes.
size_t DataBytes() {
  std::string status = ReadProcFile("/proc/self/status", 1u << 16).value_or("");
  const size_t at = status.find("VmData:");
  return at == std::string::npos ? 0 : std::strtoull(status.c_str() + at + 7, nullptr, 10) << 10;
}

void Limit(__rlimit_resource resource, size_t to) {
  const rlimit limit = {.rlim_cur = to, .rlim_max = to};
  setrlimit(resource, &limit);
}

bool DropRights(pid_t parent) {
  if (geteuid() == 0 && (setgroups(0, nullptr) != 0 || setresgid(kNobody, kNobody, kNobody) != 0 ||
                         setresuid(kNobody, kNobody, kNobody) != 0)) {
    return false;
  }
  __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  const __user_cap_data_struct none[2] = {};
  if (syscall(SYS_capset, &header, none) != 0) return false;
  // A change of the user has undone these.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  prctl(PR_SET_DUMPABLE, 0);
  if (getppid() != parent || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return false;
  std::vector<sock_filter> filter = CallFilter();
  const sock_fprog program = {.len = static_cast<unsigned short>(filter.size()), .filter = filter.data()};
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

void CloseAllBut(std::vector<int> kept) {
  std::sort(kept.begin(), kept.end());
  unsigned next = 0;
  for (const int fd : kept) {
    const auto number = static_cast<unsigned>(fd);
    if (number > next) syscall(SYS_close_range, next, number - 1, 0);
    next = number + 1;
  }
  syscall(SYS_close_range, next, UINT_MAX, 0);
}

[[noreturn]] void RunInChild(const ConfinedLimits& limits, pid_t parent, int out, std::span<const int> files,
                             absl::FunctionRef<void(ConfinedWriter write)> work) {
  for (const int fault : {SIGPIPE, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV}) signal(fault, SIG_DFL);
  Limit(RLIMIT_CORE, 0);
  Limit(RLIMIT_CPU, static_cast<size_t>(limits.time.count()) / 1000 + 1);
  if (kLimitsMemory) Limit(RLIMIT_DATA, DataBytes() + limits.memory_bytes);
  std::vector<int> kept(files.begin(), files.end());
  kept.push_back(out);
  CloseAllBut(std::move(kept));
  if (!DropRights(parent)) _exit(1);
  work([out](std::string_view piece) {
    while (!piece.empty()) {
      const ssize_t n = write(out, piece.data(), piece.size());
      if (n < 0 && errno != EINTR) _exit(1);
      if (n > 0) piece.remove_prefix(static_cast<size_t>(n));
    }
  });
  syscall(SYS_exit_group, 0);  // _exit looks for leaks first where a sanitizer has its place, by calls that are refused
  _exit(0);
}

ConfinedEnd Receive(const ConfinedLimits& limits, int in, std::vector<char>* bytes) {
  constexpr size_t kPiece = 64u << 10;
  const Clock::time_point end = Clock::now() + limits.time;
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
    pollfd poll_fd = {.fd = in, .events = POLLIN};
    const int ready = left.count() > 0 ? poll(&poll_fd, 1, static_cast<int>(left.count())) : 0;
    if (ready == 0) return ConfinedEnd::kLate;
    if (ready < 0) continue;  // a signal
    const size_t size = bytes->size();
    bytes->resize(size + kPiece);
    const ssize_t n = read(in, bytes->data() + size, kPiece);
    bytes->resize(size + (n > 0 ? static_cast<size_t>(n) : 0));
    if (n == 0) return ConfinedEnd::kDone;
    if (bytes->size() > limits.result_bytes) return ConfinedEnd::kTooLong;
  }
}

}  // namespace

ConfinedResult RunConfined(const ConfinedLimits& limits, std::span<const int> files,
                           absl::FunctionRef<void(ConfinedWriter write)> work) {
  ConfinedResult result;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return result;
  const OwnedFd in(ends[0]);
  OwnedFd out(ends[1]);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) return result;
  if (child == 0) RunInChild(limits, parent, out.get(), files, work);
  out.reset();
  result.end = Receive(limits, in.get(), &result.bytes);
  // It has nothing more to do, but may have been taken over.
  kill(child, SIGKILL);
  while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  return result;
}

}  // namespace offcpu
