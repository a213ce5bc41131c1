#include "recorder/scheduler_clock.h"

#include <time.h>

#include "gtest/gtest.h"

namespace offcpu {
namespace {

uint64_t NowNs(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

TEST(SchedulerClockTest, WithoutItsOwnItIsTheMonotonicOne) {
  const SchedulerClock clock(false);
  const uint64_t before = NowNs(CLOCK_MONOTONIC);
  const uint64_t read = clock.ReadNs();
  EXPECT_GE(read, before);
  EXPECT_LE(read, NowNs(CLOCK_MONOTONIC));
}

// The hardware's clock, slewed by nobody, is the other source. What lies between the readings of the two is known.
TEST(SchedulerClockTest, GoesOnAsTheHardwareDoes) {
  const SchedulerClock clock(true);
  const uint64_t before_first = NowNs(CLOCK_MONOTONIC_RAW);
  const uint64_t first = clock.ReadNs();
  const uint64_t after_first = NowNs(CLOCK_MONOTONIC_RAW);
  const timespec pause = {.tv_sec = 0, .tv_nsec = 300'000'000};
  nanosleep(&pause, nullptr);
  const uint64_t before_second = NowNs(CLOCK_MONOTONIC_RAW);
  const uint64_t second = clock.ReadNs();
  const uint64_t after_second = NowNs(CLOCK_MONOTONIC_RAW);
  // Where perf may not be used it is CLOCK_MONOTONIC, which is slewed by 500 parts in a million at most.
  constexpr uint64_t kSlewNs = 300 * 500;
  EXPECT_GE(second - first + kSlewNs, before_second - after_first);
  EXPECT_LE(second - first, after_second - before_first + kSlewNs);
}

}  // namespace
}  // namespace offcpu
