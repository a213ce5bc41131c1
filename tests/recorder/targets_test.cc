// What is asked of processes, and that each capture is handed on once.
#include "recorder/targets.h"

#include <atomic>
#include <map>
#include <memory>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/recorder/fake_host.h"
#include "tests/recorder/fake_runtime.h"

namespace offcpu {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

class TargetsTest : public ::testing::Test {
 protected:
  TargetsTest() { Make({}); }

  void Make(const TargetsConfig& config, const ReaderLimits& readers = {}) {
    host_ = std::make_shared<FakeHost>(readers);
    host_->processes = processes_;
    host_->walks = true;
    stacks_ = std::make_unique<Stacks>(Stacks::Limits(), *host_, now_ns_);
    targets_ = std::make_unique<Targets>(config, host_, *stacks_, now_ns_);
  }

  void OnCapture(CaptureEvent&& event) {
    targets_->OnCapture(std::move(event));
    PassOn();
  }
  void Tick() {
    targets_->Tick(now_ns_);
    PassOn();
  }
  void Settle() {
    do {
      std::this_thread::yield();
      Tick();
    } while (!targets_->idle());
  }
  // As the pipeline does.
  void PassOn() {
    for (auto ready = targets_->TakeReady(); !ready.empty(); ready = targets_->TakeReady()) {
      for (const ReadyCapture& capture : ready) {
        walked_.emplace(capture.event.cookie, capture.code.whole);
        if (snapshot_again_) targets_->SnapshotAgain(capture.event.process);
      }
    }
    for (const StackNews& news : stacks_->TakeNews()) given_up_.emplace(news.cookie, news.outcome.missing);
  }

  uint64_t now_ns_ = 1'000'000'000'000'000;
  std::shared_ptr<FakeProcesses> processes_ = std::make_shared<FakeProcesses>();
  std::shared_ptr<FakeHost> host_;
  std::multimap<uint64_t, bool> walked_;           // by cookie: with the whole of its code
  std::multimap<uint64_t, NoUserStack> given_up_;  // by cookie
  bool snapshot_again_ = false;                    // every walk asks for another snapshot
  std::unique_ptr<Stacks> stacks_;
  std::unique_ptr<Targets> targets_;
};

TEST_F(TargetsTest, ACaptureWaitsForTheLook) {
  processes_->SetCode(kProcess.pid, kVersion1, SpaceAt(kCode));
  OnCapture(ACapture(1, kVersion1));
  EXPECT_THAT(walked_, IsEmpty());
  Settle();
  EXPECT_THAT(walked_, ElementsAre(Pair(1, true)));
  OnCapture(ACapture(2, kVersion1));
  EXPECT_THAT(walked_, SizeIs(2)) << "its code is known";
  EXPECT_THAT(given_up_, IsEmpty());
}

// A version that was put together of the first list goes, too: a capture that has its number waits for a snapshot.
TEST_F(TargetsTest, AHashOfTwoListsStandsForNone) {
  const CodeMapping mapping = {.begin = kCode, .end = kCode + 0x1000, .device = 1, .changed_ns = 7};
  ProcessSnapshot snapshot = {
      .outcome = SnapshotOutcome::kSeen, .code = kVersion1, .mappings = {mapping}, .space = SpaceAt(kCode)};
  processes_->Set(kProcess.pid, snapshot);
  OnCapture(ACapture(1, kVersion1));
  Settle();
  targets_->OnCodeList({.hash = kVersion2.hash, .mappings = {mapping}});
  OnCapture(ACapture(2, kVersion2));
  EXPECT_THAT(walked_, ElementsAre(Pair(1, true), Pair(2, true)));
  targets_->OnCodeList({.hash = kVersion2.hash, .mappings = {mapping, mapping}});
  EXPECT_EQ(host_->forgotten_walks, 1) << "of the BPF programs, by code that may be another one's";
  EXPECT_EQ(targets_->conflicts(), 1u);
  snapshot.code = kVersion2;
  processes_->Set(kProcess.pid, snapshot);
  OnCapture(ACapture(3, kVersion2));
  EXPECT_THAT(walked_, SizeIs(2)) << "it waits for a look";
  Settle();
  OnCapture(ACapture(4, kVersion2));
  EXPECT_THAT(walked_, ElementsAre(Pair(1, true), Pair(2, true), Pair(3, true), Pair(4, true)))
      << "by the number that this process alone has";
}

TEST_F(TargetsTest, WhoeverIsHeardOfIsLookedAtOnce) {
  processes_->SetCode(kProcess.pid, kVersion1, SpaceAt(kCode));
  for (int i = 0; i < 10; ++i) targets_->HearOf(kProcess, kProcess.pid, "leader");
  Settle();
  EXPECT_EQ(processes_->snapshots_taken(kProcess.pid), 1);
  EXPECT_THAT(targets_->table().Describe(), SizeIs(1));
}

TEST_F(TargetsTest, OfAProcessThatIsGoneCapturesAreGivenUp) {
  processes_->Set(kProcess.pid, {.outcome = SnapshotOutcome::kGone});
  OnCapture(ACapture(1, kVersion1));
  Settle();
  OnCapture(ACapture(2, kVersion1));
  EXPECT_THAT(given_up_, ElementsAre(Pair(1, NoUserStack::kGone), Pair(2, NoUserStack::kGone)));
  EXPECT_THAT(walked_, IsEmpty());
}

TEST_F(TargetsTest, ThereIsRoomForSoManyProcesses) {
  Make({.processes = 1});
  processes_->SetCode(kProcess.pid, kVersion1, SpaceAt(kCode));
  targets_->HearOf(kProcess, kProcess.pid, "leader");
  Settle();
  OnCapture(ACapture(1, kVersion1, kOther));
  EXPECT_THAT(given_up_, ElementsAre(Pair(1, NoUserStack::kOverload)));
  EXPECT_EQ(targets_->table().over_limit(), 1u);
  targets_->OnExit(kProcess);
  targets_->HearOf(kOther, kOther.pid, "");
  EXPECT_EQ(targets_->table().over_limit(), 1u) << "who has ended makes room";
  const std::vector<ProcessInfo> evicted = targets_->table().TakeEvicted();
  ASSERT_THAT(evicted, SizeIs(1));
  EXPECT_EQ(evicted[0].name, "leader");
  Settle();
}

TEST_F(TargetsTest, ThereIsRoomForSoManyBytesThatWait) {
  const size_t size = ACapture(1, kVersion1).stack.size();
  Make({.waiting_bytes = 2 * size});
  processes_->SetCode(kProcess.pid, kVersion1, SpaceAt(kCode));
  for (const uint64_t cookie : {1, 2, 3}) OnCapture(ACapture(cookie, kVersion1));
  EXPECT_THAT(given_up_, ElementsAre(Pair(3, NoUserStack::kOverload)));
  EXPECT_EQ(targets_->waiting_over_limit(), 1u);
  Settle();
  EXPECT_THAT(walked_, ElementsAre(Pair(1, true), Pair(2, true)));
}

// Walks that leave their code ask for another snapshot while the captures of this one are handed on.
TEST_F(TargetsTest, ASnapshotThatIsAskedForMeanwhileLosesNothing) {
  snapshot_again_ = true;
  processes_->SetCode(kProcess.pid, kVersion1, SpaceAt(kCode));
  for (uint64_t cookie = 1; cookie <= 5; ++cookie) OnCapture(ACapture(cookie, kVersion1));
  Settle();
  EXPECT_THAT(walked_, SizeIs(5));
  EXPECT_THAT(given_up_, IsEmpty());
  EXPECT_EQ(processes_->snapshots_taken(kProcess.pid), 2);
}

// The snapshot that the first walk asks for is refused. The other captures do not need it: the one that was made serves
// them.
TEST_F(TargetsTest, ASnapshotThatIsRefusedMeanwhileLosesNothing) {
  // It holds for the snapshot that does not hang, too, which may lose its CPU for a while.
  Make({.deadline = std::chrono::milliseconds(500)}, {.of_user = 1});
  std::promise<void> end;
  host_->owners[kOther.pid] = 2000;
  processes_->Block(kOther.pid, end.get_future().share());
  targets_->HearOf(kOther, kOther.pid, "");
  Settle();
  snapshot_again_ = true;
  processes_->SetCode(kProcess.pid, kVersion1, SpaceAt(kCode));
  for (const uint64_t cookie : {1, 2, 3}) OnCapture(ACapture(cookie, kVersion1));
  host_->owners[kProcess.pid] = 2000;  // whose reads hang
  now_ns_ += 2'000'000'000;            // an owner is asked for again after a second
  Settle();
  EXPECT_THAT(walked_, ElementsAre(Pair(1, true), Pair(2, true), Pair(3, true)));
  EXPECT_THAT(given_up_, IsEmpty());
  targets_->OnCapture(ACapture(4, kVersion2));
  PassOn();
  EXPECT_THAT(given_up_, ElementsAre(Pair(4, NoUserStack::kTargetStuck))) << "no look can serve it";
  end.set_value();
}

class PacedTargetTest : public TargetsTest {
 protected:
  void SetSnapshot(SnapshotOutcome outcome, uint64_t cpu_ns) {
    processes_->Set(
        kProcess.pid,
        {.outcome = outcome, .name = "leader", .code = kVersion1, .space = SpaceAt(kCode), .cpu_ns = cpu_ns});
  }
  // Each has code that no snapshot sees.
  void Capture(uint64_t cookie) { OnCapture(ACapture(cookie, {.sequence = 100 + cookie, .hash = 100 + cookie})); }
  void Pass(uint64_t ns) {
    now_ns_ += ns;
    Tick();
  }
  int snapshots() const { return processes_->snapshots_taken(kProcess.pid); }
};

TEST_F(PacedTargetTest, CapturesWaitForAProcessThatIsLookedAtOften) {
  SetSnapshot(SnapshotOutcome::kSeen, kSnapshotRate.at_once_ns);
  targets_->HearOf(kProcess, kProcess.pid, "leader");
  Settle();
  Capture(1);
  Settle();
  EXPECT_EQ(snapshots(), 2) << "at once";
  EXPECT_THAT(walked_, ElementsAre(Pair(1, false)));
  Capture(2);
  Pass(ReadingPace::kLongestPauseNs / 2);
  Capture(3);
  Pass(ReadingPace::kLongestPauseNs / 2 - 1);
  EXPECT_FALSE(targets_->idle());
  EXPECT_EQ(snapshots(), 2);
  OnCapture(ACapture(4, kVersion1));
  EXPECT_THAT(walked_, SizeIs(2)) << "what is known waits for nothing";
  Pass(1);
  Settle();
  EXPECT_EQ(snapshots(), 3) << "one for both";
  EXPECT_THAT(walked_, SizeIs(4));
  EXPECT_THAT(given_up_, IsEmpty());
}

// A walk asks for looks now and then; nothing waits for them.
TEST_F(PacedTargetTest, WithoutCapturesNothingWaits) {
  SetSnapshot(SnapshotOutcome::kSeen, kSnapshotRate.at_once_ns + 1);
  targets_->HearOf(kProcess, kProcess.pid, "leader");
  Settle();
  targets_->SnapshotAgain(kProcess);
  EXPECT_TRUE(targets_->idle());
  EXPECT_EQ(snapshots(), 1);
}

// The walk of each capture that one snapshot serves asks for another snapshot, which has to wait.
TEST_F(PacedTargetTest, ASnapshotThatHasToWaitLosesNothing) {
  snapshot_again_ = true;
  SetSnapshot(SnapshotOutcome::kSeen, kSnapshotRate.at_once_ns + 1);
  for (const uint64_t cookie : {1, 2, 3}) OnCapture(ACapture(cookie, kVersion1));
  Settle();
  EXPECT_THAT(walked_, ElementsAre(Pair(1, true), Pair(2, true), Pair(3, true)));
  EXPECT_THAT(given_up_, IsEmpty());
}

TEST_F(PacedTargetTest, WhoNeverHoldsStillIsGivenUpAllTheSame) {
  SetSnapshot(SnapshotOutcome::kChanging, kSnapshotRate.at_once_ns / 10);
  Capture(1);
  while (given_up_.empty()) {
    std::this_thread::yield();
    Pass(1'000'000);
  }
  EXPECT_THAT(given_up_, ElementsAre(Pair(1, NoUserStack::kChangingProcess)));
}

// One snapshot that took long is paid for as well, when it comes back.
TEST_F(PacedTargetTest, ASnapshotThatCameLateCounts) {
  Make({.retry_ns = 1, .deadline = std::chrono::milliseconds(20)});
  SetSnapshot(SnapshotOutcome::kSeen, 2 * kSnapshotRate.at_once_ns);
  std::promise<void> end;
  processes_->Block(kProcess.pid, end.get_future().share());
  targets_->HearOf(kProcess, kProcess.pid, "leader");
  Settle();
  end.set_value();
  while (targets_->reader_stats().late == 0) {
    std::this_thread::yield();
    Tick();
  }
  Capture(1);
  Pass(ReadingPace::kLongestPauseNs - 1);
  EXPECT_EQ(snapshots(), 1);
  Pass(1);
  Settle();
  EXPECT_EQ(snapshots(), 2);
}

TEST_F(TargetsTest, ARuntimeIsFoundOnce) {
  const auto runtime = std::make_shared<FakeRuntime>();
  std::atomic<int> found = 0;
  host_->find_runtime = [&](ProcessSnapshot* snapshot) {
    ++found;
    snapshot->runtime = {.form = RuntimeForm::kServed, .runtime = runtime};
  };
  processes_->SetCode(kProcess.pid, kVersion1, SpaceAt(kCode));
  OnCapture(ACapture(1, kVersion1));
  Settle();
  EXPECT_EQ(targets_->table().Find(kProcess)->runtime.runtime, runtime);
  processes_->SetCode(kProcess.pid, kVersion2, SpaceAt(kCode));
  OnCapture(ACapture(2, kVersion2));
  Settle();
  EXPECT_EQ(processes_->snapshots_taken(kProcess.pid), 2);
  EXPECT_EQ(found, 1);
  EXPECT_EQ(targets_->table().Find(kProcess)->runtime.runtime, runtime);
}

// Nothing waits for it: what is walked meanwhile is walked without.
TEST_F(TargetsTest, ARuntimeThatIsStartingIsLookedForOnceASecond) {
  std::atomic<RuntimeForm> form = RuntimeForm::kNotYet;
  host_->find_runtime = [&](ProcessSnapshot* snapshot) {
    snapshot->runtime.form = form;
    if (form == RuntimeForm::kServed) snapshot->runtime.runtime = std::make_shared<FakeRuntime>();
  };
  processes_->SetCode(kProcess.pid, kVersion1, SpaceAt(kCode));
  targets_->HearOf(kProcess, kProcess.pid, "java");
  Settle();
  const auto snapshots_after = [this](uint64_t ns) {
    now_ns_ += ns;
    Tick();
    OnCapture(ACapture(1, kVersion1));
    EXPECT_THAT(walked_, SizeIs(1));
    walked_.clear();
    Settle();
    return processes_->snapshots_taken(kProcess.pid);
  };
  EXPECT_EQ(snapshots_after(0), 2);
  EXPECT_EQ(snapshots_after(999'999'999), 2);
  EXPECT_EQ(snapshots_after(1), 3);
  form = RuntimeForm::kServed;
  EXPECT_EQ(snapshots_after(1'000'000'000), 4);
  EXPECT_EQ(snapshots_after(1'000'000'000), 4) << "it is there";
  EXPECT_NE(targets_->table().Find(kProcess)->runtime.runtime, nullptr);
}

TEST_F(TargetsTest, ARuntimeOfAnUnknownFormIsNotLookedFor) {
  host_->find_runtime = [](ProcessSnapshot* snapshot) { snapshot->runtime.form = RuntimeForm::kUnknown; };
  processes_->SetCode(kProcess.pid, kVersion1, SpaceAt(kCode));
  OnCapture(ACapture(1, kVersion1));
  Settle();
  now_ns_ += 10'000'000'000;
  Tick();
  OnCapture(ACapture(2, kVersion1));
  Settle();
  EXPECT_EQ(processes_->snapshots_taken(kProcess.pid), 1);
}

// A process may have tables of a runtime that take long to refuse.
TEST_F(PacedTargetTest, TimeToFindARuntimeCounts) {
  SetSnapshot(SnapshotOutcome::kSeen, 0);
  host_->find_runtime = [](ProcessSnapshot* snapshot) { snapshot->cpu_ns += 2 * kSnapshotRate.at_once_ns; };
  targets_->HearOf(kProcess, kProcess.pid, "leader");
  Settle();
  Capture(1);
  Pass(ReadingPace::kLongestPauseNs - 1);
  EXPECT_EQ(snapshots(), 1);
  Pass(1);
  Settle();
  EXPECT_EQ(snapshots(), 2);
}

TEST_F(TargetsTest, WhatStillWaitsIsGivenUpAtTheEnd) {
  std::promise<void> end;
  processes_->SetCode(kProcess.pid, kVersion1, SpaceAt(kCode));
  processes_->Block(kProcess.pid, end.get_future().share());
  OnCapture(ACapture(1, kVersion1));
  targets_->GiveUpAll();
  PassOn();
  EXPECT_THAT(given_up_, ElementsAre(Pair(1, NoUserStack::kTargetStuck)));
  end.set_value();
  Settle();
  EXPECT_THAT(walked_, IsEmpty());
}

TEST_F(TargetsTest, WhoIsNotHeardOfInAWindowIsForgotten) {
  for (const ProcessKey& process : {kProcess, kOther}) {
    processes_->SetCode(process.pid, kVersion1, SpaceAt(kCode));
    targets_->HearOf(process, process.pid, "");
  }
  Settle();
  targets_->table().BeginWindow();
  targets_->table().HearOfInWindow(kOther);
  targets_->table().HearOfInWindow({.pid = 300});  // not known, and not worth a snapshot
  targets_->table().Forget();
  EXPECT_EQ(targets_->table().targets().size(), 1u);
  EXPECT_EQ(targets_->table().Describe()[0].key, kOther);
}

}  // namespace
}  // namespace offcpu
