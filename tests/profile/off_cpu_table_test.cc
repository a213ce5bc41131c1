#include "profile/off_cpu_table.h"

#include <cstdint>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace offcpu {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr uint64_t kKernelFrames[] = {0xffffffff81000010};

class OffCpuTableTest : public ::testing::Test {
 protected:
  OffCpuTableTest() { stacks_.DefineKernel(1, kKernelFrames); }

  static ProcessInfo Process(int32_t pid, const std::string& name = "server") {
    return {.key = {.pid = pid, .start_ns = 5, .exec_id = 0}, .name = name, .container = ""};
  }

  ProfileRow Wait(uint64_t blocked_ns, uint64_t runnable_ns) {
    return {{.kernel_stack = stacks_.InternKernel(1)}, RowSums::OfWait(blocked_ns, runnable_ns, 0, 0)};
  }
  ProfileRow Sample() {
    return {{.kernel_stack = stacks_.InternUserMode(), .kind = WaitKind::kRunning}, RowSums::OfSample(10)};
  }

  static void AddTo(OffCpuTable& table, ProfileRow row, uint32_t user_stack) {
    row.user_stack = user_stack;
    table.Add(row);
  }
  void Add(const ProfileRow& row, uint32_t user_stack) { AddTo(table_, row, user_stack); }

  StackTable stacks_{{}};
  OffCpuTable table_{{}};
};

MATCHER_P3(LossIs, reason, count, ns, "") { return arg.reason == reason && arg.count == count && arg.ns == ns; }

TEST_F(OffCpuTableTest, IntervalsOfOneKeyAreOneRow) {
  uint32_t user = stacks_.InternUser({});
  Add(Wait(100, 10), user);
  Add(Wait(300, 0), user);
  Add(Wait(0, 50), user);
  Profile profile = table_.Finish(stacks_, {});
  ASSERT_THAT(profile.rows, SizeIs(1));
  EXPECT_EQ(profile.rows[0].count, 3u);
  EXPECT_EQ(profile.rows[0].blocked_ns, 400u);
  EXPECT_EQ(profile.rows[0].runnable_ns, 60u);
  EXPECT_EQ(profile.rows[0].max_ns, 300u);
  EXPECT_THAT(profile.stats.losses, IsEmpty());
}

TEST_F(OffCpuTableTest, SamplesAreRowsOfTheirOwn) {
  const uint32_t user = stacks_.InternUser({});
  Add(Wait(100, 0), user);
  Add(Sample(), user);
  Add(Sample(), user);
  Add(Sample(), stacks_.InternMissing(NoUserStack::kBudget));
  const Profile profile = table_.Finish(stacks_, {});
  ASSERT_THAT(profile.rows, SizeIs(3));
  EXPECT_EQ(profile.rows[0].samples, 0u);
  EXPECT_EQ(profile.rows[1].kind, WaitKind::kRunning);
  EXPECT_EQ(profile.rows[1].samples, 2u);
  EXPECT_EQ(profile.rows[1].cpu_ns, 20u);
  EXPECT_EQ(profile.rows[1].count, 0u);
  EXPECT_EQ(profile.rows[1].total_ns(), 0u);
  EXPECT_EQ(profile.rows[1].wall_ns(), 20u);
  EXPECT_TRUE(profile.kernel_stacks[profile.rows[1].kernel_stack].user_mode);
  EXPECT_THAT(profile.stats.losses, ElementsAre(LossIs("no user stack: budget", 1u, 10u)))
      << "in user mode there is no kernel stack to be lost";
}

TEST_F(OffCpuTableTest, SamplesBeyondTheCapAreInTheOverflowRow) {
  OffCpuTable table({.rows = 1});
  const uint32_t user = stacks_.InternUser({});
  AddTo(table, Wait(100, 0), user);
  AddTo(table, Sample(), user);
  const Profile profile = table.Finish(stacks_, {});
  ASSERT_THAT(profile.rows, SizeIs(2));
  EXPECT_THAT(profile.stats.losses, ElementsAre(LossIs("row table full", 1u, 10u)));
}

TEST_F(OffCpuTableTest, EachPartOfTheKeyMakesARow) {
  uint32_t user = stacks_.InternUser({});
  ProfileRow base = Wait(1, 0);
  Add(base, user);
  Add(base, stacks_.InternMissing(NoUserStack::kLost));
  ProfileRow other = base;
  other.process = 1;
  Add(other, user);
  other = base;
  other.tid = 7;
  Add(other, user);
  other = base;
  other.comm = 1;
  Add(other, user);
  other = base;
  other.kernel_stack = stacks_.InternKernel(2);
  Add(other, user);
  other = base;
  other.kind = WaitKind::kDisk;
  Add(other, user);
  other = base;
  other.syscall = 0;
  Add(other, user);
  EXPECT_EQ(table_.rows(), 8u);
}

TEST_F(OffCpuTableTest, PathsOfControlGroupsAreBoundedInBytes) {
  OffCpuTable table({.control_group_bytes = 200});
  EXPECT_EQ(table.InternControlGroup(""), 0u);
  EXPECT_EQ(table.InternControlGroup("/a"), 1u);
  EXPECT_EQ(table.InternControlGroup("/" + std::string(100, 'b')), 2u);
  EXPECT_EQ(table.InternControlGroup("/" + std::string(100, 'c')), 0u);
  EXPECT_EQ(table.InternControlGroup("/a"), 1u);
  StackTable stacks({});
  const Profile profile = table.Finish(stacks, {});
  EXPECT_THAT(profile.control_groups, ElementsAre("/a", "/" + std::string(100, 'b')));
  EXPECT_THAT(profile.stats.losses, ElementsAre(LossIs("control group table full", 1u, 0u)));
}

TEST_F(OffCpuTableTest, AProcessThatWasNotLookedAtIsInTheContainerOfItsThreads) {
  const std::string id(64, 'a');
  ProfileRow row = Wait(1, 0);
  row.process = table_.InternProcess(Process(10));
  row.comm = table_.InternComm("x");
  row.user_stack = stacks_.InternMissing(NoUserStack::kGone);
  row.control_group = table_.InternControlGroup("/docker/" + id);
  table_.Add(row);
  EXPECT_EQ(table_.Finish(stacks_, {}).processes[0].container, id);
}

TEST_F(OffCpuTableTest, OtherProcessesAreInNoContainer) {
  OffCpuTable table({.processes = 1});
  ProfileRow row = Wait(1, 0);
  row.user_stack = stacks_.InternMissing(NoUserStack::kGone);
  row.comm = table.InternComm("x");
  table.InternProcess(Process(10));
  row.process = table.InternProcess(Process(11));
  row.control_group = table.InternControlGroup("/docker/" + std::string(64, 'a'));
  table.Add(row);
  const Profile profile = table.Finish(stacks_, {});
  EXPECT_EQ(profile.processes.at(1).name, "[other]");
  EXPECT_EQ(profile.processes.at(1).container, "");
}

TEST_F(OffCpuTableTest, WakersMakeRowsAndBeyondTheirCapAreOther) {
  OffCpuTable table({.wakers = 2});
  const uint32_t user = stacks_.InternMissing(NoUserStack::kBudget);
  stacks_.InternKernel(0);
  ProfileRow row = {{.user_stack = user}, {.count = 1, .blocked_ns = 10}};
  table.InternProcess({});
  table.InternComm("x");
  const auto chain = [&](bool interrupt, uint32_t comm) {
    return WakerChain{{.interrupt = interrupt, .comm = comm, .user_stack = user}};
  };
  row.waker = table.InternWaker(chain(true, 0));
  EXPECT_EQ(row.waker, 1u);
  table.Add(row);
  row.waker = table.InternWaker(chain(false, 0));
  EXPECT_EQ(row.waker, 2u);
  table.Add(row);
  EXPECT_EQ(table.InternWaker(chain(true, 0)), 1u);
  EXPECT_EQ(table.InternWaker(chain(false, 1)), 3u);
  EXPECT_EQ(table.InternWaker(chain(false, 2)), 3u);
  row.waker = 3;
  table.Add(row);
  const Profile profile = table.Finish(stacks_, {});
  ASSERT_EQ(profile.rows.size(), 3u);
  EXPECT_EQ(profile.wakers, (std::vector<WakerChain>{chain(true, 0), chain(false, 0), {}}));
  const auto loss = [&](std::string_view reason) -> const Loss* {
    for (const Loss& one : profile.stats.losses) {
      if (one.reason == reason) return &one;
    }
    return nullptr;
  };
  ASSERT_NE(loss("waker table full"), nullptr);
  EXPECT_EQ(loss("waker table full")->count, 2u);
  ASSERT_NE(loss("no user stack of the waker: budget"), nullptr);
  EXPECT_EQ(loss("no user stack of the waker: budget")->count, 2u);
  EXPECT_EQ(loss("no user stack of the waker: budget")->ns, 20u);
}

TEST_F(OffCpuTableTest, AProcessIsItsPidStartAndExec) {
  uint32_t first = table_.InternProcess(Process(10));
  ProcessInfo reused = Process(10);
  reused.key.start_ns = 6;
  ProcessInfo executed = Process(10);
  executed.key.exec_id = 1;
  EXPECT_NE(table_.InternProcess(reused), first);
  EXPECT_NE(table_.InternProcess(executed), first);
  EXPECT_EQ(table_.InternProcess(Process(10)), first);
  EXPECT_THAT(table_.Finish(stacks_, {}).processes, SizeIs(3));
}

TEST_F(OffCpuTableTest, ProcessesWithoutARowAreNotCounted) {
  OffCpuTable table({.processes = 3});
  const uint32_t user = stacks_.InternUser({});
  for (const int32_t pid : {10, 11, 12, 13}) {  // the last one is "[other]"
    ProfileRow interval = Wait(1, 0);
    interval.process = table.InternProcess(Process(pid));
    if (pid == 11) continue;  // has only woken others
    AddTo(table, interval, user);
    interval.kind = WaitKind::kDisk;
    AddTo(table, interval, user);
  }
  const Profile profile = table.Finish(stacks_, {});
  EXPECT_THAT(profile.processes, SizeIs(4));
  EXPECT_EQ(profile.stats.processes, 2u);
}

TEST_F(OffCpuTableTest, LaterCallsFillInWhatWasEmpty) {
  table_.InternProcess(Process(10, ""));
  ProcessInfo named = Process(10, "server");
  named.container = "c1";
  named.executable = "/opt/server";
  table_.InternProcess(named);
  table_.InternProcess(Process(10, "renamed"));
  Profile profile = table_.Finish(stacks_, {});
  ASSERT_THAT(profile.processes, SizeIs(1));
  EXPECT_EQ(profile.processes[0].name, "server");
  EXPECT_EQ(profile.processes[0].container, "c1");
  EXPECT_EQ(profile.processes[0].executable, "/opt/server");
}

TEST_F(OffCpuTableTest, ProcessesAndThreadNamesBeyondTheirCapsAreOther) {
  OffCpuTable table({.rows = 10, .processes = 1, .comms = 2});
  EXPECT_EQ(table.InternProcess(Process(10)), 0u);
  EXPECT_EQ(table.InternProcess(Process(11)), 1u);
  EXPECT_EQ(table.InternProcess(Process(12)), 1u);
  EXPECT_EQ(table.InternProcess(Process(10)), 0u);
  EXPECT_EQ(table.InternComm("a"), 0u);
  EXPECT_EQ(table.InternComm("b"), 1u);
  EXPECT_EQ(table.InternComm("c"), 2u);
  EXPECT_EQ(table.InternComm("d"), 2u);
  EXPECT_EQ(table.InternComm("b"), 1u);
  Profile profile = table.Finish(stacks_, {});
  ASSERT_THAT(profile.processes, SizeIs(2));
  EXPECT_EQ(profile.processes[1].name, "[other]");
  EXPECT_THAT(profile.comms, ElementsAre("a", "b", "[other]"));
  EXPECT_THAT(profile.stats.losses,
              ElementsAre(LossIs("process table full", 2u, 0u), LossIs("thread name table full", 2u, 0u)));
}

TEST_F(OffCpuTableTest, RowsBeyondTheCapKeepTheirTimeInTheOverflowRow) {
  OffCpuTable table({.rows = 2, .processes = 10, .comms = 10});
  uint32_t user = stacks_.InternUser({});
  for (const char* comm : {"a", "b", "c", "d"}) {
    ProfileRow interval = Wait(100, 11);
    interval.process = table.InternProcess(Process(10));
    interval.comm = table.InternComm(comm);
    AddTo(table, interval, user);
    AddTo(table, interval, user);
  }
  EXPECT_EQ(table.rows(), 2u);
  Profile profile = table.Finish(stacks_, {});
  ASSERT_THAT(profile.rows, SizeIs(3));
  const ProfileRow& other = profile.rows[2];
  EXPECT_EQ(profile.processes.at(other.process).name, "[other]");
  EXPECT_EQ(profile.comms.at(other.comm), "[other]");
  EXPECT_TRUE(profile.kernel_stacks.at(other.kernel_stack).overflow);
  EXPECT_TRUE(profile.user_stacks.at(other.user_stack).overflow);
  EXPECT_EQ(other.kind, WaitKind::kOther);
  EXPECT_EQ(other.count, 4u);
  EXPECT_EQ(other.blocked_ns, 400u);
  EXPECT_EQ(other.runnable_ns, 44u);
  EXPECT_EQ(other.max_ns, 111u);
  EXPECT_THAT(profile.stats.losses, ElementsAre(LossIs("row table full", 4u, 444u)));
}

TEST_F(OffCpuTableTest, CountsOfASampleAreRoundedOnce) {
  const ProfileRow interval = {Wait(400, 0).key(), RowSums::OfWait(400, 0, 0, 1000)};  // stands for 2.5
  uint32_t user = stacks_.InternUser({});
  for (int i = 0; i < 4; ++i) Add(interval, user);
  Profile profile = table_.Finish(stacks_, {});
  EXPECT_EQ(profile.rows[0].count, 10u);
  EXPECT_EQ(profile.rows[0].total_ns(), 4000u);
}

TEST_F(OffCpuTableTest, LossesNameTheTimeThatHasNoStack) {
  ProfileRow undefined = Wait(5, 2);
  undefined.kernel_stack = stacks_.InternKernel(99);
  Add(undefined, stacks_.InternUser({}));
  Add(Wait(10, 0), stacks_.InternMissing(NoUserStack::kBudget));
  Add(Wait(20, 1), stacks_.InternMissing(NoUserStack::kBudget));
  Add(Wait(30, 0), stacks_.InternMissing(NoUserStack::kPending));
  ProfileStats stats;
  stats.losses.push_back({.reason = "ring full", .count = 3, .ns = 4});
  Profile profile = table_.Finish(stacks_, stats);
  EXPECT_THAT(profile.stats.losses, ElementsAre(LossIs("ring full", 3u, 4u), LossIs("no user stack: budget", 2u, 31u),
                                                LossIs("no user stack: pending", 1u, 30u),
                                                LossIs("kernel stack without definition", 1u, 7u)));
}

TEST_F(OffCpuTableTest, RowsAreSorted) {
  uint32_t user = stacks_.InternUser({});
  for (uint32_t process : {3u, 1u, 2u, 0u}) {
    ProfileRow interval = Wait(1, 0);
    interval.process = process;
    Add(interval, user);
  }
  Profile profile = table_.Finish(stacks_, {});
  ASSERT_THAT(profile.rows, SizeIs(4));
  for (uint32_t i = 0; i < 4; ++i) EXPECT_EQ(profile.rows[i].process, i);
}

TEST(NameTest, EveryKindAndReasonHasItsOwnName) {
  std::vector<std::string> names;
  for (int i = 0; i < kWaitKindCount; ++i) names.emplace_back(Name(static_cast<WaitKind>(i)));
  EXPECT_THAT(names, ElementsAre("sleeping", "disk", "stopped", "preempted", "yielded", "throttled", "other", "open",
                                 "running"));
  names.clear();
  for (int i = 0; i < kNoUserStackCount; ++i) names.emplace_back(Name(static_cast<NoUserStack>(i)));
  EXPECT_THAT(names, ElementsAre("none", "budget", "ring full", "no buffer", "unreadable", "exiting", "exec", "pending",
                                 "lost", "gone", "target stuck", "unreadable process", "changing process",
                                 "not seen leaving", "switched off", "overload", "32-bit code", "unsupported", "stale",
                                 "kernel thread", "on CPU", "not asked"));
}

// Two rows, and those beyond the limit: each has its sums once more, by seconds.
TEST_F(OffCpuTableTest, TimesAddUpToTheSums) {
  OffCpuTable table({.rows = 2});
  for (uint32_t user = 1; user <= 4; ++user) {
    for (uint64_t second = 1; second <= 3; ++second) {
      ProfileRow row = Wait(uint64_t{1'500'000'000} * user, 7);
      UserStack stack;
      stack.frames.push_back({.code = nullptr, .address = user});
      row.user_stack = stacks_.InternUser(stack);
      const Stretch when = {.end_ns = 10'000'000'000 + second * 700'000'000,
                            .blocked_ns = row.blocked_ns,
                            .runnable_ns = row.runnable_ns,
                            .sums = TimeBucket::Of(0, row)};
      table.Add(row, {&when, 1});
    }
  }
  const Profile profile = table.Finish(stacks_, {});
  ASSERT_THAT(profile.rows, SizeIs(3));
  EXPECT_EQ(profile.times.bucket_ns, 1'000'000'000u);
  EXPECT_EQ(profile.times.begin_ns, 4'000'000'000) << "the longest wait began 6 s before it ended at 10.7 s";
  for (const ProfileRow& row : profile.rows) {
    TimeBucket all;
    const std::vector<TimeBucket> buckets = UnpackTimes(row.times).value();
    for (const TimeBucket& bucket : buckets) all.Add(bucket);
    EXPECT_EQ(all.blocked_ns, row.blocked_ns);
    EXPECT_EQ(all.runnable_ns, row.runnable_ns);
    EXPECT_EQ(all.count, row.count);
  }
}

TEST_F(OffCpuTableTest, BucketsMayBeNarrower) {
  OffCpuTable table({.bucket_ns = 31'250'000});
  EXPECT_EQ(table.bucket_ns(), 31'250'000u);
  ProfileRow row = Wait(20'000'000, 7);
  row.user_stack = stacks_.InternUser({});
  for (const uint64_t end_ns : {uint64_t{10'000'000'000}, uint64_t{10'500'000'000}}) {
    const Stretch when = {.end_ns = end_ns, .blocked_ns = row.blocked_ns, .sums = TimeBucket::Of(0, row)};
    table.Add(row, {&when, 1});
  }
  const Profile profile = table.Finish(stacks_, {});
  EXPECT_EQ(profile.times.bucket_ns, 31'250'000u);
  EXPECT_EQ(profile.times.begin_ns, 9'968'750'000);
  const std::vector<TimeBucket> buckets = UnpackTimes(profile.rows.at(0).times).value();
  ASSERT_THAT(buckets, SizeIs(2));
  EXPECT_EQ(buckets[1].number, 16u);
}

TEST_F(OffCpuTableTest, WithoutAPlaceInTimeThereAreNoBuckets) {
  Add(Wait(100, 10), stacks_.InternUser({}));
  const Profile profile = table_.Finish(stacks_, {});
  EXPECT_EQ(profile.times, TimeGrid());
  EXPECT_THAT(profile.rows[0].times, IsEmpty());
}

}  // namespace
}  // namespace offcpu
