#include "daemon/blocked_times.h"

#include <asm/unistd_64.h>
#include <fcntl.h>

#include <chrono>
#include <future>
#include <memory>
#include <thread>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "process/module.h"
#include "process/owned_fd.h"
#include "process/reader_pool.h"
#include "tests/export/windows.h"

namespace offcpu {
namespace {

using ::testing::Each;

// Without stacks: the system call says what they wait for.
Profile AProfile(uint64_t lock_ns, uint64_t sleep_ns) {
  Profile profile;
  profile.processes = {{.key = {.pid = 10, .start_ns = 5, .exec_id = 0}, .name = "server", .container = ""}};
  profile.comms = {"worker"};
  profile.kernel_stacks = {{.id = 1}};
  profile.user_stacks = {{.missing = NoUserStack::kLost}};
  profile.rows = {{{.syscall = __NR_futex}, {.count = 1, .blocked_ns = lock_ns}},
                  {{.syscall = __NR_clock_nanosleep}, {.count = 1, .blocked_ns = sleep_ns, .runnable_ns = 77}}};
  return profile;
}

std::shared_ptr<EndedWindow> AWindow(uint64_t lock_ns, uint64_t sleep_ns) {
  return Ended({std::make_shared<const Profile>(AProfile(lock_ns, sleep_ns))});
}

// Whose names are in so many files.
std::shared_ptr<EndedWindow> AWindowWithModules(int modules, std::shared_ptr<ReaderPool> readers) {
  Profile profile = AProfile(100, 20);
  UserStack stack;
  for (int i = 0; i < modules; ++i) {
    auto module = std::make_shared<Module>();
    module->path = "/proc/self/exe";
    module->file = OwnedFd(open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
    stack.frames.push_back({.code = module.get(), .address = 0x1000});
    profile.code.push_back(std::move(module));
  }
  profile.user_stacks.push_back({.stack = std::move(stack)});
  profile.rows[0].user_stack = 1;  // what no row has is not named
  return Ended({std::make_shared<const Profile>(std::move(profile))}, std::move(readers));
}

uint64_t Total(const BlockedSums& sums) {
  uint64_t total = sums.not_told_ns;
  for (const uint64_t ns : sums.work_ns) total += ns;
  for (const uint64_t ns : sums.idle_ns) total += ns;
  return total;
}

BlockedSums Await(const BlockedTimes& times, uint64_t total) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (Total(times.sums()) < total && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  return times.sums();
}

uint64_t Of(const BlockedSums& sums, WaitCause cause) { return sums.work_ns[static_cast<size_t>(cause)]; }

TEST(BlockedTimesTest, AreByCause) {
  const std::unique_ptr<BlockedTimes> times = *BlockedTimes::Start();
  times->Configure(true);
  times->Add(AWindow(100, 20));
  times->Add(AWindow(3, 1));
  const BlockedSums sums = Await(*times, 124);
  EXPECT_EQ(Of(sums, WaitCause::kLock), 103u);
  EXPECT_EQ(Of(sums, WaitCause::kSleep), 21u);
  EXPECT_EQ(Total(sums), 124u) << "waiting for a CPU has no cause";
  EXPECT_THAT(sums.idle_ns, Each(0u));
}

TEST(BlockedTimesTest, NothingIsNamedThatIsNotWanted) {
  const std::unique_ptr<BlockedTimes> times = *BlockedTimes::Start();
  times->Add(AWindow(100, 20));
  times->Configure(false);
  times->Add(AWindow(100, 20));
  times->Configure(true);
  times->Add(Ended({}));
  times->Add(AWindow(1, 0));
  EXPECT_EQ(Total(Await(*times, 1)), 1u);
}

// However many there are at a time, their time is all there.
TEST(BlockedTimesTest, WhatThereIsNoTimeForIsCountedWithoutItsCause) {
  const std::unique_ptr<BlockedTimes> times = *BlockedTimes::Start();
  times->Configure(true);
  constexpr uint64_t kWindows = 1000;
  for (uint64_t i = 0; i < kWindows; ++i) times->Add(AWindow(100, 20));
  const BlockedSums sums = Await(*times, kWindows * 120);
  EXPECT_EQ(Total(sums), kWindows * 120);
  EXPECT_GT(sums.not_told_ns, 0u) << "one takes longer to name than to add";
}

TEST(BlockedTimesTest, NamesThatCouldNotBeReadAreTold) {
  std::promise<void> read;
  const auto readers = std::make_shared<ReaderPool>(ReaderLimits{.threads = 1});
  std::shared_ptr<ReaderPool::Task> hangs;
  const auto hang = [end = read.get_future().share()] { end.wait(); };
  ASSERT_EQ(readers->Submit({}, std::chrono::hours(1), hang, &hangs), ReadTaken::kYes);
  const std::unique_ptr<BlockedTimes> times = *BlockedTimes::Start();
  times->Configure(true);
  times->Add(AWindowWithModules(2, readers));
  const BlockedSums sums = Await(*times, 120);
  ASSERT_EQ(sums.lost_names.size(), 1u);
  EXPECT_EQ(sums.lost_names[0].reason, "names of a module not read in time");
  EXPECT_EQ(sums.lost_names[0].count, 2u);
  read.set_value();
}

// The files of all modules hang, each for as long as is waited for one: together for longer than a test may take.
TEST(BlockedTimesTest, ItsEndWaitsForNoRead) {
  std::promise<void> read;
  const auto readers = std::make_shared<ReaderPool>(ReaderLimits{.threads = 1});
  std::shared_ptr<ReaderPool::Task> hangs;
  const auto hang = [end = read.get_future().share()] { end.wait(); };
  ASSERT_EQ(readers->Submit({}, std::chrono::hours(1), hang, &hangs), ReadTaken::kYes);
  std::unique_ptr<BlockedTimes> times = *BlockedTimes::Start();
  times->Configure(true);
  // There is room for one more than may wait when one is being named.
  for (size_t i = 0; i < BlockedTimes::kMostWaiting; ++i) times->Add(AWindowWithModules(400, readers));
  uint64_t not_told_ns = 0;
  do {
    not_told_ns = times->sums().not_told_ns;
    times->Add(AWindowWithModules(400, readers));
  } while (times->sums().not_told_ns != not_told_ns);
  times.reset();
  read.set_value();
}

}  // namespace
}  // namespace offcpu
