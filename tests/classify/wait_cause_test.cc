#include "classify/wait_cause.h"

#include <asm/unistd_64.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/classify/frames.h"

namespace offcpu {
namespace {

using Stack = std::vector<std::string_view>;  // leaf first

// Stacks as kernels from 6.1 on show them.
struct Example {
  WaitCause cause;
  WaitKind kind;
  int32_t syscall;
  Stack kernel;
};

const Example kExamples[] = {
    {WaitCause::kFutex,
     WaitKind::kSleeping,
     __NR_futex,
     {"__schedule", "schedule", "futex_wait_queue", "__futex_wait", "futex_wait", "do_futex", "__x64_sys_futex",
      "do_syscall_64", "entry_SYSCALL_64_after_hwframe"}},
    {WaitCause::kMutex,  // with priority inheritance
     WaitKind::kSleeping,
     __NR_futex,
     {"__schedule", "schedule", "rt_mutex_schedule", "rt_mutex_slowlock_block.constprop.0", "futex_lock_pi", "do_futex",
      "__x64_sys_futex", "do_syscall_64"}},
    {WaitCause::kMutex,  // likewise, on 6.18
     WaitKind::kOpen,
     __NR_futex,
     {"rt_mutex_schedule", "futex_lock_pi", "do_futex", "__x64_sys_futex", "do_syscall_64"}},
    {WaitCause::kKernelLock,  // an rt_mutex that is the kernel's own
     WaitKind::kDisk,
     __NR_write,
     {"__schedule", "schedule", "rt_mutex_schedule", "rt_mutex_slowlock_block.constprop.0", "rt_mutex_slowlock",
      "i2c_transfer", "vfs_write", "do_syscall_64"}},
    {WaitCause::kKernelLock,  // for the memory of the process, before it waits for its futex
     WaitKind::kDisk,
     __NR_futex,
     {"__schedule", "schedule", "schedule_preempt_disabled", "rwsem_down_read_slowpath", "down_read",
      "fixup_user_fault", "futex_lock_pi", "do_futex", "__x64_sys_futex", "do_syscall_64"}},
    {WaitCause::kSemaphore,
     WaitKind::kSleeping,
     __NR_semop,
     {"__schedule", "schedule", "__do_semtimedop", "do_semtimedop", "__x64_sys_semop", "do_syscall_64"}},
    {WaitCause::kKernelLock,  // of the kernel: what the call is for comes later
     WaitKind::kDisk,
     __NR_write,
     {"__schedule", "schedule", "schedule_preempt_disabled", "rwsem_down_write_slowpath", "down_write",
      "ext4_buffered_write_iter", "vfs_write", "ksys_write", "do_syscall_64"}},
    {WaitCause::kFileLock,
     WaitKind::kSleeping,
     __NR_flock,
     {"__schedule", "schedule", "flock_lock_inode_wait", "locks_lock_inode_wait", "__do_sys_flock", "do_syscall_64"}},
    {WaitCause::kSleep,
     WaitKind::kSleeping,
     __NR_clock_nanosleep,
     {"__schedule", "schedule", "do_nanosleep", "hrtimer_nanosleep", "common_nsleep", "__x64_sys_clock_nanosleep",
      "do_syscall_64"}},
    {WaitCause::kBlockIo,
     WaitKind::kDisk,
     __NR_read,
     {"__schedule", "schedule", "io_schedule", "folio_wait_bit_common", "filemap_get_pages", "filemap_read",
      "ext4_file_read_iter", "vfs_read", "ksys_read", "do_syscall_64"}},
    {WaitCause::kBlockIo,  // read from outside: without the scheduler's own functions
     WaitKind::kOpen,
     __NR_fsync,
     {"folio_wait_bit_common", "folio_wait_writeback", "__filemap_fdatawait_range", "file_write_and_wait_range",
      "ext4_sync_file", "vfs_fsync_range", "do_fsync", "do_syscall_64"}},
    {WaitCause::kFile,
     WaitKind::kDisk,
     __NR_fsync,
     {"__schedule", "schedule", "jbd2_log_wait_commit", "ext4_fsync_journal", "ext4_sync_file", "vfs_fsync_range",
      "do_fsync", "do_syscall_64"}},
    {WaitCause::kFile,
     WaitKind::kSleeping,
     __NR_read,
     {"__schedule", "schedule", "request_wait_answer", "__fuse_simple_request", "fuse_direct_io", "vfs_read",
      "do_syscall_64"}},
    {WaitCause::kNetwork,
     WaitKind::kSleeping,
     __NR_read,
     {"__schedule", "schedule", "schedule_timeout", "wait_woken", "sk_wait_data", "tcp_recvmsg_locked", "tcp_recvmsg",
      "inet_recvmsg", "sock_recvmsg", "sock_read_iter", "vfs_read", "ksys_read", "do_syscall_64"}},
    {WaitCause::kNetwork,
     WaitKind::kSleeping,
     __NR_read,
     {"__schedule", "schedule", "schedule_timeout", "unix_stream_read_generic", "unix_stream_recvmsg", "sock_read_iter",
      "vfs_read", "do_syscall_64"}},
    {WaitCause::kNetwork,
     WaitKind::kSleeping,
     __NR_accept4,
     {"__schedule", "schedule", "schedule_timeout", "inet_csk_accept", "inet_accept", "do_accept", "__sys_accept4",
      "do_syscall_64"}},
    {WaitCause::kPoll,
     WaitKind::kSleeping,
     __NR_epoll_wait,
     {"__schedule", "schedule", "schedule_hrtimeout_range_clock", "ep_poll", "do_epoll_wait", "__x64_sys_epoll_wait",
      "do_syscall_64"}},
    {WaitCause::kPoll,
     WaitKind::kSleeping,
     __NR_poll,
     {"__schedule", "schedule", "schedule_hrtimeout_range_clock", "do_poll.constprop.0", "do_sys_poll",
      "__x64_sys_poll", "do_syscall_64"}},
    {WaitCause::kPoll,
     WaitKind::kSleeping,
     __NR_select,
     {"__schedule", "schedule", "schedule_hrtimeout_range_clock", "do_select", "core_sys_select", "kern_select",
      "do_syscall_64"}},
    {WaitCause::kPipe,
     WaitKind::kSleeping,
     __NR_read,
     {"__schedule", "schedule", "pipe_read", "vfs_read", "ksys_read", "do_syscall_64"}},
    {WaitCause::kPipe,  // since 6.17
     WaitKind::kSleeping,
     __NR_write,
     {"__schedule", "schedule", "anon_pipe_write", "vfs_write", "ksys_write", "do_syscall_64"}},
    {WaitCause::kChild,
     WaitKind::kSleeping,
     __NR_wait4,
     {"__schedule", "schedule", "do_wait", "kernel_wait4", "__do_sys_wait4", "do_syscall_64"}},
    {WaitCause::kVfork,
     WaitKind::kDisk,
     __NR_clone,
     {"__schedule", "schedule", "schedule_timeout", "__wait_for_common", "wait_for_completion_state", "kernel_clone",
      "__do_sys_clone", "do_syscall_64"}},
    {WaitCause::kOther,  // there is no child yet
     WaitKind::kDisk,
     __NR_clone,
     {"__schedule", "schedule", "schedule_timeout", "__wait_for_common", "wait_for_completion", "copy_process",
      "kernel_clone", "__do_sys_clone", "do_syscall_64"}},
    {WaitCause::kPageFault,  // though it reads from a disk: no call asked for it
     WaitKind::kDisk,
     kNoSystemCall,
     {"__schedule", "schedule", "io_schedule", "folio_wait_bit_common", "filemap_fault", "__do_fault", "do_fault",
      "__handle_mm_fault", "handle_mm_fault", "do_user_addr_fault", "exc_page_fault", "asm_exc_page_fault"}},
    {WaitCause::kBlockIo,  // in a call it is part of that
     WaitKind::kDisk,
     __NR_write,
     {"__schedule", "schedule", "io_schedule", "folio_wait_bit_common", "filemap_fault", "exc_page_fault",
      "asm_exc_page_fault", "fault_in_readable", "generic_perform_write", "vfs_write", "do_syscall_64"}},
    {WaitCause::kPageFault,
     WaitKind::kSleeping,
     __NR_read,
     {"__schedule", "schedule", "handle_userfault", "do_anonymous_page", "handle_mm_fault", "exc_page_fault",
      "asm_exc_page_fault", "rep_movs_alternative", "anon_pipe_read", "vfs_read", "do_syscall_64"}},
    {WaitCause::kPreempted,
     WaitKind::kPreempted,
     kNoSystemCall,
     {"__schedule", "schedule", "irqentry_exit_to_user_mode", "asm_sysvec_apic_timer_interrupt"}},
    {WaitCause::kPreempted,  // on its way back, whatever the call was
     WaitKind::kPreempted,
     __NR_futex,
     {"__schedule", "schedule", "syscall_exit_to_user_mode", "do_syscall_64"}},
    {WaitCause::kThrottled,
     WaitKind::kThrottled,
     kNoSystemCall,
     {"__schedule", "schedule", "exit_to_user_mode_loop", "irqentry_exit_to_user_mode",
      "asm_sysvec_apic_timer_interrupt"}},
    {WaitCause::kPreempted, WaitKind::kYielded, __NR_sched_yield, {"__schedule", "schedule", "__x64_sys_sched_yield"}},
    {WaitCause::kFutex,  // woken between its decision to wait and the wait
     WaitKind::kPreempted,
     __NR_futex,
     {"__schedule", "schedule", "futex_wait_queue", "__futex_wait", "futex_wait", "do_futex", "__x64_sys_futex",
      "do_syscall_64"}},
    {WaitCause::kFutex,  // likewise, from 6.15 on
     WaitKind::kPreempted,
     __NR_futex,
     {"__schedule", "schedule", "futex_do_wait", "__futex_wait", "futex_wait", "do_futex", "__x64_sys_futex",
      "do_syscall_64"}},
    {WaitCause::kPreempted,  // woken, and on its way back when another thread took its CPU
     WaitKind::kPreempted,
     __NR_futex,
     {"__schedule", "schedule", "exit_to_user_mode_loop", "do_syscall_64", "entry_SYSCALL_64_after_hwframe"}},
    {WaitCause::kPreempted,  // interrupted in the kernel
     WaitKind::kPreempted,
     __NR_futex,
     {"__schedule", "preempt_schedule_irq", "irqentry_exit", "asm_sysvec_apic_timer_interrupt", "futex_wait_setup",
      "__futex_wait", "do_futex", "do_syscall_64"}},
    {WaitCause::kPoll,
     WaitKind::kPreempted,
     __NR_epoll_wait,
     {"__schedule", "schedule", "schedule_hrtimeout_range_clock", "ep_poll", "do_epoll_wait", "do_syscall_64"}},
    {WaitCause::kFrozen,
     WaitKind::kSleeping,
     __NR_read,
     {"__schedule", "schedule", "do_freezer_trap", "get_signal", "arch_do_signal_or_restart", "do_syscall_64"}},
    {WaitCause::kFrozen,  // likewise, as compilers make it
     WaitKind::kSleeping,
     kNoSystemCall,
     {"__schedule", "schedule", "get_signal", "arch_do_signal_or_restart", "irqentry_exit_to_user_mode",
      "asm_sysvec_apic_timer_interrupt"}},
    {WaitCause::kOther,  // stopped, or frozen: nothing tells
     WaitKind::kOpen,
     kNoSystemCall,
     {"get_signal", "arch_do_signal_or_restart", "irqentry_exit_to_user_mode", "asm_sysvec_apic_timer_interrupt"}},
    {WaitCause::kOther,  // its core dump is being written
     WaitKind::kSleeping,
     kNoSystemCall,
     {"__schedule", "schedule", "schedule_timeout", "__wait_for_common", "vfs_coredump", "get_signal",
      "arch_do_signal_or_restart"}},
    {WaitCause::kPreempted,  // of an open wait only the stack tells it
     WaitKind::kOpen,
     __NR_read,
     {"__cond_resched", "anon_pipe_read", "vfs_read", "do_syscall_64"}},
    {WaitCause::kPreempted,  // a thread that has not run yet, made by a call of its parent
     WaitKind::kOther,
     __NR_clone3,
     {"schedule_tail", "ret_from_fork", "ret_from_fork_asm"}},
    {WaitCause::kOther,
     WaitKind::kSleeping,
     kNoSystemCall,
     {"__schedule", "schedule", "worker_thread", "kthread", "ret_from_fork", "ret_from_fork_asm"}},
    {WaitCause::kTerminal,
     WaitKind::kSleeping,
     __NR_read,
     {"__schedule", "schedule", "schedule_timeout", "wait_woken", "n_tty_read", "tty_read", "vfs_read",
      "do_syscall_64"}},
    {WaitCause::kFileLock,
     WaitKind::kSleeping,
     __NR_fcntl,
     {"__schedule", "schedule", "fcntl_setlk", "do_fcntl", "__x64_sys_fcntl", "do_syscall_64"}},
    {WaitCause::kMessageQueue,
     WaitKind::kSleeping,
     __NR_msgrcv,
     {"__schedule", "schedule", "do_msgrcv.constprop.0", "__x64_sys_msgrcv", "do_syscall_64"}},
    {WaitCause::kMessageQueue,
     WaitKind::kSleeping,
     __NR_mq_timedreceive,
     {"schedule_hrtimeout_range_clock", "wq_sleep.constprop.0", "do_mq_timedreceive", "do_syscall_64"}},
    {WaitCause::kSignal,
     WaitKind::kSleeping,
     __NR_read,
     {"__schedule", "schedule", "signalfd_read_iter", "vfs_read", "ksys_read", "do_syscall_64"}},
    {WaitCause::kSignal,
     WaitKind::kSleeping,
     __NR_rt_sigtimedwait,
     {"schedule_hrtimeout_range_clock", "do_sigtimedwait.isra.0", "__x64_sys_rt_sigtimedwait", "do_syscall_64"}},
    {WaitCause::kFileEvent,
     WaitKind::kSleeping,
     __NR_read,
     {"__schedule", "schedule", "schedule_timeout", "wait_woken", "inotify_read", "vfs_read", "do_syscall_64"}},
    {WaitCause::kFile,  // another process is to allow it
     WaitKind::kSleeping,
     __NR_openat,
     {"__schedule", "schedule", "fanotify_handle_event", "fsnotify", "__fsnotify_parent", "do_sys_openat2"}},
    {WaitCause::kStopped,
     WaitKind::kStopped,
     __NR_futex,
     {"__schedule", "schedule", "do_signal_stop", "get_signal", "do_syscall_64"}},
    {WaitCause::kStopped,
     WaitKind::kOpen,
     __NR_futex,
     {"do_signal_stop", "get_signal", "arch_do_signal_or_restart", "do_syscall_64"}},
    {WaitCause::kStopped,
     WaitKind::kOpen,
     __NR_read,
     {"schedule", "ptrace_stop", "ptrace_notify", "syscall_trace_enter", "do_syscall_64"}},
};

TEST(WaitCauseTest, IsToldByTheStack) {
  std::set<WaitCause> seen;
  for (const Example& example : kExamples) {
    seen.insert(example.cause);
    EXPECT_EQ(Name(CauseOf(example.kind, example.syscall, KernelFrames(example.kernel))), Name(example.cause))
        << example.syscall << " " << example.kernel[std::min<size_t>(2, example.kernel.size() - 1)];
  }
  EXPECT_EQ(seen.size(), static_cast<size_t>(kWaitCauseCount));
}

TEST(WaitCauseTest, WithoutAStackIsToldByTheSystemCall) {
  const std::pair<int32_t, WaitCause> calls[] = {
      {__NR_futex, WaitCause::kFutex},          {__NR_nanosleep, WaitCause::kSleep},
      {__NR_io_getevents, WaitCause::kBlockIo}, {__NR_fdatasync, WaitCause::kFile},
      {__NR_accept, WaitCause::kNetwork},       {__NR_epoll_pwait, WaitCause::kPoll},
      {__NR_waitid, WaitCause::kChild},         {__NR_vfork, WaitCause::kVfork},
      {__NR_clone3, WaitCause::kOther},         {__NR_read, WaitCause::kOther},
      {__NR_ioctl, WaitCause::kOther},          {__NR_restart_syscall, WaitCause::kOther},
      {kNoSystemCall, WaitCause::kOther},
  };
  for (const auto& [syscall, cause] : calls) {
    EXPECT_EQ(Name(CauseOf(WaitKind::kSleeping, syscall, {})), Name(cause)) << syscall;
    EXPECT_EQ(CauseOf(WaitKind::kPreempted, syscall, {}), WaitCause::kPreempted) << syscall;
  }
}

// A name that only begins as one with a rule does, or ends so, is another function.
TEST(WaitCauseTest, NamesAreWholeUnlessTheyAreSpecialized) {
  const auto cause_of = [](std::string_view name) {
    return CauseOf(WaitKind::kSleeping, kNoSystemCall, KernelFrames({"schedule", name}));
  };
  EXPECT_EQ(cause_of("do_wait"), WaitCause::kChild);
  EXPECT_EQ(cause_of("do_wait.part.0"), WaitCause::kChild);
  EXPECT_EQ(cause_of("do_wait_intr"), WaitCause::kOther);
  EXPECT_EQ(cause_of("my_do_wait"), WaitCause::kOther);
  EXPECT_EQ(cause_of("tcp_"), WaitCause::kNetwork);
  EXPECT_EQ(cause_of("mytcp_recvmsg"), WaitCause::kOther);
  EXPECT_EQ(cause_of(""), WaitCause::kOther);
}

TEST(WaitCauseTest, RowsOfOneStackDifferByKindAndSystemCall) {
  NamedProfile profile;
  profile.kernel_stacks = {{.frames = KernelFrames({"schedule", "pipe_read"})}, {}};
  WaitCauses causes(profile);
  RowKey row = {.kernel_stack = 0, .kind = WaitKind::kSleeping, .syscall = __NR_read};
  EXPECT_EQ(causes.Of(row), WaitCause::kPipe);
  row.kind = WaitKind::kYielded;
  EXPECT_EQ(causes.Of(row), WaitCause::kPreempted);
  row = {.kernel_stack = 1, .kind = WaitKind::kSleeping, .syscall = __NR_futex};
  EXPECT_EQ(causes.Of(row), WaitCause::kFutex);
  row.syscall = __NR_poll;
  EXPECT_EQ(causes.Of(row), WaitCause::kPoll);
}

TEST(WaitCauseTest, EveryCauseHasItsOwnName) {
  std::set<std::string_view> names;
  for (int i = 0; i < kWaitCauseCount; ++i) names.insert(Name(static_cast<WaitCause>(i)));
  EXPECT_EQ(names.size(), static_cast<size_t>(kWaitCauseCount));
  EXPECT_FALSE(names.contains(""));
}

// What files had before there were causes for it.
TEST(WaitCauseTest, LocksAreAFamilyAndOthersAreTheirOwn) {
  std::set<WaitCause> locks;
  for (int i = 0; i < kWaitCauseCount; ++i) {
    const auto cause = static_cast<WaitCause>(i);
    if (Family(cause) == "lock") {
      locks.insert(cause);
    } else {
      EXPECT_EQ(Family(cause), Name(cause));
    }
  }
  EXPECT_EQ(locks, (std::set<WaitCause>{WaitCause::kFutex, WaitCause::kMutex, WaitCause::kFileLock,
                                        WaitCause::kSemaphore, WaitCause::kKernelLock}));
}

TEST(WaitCauseTest, WhatHasBeenJudgedIsTheName) {
  NamedProfile profile;
  profile.kernel_stacks = {{.frames = KernelFrames({"schedule", "futex_wait", "do_futex"})}};
  WaitCauses causes(profile);
  NamedRow row = {{{.kernel_stack = 0, .kind = WaitKind::kSleeping, .syscall = __NR_futex}, {}}};
  EXPECT_EQ(causes.NameOf(row), "futex");
  row.wait = "join";
  EXPECT_EQ(causes.NameOf(row), "join");
}

}  // namespace
}  // namespace offcpu
