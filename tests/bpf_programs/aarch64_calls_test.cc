#include "bpf_programs/aarch64_calls.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <string>

#include "bpf_programs/wire_names.h"
#include "profile/profile_row.h"

namespace offcpu {
namespace {

// From include/uapi/asm-generic/unistd.h and arch/x86/entry/syscalls/syscall_64.tbl.
TEST(AArch64CallsTest, HaveTheNumberOfTheSameCall) {
  EXPECT_EQ(ProfileCallOfAArch64(0), 206) << "io_setup";
  EXPECT_EQ(ProfileCallOfAArch64(22), 281) << "epoll_pwait";
  EXPECT_EQ(ProfileCallOfAArch64(63), 0) << "read";
  EXPECT_EQ(ProfileCallOfAArch64(98), 202) << "futex";
  EXPECT_EQ(ProfileCallOfAArch64(101), 35) << "nanosleep";
  EXPECT_EQ(ProfileCallOfAArch64(115), 230) << "clock_nanosleep";
  EXPECT_EQ(ProfileCallOfAArch64(124), 24) << "sched_yield";
  EXPECT_EQ(ProfileCallOfAArch64(220), 56) << "clone";
  EXPECT_EQ(ProfileCallOfAArch64(294), 320) << "kexec_file_load, the last of its kind";
  EXPECT_EQ(ProfileCallOfAArch64(424), 424) << "pidfd_send_signal, the first that is alike";
  EXPECT_EQ(ProfileCallOfAArch64(449), 449) << "futex_waitv";
}

TEST(AArch64CallsTest, WithoutCounterpartHaveNone) {
  EXPECT_EQ(ProfileCallOfAArch64(-1), kNoSystemCall);
  EXPECT_EQ(ProfileCallOfAArch64(244), kNoSystemCall) << "of another architecture";
  EXPECT_EQ(ProfileCallOfAArch64(295), kNoSystemCall);
  EXPECT_EQ(ProfileCallOfAArch64(423), kNoSystemCall) << "of 32-bit machines";
  EXPECT_EQ(ProfileCallOfAArch64(kSystemCalls - 1), kSystemCalls - 1);
  EXPECT_EQ(ProfileCallOfAArch64(kSystemCalls), kNoSystemCall);
}

// The machine says what a number means, and what one of 32-bit code does.
TEST(AArch64CallsTest, AreThoseOfTheirMachine) {
  EXPECT_EQ(SystemCallOf(kX86_64, 98), 98) << "getrusage";
  EXPECT_EQ(SystemCallOf(kAArch64, 98), 202) << "futex";
  EXPECT_EQ(SystemCallOf(kX86_64, 3 | WIRE_32_BIT_CALL), 0) << "read of i386";
  EXPECT_EQ(SystemCallOf(kAArch64, 3 | WIRE_32_BIT_CALL), kNoSystemCall) << "of AArch32";
  EXPECT_EQ(SystemCallOf(kAArch64, -1), kNoSystemCall);
}

// The numbers that the kernel's headers have, by name. Names that are of an older or a newer form of a call differ.
std::map<std::string, int32_t> NumbersOf(const std::string& file) {
  std::map<std::string, int32_t> numbers;
  std::ifstream header(file);
  const std::string prefix = "__NR_", wide = "__NR3264_";
  for (std::string define, name, value; header >> define;) {
    if (define != "#define" || !(header >> name >> value) || value.find_first_not_of("0123456789") != std::string::npos)
      continue;
    if (name.starts_with(wide)) numbers[name.substr(wide.size())] = std::stoi(value);
    if (name.starts_with(prefix)) numbers[name.substr(prefix.size())] = std::stoi(value);
  }
  return numbers;
}

TEST(AArch64CallsTest, AreThoseOfTheHeadersOfTheKernel) {
  const std::map<std::string, int32_t> generic = NumbersOf("/usr/include/asm-generic/unistd.h");
  const std::map<std::string, int32_t> x86_64 = NumbersOf("/usr/include/x86_64-linux-gnu/asm/unistd_64.h");
  if (generic.empty() || x86_64.empty()) GTEST_SKIP() << "the headers are not there";
  int compared = 0;
  for (const auto& [name, number] : generic) {
    const auto same = x86_64.find(name);
    if (same == x86_64.end() || name.ends_with("_time64")) continue;
    EXPECT_EQ(ProfileCallOfAArch64(number), same->second) << name;
    ++compared;
  }
  EXPECT_GT(compared, 280);
}

}  // namespace
}  // namespace offcpu
