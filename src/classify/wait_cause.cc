#include "classify/wait_cause.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string>

#include "classify/system_calls.h"

namespace offcpu {
namespace {

struct Rule {
  std::string_view name;  // "tcp_*": whatever begins so
  WaitCause cause;
};

// Functions have the names of x86-64 or of AArch64, and there are none of one kernel that mean something else in
// another.

// Where threads are that left the CPU and wanted to go on, or that have not run yet: the kind does not tell while the
// wait is open, nor of a new thread.
constexpr std::string_view kWantsToRun[] = {
    "exit_to_user_mode_*",
    "irqentry_exit*",
    "raw_irqentry_exit*",
    "syscall_exit_to_user_mode*",
    "do_syscall_64",
    "preempt_schedule*",
    "__cond_resched",
    "do_sched_yield",
    "__x64_sys_sched_yield",
    "ret_from_fork*",
    "__arm64_sys_sched_yield",
    "el0_interrupt",
    "el0_svc*",
    "el1_interrupt",
    "arm64_preempt_schedule_irq",
    "arm64_exit_to_user_mode",
};

// Found on every path into the scheduler: they say nothing.
constexpr std::string_view kScheduler[] = {"__switch_to", "__schedule", "schedule", "__schedule_loop", "schedule_tail"};

// Called by who is about to wait; they do not say for what.
constexpr std::string_view kWaits[] = {"schedule_timeout*", "schedule_hrtimeout*", "schedule_preempt_disabled",
                                       "wait_woken"};

// The innermost function that has a rule decides, the first of its rules.
constexpr Rule kByFunction[] = {
    // Stops for a debugger or a signal, whatever the thread was doing.
    {"ptrace_stop", WaitCause::kStopped},
    {"do_signal_stop", WaitCause::kStopped},
    {"do_freezer_trap", WaitCause::kFrozen},
    {"__refrigerator", WaitCause::kFrozen},
    // Locks.
    {"futex_lock_pi*", WaitCause::kMutex},
    {"futex_*", WaitCause::kFutex},
    {"__futex_*", WaitCause::kFutex},
    {"do_futex", WaitCause::kFutex},
    {"__mutex_lock*", WaitCause::kKernelLock},
    {"mutex_lock*", WaitCause::kKernelLock},
    {"__ww_mutex_lock*", WaitCause::kKernelLock},
    {"rwsem_down_*", WaitCause::kKernelLock},
    {"down_read*", WaitCause::kKernelLock},
    {"down_write*", WaitCause::kKernelLock},
    {"percpu_rwsem_wait", WaitCause::kKernelLock},
    {"__percpu_down_*", WaitCause::kKernelLock},
    {"percpu_down_*", WaitCause::kKernelLock},
    {"__down*", WaitCause::kKernelLock},
    {"rt_mutex_slowlock*", WaitCause::kKernelLock},
    {"flock_lock_inode_wait", WaitCause::kFileLock},
    {"posix_lock_inode_wait", WaitCause::kFileLock},
    {"locks_lock_inode_wait", WaitCause::kFileLock},
    {"do_lock_file_wait", WaitCause::kFileLock},
    {"fcntl_setlk*", WaitCause::kFileLock},
    {"__break_lease", WaitCause::kFileLock},
    {"do_semtimedop", WaitCause::kSemaphore},
    {"__do_semtimedop", WaitCause::kSemaphore},
    // Time.
    {"do_nanosleep", WaitCause::kSleep},
    {"hrtimer_nanosleep*", WaitCause::kSleep},
    {"alarm_timer_nsleep*", WaitCause::kSleep},
    {"common_nsleep*", WaitCause::kSleep},
    {"timerfd_read*", WaitCause::kSleep},
    {"msleep*", WaitCause::kSleep},
    {"usleep_range*", WaitCause::kSleep},
    // Faults, where nothing further in has said more; see also IsPageFault.
    {"handle_userfault", WaitCause::kPageFault},
    {"do_user_addr_fault", WaitCause::kPageFault},
    {"exc_page_fault", WaitCause::kPageFault},
    {"asm_exc_page_fault", WaitCause::kPageFault},
    {"do_page_fault", WaitCause::kPageFault},
    {"do_translation_fault", WaitCause::kPageFault},
    {"do_mem_abort", WaitCause::kPageFault},
    // Block devices.
    {"io_schedule*", WaitCause::kBlockIo},
    {"folio_wait_*", WaitCause::kBlockIo},
    {"__folio_lock*", WaitCause::kBlockIo},
    {"wait_on_page_*", WaitCause::kBlockIo},
    {"bit_wait_io*", WaitCause::kBlockIo},
    {"__wait_on_buffer", WaitCause::kBlockIo},
    {"__lock_buffer", WaitCause::kBlockIo},
    {"balance_dirty_pages*", WaitCause::kBlockIo},
    {"rq_qos_wait", WaitCause::kBlockIo},
    {"wbt_wait", WaitCause::kBlockIo},
    {"blk_*", WaitCause::kBlockIo},
    {"blkdev_*", WaitCause::kBlockIo},
    {"__blkdev_*", WaitCause::kBlockIo},
    {"submit_bio*", WaitCause::kBlockIo},
    {"bio_await*", WaitCause::kBlockIo},
    {"__blockdev_direct_IO", WaitCause::kBlockIo},
    {"iomap_dio_*", WaitCause::kBlockIo},
    {"__iomap_dio_*", WaitCause::kBlockIo},
    {"read_events", WaitCause::kBlockIo},  // io_getevents
    // Pipes and eventfds.
    {"pipe_*", WaitCause::kPipe},
    {"anon_pipe_*", WaitCause::kPipe},
    {"fifo_*", WaitCause::kPipe},
    {"wait_for_partner", WaitCause::kPipe},
    {"wait_for_space", WaitCause::kPipe},
    {"ipipe_prep*", WaitCause::kPipe},
    {"opipe_prep*", WaitCause::kPipe},
    {"eventfd_*", WaitCause::kPipe},
    // Message queues.
    {"do_msgrcv", WaitCause::kMessageQueue},
    {"do_msgsnd", WaitCause::kMessageQueue},
    {"wq_sleep", WaitCause::kMessageQueue},
    {"do_mq_timed*", WaitCause::kMessageQueue},
    // Signals.
    {"signalfd_*", WaitCause::kSignal},
    {"do_sigtimedwait", WaitCause::kSignal},
    {"sigsuspend", WaitCause::kSignal},
    {"__do_sys_pause", WaitCause::kSignal},
    {"__x64_sys_pause", WaitCause::kSignal},
    {"__ia32_sys_pause", WaitCause::kSignal},
    // Files that change, and who is to allow a change.
    {"inotify_read", WaitCause::kFileEvent},
    {"fanotify_read", WaitCause::kFileEvent},
    {"fanotify_*", WaitCause::kFile},
    // Terminals.
    {"n_tty_*", WaitCause::kTerminal},
    {"tty_*", WaitCause::kTerminal},
    // Several things at once.
    {"ep_poll", WaitCause::kPoll},
    {"do_epoll_*", WaitCause::kPoll},
    {"do_poll*", WaitCause::kPoll},
    {"do_sys_poll", WaitCause::kPoll},
    {"do_select", WaitCause::kPoll},
    {"core_sys_select", WaitCause::kPoll},
    {"io_cqring_*", WaitCause::kPoll},
    {"io_wq_worker", WaitCause::kPoll},  // io_uring's own threads, without work
    {"io_wqe_worker", WaitCause::kPoll},
    {"io_sq_thread", WaitCause::kPoll},
    {"io_uring_*", WaitCause::kPoll},
    // Sockets.
    {"sock_*", WaitCause::kNetwork},
    {"sk_*", WaitCause::kNetwork},
    {"__lock_sock", WaitCause::kNetwork},
    {"lock_sock*", WaitCause::kNetwork},
    {"__skb_*", WaitCause::kNetwork},
    {"skb_*", WaitCause::kNetwork},
    {"tcp_*", WaitCause::kNetwork},
    {"udp_*", WaitCause::kNetwork},
    {"udpv6_*", WaitCause::kNetwork},
    {"inet_*", WaitCause::kNetwork},
    {"inet6_*", WaitCause::kNetwork},
    {"__inet_*", WaitCause::kNetwork},
    {"unix_*", WaitCause::kNetwork},
    {"__unix_*", WaitCause::kNetwork},
    {"netlink_*", WaitCause::kNetwork},
    {"packet_*", WaitCause::kNetwork},
    {"vsock_*", WaitCause::kNetwork},
    {"mptcp_*", WaitCause::kNetwork},
    {"tls_*", WaitCause::kNetwork},
    {"do_accept", WaitCause::kNetwork},
    // Children.
    {"do_wait", WaitCause::kChild},
    {"kernel_wait*", WaitCause::kChild},
    {"copy_process", WaitCause::kOther},  // it makes the child
    {"kernel_clone", WaitCause::kVfork},
    // File systems: their journals, servers and locks that are none of the above.
    {"jbd2_*", WaitCause::kFile},
    {"ext4_*", WaitCause::kFile},
    {"xfs_*", WaitCause::kFile},
    {"xlog_*", WaitCause::kFile},
    {"btrfs_*", WaitCause::kFile},
    {"f2fs_*", WaitCause::kFile},
    {"ovl_*", WaitCause::kFile},
    {"fuse_*", WaitCause::kFile},
    {"__fuse_*", WaitCause::kFile},
    {"request_wait_answer", WaitCause::kFile},
    {"nfs_*", WaitCause::kFile},
    {"nfs4_*", WaitCause::kFile},
    {"rpc_*", WaitCause::kFile},
    {"cifs_*", WaitCause::kFile},
    {"smb2_*", WaitCause::kFile},
    {"ceph_*", WaitCause::kFile},
    {"p9_*", WaitCause::kFile},
    {"v9fs_*", WaitCause::kFile},
    {"vfs_fsync*", WaitCause::kFile},
    {"wb_wait_for_completion", WaitCause::kFile},
    {"__d_wait_*", WaitCause::kFile},
    {"d_alloc_parallel", WaitCause::kFile},
    // Work that is done on the way back to user mode is not the system call's.
    {"task_work_run", WaitCause::kOther},
};

// Calls that can wait for one thing only. Others (read, write, ioctl) are for the stack to tell.
constexpr Rule kBySystemCall[] = {
    {"futex", WaitCause::kFutex},
    {"futex_*", WaitCause::kFutex},
    {"flock", WaitCause::kFileLock},
    {"fcntl", WaitCause::kFileLock},
    {"semop", WaitCause::kSemaphore},
    {"semtimedop", WaitCause::kSemaphore},
    {"msgrcv", WaitCause::kMessageQueue},
    {"msgsnd", WaitCause::kMessageQueue},
    {"mq_timedreceive", WaitCause::kMessageQueue},
    {"mq_timedsend", WaitCause::kMessageQueue},
    {"rt_sigtimedwait", WaitCause::kSignal},
    {"rt_sigsuspend", WaitCause::kSignal},
    {"pause", WaitCause::kSignal},
    {"nanosleep", WaitCause::kSleep},
    {"clock_nanosleep", WaitCause::kSleep},
    {"poll", WaitCause::kPoll},
    {"ppoll", WaitCause::kPoll},
    {"select", WaitCause::kPoll},
    {"pselect6", WaitCause::kPoll},
    {"epoll_wait", WaitCause::kPoll},
    {"epoll_pwait", WaitCause::kPoll},
    {"epoll_pwait2", WaitCause::kPoll},
    {"io_uring_enter", WaitCause::kPoll},
    {"io_getevents", WaitCause::kBlockIo},
    {"io_pgetevents", WaitCause::kBlockIo},
    {"accept", WaitCause::kNetwork},
    {"accept4", WaitCause::kNetwork},
    {"connect", WaitCause::kNetwork},
    {"recvfrom", WaitCause::kNetwork},
    {"recvmsg", WaitCause::kNetwork},
    {"recvmmsg", WaitCause::kNetwork},
    {"sendto", WaitCause::kNetwork},
    {"sendmsg", WaitCause::kNetwork},
    {"sendmmsg", WaitCause::kNetwork},
    {"wait4", WaitCause::kChild},
    {"waitid", WaitCause::kChild},
    {"vfork", WaitCause::kVfork},
    {"fsync", WaitCause::kFile},
    {"fdatasync", WaitCause::kFile},
    {"sync", WaitCause::kFile},
    {"syncfs", WaitCause::kFile},
    {"sync_file_range", WaitCause::kFile},
    {"msync", WaitCause::kFile},
    {"open", WaitCause::kFile},
    {"openat", WaitCause::kFile},
    {"openat2", WaitCause::kFile},
    {"creat", WaitCause::kFile},
    {"stat", WaitCause::kFile},
    {"lstat", WaitCause::kFile},
    {"newfstatat", WaitCause::kFile},
    {"statx", WaitCause::kFile},
    {"access", WaitCause::kFile},
    {"faccessat", WaitCause::kFile},
    {"faccessat2", WaitCause::kFile},
    {"readlink", WaitCause::kFile},
    {"readlinkat", WaitCause::kFile},
    {"getdents", WaitCause::kFile},
    {"getdents64", WaitCause::kFile},
    {"mkdir", WaitCause::kFile},
    {"mkdirat", WaitCause::kFile},
    {"rmdir", WaitCause::kFile},
    {"unlink", WaitCause::kFile},
    {"unlinkat", WaitCause::kFile},
    {"rename", WaitCause::kFile},
    {"renameat", WaitCause::kFile},
    {"renameat2", WaitCause::kFile},
    {"truncate", WaitCause::kFile},
    {"ftruncate", WaitCause::kFile},
    {"fallocate", WaitCause::kFile},
    {"pread64", WaitCause::kFile},
    {"pwrite64", WaitCause::kFile},
    {"preadv", WaitCause::kFile},
    {"pwritev", WaitCause::kFile},
    {"preadv2", WaitCause::kFile},
    {"pwritev2", WaitCause::kFile},
};

// Compilers put ".constprop.0" and the like behind the names of what they specialize.
bool Matches(std::string_view name, std::string_view pattern) {
  const bool is_prefix = pattern.ends_with('*');
  if (is_prefix) pattern.remove_suffix(1);
  if (!name.starts_with(pattern)) return false;
  return is_prefix || name.size() == pattern.size() || name[pattern.size()] == '.';
}

template <typename Patterns>
bool MatchesAny(std::string_view name, const Patterns& patterns) {
  return std::any_of(std::begin(patterns), std::end(patterns),
                     [name](std::string_view pattern) { return Matches(name, pattern); });
}

template <typename Rules>
std::optional<WaitCause> Find(std::string_view name, const Rules& rules) {
  const auto rule =
      std::find_if(std::begin(rules), std::end(rules), [name](const Rule& r) { return Matches(name, r.name); });
  return rule == std::end(rules) ? std::nullopt : std::optional(rule->cause);
}

// Has a function that matches called the scheduler?
template <typename Patterns>
bool HasLeft(std::span<const NamedFrame> kernel, const Patterns& patterns) {
  const auto leaf = std::find_if_not(kernel.begin(), kernel.end(),
                                     [](const NamedFrame& frame) { return MatchesAny(frame.name(), kScheduler); });
  return leaf != kernel.end() && MatchesAny(leaf->name(), patterns);
}

// Compilers put do_freezer_trap into its caller, which sleeps for nothing else: stopped threads are of another kind.
bool IsFreezerTrap(WaitKind kind, std::span<const NamedFrame> kernel) {
  constexpr std::string_view kCaller[] = {"get_signal"};
  return kind == WaitKind::kSleeping && HasLeft(kernel, kCaller);
}

// The whole of what is done for a fault of user mode is the fault. In a system call it is part of that.
bool IsPageFault(int32_t syscall, std::span<const NamedFrame> kernel) {
  constexpr std::string_view kFault[] = {"asm_exc_page_fault", "exc_page_fault", "do_user_addr_fault", "do_mem_abort"};
  constexpr std::string_view kCall[] = {"do_syscall_64",  "do_int80_*",  "do_fast_syscall_32",
                                        "do_SYSENTER_32", "do_el0_svc*", "invoke_syscall*"};
  const auto any = [kernel](const auto& patterns) {
    const auto matches = [&patterns](const NamedFrame& frame) { return MatchesAny(frame.name(), patterns); };
    return std::any_of(kernel.begin(), kernel.end(), matches);
  };
  return syscall == kNoSystemCall && any(kFault) && !any(kCall);
}

// The kernel waits for a futex with priority inheritance by an rt_mutex, which has other users of its own.
bool IsOwnedFutex(const NamedFrame& frame, std::span<const NamedFrame> kernel) {
  const auto is_call = [](const NamedFrame& caller) { return Matches(caller.name(), "futex_lock_pi*"); };
  return Matches(frame.name(), "rt_mutex_*") && std::any_of(kernel.begin(), kernel.end(), is_call);
}

// The cause where a thread left the CPU as one that can run. Most were made to. But one that has called the scheduler
// itself was about to wait, and has been woken on its way: it left for what it was to wait for.
WaitCause CauseOfRunnable(std::span<const NamedFrame> kernel) {
  const auto leaf = std::find_if_not(kernel.begin(), kernel.end(), [](const NamedFrame& frame) {
    return MatchesAny(frame.name(), kScheduler) || MatchesAny(frame.name(), kWaits);
  });
  if (leaf == kernel.end() || MatchesAny(leaf->name(), kWantsToRun)) return WaitCause::kPreempted;
  return Find(leaf->name(), kByFunction).value_or(WaitCause::kPreempted);
}

}  // namespace

std::string_view Name(WaitCause cause) {
  constexpr std::array<std::string_view, kWaitCauseCount> kNames = {
      "futex",   "mutex",      "file lock", "semaphore",     "kernel lock", "sleep",      "block I/O", "file",
      "network", "poll",       "pipe",      "message queue", "signal",      "file event", "terminal",  "child",
      "vfork",   "page fault", "preempted", "throttled",     "frozen",      "stopped",    "other"};
  return kNames[static_cast<size_t>(cause)];
}

std::string_view Family(WaitCause cause) {
  switch (cause) {
    case WaitCause::kFutex:
    case WaitCause::kMutex:
    case WaitCause::kFileLock:
    case WaitCause::kSemaphore:
    case WaitCause::kKernelLock:
      return "lock";
    default:
      return Name(cause);
  }
}

WaitCause CauseOf(WaitKind kind, int32_t syscall, std::span<const NamedFrame> kernel) {
  if (kind == WaitKind::kYielded) return WaitCause::kPreempted;
  if (kind == WaitKind::kThrottled) return WaitCause::kThrottled;
  if (kind == WaitKind::kPreempted) return CauseOfRunnable(kernel);
  if (kind == WaitKind::kStopped) return WaitCause::kStopped;
  if (kind == WaitKind::kRunning) return WaitCause::kOther;
  if ((kind == WaitKind::kOpen || kind == WaitKind::kOther) && HasLeft(kernel, kWantsToRun))
    return WaitCause::kPreempted;
  if (IsFreezerTrap(kind, kernel)) return WaitCause::kFrozen;
  if (IsPageFault(syscall, kernel)) return WaitCause::kPageFault;
  for (const NamedFrame& frame : kernel) {
    if (IsOwnedFutex(frame, kernel)) return WaitCause::kMutex;
    if (const std::optional<WaitCause> cause = Find(frame.name(), kByFunction)) return *cause;
  }
  return Find(SystemCallName(syscall), kBySystemCall).value_or(WaitCause::kOther);
}

WaitCause WaitCauses::Of(const RowKey& row) {
  const auto [it, inserted] = known_.try_emplace({row.kind, row.syscall, row.kernel_stack});
  if (inserted) it->second = CauseOf(row.kind, row.syscall, profile_.kernel_stacks[row.kernel_stack].frames);
  return it->second;
}

}  // namespace offcpu
