#include "labels/plumbing.h"

#include "gtest/gtest.h"

namespace offcpu {
namespace {

TEST(Plumbing, IsTheWayIntoTheKernelAndTheScheduler) {
  for (const char* name : {"entry_SYSCALL_64_after_hwframe", "do_syscall_64", "x64_sys_call", "schedule", "__schedule",
                           "schedule_timeout", "io_schedule", "exit_to_user_mode_loop", "schedule.constprop.0"})
    EXPECT_TRUE(IsPlumbing(name)) << name;
  for (const char* name : {"futex_wait", "do_nanosleep", "__x64_sys_futex", "schedule_work", "reschedule", ""})
    EXPECT_FALSE(IsPlumbing(name)) << name;
}

// What the kernel marks __sched: kernel/sched/, kernel/locking/, kernel/time/hrtimer.c.
TEST(Plumbing, SchedulerCodeIsWhatTheKernelLeavesOutOfStacksOfWaitingThreads) {
  for (const char* name : {"__schedule", "schedule_hrtimeout_range_clock", "do_nanosleep", "__mutex_lock",
                           "rwsem_down_read_slowpath", "__wait_for_common", "out_of_line_wait_on_bit"})
    EXPECT_TRUE(IsSchedulerCode(name)) << name;
  for (const char* name : {"hrtimer_nanosleep", "futex_do_wait", "anon_pipe_read", "do_epoll_wait"})
    EXPECT_FALSE(IsSchedulerCode(name)) << name;
}

}  // namespace
}  // namespace offcpu
