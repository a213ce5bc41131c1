#include "profile/merge.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fake_modules.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "profile/time_buckets.h"

namespace offcpu {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

MATCHER_P3(LossIs, reason, count, ns, "") { return arg.reason == reason && arg.count == count && arg.ns == ns; }

bool All(const ProcessInfo&, const std::string&) { return true; }

ProcessInfo Process(int32_t pid, const std::string& name) {
  return {.key = {.pid = pid, .start_ns = 5, .exec_id = 0}, .name = name, .container = ""};
}

class MergeTest : public ::testing::Test {
 protected:
  // One row of index 0 everywhere.
  Profile Window(uint64_t blocked_ns, uint64_t runnable_ns) const {
    Profile window;
    window.start_unix_ns = 1000;
    window.duration_ns = 60;
    window.host = "host";
    window.processes = {Process(10, "server")};
    window.comms = {"worker"};
    window.kernel_stacks = {{.id = 7, .addresses = {0xffffffff81000010, 0xffffffff81000020}}};
    window.user_stacks = {{.stack = FakeStack(module_.get(), {1, 2})}};
    window.code = {module_};
    window.rows = {{{}, {.count = 1, .blocked_ns = blocked_ns, .runnable_ns = runnable_ns, .max_ns = blocked_ns}}};
    return window;
  }

  static Profile Merge(std::vector<Profile> windows, RowFilter keep = All) {
    std::vector<std::shared_ptr<const Profile>> shared;
    shared.reserve(windows.size());
    for (Profile& window : windows) shared.push_back(std::make_shared<const Profile>(std::move(window)));
    return MergeProfiles(shared, keep);
  }

  std::shared_ptr<const Module> module_ = FakeModule("/bin/a");
};

TEST_F(MergeTest, OfNothingIsNothing) {
  const Profile merged = Merge({});
  EXPECT_THAT(merged.rows, IsEmpty());
  EXPECT_EQ(merged.duration_ns, 0u);
}

TEST_F(MergeTest, RowsOfOneMeaningAreOneWhateverTheirIndices) {
  Profile first = Window(100, 10);
  first.rows[0].count_variance = 1.5;
  first.rows[0].ns_variance = 100;
  Profile second = Window(300, 1);
  second.rows[0].count = 2;
  second.rows[0].count_variance = 0.5;
  second.rows[0].ns_variance = 44;
  // The same things at other places, and under an id of another kernel stack table.
  second.processes.insert(second.processes.begin(), Process(11, "client"));
  second.comms.insert(second.comms.begin(), "main");
  second.kernel_stacks.insert(second.kernel_stacks.begin(), {.id = 8, .addresses = {1}});
  second.kernel_stacks[1].id = 70;
  second.user_stacks.insert(second.user_stacks.begin(), {.missing = NoUserStack::kLost});
  ProfileRow& row = second.rows[0];
  row.process = row.comm = row.kernel_stack = row.user_stack = 1;

  const Profile merged = Merge({std::move(first), std::move(second)});
  ASSERT_THAT(merged.rows, SizeIs(1));
  EXPECT_EQ(merged.rows[0].count, 3u);
  EXPECT_EQ(merged.rows[0].blocked_ns, 400u);
  EXPECT_EQ(merged.rows[0].runnable_ns, 11u);
  EXPECT_EQ(merged.rows[0].max_ns, 300u);
  EXPECT_DOUBLE_EQ(merged.rows[0].count_variance, 2);
  EXPECT_EQ(merged.rows[0].ns_error(), 12u);
  // What no row names is left out.
  ASSERT_THAT(merged.processes, SizeIs(1));
  EXPECT_EQ(merged.processes[0].name, "server");
  EXPECT_THAT(merged.comms, ElementsAre("worker"));
  EXPECT_THAT(merged.kernel_stacks, SizeIs(1));
  ASSERT_THAT(merged.user_stacks, SizeIs(1));
  EXPECT_EQ(merged.user_stacks[0].stack, FakeStack(module_.get(), {1, 2}));
  EXPECT_THAT(merged.code, ElementsAre(module_));
  EXPECT_EQ(merged.stats.processes, 1u);
}

TEST_F(MergeTest, ControlGroupsOfOnePathAreOneWhateverTheirIndices) {
  Profile first = Window(100, 10);
  first.control_groups = {"/a"};
  first.rows[0].control_group = 1;
  Profile second = Window(300, 1);
  second.control_groups = {"/b", "/a"};
  second.rows[0].control_group = 2;
  const Profile merged = Merge({std::move(first), std::move(second)});
  ASSERT_THAT(merged.rows, SizeIs(1));
  EXPECT_EQ(merged.rows[0].control_group, 1u);
  EXPECT_THAT(merged.control_groups, ElementsAre("/a"));
}

// A steady process has as many rows in any number of windows as it has stacks.
TEST_F(MergeTest, WhatIsNoIdentityMakesNoRow) {
  Profile first = Window(100, 10);
  Profile second = Window(300, 1);
  second.rows[0].max_ns = 7;
  second.rows[0].count_variance = second.rows[0].ns_variance = 5;
  second.user_stacks[0].stack.frames[1].source = FrameSource::kFramePointer;
  const Profile merged = Merge({std::move(first), std::move(second)});
  EXPECT_THAT(merged.rows, SizeIs(1));
  EXPECT_THAT(merged.user_stacks, SizeIs(1));
}

TEST_F(MergeTest, EachPartOfTheMeaningMakesARow) {
  std::vector<Profile> windows(13, Window(1, 0));
  windows[1].processes[0].key.pid = 11;
  windows[2].processes[0].key.start_ns = 6;
  windows[3].processes[0].key.exec_id = 1;
  windows[4].rows[0].tid = 3;
  windows[5].comms[0] = "other";
  windows[6].kernel_stacks[0].addresses.pop_back();
  windows[7].user_stacks[0].stack.frames[1].address = 3;
  windows[8].user_stacks[0].stack.end = EndReason::kStackCopy;
  windows[9].user_stacks[0] = {.missing = NoUserStack::kLost};
  windows[10].rows[0].kind = WaitKind::kOpen;
  windows[11].rows[0].syscall = 0;
  windows[12].control_groups = {"/system.slice"};
  windows[12].rows[0].control_group = 1;
  EXPECT_THAT(Merge(std::move(windows)).rows, SizeIs(13));
}

TEST_F(MergeTest, WakersOfOneMeaningAreOneWhateverTheirIndices) {
  Profile first = Window(100, 10);
  first.processes.push_back(Process(11, "client"));
  first.comms.push_back("main");
  first.wakers = {{{.process = 1, .comm = 1, .kernel_stack = 0, .user_stack = 0}, {.interrupt = true}}};
  first.rows[0].waker = 1;
  Profile second = Window(300, 1);
  second.processes = {Process(11, "client"), Process(10, "server")};
  second.comms = {"main", "worker"};
  second.wakers = {{{.interrupt = true}},
                   {{.process = 0, .comm = 0, .kernel_stack = 0, .user_stack = 0}, {.interrupt = true}}};
  second.rows[0].process = second.rows[0].comm = 1;
  second.rows[0].waker = 2;
  second.rows.push_back(second.rows[0]);
  second.rows[1].waker = 1;

  const Profile merged = Merge({std::move(first), std::move(second)});
  ASSERT_THAT(merged.rows, SizeIs(2));
  ASSERT_THAT(merged.wakers, SizeIs(2));
  for (const ProfileRow& row : merged.rows) {
    const WakerChain& chain = merged.wakers.at(row.waker - 1);
    EXPECT_EQ(row.blocked_ns, chain.size() == 2 ? 400u : 300u);
    EXPECT_TRUE(chain.back().interrupt);
    if (chain.size() < 2) continue;
    EXPECT_EQ(merged.processes[chain[0].process].name, "client");
    EXPECT_EQ(merged.comms[chain[0].comm], "main");
  }
}

TEST_F(MergeTest, StacksWithoutADefinitionAreToldApartByTheirIds) {
  std::vector<Profile> windows;
  for (uint64_t id : {7, 8, 7}) {
    windows.push_back(Window(1, 0));
    windows.back().kernel_stacks[0] = {.id = id};
  }
  const Profile merged = Merge(std::move(windows));
  ASSERT_THAT(merged.rows, SizeIs(2));
  EXPECT_EQ(merged.rows[0].count, 2u);
}

TEST_F(MergeTest, WhatStandsForManyInEachWindowDoesSoInAll) {
  std::vector<Profile> windows;
  for (uint64_t i = 0; i < 2; ++i) {
    Profile window = Window(5, 0);
    window.processes[0] = {.key = {}, .name = "[other]", .container = ""};
    window.comms[0] = "[other]";
    window.kernel_stacks[0] = {.id = i, .overflow = true};
    window.kernel_stacks[0].id = 0;
    window.user_stacks[0] = {.overflow = true};
    windows.push_back(std::move(window));
  }
  const Profile merged = Merge(std::move(windows));
  ASSERT_THAT(merged.rows, SizeIs(1));
  EXPECT_EQ(merged.rows[0].blocked_ns, 10u);
  EXPECT_TRUE(merged.kernel_stacks[0].overflow);
  EXPECT_TRUE(merged.user_stacks[0].overflow);
  EXPECT_EQ(merged.stats.processes, 0u);
}

TEST_F(MergeTest, RowsAreSorted) {
  std::vector<Profile> windows;
  for (int32_t tid : {3, 1, 2}) {
    windows.push_back(Window(1, 0));
    windows.back().rows[0].tid = tid;
  }
  const Profile merged = Merge(std::move(windows));
  ASSERT_THAT(merged.rows, SizeIs(3));
  for (int32_t i = 0; i < 3; ++i) EXPECT_EQ(merged.rows[i].tid, i + 1);
}

TEST_F(MergeTest, NamesThatAreLearntLateCount) {
  Profile first = Window(1, 0);
  first.processes[0].name = "";
  Profile second = Window(1, 0);
  second.processes[0].container = "c1";
  second.processes[0].executable = "/opt/server";
  const Profile merged = Merge({std::move(first), std::move(second)});
  ASSERT_THAT(merged.processes, SizeIs(1));
  EXPECT_EQ(merged.processes[0].name, "server");
  EXPECT_EQ(merged.processes[0].container, "c1");
  EXPECT_EQ(merged.processes[0].executable, "/opt/server");
}

TEST_F(MergeTest, OnlyRowsThatAreWantedAreKept) {
  Profile window = Window(1, 0);
  window.processes.push_back(Process(11, "client"));
  window.comms.emplace_back("main");
  window.user_stacks.push_back({.stack = FakeStack(nullptr, {9})});
  ProfileRow row = window.rows[0];
  row.blocked_ns = 20;
  row.comm = 1;
  window.rows.push_back(row);
  row.blocked_ns = 300;
  row.process = 1;
  row.user_stack = 1;
  window.rows.push_back(row);
  window.ledger = {{.process = 0, .tid = 1, .comm = "main", .wall_ns = 5}, {.process = 1, .tid = 2, .comm = "main"}};
  window.stats.intervals = 3;

  const auto client = [](const ProcessInfo& process, const std::string&) { return process.key.pid == 11; };
  const Profile clients = Merge({window}, client);
  ASSERT_THAT(clients.rows, SizeIs(1));
  EXPECT_EQ(clients.rows[0].blocked_ns, 300u);
  EXPECT_THAT(clients.processes, SizeIs(1));
  EXPECT_THAT(clients.code, IsEmpty()) << "its frames have none";
  ASSERT_THAT(clients.ledger, SizeIs(1));
  EXPECT_EQ(clients.ledger[0].tid, 2);
  EXPECT_EQ(clients.ledger[0].process, 0u);
  EXPECT_EQ(clients.stats.intervals, 3u) << "the statistics are the windows'";
  EXPECT_EQ(clients.stats.processes, 2u) << "likewise";

  const auto main = [](const ProcessInfo&, const std::string& comm) { return comm == "main"; };
  const Profile mains = Merge({window}, main);
  ASSERT_THAT(mains.rows, SizeIs(2));
  EXPECT_EQ(mains.rows[0].blocked_ns + mains.rows[1].blocked_ns, 320u);
}

TEST_F(MergeTest, TimesAreThoseOfTheWindowsTogether) {
  Profile first = Window(1, 0);
  first.start_unix_ns = 5000;
  first.duration_ns = 100;
  Profile second = Window(1, 0);
  second.start_unix_ns = 4000;
  second.duration_ns = 50;
  const Profile merged = Merge({std::move(first), std::move(second)});
  EXPECT_EQ(merged.start_unix_ns, 4000u);
  EXPECT_EQ(merged.duration_ns, 150u);
  EXPECT_EQ(merged.host, "host");
}

TEST_F(MergeTest, StatisticsAreSums) {
  Profile first = Window(1, 0);
  first.stats = {.intervals = 1,
                 .cookies = 2,
                 .captures = 3,
                 .kernel_stacks = 4,
                 .walked_at_switch = 7,
                 .summed_at_switch = 9,
                 .proven_walks = 8,
                 .walk_misses = {1, 2, 3, 4},
                 .told_rows = 5,
                 .told_stacks = 60,
                 .live_stacks = 5,
                 .walks = 6};
  first.stats.walk_ends[1] = 7;
  first.stats.frames_by_source[2] = 8;
  first.stats.complete_walks_by_source[3] = 9;
  first.stats.sample_ns = 50;
  first.stats.sample_most_ns = 60;
  first.stats.not_sampled = 10;
  first.stats.slept_throughout = 11;
  first.stats.own_programs_ns = 12;
  first.stats.own_process_ns = 13;
  first.stats.own_memory_bytes = 140;
  first.stats.host_cpu_ns = 15;
  first.stats.cpu_budget_ppm = 160;
  first.stats.losses = {{"a", 1, 2}, {"b", 3, 4}};
  Profile second = Window(1, 0);
  second.stats = {.intervals = 10,
                  .cookies = 20,
                  .captures = 30,
                  .kernel_stacks = 40,
                  .walked_at_switch = 70,
                  .summed_at_switch = 90,
                  .proven_walks = 80,
                  .walk_misses = {10, 20, 30, 40},
                  .told_rows = 50,
                  .told_stacks = 6,
                  .live_stacks = 50,
                  .walks = 60};
  second.stats.walk_ends[1] = 70;
  second.stats.frames_by_source[2] = 80;
  second.stats.complete_walks_by_source[3] = 90;
  second.stats.sample_ns = 20;
  second.stats.sample_most_ns = 70;
  second.stats.not_sampled = 100;
  second.stats.slept_throughout = 4;
  second.stats.own_programs_ns = 120;
  second.stats.own_process_ns = 130;
  second.stats.own_memory_bytes = 14;
  second.stats.host_cpu_ns = 150;
  second.stats.cpu_budget_ppm = 16;
  second.stats.losses = {{"b", 30, 40}, {"c", 5, 6}};

  const ProfileStats stats = Merge({std::move(first), std::move(second)}).stats;
  EXPECT_EQ(stats.intervals, 11u);
  EXPECT_EQ(stats.cookies, 22u);
  EXPECT_EQ(stats.captures, 33u);
  EXPECT_EQ(stats.kernel_stacks, 44u);
  EXPECT_EQ(stats.walked_at_switch, 77u);
  EXPECT_EQ(stats.summed_at_switch, 99u);
  EXPECT_EQ(stats.proven_walks, 88u);
  EXPECT_THAT(stats.walk_misses, ElementsAre(11, 22, 33, 44));
  EXPECT_EQ(stats.told_rows, 50u) << "the most";
  EXPECT_EQ(stats.told_stacks, 60u);
  EXPECT_EQ(stats.live_stacks, 55u);
  EXPECT_EQ(stats.walks, 66u);
  EXPECT_EQ(stats.walk_ends[1], 77u);
  EXPECT_EQ(stats.frames_by_source[2], 88u);
  EXPECT_EQ(stats.complete_walks_by_source[3], 99u);
  EXPECT_EQ(stats.processes, 1u);
  EXPECT_EQ(stats.sample_ns, 20u);
  EXPECT_EQ(stats.sample_most_ns, 70u);
  EXPECT_EQ(stats.not_sampled, 110u);
  EXPECT_EQ(stats.slept_throughout, 4u) << "whoever slept through both slept through the second";
  EXPECT_EQ(stats.own_programs_ns, 132u);
  EXPECT_EQ(stats.own_process_ns, 143u);
  EXPECT_EQ(stats.own_memory_bytes, 140u) << "the most";
  EXPECT_EQ(stats.host_cpu_ns, 165u);
  EXPECT_EQ(stats.cpu_budget_ppm, 160u) << "the most";
  EXPECT_THAT(stats.losses, ElementsAre(LossIs("a", 1u, 2u), LossIs("b", 33u, 44u), LossIs("c", 5u, 6u)));
}

TEST_F(MergeTest, LedgerEntriesOfAThreadAreAdded) {
  LedgerEntry entry{.process = 0, .tid = 4, .comm = "worker", .wall_ns = 100, .on_cpu_ns = 30, .blocked_ns = 60};
  entry.lost_ns[1] = 10;
  Profile first = Window(1, 0);
  first.ledger = {entry};
  Profile second = Window(1, 0);
  second.ledger = {entry, {.process = 0, .tid = 5, .comm = "worker", .wall_ns = 7, .stolen_ns = 7}};
  const Profile merged = Merge({std::move(first), std::move(second)});
  ASSERT_THAT(merged.ledger, SizeIs(2));
  EXPECT_EQ(merged.ledger[0].wall_ns, 200u);
  EXPECT_EQ(merged.ledger[0].rest_ns(), 0);
  EXPECT_EQ(merged.ledger[0].lost_ns[1], 20u);
  EXPECT_EQ(merged.ledger[1].wall_ns, 7u);
}

constexpr uint64_t kSecond = 1'000'000'000;

// The times of the only row: buckets since the start of the profile, rounded down, and what is blocked there.
using Times = std::vector<std::pair<int64_t, uint64_t>>;
Times TimesOf(const Profile& profile) {
  Times times;
  const std::vector<TimeBucket> buckets = UnpackTimes(profile.rows.at(0).times).value();
  for (const TimeBucket& bucket : buckets) {
    const int64_t begin_ns = profile.times.begin_ns + static_cast<int64_t>(bucket.number * profile.times.bucket_ns);
    times.emplace_back(begin_ns, bucket.blocked_ns);
  }
  return times;
}

class MergeTimesTest : public MergeTest {
 protected:
  // Blocked for 7 ns in each of these buckets, and begun at `boot_ns`, in the middle of bucket 0.
  Profile TimedWindow(uint64_t boot_ns, const std::vector<uint32_t>& buckets, uint64_t bucket_ns = kSecond) const {
    Profile window = Window(7 * buckets.size(), 0);
    window.start_boot_ns = boot_ns;
    window.times = {.bucket_ns = bucket_ns, .begin_ns = -static_cast<int64_t>(bucket_ns) / 2};
    TimeBuckets times;
    for (const uint32_t number : buckets) times.Add({.number = number, .blocked_ns = 7});
    window.rows[0].times = PackTimes(times, 0, 0);
    return window;
  }
};

TEST_F(MergeTimesTest, WindowsOfOneRecordingShareTheBucketBetweenThem) {
  // The second window begins 3 s later, and the scheduler's clock is 100 us ahead of the other one by then.
  const Profile merged = Merge({TimedWindow(100 * kSecond, {0, 1, 3}), TimedWindow(103 * kSecond + 100'000, {0, 2})});
  EXPECT_EQ(merged.times.bucket_ns, kSecond);
  EXPECT_EQ(TimesOf(merged), (Times{{-500'000'000, 7}, {500'000'000, 7}, {2'500'000'000, 14}, {4'500'000'000, 7}}));
}

TEST_F(MergeTimesTest, AWindowAloneKeepsItsBuckets) {
  const Profile merged = Merge({TimedWindow(100 * kSecond + 123, {0, 1, 3})});
  EXPECT_EQ(TimesOf(merged), (Times{{-500'000'000, 7}, {500'000'000, 7}, {2'500'000'000, 7}}));
}

// Buckets are as wide as the widest, and begin where those do.
TEST_F(MergeTimesTest, TheWidestBucketsAreThoseOfAll) {
  const Profile merged = Merge(
      {TimedWindow(99 * kSecond + 500'000'000, {0, 1, 2, 3, 4, 5}), TimedWindow(108 * kSecond, {0, 1}, 4 * kSecond)});
  EXPECT_EQ(merged.times.bucket_ns, 4 * kSecond);
  // From 98 s on, then from 102 s, and what the second has from 106 s and 110 s.
  EXPECT_EQ(TimesOf(merged),
            (Times{{-1'500'000'000, 21}, {2'500'000'000, 21}, {6'500'000'000, 7}, {10'500'000'000, 7}}));
}

// Two recordings with buckets of a 64th of a second, the second one 7 ms beside those of the first.
TEST_F(MergeTimesTest, NarrowBucketsStayNarrow) {
  constexpr uint64_t kLeast = 15'625'000;
  const Profile merged =
      Merge({TimedWindow(100 * kSecond, {0, 1, 64}, kLeast), TimedWindow(101 * kSecond + 7'000'000, {0, 2}, kLeast)});
  EXPECT_EQ(merged.times.bucket_ns, kLeast);
  const int64_t begin_ns = -7'812'500;
  EXPECT_EQ(
      TimesOf(merged),
      (Times{
          {begin_ns, 7}, {begin_ns + 15'625'000, 7}, {begin_ns + 1'000'000'000, 14}, {begin_ns + 1'031'250'000, 7}}));
}

TEST_F(MergeTimesTest, NarrowBucketsBesideSecondsAreSeconds) {
  const Profile merged =
      Merge({TimedWindow(100 * kSecond, {0, 1}), TimedWindow(102 * kSecond, {0, 1, 40, 64}, 15'625'000)});
  EXPECT_EQ(merged.times.bucket_ns, kSecond);
  EXPECT_EQ(TimesOf(merged), (Times{{-500'000'000, 7}, {500'000'000, 7}, {1'500'000'000, 14}, {2'500'000'000, 14}}));
}

TEST_F(MergeTimesTest, ProfilesWithoutTimesHaveNone) {
  EXPECT_EQ(Merge({Window(1, 0), Window(2, 0)}).times, TimeGrid());
  Profile old = Window(5, 0);
  old.start_boot_ns = 90 * kSecond;
  const Profile merged = Merge({old, TimedWindow(100 * kSecond, {1})});
  EXPECT_EQ(merged.rows[0].blocked_ns, 12u);
  EXPECT_EQ(TimesOf(merged), Times()) << "7 of 12 ns would be read as all of the row's time";
}

TEST_F(MergeTimesTest, RowsThatAreNotWantedHaveNone) {
  const Profile merged = Merge({TimedWindow(100 * kSecond, {0})}, [](const auto&, const auto&) { return false; });
  EXPECT_THAT(merged.rows, IsEmpty());
  EXPECT_EQ(merged.times, TimeGrid());
}

// A century apart, as far as their files say; and at the ends of what numbers hold.
TEST_F(MergeTimesTest, RecordingsMayBeFarApart) {
  Profile early = TimedWindow(0, {0});
  early.start_unix_ns = 1;
  Profile late = TimedWindow(0, {0});
  late.start_unix_ns = UINT64_MAX;
  const Profile merged = Merge({early, late});
  uint64_t sum = 0;
  for (const auto& [begin_ns, blocked_ns] : TimesOf(merged)) sum += blocked_ns;
  EXPECT_EQ(sum, 14u);
  EXPECT_LE(UnpackTimes(merged.rows[0].times)->back().number, (1u << 24) + 1);
}

}  // namespace
}  // namespace offcpu
