#include "recorder/ledger_maker.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace offcpu {
namespace {

using ::testing::SizeIs;

constexpr RecordedSpan kSpan = {.start_ns = 1'000, .end_ns = 11'000};
constexpr ProcessKey kProcess = {.pid = 10, .start_ns = 1, .exec_id = 2};

// Throughout the recording there: has waited for 3000 ns, was on a CPU for 500 ns, and is on one since 9000.
ThreadAccount Running() {
  return {.process = kProcess,
          .tid = 11,
          .comm = "worker",
          .arrived_ns = 9'000,
          .not_booked_ns = 1'990,
          .on_cpu_ns = 5'000,
          .stolen_ns = 10,
          .blocked_ns = 2'000,
          .runnable_ns = 1'000};
}

// The same, and off the CPU since 9000.
ThreadAccount Waiting() {
  ThreadAccount account = Running();
  account.arrived_ns = 8'000;
  account.out_ns = 9'000;
  account.not_booked_ns = 0;
  return account;
}

WaitingThread OpenOf(const ThreadAccount& account, uint64_t blocked_ns, uint64_t runnable_ns) {
  WaitingThread thread;
  thread.process = account.process;
  thread.tid = account.tid;
  thread.open = OpenWait{.blocked_ns = blocked_ns, .runnable_ns = runnable_ns};
  return thread;
}

LedgerEntry EntryOf(ThreadAccount account, const std::vector<WaitingThread>& waits = {},
                    const OpenWaitsConfig& config = {}) {
  LedgerMaker ledger(10);
  ledger.Add(std::move(account));
  ledger.AddWaits(waits, config);
  Profile profile;
  ledger.Finish(kSpan, profile);
  EXPECT_THAT(profile.ledger, SizeIs(1));
  return profile.ledger.empty() ? LedgerEntry() : profile.ledger[0];
}

TEST(LedgerTest, ThreadOnACpuAtTheEnd) {
  const LedgerEntry entry = EntryOf(Running());
  EXPECT_EQ(entry.tid, 11);
  EXPECT_EQ(entry.comm, "worker");
  EXPECT_EQ(entry.wall_ns, 10'000u);
  EXPECT_EQ(entry.on_cpu_ns, 5'000u + 1'990u);
  EXPECT_EQ(entry.stolen_ns, 10u);
  EXPECT_EQ(entry.blocked_ns, 2'000u);
  EXPECT_EQ(entry.runnable_ns, 1'000u);
  EXPECT_EQ(entry.rest_ns(), 0);
}

TEST(LedgerTest, WhatItRanAfterTheEndIsNotInIt) {
  ThreadAccount account = Running();
  account.not_booked_ns = 700'000;  // listed late
  EXPECT_EQ(EntryOf(account).on_cpu_ns, 5'000u + 2'000u);
  account.arrived_ns = 11'500;  // came after the end
  EXPECT_EQ(EntryOf(account).on_cpu_ns, 5'000u);
}

TEST(LedgerTest, WhatItRanBeforeTheStartIsNotInIt) {
  ThreadAccount account = {.process = kProcess, .tid = 11, .arrived_ns = 400, .not_booked_ns = 10'600};
  EXPECT_EQ(EntryOf(account).on_cpu_ns, 10'000u);
  EXPECT_EQ(EntryOf(account).rest_ns(), 0);
  account.not_booked_ns = 500;  // less than it could have run before the start
  EXPECT_EQ(EntryOf(account).on_cpu_ns, 0u);
}

TEST(LedgerTest, ThreadOffTheCpuAtTheEnd) {
  const LedgerEntry entry = EntryOf(Waiting(), {OpenOf(Waiting(), 1'500, 500)});
  EXPECT_EQ(entry.on_cpu_ns, 5'000u);
  EXPECT_EQ(entry.blocked_ns, 2'000u + 1'500u);
  EXPECT_EQ(entry.runnable_ns, 1'000u + 500u);
  EXPECT_EQ(entry.rest_ns(), 10'000 - 5'000 - 10 - 5'000);
}

// Nothing was seen of it but that it was there, and its wait was not listed.
TEST(LedgerTest, SleeperThatWasNotListed) {
  const LedgerEntry entry = EntryOf({.process = kProcess, .tid = 11});
  EXPECT_EQ(entry.lost_ns[static_cast<size_t>(LostTime::kGoneAtEnd)], 10'000u);
  EXPECT_EQ(entry.rest_ns(), 0);
}

TEST(LedgerTest, WaitOfAThreadThatWasGoneBeforeItCouldBeListed) {
  ThreadAccount account = Waiting();
  EXPECT_EQ(EntryOf(account).lost_ns[static_cast<size_t>(LostTime::kGoneAtEnd)], 2'000u);
  EXPECT_EQ(EntryOf(account).blocked_ns, 2'000u);
  account.out_ns = 12'000;
  EXPECT_EQ(EntryOf(account).lost_total_ns(), 0u);
}

TEST(LedgerTest, StretchThatWasBookedBeyondTheEndIsCut) {
  ThreadAccount account = Waiting();
  account.out_ns = 11'300;
  EXPECT_EQ(EntryOf(account).on_cpu_ns, 4'700u);
  EXPECT_EQ(EntryOf(account).blocked_ns, 2'000u);
}

TEST(LedgerTest, LifeThatWasBookedBeyondTheEndIsCutToo) {
  ThreadAccount account = Waiting();
  account.since_ns = 2'000;
  account.out_ns = account.until_ns = 11'300;
  EXPECT_EQ(EntryOf(account).wall_ns, 9'000u);
  EXPECT_EQ(EntryOf(account).on_cpu_ns, 4'700u);
}

TEST(LedgerTest, ThreadsOfOneNumberAndProgramAreOne) {
  LedgerMaker ledger(10);
  ThreadAccount before = Running();  // the first thread, before another one calls execve and takes its number
  before.until_ns = 4'000;
  ledger.Add(before);
  ThreadAccount other = Running();
  other.tid = 12;
  ledger.Add(other);
  ThreadAccount after = Running();
  after.since_ns = 4'000;
  ledger.Add(after);
  Profile profile;
  ledger.Finish(kSpan, profile);
  ASSERT_THAT(profile.ledger, SizeIs(2));
  EXPECT_EQ(profile.ledger[0].wall_ns, 3'000u + 7'000u);
  EXPECT_EQ(profile.ledger[0].blocked_ns, 4'000u);
  EXPECT_EQ(profile.ledger[0].comm, "worker");
  EXPECT_EQ(profile.ledger[1].tid, 12);
  EXPECT_EQ(profile.ledger[1].comm, "worker");
}

// It was listed after the end, and ended before the rings were drained for the last time.
TEST(LedgerTest, ThreadThatEndsAfterItWasListedIsToldOnce) {
  LedgerMaker ledger(10);
  ThreadAccount ended = Waiting();
  ended.not_booked_ns = 300;  // that it ran after the end
  ledger.Add(ended);
  ledger.Add(Waiting());
  Profile profile;
  ledger.Finish(kSpan, profile);
  ASSERT_THAT(profile.ledger, SizeIs(1));
  EXPECT_EQ(profile.ledger[0].wall_ns, 10'000u);
  EXPECT_EQ(profile.ledger[0].on_cpu_ns, 5'000u);
  EXPECT_EQ(profile.ledger[0].blocked_ns, 2'000u);
}

TEST(LedgerTest, OpenWaitThatIsFilteredOutIsLost) {
  const LedgerEntry entry = EntryOf(Waiting(), {OpenOf(Waiting(), 1'500, 500)}, {{.min_wait_ns = 2'001}});
  EXPECT_EQ(entry.blocked_ns, 2'000u);
  EXPECT_EQ(entry.runnable_ns, 1'000u);
  EXPECT_EQ(entry.lost_ns[static_cast<size_t>(LostTime::kBelowMinWait)], 2'000u);
}

TEST(LedgerTest, WaitOfAnotherThreadIsNotTaken) {
  WaitingThread other = OpenOf(Waiting(), 1'500, 500);
  other.tid = 12;
  EXPECT_EQ(EntryOf(Waiting(), {other}).blocked_ns, 2'000u);
}

TEST(LedgerTest, LifeInsideTheRecording) {
  ThreadAccount account = Running();
  account.since_ns = 2'000;
  account.until_ns = 5'000;
  account.arrived_ns = 4'500;
  const LedgerEntry entry = EntryOf(account);
  EXPECT_EQ(entry.wall_ns, 3'000u);
  EXPECT_EQ(entry.on_cpu_ns, 5'000u) << "a closed account has no last stretch";
  EXPECT_EQ(entry.rest_ns(), 3'000 - 5'000 - 10 - 3'000) << "more was told than there was";
}

TEST(LedgerTest, ThreadThatHasNotRunYet) {
  const ThreadAccount account = {.process = kProcess, .tid = 11, .is_new = true};
  const LedgerEntry entry = EntryOf(account, {OpenOf(account, 0, 300)});
  EXPECT_EQ(entry.wall_ns, 300u);
  EXPECT_EQ(entry.runnable_ns, 300u);
}

TEST(LedgerTest, LossesAreTermsOfTheirOwn) {
  ThreadAccount account = Running();
  account.lost_ns[static_cast<size_t>(LostTime::kBelowMinWait)] = 40;
  account.lost_ns[static_cast<size_t>(LostTime::kRingFull)] = 2;
  account.on_cpu_ns -= 42;
  const LedgerEntry entry = EntryOf(account);
  EXPECT_EQ(entry.lost_total_ns(), 42u);
  EXPECT_EQ(entry.rest_ns(), 0);
}

TEST(LedgerTest, WhatTheQueueDroppedMoves) {
  EventQueueStats queue;
  queue.dropped[{kProcess, 11}] = {.blocked_ns = 100, .runnable_ns = 20};
  queue.dropped[{kProcess, 12}] = {.blocked_ns = 7, .runnable_ns = 7};
  LedgerMaker ledger(10);
  ledger.Add(Running());
  ledger.AddDropped(queue);
  Profile profile;
  ledger.Finish(kSpan, profile);
  ASSERT_THAT(profile.ledger, SizeIs(1));
  EXPECT_EQ(profile.ledger[0].blocked_ns, 1'900u);
  EXPECT_EQ(profile.ledger[0].runnable_ns, 980u);
  EXPECT_EQ(profile.ledger[0].lost_ns[static_cast<size_t>(LostTime::kQueueFull)], 120u);
  EXPECT_EQ(profile.ledger[0].rest_ns(), 0);
}

TEST(LedgerTest, NamesProcessesThatHaveNoRows) {
  Profile profile;
  profile.processes.push_back({.key = {.pid = 5, .start_ns = 1, .exec_id = 1}, .name = "five", .container = {}});
  LedgerMaker ledger(10);
  ThreadAccount five = Running();
  five.process = profile.processes[0].key;
  ledger.Add(Running());
  ledger.Add(five);
  ledger.Finish(kSpan, profile);
  ASSERT_THAT(profile.processes, SizeIs(2));
  EXPECT_EQ(profile.processes[0].name, "five");
  EXPECT_EQ(profile.processes[1].key, kProcess);
  EXPECT_EQ(profile.processes[1].name, "") << "its main thread's name is not known";
  ASSERT_THAT(profile.ledger, SizeIs(2));
  EXPECT_EQ(profile.ledger[0].process, 0u);
  EXPECT_EQ(profile.ledger[1].process, 1u);
}

TEST(LedgerTest, AProcessHasTheNameOfItsMainThread) {
  constexpr ProcessKey kNameless = {.pid = 5, .start_ns = 1, .exec_id = 1};
  Profile profile;
  profile.processes.push_back({.key = kNameless, .name = {}, .container = {}});
  LedgerMaker ledger(10);
  ledger.Add(Running());
  for (const ProcessKey& process : {kProcess, kNameless}) {
    ThreadAccount main = Running();
    main.process = process;
    main.tid = process.pid;
    main.comm = "main";
    ledger.Add(main);
  }
  ledger.Finish(kSpan, profile);
  ASSERT_THAT(profile.processes, SizeIs(2));
  EXPECT_EQ(profile.processes[0].name, "main");
  EXPECT_EQ(profile.processes[1].name, "main");
}

TEST(LedgerTest, CountsThreadsBeyondTheCap) {
  LedgerMaker ledger(2);
  for (int tid = 1; tid <= 5; ++tid) {
    ThreadAccount account = Running();
    account.tid = tid;
    ledger.Add(account);
  }
  Profile profile;
  ledger.Finish(kSpan, profile);
  EXPECT_THAT(profile.ledger, SizeIs(2));
  ASSERT_THAT(profile.stats.losses, SizeIs(1));
  EXPECT_EQ(profile.stats.losses[0].reason, "ledger full: threads");
  EXPECT_EQ(profile.stats.losses[0].count, 3u);
}

}  // namespace
}  // namespace offcpu
