// How long threads that wait are seen to wait, and how many of those that wait shortly are seen whole.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <map>
#include <memory>
#include <thread>

#include "bpf_programs/kernel.h"
#include "bpf_programs/programs.h"
#include "recorder/listing.h"
#include "recorder/live.h"
#include "recorder/process_stacks.h"
#include "tests/harness/harness.h"

namespace offcpu::integration {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

uint64_t Ns(steady_clock::duration time) { return static_cast<uint64_t>(std::chrono::nanoseconds(time).count()); }

std::unique_ptr<Target> Blocked(const std::vector<std::string>& options = {}) {
  std::vector<std::string> words = {"blocked"};
  words.insert(words.end(), options.begin(), options.end());
  return Target::Start(words);
}

// The scheduler's clock and CLOCK_MONOTONIC drift apart, by seconds in days.
TEST(Live, HowLongAWaitHasLastedIsToldByTheClocksAsTheyAreNow) {
  const std::unique_ptr<Target> target = Blocked();
  ASSERT_NE(target, nullptr);
  const absl::StatusOr<KernelFeatures> features = ProbeKernel();
  ASSERT_TRUE(features.ok()) << features.status();
  if (!features->rq_clock) GTEST_SKIP() << "this kernel's waits are measured by CLOCK_MONOTONIC";
  const absl::StatusOr<std::unique_ptr<Programs>> programs =
      Programs::Load(ProgramsConfigOf(Unthrottled({target->pid()})), *features);
  ASSERT_TRUE(programs.ok()) << programs.status();
  const uint64_t before_ns = Ns(steady_clock::now().time_since_epoch());
  (*programs)->Arm();
  const uint64_t start_ns = (*programs)->span().start_ns;
  const uint64_t offset = start_ns - before_ns;
  std::this_thread::sleep_for(milliseconds(200));
  constexpr uint64_t kLongNs = 100'000'000;
  const auto count_long = [&] { return (*programs)->ListThreads({}, kLongNs)->size(); };
  (*programs)->SetClockOffset(offset - 10'000'000'000);
  EXPECT_EQ(count_long(), 0u) << "by this clock they have not begun";
  (*programs)->SetClockOffset(offset);
  EXPECT_EQ(count_long(), 4u);
  EXPECT_EQ(count_long(), 0u) << "each wait once";
  EXPECT_EQ((*programs)->span().start_ns, start_ns) << "the past stays what it was";
}

// They do not wait for as long as it takes to look at all of them.
TEST(ProcessStacksTest, OfThreadsThatWaitShortly) {
  const std::unique_ptr<Target> target =
      Target::Start({"nappers", "--threads", "50", "--nap-ms", "2", "--seconds", "60"});
  ASSERT_NE(target, nullptr);
  target->Go();
  std::map<NoUserStack, int> missing;
  for (int full = 0; full < 10;) {
    const absl::StatusOr<ProcessStacks> stacks = ReadProcessStacks(target->pid(), UnwindOrder());
    ASSERT_TRUE(stacks.ok()) << stacks.status();
    if (stacks->profile.rows.size() < 51) continue;  // they are being made
    ++full;
    for (const ProfileRow& row : stacks->profile.rows) {
      const UserStackEntry& entry = stacks->profile.user_stacks[row.user_stack];
      ++missing[entry.missing];
      EXPECT_TRUE(entry.missing != NoUserStack::kNone || entry.stack.end == EndReason::kComplete);
    }
  }
  for (const auto& [why, count] : missing) std::printf("%s: %d\n", std::string(Name(why)).c_str(), count);
  EXPECT_GT(missing[NoUserStack::kNone], 250) << "of 510";
  EXPECT_LE(missing[NoUserStack::kStale], 5) << "each has its stack, or runs";
}

}  // namespace
}  // namespace offcpu::integration
