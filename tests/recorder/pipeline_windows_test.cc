// Windows: every nanosecond of a wait is in one of them, whatever they cut it into.
#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <vector>

#include "gmock/gmock.h"
#include "profile/losses.h"
#include "tests/recorder/pipeline_fixture.h"

namespace offcpu {
namespace {

const std::string kMissedOpenWait(InfoOf(LossId::kOpenWaitMissed).name);

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

// One wait of a thread. It is blocked until it is woken at `wake_ns`, and then runnable until it runs.
struct AWait {
  int32_t tid = 0;
  uint64_t begin_ns = 0;
  uint64_t wake_ns = 0;
  uint64_t end_ns = 0;
  WaitKind kind = WaitKind::kSleeping;
  uint64_t switches = 1;

  uint64_t length_ns() const { return end_ns - begin_ns; }
};

struct Times {
  uint64_t blocked_ns = 0;
  uint64_t runnable_ns = 0;
  uint64_t count = 0;

  bool operator==(const Times&) const = default;
};

class WindowsTest : public PipelineTest {
 protected:
  static constexpr uint64_t kMs = 1'000'000;
  static constexpr uint64_t kStart = 1000 * kMs;  // of the recording

  WindowsTest() {
    config_.windows.window.per_thread = true;
    Make(config_);
  }

  static IntervalEvent Interval(const AWait& wait, uint64_t cookie = 0) {
    return {.process = kProcess,
            .tid = wait.tid,
            .cookie = cookie,
            .missing = cookie == 0 ? NoUserStack::kBudget : NoUserStack::kNone,
            .kernel_stack = 5,
            .kind = wait.kind,
            .switches = wait.switches,
            .end_ns = wait.end_ns,
            .blocked_ns = wait.wake_ns - wait.begin_ns,
            .runnable_ns = wait.end_ns - wait.wake_ns,
            .comm = "worker"};
  }

  // How the kernel lists its thread at a moment after `at_ns`, when it is still in this wait.
  static WaitingThread Listed(const AWait& wait, uint64_t at_ns) {
    WaitingThread thread = AWaitingThread(wait.switches);
    thread.tid = wait.tid;
    thread.comm = "worker";
    thread.kernel = {0xa, 0xb};
    const uint64_t blocked_ns = std::min(wait.wake_ns, at_ns) - wait.begin_ns;
    thread.open = OpenWait{.begin_ns = wait.begin_ns,
                           .blocked_ns = blocked_ns,
                           .runnable_ns = at_ns - wait.begin_ns - blocked_ns,
                           .kind = wait.kind,
                           .throughout = wait.begin_ns == kStart};
    return thread;
  }

  static WaitingThread Running(int32_t tid) {
    WaitingThread thread = AWaitingThread(1);
    thread.tid = tid;
    thread.on_cpu = true;
    thread.open.reset();
    thread.in_open_wait = false;
    return thread;
  }

  void Cut(uint64_t at_ns, const std::vector<WaitingThread>& threads = {}) {
    pipeline_->Tick(now_ns_);
    ASSERT_TRUE(pipeline_->Cut(at_ns, threads).ok());
  }
  Profile Close() {
    Settle();
    EXPECT_TRUE(pipeline_->IsClosed(true));
    return pipeline_->TakeClosed({});
  }

  using ByThreadAndKind = std::map<std::pair<int32_t, WaitKind>, Times>;
  static ByThreadAndKind TimesOf(const Profile& profile) {
    ByThreadAndKind times;
    for (const ProfileRow& row : profile.rows) {
      Times& sum = times[{row.tid, row.kind}];
      sum.blocked_ns += row.blocked_ns;
      sum.runnable_ns += row.runnable_ns;
      sum.count += row.count;
    }
    return times;
  }
  static std::map<int32_t, uint64_t> NsByThread(const Profile& profile) {
    std::map<int32_t, uint64_t> ns;
    for (const ProfileRow& row : profile.rows) ns[row.tid] += row.total_ns();
    return ns;
  }
  static uint64_t DroppedNs(const Profile& profile, const std::string& reason) {
    for (const Loss& loss : profile.stats.losses) {
      if (loss.reason == reason) return loss.ns;
    }
    return 0;
  }
  static std::string UserOf(const Profile& profile, const ProfileRow& row) {
    const UserStackEntry& entry = profile.user_stacks[row.user_stack];
    return std::string(entry.missing != NoUserStack::kNone ? Name(entry.missing) : Name(entry.stack.end));
  }

  PipelineConfig config_;
};

constexpr WaitKind kOwn = WaitKind::kSleeping;
constexpr WaitKind kOpen = WaitKind::kOpen;

TEST_F(WindowsTest, AWaitIsCutWhereTheWindowIs) {
  const AWait wait = {.tid = 7, .begin_ns = kStart + 100, .wake_ns = kStart + 300, .end_ns = kStart + 400};
  Cut(kStart + 250, {Listed(wait, kStart + 250)});
  const Profile first = Close();
  pipeline_->Handle(Interval(wait));
  Cut(kStart + 1000);
  const Profile second = Close();
  EXPECT_THAT(TimesOf(first), ElementsAre(Pair(Pair(7, kOpen), Times{150, 0, 1})));
  EXPECT_THAT(TimesOf(second), ElementsAre(Pair(Pair(7, kOwn), Times{50, 100, 1})));
  EXPECT_EQ(second.rows[0].max_ns, 150u) << "in this window";
}

TEST_F(WindowsTest, AWaitThatIsCutAfterItsThreadWasWoken) {
  const AWait wait = {.tid = 7, .begin_ns = kStart + 100, .wake_ns = kStart + 300, .end_ns = kStart + 400};
  Cut(kStart + 340, {Listed(wait, kStart + 340)});
  const Profile first = Close();
  pipeline_->Handle(Interval(wait));
  const Profile second = pipeline_->Finish({});
  EXPECT_THAT(TimesOf(first), ElementsAre(Pair(Pair(7, kOpen), Times{200, 40, 1})));
  EXPECT_THAT(TimesOf(second), ElementsAre(Pair(Pair(7, kOwn), Times{0, 60, 1})));
}

TEST_F(WindowsTest, APreemptedThreadIsRunnableInBoth) {
  const AWait wait = {.tid = 7,
                      .begin_ns = kStart + 100,
                      .wake_ns = kStart + 100,
                      .end_ns = kStart + 400,
                      .kind = WaitKind::kPreempted};
  AWait unlisted = wait;
  unlisted.tid = 8;
  Cut(kStart + 250, {Listed(wait, kStart + 250), Running(8)});
  pipeline_->Handle(Interval(wait));
  pipeline_->Handle(Interval(unlisted));
  const Profile first = Close();
  const Profile second = pipeline_->Finish({});
  EXPECT_THAT(TimesOf(first),
              ElementsAre(Pair(Pair(7, kOpen), Times{0, 150, 1}), Pair(Pair(8, kOpen), Times{0, 150, 1})));
  EXPECT_THAT(TimesOf(second), ElementsAre(Pair(Pair(7, WaitKind::kPreempted), Times{0, 150, 1}),
                                           Pair(Pair(8, WaitKind::kPreempted), Times{0, 150, 1})));
}

TEST_F(WindowsTest, AWaitMaySpanThree) {
  const AWait wait = {.tid = 7, .begin_ns = kStart + 100, .wake_ns = kStart + 3100, .end_ns = kStart + 3150};
  std::vector<Profile> profiles;
  for (const uint64_t at_ns : {kStart + 1000, kStart + 3120}) {
    Cut(at_ns, {Listed(wait, at_ns)});
    profiles.push_back(Close());
  }
  pipeline_->Handle(Interval(wait));
  profiles.push_back(pipeline_->Finish({}));
  EXPECT_THAT(TimesOf(profiles[0]), ElementsAre(Pair(Pair(7, kOpen), Times{900, 0, 1})));
  EXPECT_THAT(TimesOf(profiles[1]), ElementsAre(Pair(Pair(7, kOpen), Times{2100, 20, 1})));
  EXPECT_THAT(TimesOf(profiles[2]), ElementsAre(Pair(Pair(7, kOwn), Times{0, 30, 1})));
}

TEST_F(WindowsTest, AThreadThatComesBackBeforeItIsListed) {
  const AWait wait = {.tid = 7, .begin_ns = kStart + 100, .wake_ns = kStart + 300, .end_ns = kStart + 400};
  WaitingThread on_its_way = Listed(wait, kStart + 250);  // its program has not come to clear the stamp
  on_its_way.came_back = true;
  on_its_way.in_open_wait = false;
  for (const WaitingThread& listed : {Running(7), on_its_way}) {
    Make(config_);
    Cut(kStart + 250, {listed});
    pipeline_->Handle(Interval(wait));
    const Profile first = Close();
    const Profile second = pipeline_->Finish({});
    EXPECT_THAT(TimesOf(first), ElementsAre(Pair(Pair(7, kOpen), Times{150, 0, 1})));
    EXPECT_THAT(TimesOf(second), ElementsAre(Pair(Pair(7, kOwn), Times{50, 100, 1})));
    EXPECT_THAT(first.stats.losses,
                ::testing::Not(::testing::Contains(::testing::Field(&Loss::reason, kMissedOpenWait))));
  }
}

TEST_F(WindowsTest, WhatEndedBeforeTheCutAndComesAfterItIsOfTheOldWindow) {
  const AWait before = {.tid = 7, .begin_ns = kStart + 100, .wake_ns = kStart + 200, .end_ns = kStart + 250};
  const AWait open = {
      .tid = 7, .begin_ns = kStart + 260, .wake_ns = kStart + 400, .end_ns = kStart + 400, .switches = 2};
  Cut(kStart + 300, {Listed(open, kStart + 300)});
  pipeline_->Handle(Interval(before));
  const Profile first = Close();
  pipeline_->Handle(Interval(open));
  const Profile second = pipeline_->Finish({});
  EXPECT_THAT(TimesOf(first),
              ElementsAre(Pair(Pair(7, kOwn), Times{100, 50, 1}), Pair(Pair(7, kOpen), Times{40, 0, 1})));
  EXPECT_THAT(TimesOf(second), ElementsAre(Pair(Pair(7, kOwn), Times{100, 0, 1})));
}

// Its end was in the rings at the second cut, when its thread waited again.
TEST_F(WindowsTest, AnIntervalThatWasReportedMayComeWhenItsThreadIsReportedAgain) {
  const AWait wait = {.tid = 7, .begin_ns = kStart + 100, .wake_ns = kStart + 1900, .end_ns = kStart + 1900};
  const AWait next = {
      .tid = 7, .begin_ns = kStart + 1950, .wake_ns = kStart + 2200, .end_ns = kStart + 2200, .switches = 2};
  Cut(kStart + 1000, {Listed(wait, kStart + 1000)});
  const Profile first = Close();
  Cut(kStart + 2000, {Listed(next, kStart + 2000)});
  pipeline_->Handle(Interval(wait));
  const Profile second = Close();
  pipeline_->Handle(Interval(next));
  EXPECT_THAT(NsByThread(first), ElementsAre(Pair(7, 900u)));
  EXPECT_THAT(TimesOf(second),
              ElementsAre(Pair(Pair(7, kOwn), Times{900, 0, 1}), Pair(Pair(7, kOpen), Times{50, 0, 1})));
  EXPECT_THAT(NsByThread(pipeline_->Finish({})), ElementsAre(Pair(7, 200u)));
}

TEST_F(WindowsTest, WhatIsTooLateForItsWindowIsNamed) {
  const AWait straddles = {
      .tid = 7, .begin_ns = kStart + 100 * kMs, .wake_ns = kStart + 300 * kMs, .end_ns = kStart + 400 * kMs};
  const AWait before = {
      .tid = 8, .begin_ns = kStart + 100 * kMs, .wake_ns = kStart + 150 * kMs, .end_ns = kStart + 200 * kMs};
  Cut(kStart + 250 * kMs);
  EXPECT_THAT(Close().rows, IsEmpty());
  pipeline_->Handle(Interval(straddles));
  pipeline_->Handle(Interval(before));
  const Profile second = pipeline_->Finish({});
  EXPECT_THAT(NsByThread(second), ElementsAre(Pair(7, 150 * kMs)));
  EXPECT_EQ(DroppedNs(second, kMissedOpenWait), 150 * kMs);
  EXPECT_EQ(DroppedNs(second, "interval came after its window"), 100 * kMs);
}

TEST_F(WindowsTest, ASampleIsOfTheWindowThatItsInstantLiesIn) {
  config_.windows.window.oncpu_period_ns = 10;
  Make(config_);
  const auto sample = [](uint64_t at_ns) {
    return SampleEvent{.process = kProcess, .tid = 7, .missing = NoUserStack::kBudget, .in_user = true, .at_ns = at_ns};
  };
  const auto samples = [](const Profile& profile) {
    uint64_t count = 0;
    for (const ProfileRow& row : profile.rows) {
      count += row.samples;
      EXPECT_EQ(row.cpu_ns, 10 * row.samples);
    }
    EXPECT_EQ(profile.stats.oncpu_samples, count);
    return count;
  };
  pipeline_->Handle(sample(kStart + 100));
  Cut(kStart + 250);
  pipeline_->Handle(sample(kStart + 250));  // before the end
  pipeline_->Handle(sample(kStart + 251));
  pipeline_->Handle(sample(kStart + 300));
  EXPECT_EQ(samples(Close()), 2u);
  pipeline_->Handle(sample(kStart + 200));  // too late
  const Profile second = pipeline_->Finish({});
  EXPECT_EQ(samples(second), 2u);
  EXPECT_EQ(DroppedNs(second, "on-CPU sample came after its window"), 10u);
}

// The kernel was looking for another thread to run there when the window ended: the wait begins before that. No window
// has more of it than its length.
TEST_F(WindowsTest, AThreadThatWasOnItsWayOffItsCpuIsMissedInTheOldWindow) {
  const AWait wait = {.tid = 7, .begin_ns = kStart + 990, .wake_ns = kStart + 2000, .end_ns = kStart + 2000};
  const AWait open = {.tid = 8, .begin_ns = kStart + 980, .wake_ns = kStart + 9000, .end_ns = kStart + 9000};
  Cut(kStart + 1000, {Running(7), Running(8)});
  EXPECT_THAT(Close().rows, IsEmpty());
  pipeline_->Handle(Interval(wait));
  Cut(kStart + 3000, {Running(7), Listed(open, kStart + 3000)});
  const Profile second = Close();
  EXPECT_THAT(NsByThread(second), ElementsAre(Pair(7, 1000u), Pair(8, 2000u)));
  EXPECT_EQ(DroppedNs(second, kMissedOpenWait), 10u + 20u);
  pipeline_->Handle(Interval(open));
  EXPECT_THAT(NsByThread(pipeline_->Finish({})), ElementsAre(Pair(8, 6000u)));
}

// No buffer for it in the list of the first cut, and one in that of the second.
TEST_F(WindowsTest, WhatWasNotListedAtOneOfTwoCutsIsNamed) {
  const AWait wait = {
      .tid = 7, .begin_ns = kStart + 100 * kMs, .wake_ns = kStart + 3000 * kMs, .end_ns = kStart + 3000 * kMs};
  AWait back = wait;  // it was never listed, but is back in time for the second window
  back.tid = 8;
  back.wake_ns = back.end_ns = kStart + 2100 * kMs;
  Cut(kStart + 1000 * kMs);
  const Profile first = Close();
  Cut(kStart + 2000 * kMs, {Listed(wait, kStart + 2000 * kMs)});
  pipeline_->Handle(Interval(back));
  const Profile second = Close();
  pipeline_->Handle(Interval(wait));
  const Profile third = pipeline_->Finish({});
  EXPECT_THAT(first.rows, IsEmpty());
  EXPECT_THAT(NsByThread(second), ElementsAre(Pair(7, 1000 * kMs), Pair(8, 1000 * kMs)));
  EXPECT_THAT(NsByThread(third), ElementsAre(Pair(7, 1000 * kMs), Pair(8, 100 * kMs)));
  EXPECT_EQ(DroppedNs(second, kMissedOpenWait) + DroppedNs(third, kMissedOpenWait), 900 * kMs + 900 * kMs);
}

TEST_F(WindowsTest, SleepersAreCountedInEachWindowThatTheySleepThrough) {
  config_.windows.open_waits.show_sleepers = false;
  Make(config_);
  const AWait wait = {.tid = 7, .begin_ns = kStart, .wake_ns = kStart + 2500, .end_ns = kStart + 2600};
  std::vector<Profile> profiles;
  for (const uint64_t at_ns : {kStart + 1000, kStart + 2000}) {
    Cut(at_ns, {Listed(wait, at_ns)});
    profiles.push_back(Close());
    EXPECT_THAT(profiles.back().rows, IsEmpty());
    EXPECT_EQ(profiles.back().stats.slept_throughout, 1u);
  }
  pipeline_->Handle(Interval(wait));
  const Profile last = pipeline_->Finish({});
  EXPECT_THAT(TimesOf(last), ElementsAre(Pair(Pair(7, kOwn), Times{500, 100, 1})));
  EXPECT_EQ(last.stats.slept_throughout, 0u);
}

TEST_F(WindowsTest, WhatIsFilteredAtACutIsNotInTheNextWindow) {
  config_.windows.open_waits.min_wait_ns = 500;
  Make(config_);
  const AWait wait = {.tid = 7, .begin_ns = kStart + 900, .wake_ns = kStart + 1500, .end_ns = kStart + 1500};
  Cut(kStart + 1000, {Listed(wait, kStart + 1000)});
  const Profile first = Close();
  pipeline_->Handle(Interval(wait));
  EXPECT_THAT(first.rows, IsEmpty());
  EXPECT_EQ(DroppedNs(first, "still waiting, and filtered out"), 100u);
  EXPECT_THAT(NsByThread(pipeline_->Finish({})), ElementsAre(Pair(7, 500u)));
}

TEST_F(WindowsTest, ATidThatIsUsedAgainIsAnotherThread) {
  const AWait old_thread = {.tid = 7, .begin_ns = kStart + 100, .wake_ns = kStart + 1050, .end_ns = kStart + 1050};
  const AWait new_thread = {.tid = 7, .begin_ns = kStart + 1100, .wake_ns = kStart + 1300, .end_ns = kStart + 1300};
  for (const bool ended_in_silence : {false, true}) {
    Make(config_);
    Cut(kStart + 1000, {Listed(old_thread, kStart + 1000)});
    const Profile first = Close();
    if (!ended_in_silence) pipeline_->Handle(Interval(old_thread));
    IntervalEvent event = Interval(new_thread);
    event.process.start_ns += 5;
    pipeline_->Handle(event);
    EXPECT_THAT(NsByThread(first), ElementsAre(Pair(7, 900u)));
    EXPECT_THAT(NsByThread(pipeline_->Finish({})), ElementsAre(Pair(7, ended_in_silence ? 200u : 250u)));
  }
}

TEST_F(WindowsTest, AnExecBetweenWindowsMakesAnotherProcess) {
  const ProcessKey after = {.pid = kProcess.pid, .start_ns = kProcess.start_ns, .exec_id = kProcess.exec_id + 1};
  processes_->SetCode(kProcess.pid, kVersion1, SpaceAt(kCode));
  const AWait wait = {.tid = 7, .begin_ns = kStart + 100, .wake_ns = kStart + 1050, .end_ns = kStart + 1050};
  AWait later = {.tid = 7, .begin_ns = kStart + 1200, .wake_ns = kStart + 1300, .end_ns = kStart + 1300};
  Cut(kStart + 1000, {Listed(wait, kStart + 1000)});
  Close();
  pipeline_->Handle(Interval(wait));
  pipeline_->Handle(ExecEvent{.process = after});
  IntervalEvent event = Interval(later);
  event.process = after;
  pipeline_->Handle(event);
  WaitingThread thread = Running(7);
  thread.process = after;
  Cut(kStart + 2000, {thread});
  const Profile second = Close();
  std::map<uint64_t, uint64_t> ns_by_exec;
  for (const ProfileRow& row : second.rows) ns_by_exec[second.processes[row.process].key.exec_id] += row.total_ns();
  EXPECT_THAT(ns_by_exec, ElementsAre(Pair(kProcess.exec_id, 50u), Pair(after.exec_id, 100u)));
  EXPECT_EQ(pipeline_->kept().targets, 1u) << "of the program that is gone";
}

TEST_F(WindowsTest, AKernelEntryOverACutIsWalkedOnce) {
  processes_->SetCode(kProcess.pid, kVersion1, SpaceAt(kCode));
  const AWait first_wait = {.tid = 7, .begin_ns = kStart + 100, .wake_ns = kStart + 200, .end_ns = kStart + 200};
  const AWait second_wait = {
      .tid = 7, .begin_ns = kStart + 250, .wake_ns = kStart + 400, .end_ns = kStart + 400, .switches = 2};
  pipeline_->Handle(Interval(first_wait, 77));
  Cut(kStart + 300, {Running(7)});
  pipeline_->Handle(Interval(second_wait, 77));
  Settle();
  EXPECT_FALSE(pipeline_->IsClosed(true)) << "its capture is still to come";
  pipeline_->Handle(ACapture(77, kVersion1));
  Settle();
  EXPECT_FALSE(pipeline_->IsClosed(false)) << "more may come";
  const Profile first = Close();
  const Profile second = pipeline_->Finish({});
  EXPECT_EQ(first.stats.walks + second.stats.walks, 1u);
  for (const Profile* profile : {&first, &second}) {
    for (const ProfileRow& row : profile->rows) EXPECT_EQ(UserOf(*profile, row), "guessed end");
  }
  EXPECT_THAT(NsByThread(first), ElementsAre(Pair(7, 150u)));
  EXPECT_THAT(NsByThread(second), ElementsAre(Pair(7, 100u)));
}

// Rings are drained one after the other, so that a capture may be ahead of an interval of its kernel entry.
TEST_F(WindowsTest, ASampleHasTheStackOfTheIntervalsOfItsStay) {
  config_.windows.window.oncpu_period_ns = 10;
  Make(config_);
  processes_->SetCode(kProcess.pid, kVersion1, SpaceAt(kCode));
  const AWait wait = {.tid = kProcess.pid, .begin_ns = kStart, .wake_ns = kStart + 10, .end_ns = kStart + 20};
  pipeline_->Handle(Interval(wait, 9));
  pipeline_->Handle(SampleEvent{.process = kProcess,
                                .tid = kProcess.pid,
                                .cookie = 9,
                                .kernel_stack = 6,
                                .at_ns = kStart + 30,
                                .comm = "worker"});
  pipeline_->Handle(ACapture(9, kVersion1));
  Settle();
  const Profile profile = pipeline_->Finish({});
  ASSERT_EQ(profile.rows.size(), 2u);
  EXPECT_EQ(profile.rows[0].user_stack, profile.rows[1].user_stack);
  EXPECT_EQ(UserOf(profile, profile.rows[0]), "guessed end");
  EXPECT_EQ(profile.rows[0].samples + profile.rows[1].samples, 1u);
  EXPECT_EQ(profile.stats.cookies, 1u);
  EXPECT_EQ(profile.stats.walks, 1u);
}

TEST_F(WindowsTest, AStackThatOneWindowKnowsServesTheOther) {
  processes_->SetCode(kProcess.pid, kVersion1, SpaceAt(kCode));
  const AWait wait = {.tid = 7, .begin_ns = kStart + 100, .wake_ns = kStart + 400, .end_ns = kStart + 400};
  for (const bool before_the_cut : {true, false}) {
    Make(config_);
    if (before_the_cut) pipeline_->Handle(ACapture(77, kVersion1));
    Settle();
    Cut(kStart + 300, {Running(7)});
    if (!before_the_cut) pipeline_->Handle(ACapture(77, kVersion1));
    Settle();
    pipeline_->Handle(Interval(wait, 77));
    const Profile first = Close();
    const Profile second = pipeline_->Finish({});
    ASSERT_EQ(first.rows.size(), 1u);
    ASSERT_EQ(second.rows.size(), 1u);
    EXPECT_EQ(UserOf(first, first.rows[0]), "guessed end");
    EXPECT_EQ(UserOf(second, second.rows[0]), "guessed end");
  }
}

// What is open has not been ended by anybody; the waker's stack serves the window in which the wait ends.
TEST_F(WindowsTest, AWaitThatIsCutHasItsWakerWhereItEnds) {
  processes_->SetCode(kProcess.pid, kVersion1, SpaceAt(kCode));
  processes_->SetCode(kOther.pid, kVersion1, SpaceAt(kCode));
  const AWait wait = {.tid = 7, .begin_ns = kStart + 100, .wake_ns = kStart + 400, .end_ns = kStart + 400};
  IntervalEvent event = Interval(wait, 77);
  event.wakers = {{.process = kOther, .tid = 9, .comm = "waker", .cookie = 88, .kernel_stack = 6},
                  {.interrupt = true, .missing = NoUserStack::kKernelThread, .kernel_stack = 8}};
  for (const bool ends_before_the_cut : {false, true}) {
    Make(config_);
    Cut(ends_before_the_cut ? kStart + 500 : kStart + 300, {Running(7)});
    pipeline_->Handle(event);
    pipeline_->Handle(ACapture(88, kVersion1, kOther));  // before that which the interval waits for first
    pipeline_->Handle(ACapture(77, kVersion1));
    const Profile first = Close();
    const Profile second = pipeline_->Finish({});
    ASSERT_EQ(first.rows.size(), 1u);
    EXPECT_EQ(UserOf(first, first.rows[0]), "guessed end");
    ASSERT_EQ(second.rows.size(), ends_before_the_cut ? 0u : 1u);
    if (!ends_before_the_cut) {
      EXPECT_EQ(first.rows[0].waker, 0u);
      EXPECT_TRUE(first.wakers.empty());
    }
    const Profile& ended_in = ends_before_the_cut ? first : second;
    ASSERT_EQ(ended_in.rows[0].waker, 1u);
    const WakerChain& chain = ended_in.wakers.at(0);
    ASSERT_EQ(chain.size(), 2u);
    EXPECT_EQ(ended_in.processes[chain[0].process].key, kOther);
    EXPECT_EQ(ended_in.comms[chain[0].comm], "waker");
    EXPECT_EQ(ended_in.kernel_stacks[chain[0].kernel_stack].id, 6u);
    EXPECT_EQ(ended_in.user_stacks[chain[0].user_stack].stack.frames.size(), 2u);
    EXPECT_TRUE(chain[1].interrupt);
    EXPECT_EQ(ended_in.kernel_stacks[chain[1].kernel_stack].id, 8u);
  }
}

// They have no number here: nobody asks what they are.
TEST_F(WindowsTest, WakersOutsideOfThePidNamespaceAreOneProcess) {
  processes_->SetCode(kProcess.pid, kVersion1, SpaceAt(kCode));
  const AWait wait = {.tid = 7, .begin_ns = kStart + 100, .wake_ns = kStart + 400, .end_ns = kStart + 400};
  IntervalEvent event = Interval(wait, 77);
  event.wakers = {{.comm = "outside", .missing = NoUserStack::kNotAsked, .kernel_stack = 6}};
  pipeline_->Handle(event);
  Settle();
  const Profile profile = pipeline_->Finish({});
  ASSERT_EQ(profile.rows.size(), 1u);
  const Waker& waker = profile.wakers.at(0).at(0);
  EXPECT_EQ(profile.processes[waker.process].key.pid, 0);
  EXPECT_EQ(profile.processes[waker.process].name, "outside of the container");
  EXPECT_EQ(profile.comms[waker.comm], "outside");
  EXPECT_EQ(profile.user_stacks[waker.user_stack].missing, NoUserStack::kNotAsked);
  EXPECT_EQ(processes_->snapshots_taken(0), 0);
}

TEST_F(WindowsTest, AKernelEntryThatLastsIsPendingInItsWindowAndWaitedForInTheNext) {
  processes_->SetCode(kProcess.pid, kVersion1, SpaceAt(kCode));
  const AWait wait = {.tid = 7, .begin_ns = kStart + 100, .wake_ns = kStart + 400, .end_ns = kStart + 400};
  Cut(kStart + 300, {Running(7)});
  pipeline_->Handle(Interval(wait, 77));
  Settle();
  now_ns_ += WindowBookConfig().close_ns - 1;
  Settle();
  EXPECT_FALSE(pipeline_->IsClosed(true));
  now_ns_ += 1;
  Settle();
  EXPECT_TRUE(pipeline_->IsClosed(false)) << "it is not waited for for ever";
  const Profile first = pipeline_->TakeClosed({});
  ASSERT_EQ(first.rows.size(), 1u);
  EXPECT_EQ(UserOf(first, first.rows[0]), "pending");
  pipeline_->Handle(ACapture(77, kVersion1));
  Settle();
  const Profile second = pipeline_->Finish({});
  ASSERT_EQ(second.rows.size(), 1u);
  EXPECT_EQ(UserOf(second, second.rows[0]), "guessed end");
}

TEST_F(WindowsTest, AStackThatWasReadServesEveryWindowOfItsWait) {
  processes_->SetCode(kProcess.pid, kVersion1, SpaceAt(kCode));
  std::atomic<size_t> read = 0;
  host_->read = [&read](const auto& threads) {
    read += threads.size();
    return std::vector<LiveStack>(threads.size(), ALiveStack());
  };
  const AWait wait = {.tid = 7, .begin_ns = kStart + 100, .wake_ns = kStart + 4000, .end_ns = kStart + 4000};
  for (const uint64_t at_ns : {kStart + 1000, kStart + 2000, kStart + 3000}) {
    Cut(at_ns, {Listed(wait, at_ns)});
    const Profile profile = Close();
    ASSERT_EQ(profile.rows.size(), 1u);
    EXPECT_EQ(UserOf(profile, profile.rows[0]), "guessed end");
    EXPECT_THAT(profile.kernel_stacks[profile.rows[0].kernel_stack].addresses, ElementsAre(0xa, 0xb));
  }
  pipeline_->Handle(Interval(wait));
  const Profile last = pipeline_->Finish({});
  EXPECT_EQ(UserOf(last, last.rows[0]), "guessed end");
  EXPECT_EQ(read, 1u);
}

// It ended after it was listed, and before it could be read: it has been captured on its way back.
TEST_F(WindowsTest, AWaitThatEndsBeforeItIsReadHasTheStackOfItsCapture) {
  processes_->SetCode(kProcess.pid, kVersion1, SpaceAt(kCode));
  host_->read = [](const auto& threads) {
    return std::vector<LiveStack>(threads.size(), {.missing = NoUserStack::kStale});
  };
  const AWait wait = {.tid = 7, .begin_ns = kStart + 100, .wake_ns = kStart + 1050, .end_ns = kStart + 1050};
  for (const bool read_before_it_comes : {true, false}) {
    Make(config_);
    Cut(kStart + 1000, {Listed(wait, kStart + 1000)});
    if (read_before_it_comes) Settle();
    EXPECT_FALSE(pipeline_->IsClosed(true)) << "its interval is on its way";
    pipeline_->Handle(Interval(wait, 77));
    pipeline_->Handle(ACapture(77, kVersion1));
    const Profile first = Close();
    ASSERT_EQ(first.rows.size(), 1u);
    EXPECT_EQ(UserOf(first, first.rows[0]), "guessed end");
    EXPECT_EQ(first.rows[0].total_ns(), 900u);
    const Profile second = pipeline_->Finish({});
    EXPECT_EQ(UserOf(second, second.rows[0]), "guessed end");
    EXPECT_EQ(first.stats.walks + second.stats.walks, 1u);
  }
}

TEST_F(WindowsTest, AWaitThatEndsBeforeItIsReadAndLeavesNothingIsStale) {
  processes_->SetCode(kProcess.pid, kVersion1, SpaceAt(kCode));
  host_->read = [](const auto& threads) {
    return std::vector<LiveStack>(threads.size(), {.missing = NoUserStack::kStale});
  };
  const AWait wait = {.tid = 7, .begin_ns = kStart + 100, .wake_ns = kStart + 1050, .end_ns = kStart + 1050};
  Cut(kStart + 1000, {Listed(wait, kStart + 1000)});
  Settle();
  EXPECT_FALSE(pipeline_->IsClosed(true));
  now_ns_ += 100 * kMs;
  const Profile first = Close();
  ASSERT_EQ(first.rows.size(), 1u);
  EXPECT_EQ(UserOf(first, first.rows[0]), "stale");
}

TEST_F(WindowsTest, AStackThatCannotBeWalkedIsToldInEveryWindowAndTriedAgain) {
  processes_->Set(kProcess.pid, {.outcome = SnapshotOutcome::kUnreadable});
  const AWait wait = {.tid = 7, .begin_ns = kStart + 100, .wake_ns = kStart + 4000, .end_ns = kStart + 4000};
  for (const uint64_t at_ns : {kStart + 1000, kStart + 2000}) {
    Cut(at_ns, {Listed(wait, at_ns)});
    const Profile profile = Close();
    ASSERT_EQ(profile.rows.size(), 1u);
    EXPECT_EQ(UserOf(profile, profile.rows[0]), "unreadable process");
  }
  processes_->SetCode(kProcess.pid, kVersion1, SpaceAt(kCode));
  now_ns_ += TargetsConfig().retry_ns;
  Cut(kStart + 3000, {Listed(wait, kStart + 3000)});
  const Profile profile = Close();
  ASSERT_EQ(profile.rows.size(), 1u);
  EXPECT_EQ(UserOf(profile, profile.rows[0]), "guessed end");
}

TEST_F(WindowsTest, WhatIsKnownOfAProcessAndOfKernelStacksIsInEveryWindow) {
  processes_->Set(kProcess.pid, {.outcome = SnapshotOutcome::kSeen,
                                 .name = "leader",
                                 .container = "c1",
                                 .executable = "/opt/server",
                                 .code = kVersion1,
                                 .space = SpaceAt(kCode)});
  pipeline_->Handle(KernelStackEvent{.id = 5, .addresses = {50, 51}});
  uint64_t at_ns = kStart;
  for (int window = 0; window < 4; ++window) {
    const AWait wait = {.tid = 7, .begin_ns = at_ns + 100, .wake_ns = at_ns + 200, .end_ns = at_ns + 200};
    pipeline_->Handle(Interval(wait));
    Settle();
    at_ns += 1000;
    Cut(at_ns, {Running(7)});
    const Profile profile = Close();
    ASSERT_EQ(profile.rows.size(), 1u);
    EXPECT_EQ(profile.processes[profile.rows[0].process].name, "leader");
    EXPECT_EQ(profile.processes[profile.rows[0].process].container, "c1");
    EXPECT_EQ(profile.processes[profile.rows[0].process].executable, "/opt/server");
    EXPECT_THAT(profile.kernel_stacks[profile.rows[0].kernel_stack].addresses, ElementsAre(50, 51));
    EXPECT_EQ(profile.stats.kernel_stacks, window == 0 ? 1u : 0u);
    EXPECT_EQ(profile.stats.intervals, 1u);
  }
  EXPECT_EQ(processes_->snapshots_taken(kProcess.pid), 1);
}

TEST_F(WindowsTest, AKernelStackMayBeDefinedAfterItsInterval) {
  const AWait wait = {.tid = 7, .begin_ns = kStart + 100, .wake_ns = kStart + 400, .end_ns = kStart + 400};
  Cut(kStart + 300, {Running(7)});
  pipeline_->Handle(Interval(wait));
  pipeline_->Handle(KernelStackEvent{.id = 5, .addresses = {50}});
  const Profile first = Close();
  const Profile second = pipeline_->Finish({});
  EXPECT_THAT(first.kernel_stacks[first.rows[0].kernel_stack].addresses, ElementsAre(50));
  EXPECT_THAT(second.kernel_stacks[second.rows[0].kernel_stack].addresses, ElementsAre(50));
}

TEST_F(WindowsTest, KernelStacksAreForgottenAtTheLimitAndAskedForAgain) {
  config_.windows.kernel_stacks = 2;
  Make(config_);
  for (const uint64_t id : {1, 2, 3}) pipeline_->Handle(KernelStackEvent{.id = id, .addresses = {id}});
  EXPECT_THAT(host_->forgotten, ElementsAre(1));
  EXPECT_EQ(pipeline_->kept().kernel_stacks, 2u);
}

TEST_F(WindowsTest, CountsAreOfTheirWindow) {
  pipeline_->CountUndecodable();
  pipeline_->CountUndecodable();
  Cut(kStart + 1000);
  const Profile first = pipeline_->TakeClosed({{.reason = "ring full", .count = 4}});
  pipeline_->CountUndecodable();
  const Profile second = pipeline_->Finish({});
  ASSERT_EQ(first.stats.losses.size(), 2u);
  EXPECT_EQ(first.stats.losses[0].reason, "ring full");
  EXPECT_EQ(first.stats.losses[1].count, 2u);
  ASSERT_EQ(second.stats.losses.size(), 1u);
  EXPECT_EQ(second.stats.losses[0].count, 1u);
}

TEST_F(WindowsTest, TheClockMustGoOn) {
  Cut(kStart + 1000);
  Close();
  EXPECT_FALSE(pipeline_->Cut(kStart + 1000, {}).ok());
  EXPECT_FALSE(pipeline_->Cut(0, {}).ok());
  EXPECT_FALSE(pipeline_->IsClosed(true)) << "the window goes on";
}

TEST_F(WindowsTest, NothingGrowsFromWindowToWindow) {
  std::vector<Pipeline::Kept> kept;
  uint64_t at_ns = kStart;
  for (int32_t window = 0; window < 200; ++window) {
    std::vector<WaitingThread> threads;
    for (int32_t i = 0; i < 20;
         ++i) {  // processes of which each lives for one window, with a thread that waits for ever
      const int32_t pid = 1000 + window * 20 + i;
      const ProcessKey process = {.pid = pid, .start_ns = 1, .exec_id = 1};
      processes_->SetCode(pid, kVersion1, SpaceAt(kCode));
      const AWait wait = {.tid = pid, .begin_ns = at_ns + 100, .wake_ns = at_ns + 900, .end_ns = at_ns + 900};
      IntervalEvent event = Interval(wait);
      event.process = process;
      event.kernel_stack = static_cast<uint64_t>(i);
      pipeline_->Handle(KernelStackEvent{.id = event.kernel_stack, .addresses = {1}});
      pipeline_->Handle(event);
      if (i % 2 == 0) pipeline_->Handle(ExitEvent{.process = process});
      threads.push_back(Listed({.tid = pid, .begin_ns = at_ns + 950}, at_ns + 1000));
      threads.back().process = process;
    }
    at_ns += 1000;
    Cut(at_ns, threads);
    Close();
    kept.push_back(pipeline_->kept());
  }
  EXPECT_EQ(kept.back(), kept[20]);
  EXPECT_LE(kept.back().targets, 2 * 20u);
  EXPECT_LE(kept.back().live_waits, 2 * 20u);
  EXPECT_LE(kept.back().reported_waits, (ReportedWaits::kWindows + 1) * 20u);
}

// Threads wait and run at random, windows end at random moments and are listed at random moments after; some threads
// find no buffer. Whatever happens, the rows of all windows and what they name add up to the waits.
class RandomWindowsTest : public WindowsTest, public ::testing::WithParamInterface<uint32_t> {
 protected:
  static constexpr int32_t kThreads = 20;
  static constexpr uint64_t kUnit = 10'000;
  static constexpr uint64_t kEnd = kStart + 100'000 * kUnit;

  std::vector<AWait> MakeWaits() {
    std::vector<AWait> waits;
    for (int32_t tid = 1; tid <= kThreads; ++tid) {
      uint64_t at_ns = kStart;
      uint64_t switches = 0;
      while (at_ns < kEnd) {
        AWait wait = {.tid = tid, .begin_ns = at_ns, .switches = ++switches};
        const bool preempted = random_() % 4 == 0;
        wait.kind = preempted ? WaitKind::kPreempted : WaitKind::kSleeping;
        wait.wake_ns = at_ns + (preempted ? 0 : Draw(tid % 5 == 0 ? 20'000 : 500));
        wait.end_ns = wait.wake_ns + Draw(300);
        waits.push_back(wait);
        at_ns = wait.end_ns + Draw(200);
      }
    }
    std::sort(waits.begin(), waits.end(), [](const AWait& a, const AWait& b) { return a.end_ns < b.end_ns; });
    return waits;
  }

  uint64_t Draw(uint64_t limit) { return random_() % (limit * kUnit); }

  std::mt19937 random_{GetParam()};
};

TEST_P(RandomWindowsTest, SumInIsSumOut) {
  const std::vector<AWait> waits = MakeWaits();
  std::map<int32_t, Times> waited;
  for (const AWait& wait : waits) {
    waited[wait.tid].blocked_ns += wait.wake_ns - wait.begin_ns;
    waited[wait.tid].runnable_ns += wait.end_ns - wait.wake_ns;
    ++waited[wait.tid].count;
  }
  const bool buffers_run_out = GetParam() % 2 == 0;
  std::map<int32_t, Times> got;
  uint64_t missed_ns = 0;
  const auto add = [&](const Profile& profile) {
    for (const auto& [key, times] : TimesOf(profile)) {
      Times& sum = got[key.first];
      sum.blocked_ns += times.blocked_ns;
      sum.runnable_ns += times.runnable_ns;
      if (key.second != kOpen) sum.count += times.count;
    }
    missed_ns += DroppedNs(profile, kMissedOpenWait);
    EXPECT_EQ(DroppedNs(profile, "interval came after its window"), 0u);
  };
  auto next = waits.begin();
  const auto handle_until = [&](uint64_t ns) {
    for (; next != waits.end() && next->end_ns <= ns; ++next) pipeline_->Handle(Interval(*next));
  };
  uint64_t listed_ns = kStart;
  while (listed_ns < kEnd) {
    const uint64_t cut_ns = listed_ns + 1 + Draw(2000);
    handle_until(cut_ns - Draw(100));  // the rest is in the rings
    listed_ns = cut_ns + Draw(300);
    std::vector<WaitingThread> threads;
    for (const AWait& wait : waits) {
      if (wait.begin_ns >= cut_ns || wait.end_ns <= listed_ns) continue;
      if (buffers_run_out && random_() % 10 == 0) continue;
      threads.push_back(Listed(wait, cut_ns));
    }
    Cut(cut_ns, threads);
    handle_until(listed_ns);
    add(Close());
    ASSERT_LE(pipeline_->kept().reported_waits, static_cast<size_t>(kThreads));
  }
  handle_until(UINT64_MAX);
  add(pipeline_->Finish({}));
  uint64_t lost_ns = 0;
  for (const auto& [tid, times] : waited) {
    EXPECT_EQ(got[tid].count, times.count) << tid;
    lost_ns += times.blocked_ns + times.runnable_ns - got[tid].blocked_ns - got[tid].runnable_ns;
    EXPECT_TRUE(buffers_run_out || got[tid] == times) << tid;
  }
  EXPECT_EQ(lost_ns, missed_ns);
  EXPECT_EQ(buffers_run_out, missed_ns != 0);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomWindowsTest, ::testing::Range(1u, 21u));

// A cut falls into intervals of a sample. Those that still wait when the threads are listed are reported as they are;
// the others have the weight of their whole length in both windows. Either way each window is right on average.
TEST_F(WindowsTest, ASampleThatIsCutIsUnbiased) {
  constexpr uint64_t kSample = 50'000;
  constexpr uint64_t kCut = kStart + kMs;
  config_.windows.window.per_thread = false;
  Make(config_);
  std::mt19937_64 random(1);
  std::vector<AWait> waits;
  std::vector<WaitingThread> listed;
  double exact[2] = {0, 0};
  double variance[2] = {0, 0};  // of the draws, by the binomial law
  for (int32_t tid = 1; tid <= 100'000; ++tid) {
    const uint64_t length = 1 + random() % kSample;
    AWait wait = {.tid = tid, .begin_ns = kCut - random() % length};
    wait.end_ns = wait.begin_ns + length;
    wait.wake_ns = wait.begin_ns + random() % length;
    const auto before = static_cast<double>(kCut - wait.begin_ns);
    const auto after = static_cast<double>(wait.end_ns - kCut);
    const double p = static_cast<double>(length) / kSample;
    const bool waits_still = wait.end_ns > kCut + 10'000;
    if (waits_still) listed.push_back(Listed(wait, kCut));
    exact[0] += before;
    exact[1] += after;
    variance[0] += waits_still ? 0 : (1 - p) / p * before * before;
    variance[1] += (1 - p) / p * after * after;
    if (static_cast<double>(random() % kSample) < static_cast<double>(length)) waits.push_back(wait);
  }
  Cut(kCut, listed);
  for (const AWait& wait : waits) {
    IntervalEvent event = Interval(wait);
    event.sample_ns = kSample;
    pipeline_->Handle(event);
  }
  const Profile profiles[2] = {Close(), pipeline_->Finish({})};
  for (int window = 0; window < 2; ++window) {
    double got = 0;
    double told_variance = 0;
    for (const ProfileRow& row : profiles[window].rows) {
      got += static_cast<double>(row.total_ns());
      told_variance += row.ns_variance;
    }
    const double error = std::sqrt(variance[window]);
    std::printf("window %d: %.2f standard errors off, of %.3f %% each\n", window, (got - exact[window]) / error,
                100 * error / exact[window]);
    EXPECT_LT(std::abs(got - exact[window]), 4 * error);
    EXPECT_NEAR(std::sqrt(told_variance) / error, 1, 0.05) << "the error that the profile tells";
  }
}

}  // namespace
}  // namespace offcpu
