#include "daemon/blocked_times.h"

#include <asm/unistd_64.h>
#include <fcntl.h>

#include <chrono>
#include <future>
#include <memory>
#include <thread>
#include <utility>

#include "gtest/gtest.h"
#include "os/owned_fd.h"
#include "os/reader_pool.h"
#include "process/module.h"
#include "tests/export/windows.h"

namespace offcpu {
namespace {

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
  for (const auto& [by, time] : sums.times) total += time.work_ns + time.idle_ns;
  return total;
}

BlockedSums Await(const BlockedTimes& times, uint64_t total) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (Total(times.sums()) < total && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  return times.sums();
}

TEST(BlockedTimesTest, AreByCause) {
  const std::unique_ptr<BlockedTimes> times = *BlockedTimes::Start();
  times->Configure(true);
  times->Add(AWindow(100, 20));
  times->Add(AWindow(3, 1));
  const BlockedSums sums = Await(*times, 124);
  EXPECT_EQ(sums.times.at({"lock", "futex"}).work_ns, 103u);
  EXPECT_EQ(sums.times.at({"sleep", "sleep"}).work_ns, 21u);
  EXPECT_EQ(Total(sums), 124u) << "waiting for a CPU has no cause";
  for (const auto& [by, time] : sums.times) EXPECT_EQ(time.idle_ns, 0u) << by.cause;
}

// A counter that is there from the beginning shows its first growth, too.
TEST(BlockedTimesTest, HaveEachCauseThatThereCanBe) {
  const std::unique_ptr<BlockedTimes> times = *BlockedTimes::Start();
  IdlePatterns patterns;
  ASSERT_TRUE(AddIdlePatterns("[a]\nwait = row\ncause = futex | poll\nstack = f\n"
                              "[b]\nwait = nap\nsyscall = nanosleep\nstack = f\n"
                              "[for work]\nsyscall = read\nstack = f\n",
                              "f", &patterns)
                  .ok());
  times->Configure(true, patterns);
  const BlockedSums sums = times->sums();
  EXPECT_EQ(Total(sums), 0u);
  for (const BlockedBy& by : {BlockedBy{"lock", "futex"}, BlockedBy{"lock", "kernel lock"}, BlockedBy{"lock", "row"},
                              BlockedBy{"poll", "row"}, BlockedBy{"sleep", "nap"}, BlockedBy{"other", "other"}})
    EXPECT_TRUE(sums.times.contains(by)) << by.family << " " << by.cause;
  EXPECT_FALSE(sums.times.contains({"preempted", "preempted"})) << "that is not blocked";
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

// However many there are at a time, their time is all there. The names of the first one are not to be had, for as long
// as is waited for those of two modules.
TEST(BlockedTimesTest, WhatThereIsNoTimeForIsCountedWithoutItsCause) {
  std::promise<void> read;
  const auto readers = std::make_shared<ReaderPool>(ReaderLimits{.threads = 1});
  std::shared_ptr<ReaderPool::Task> hangs;
  const auto hang = [end = read.get_future().share()] { end.wait(); };
  ASSERT_EQ(readers->Submit({}, std::chrono::hours(1), hang, &hangs), ReadTaken::kYes);
  const std::unique_ptr<BlockedTimes> times = *BlockedTimes::Start();
  times->Configure(true);
  times->Add(AWindowWithModules(2, readers));
  constexpr uint64_t kWindows = 1000;
  for (uint64_t i = 1; i < kWindows; ++i) times->Add(AWindow(100, 20));
  const BlockedSums sums = Await(*times, kWindows * 120);
  EXPECT_EQ(Total(sums), kWindows * 120);
  EXPECT_GT(sums.not_told_ns, 0u);
  read.set_value();
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
