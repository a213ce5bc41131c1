#include "bpf_programs/i386_calls.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <string>

#include "profile/profile_row.h"

namespace offcpu {
namespace {

// From arch/x86/entry/syscalls/syscall_32.tbl and syscall_64.tbl.
TEST(I386CallsTest, HaveTheNumberOfTheSameCall) {
  EXPECT_EQ(NativeCallOfI386(3), 0) << "read";
  EXPECT_EQ(NativeCallOfI386(4), 1) << "write";
  EXPECT_EQ(NativeCallOfI386(158), 24) << "sched_yield";
  EXPECT_EQ(NativeCallOfI386(162), 35) << "nanosleep";
  EXPECT_EQ(NativeCallOfI386(256), 232) << "epoll_wait";
  EXPECT_EQ(NativeCallOfI386(423), 148) << "sched_rr_get_interval_time64, the last of its kind";
  EXPECT_EQ(NativeCallOfI386(424), 424) << "pidfd_send_signal, the first that is alike";
  EXPECT_EQ(NativeCallOfI386(449), 449) << "futex_waitv";
}

TEST(I386CallsTest, OfAnotherFormHaveThatOfTheSamePurpose) {
  EXPECT_EQ(NativeCallOfI386(7), 61) << "waitpid: wait4";
  EXPECT_EQ(NativeCallOfI386(142), 23) << "_newselect: select";
  EXPECT_EQ(NativeCallOfI386(407), 230) << "clock_nanosleep_time64: clock_nanosleep";
  EXPECT_EQ(NativeCallOfI386(422), 202) << "futex_time64: futex";
}

TEST(I386CallsTest, WithoutCounterpartHaveNone) {
  EXPECT_EQ(NativeCallOfI386(102), kNoSystemCall) << "socketcall";
  EXPECT_EQ(NativeCallOfI386(117), kNoSystemCall) << "ipc";
  EXPECT_EQ(NativeCallOfI386(415), kNoSystemCall) << "a hole";
  EXPECT_EQ(NativeCallOfI386(-1), kNoSystemCall);
  EXPECT_EQ(NativeCallOfI386(kSystemCalls - 1), kSystemCalls - 1);
  EXPECT_EQ(NativeCallOfI386(kSystemCalls), kNoSystemCall);
}

// The numbers that a C library's headers have for one machine, by name.
std::map<std::string, int32_t> NumbersOf(const std::string& file) {
  std::map<std::string, int32_t> numbers;
  std::ifstream header("/usr/include/x86_64-linux-gnu/asm/" + file);
  const std::string prefix = "__NR_";
  for (std::string define, name, value; header >> define;) {
    if (define == "#define" && header >> name && name.starts_with(prefix) && header >> value)
      numbers[name.substr(prefix.size())] = std::stoi(value);
  }
  return numbers;
}

TEST(I386CallsTest, AreThoseOfTheHeadersOfTheKernel) {
  const std::map<std::string, int32_t> i386 = NumbersOf("unistd_32.h");
  const std::map<std::string, int32_t> x86_64 = NumbersOf("unistd_64.h");
  if (i386.empty() || x86_64.empty()) GTEST_SKIP() << "the headers are not there";
  int compared = 0;
  for (const auto& [name, number] : i386) {
    const auto same = x86_64.find(name);
    if (same == x86_64.end()) continue;
    EXPECT_EQ(NativeCallOfI386(number), same->second) << name;
    ++compared;
  }
  EXPECT_GT(compared, 300);
}

}  // namespace
}  // namespace offcpu
