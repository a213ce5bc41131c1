#include "classify/system_calls.h"

#include <asm/unistd_64.h>

#include <optional>
#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "profile/profile.h"

namespace offcpu {
namespace {

// By the headers of the system that this is built on: from the beginning, the middle and the end of each range.
TEST(SystemCallsTest, NamesAreTheKernels) {
  const std::pair<int32_t, std::string> calls[] = {
      {__NR_read, "read"},
      {__NR_poll, "poll"},
      {__NR_sched_yield, "sched_yield"},
      {__NR_nanosleep, "nanosleep"},
      {__NR_accept, "accept"},
      {__NR_vfork, "vfork"},
      {__NR_wait4, "wait4"},
      {__NR_flock, "flock"},
      {__NR_rt_sigtimedwait, "rt_sigtimedwait"},
      {__NR_gettid, "gettid"},
      {__NR_futex, "futex"},
      {__NR_restart_syscall, "restart_syscall"},
      {__NR_epoll_wait, "epoll_wait"},
      {__NR_openat, "openat"},
      {__NR_recvmmsg, "recvmmsg"},
      {__NR_io_pgetevents, "io_pgetevents"},
      {__NR_rseq, "rseq"},
      {__NR_pidfd_send_signal, "pidfd_send_signal"},
      {__NR_io_uring_enter, "io_uring_enter"},
      {__NR_epoll_pwait2, "epoll_pwait2"},
      {__NR_futex_waitv, "futex_waitv"},
      {__NR_set_mempolicy_home_node, "set_mempolicy_home_node"},
  };
  for (const auto& [number, name] : calls) EXPECT_EQ(SystemCallName(number), name) << number;
  // Newer than the oldest headers that this is built with.
  EXPECT_EQ(SystemCallName(455), "futex_wait");
  EXPECT_EQ(SystemCallName(462), "mseal");
  EXPECT_EQ(SystemCallName(469), "file_setattr");
}

TEST(SystemCallsTest, OneWithoutANameIsANumber) {
  EXPECT_EQ(SystemCallName(337), "#337");
  EXPECT_EQ(SystemCallName(423), "#423");
  EXPECT_EQ(SystemCallName(470), "#470");
  EXPECT_EQ(SystemCallName(kNoSystemCall), "");
}

TEST(SystemCallsTest, ANumberComesBackFromItsName) {
  for (int32_t number = kNoSystemCall; number < kSystemCalls; ++number) {
    EXPECT_EQ(SystemCallNumber(SystemCallName(number)), number);
  }
}

// Files have names, and AArch64 has none that x86-64 lacks: these are from the kernel's asm-generic/unistd.h.
TEST(SystemCallsTest, NamesOfAArch64AreKnown) {
  for (const std::string name :
       {"io_setup", "getdents64", "pselect6", "ppoll", "newfstatat", "futex", "nanosleep", "epoll_pwait", "renameat",
        "recvmmsg", "wait4", "fadvise64", "sync_file_range", "clone3", "epoll_pwait2", "futex_waitv"}) {
    const std::optional<int32_t> number = SystemCallNumber(name);
    ASSERT_TRUE(number.has_value()) << name;
    EXPECT_EQ(SystemCallName(*number), name);
  }
}

TEST(SystemCallsTest, OtherTextsAreNone) {
  for (const std::string text :
       {"Read", "read ", "reads", "#", "#-1", "#0", "#0337", "# 337", "#1024", "#4294967633", "337"}) {
    EXPECT_EQ(SystemCallNumber(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace offcpu
