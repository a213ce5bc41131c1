#include <fcntl.h>
#include <sys/sysmacros.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <future>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "bpf/wire.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/recorder/pipeline_fixture.h"

namespace offcpu {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

// It holds for the looks that do not hang, too, which may lose their CPU for a while.
constexpr std::chrono::milliseconds kPatientDeadline(500);

TEST_F(PipelineTest, JoinsACaptureWithTheIntervalsOfItsStay) {
  processes_->SetCode(kProcess.pid, kVersion1, SpaceAt(kCode));
  pipeline_->Handle(AnInterval(1, 10));
  pipeline_->Handle(AnInterval(1, 20));
  pipeline_->Handle(ACapture(1, kVersion1));
  Settle();
  pipeline_->Handle(AnInterval(1, 30));  // its callback's own wait
  pipeline_->Handle(ACapture(2, kVersion1));
  pipeline_->Handle(AnInterval(2, 40));
  Finish();
  EXPECT_EQ(NsByOutcome(), (Outcomes{{"2 guessed end", 100}}));
  EXPECT_EQ(profile_.stats.intervals, 4u);
  EXPECT_EQ(profile_.stats.cookies, 2u);
  EXPECT_EQ(profile_.stats.captures, 2u);
  EXPECT_EQ(profile_.stats.walks, 2u);
  EXPECT_EQ(profile_.stats.walk_ends[static_cast<size_t>(EndReason::kGuessedEnd)], 2u);
  EXPECT_EQ(profile_.processes[0].name, "leader");
}

TEST_F(PipelineTest, OneSnapshotServesManyCaptures) {
  processes_->SetCode(kProcess.pid, kVersion1, SpaceAt(kCode));
  for (uint64_t cookie = 1; cookie <= 100; ++cookie) {
    pipeline_->Handle(AnInterval(cookie, 1));
    pipeline_->Handle(ACapture(cookie, kVersion1));
    Settle();
  }
  Finish();
  EXPECT_EQ(NsByOutcome(), (Outcomes{{"2 guessed end", 100}}));
  EXPECT_LE(processes_->snapshots_taken(kProcess.pid), 2);
}

// What was mapped at a capture is not known if only other code has been seen since: no frames, but the time.
TEST_F(PipelineTest, ACaptureOfOtherCodeIsNotWalked) {
  processes_->SetCode(kProcess.pid, kVersion2, SpaceAt(kCode));
  pipeline_->Handle(AnInterval(1, 10));
  pipeline_->Handle(ACapture(1, kVersion1));
  Settle();
  Finish();
  EXPECT_EQ(NsByOutcome(), (Outcomes{{"0 maps changed", 10}}));
}

TEST_F(PipelineTest, CodeThatComesBackIsKnown) {
  processes_->SetCode(kProcess.pid, kVersion1, SpaceAt(kCode));
  pipeline_->Handle(AnInterval(1, 10));
  pipeline_->Handle(ACapture(1, kVersion1));
  Settle();
  processes_->SetCode(kProcess.pid, kVersion2, SpaceAt(0x50000));  // nothing at kCode any more
  pipeline_->Handle(AnInterval(2, 20));
  pipeline_->Handle(ACapture(2, kVersion2));
  Settle();
  pipeline_->Handle(AnInterval(3, 40));
  pipeline_->Handle(ACapture(3, kVersion1));  // captured before the exchange, or after its undoing
  Settle();
  Finish();
  EXPECT_EQ(NsByOutcome(), (Outcomes{{"2 guessed end", 50}, {"0 not mapped", 20}}));
}

// A change of data mappings raises the sequence and leaves the hash.
TEST_F(PipelineTest, OnlyCodeCounts) {
  processes_->SetCode(kProcess.pid, kVersion1, SpaceAt(kCode));
  pipeline_->Handle(AnInterval(1, 10));
  pipeline_->Handle(ACapture(1, {.sequence = 1000, .hash = kVersion1.hash}));
  Settle();
  pipeline_->Handle(AnInterval(2, 20));
  pipeline_->Handle(ACapture(2, {.sequence = kVersion1.sequence, .hash = 0}));  // the hash could not be taken
  Settle();
  Finish();
  EXPECT_EQ(NsByOutcome(), (Outcomes{{"2 guessed end", 30}}));
}

CodeMapping AMapping(uint64_t begin, uint64_t inode = 0) {
  return {.begin = begin, .end = begin + 0x1000, .offset = 0, .inode = inode, .device = 1, .changed_ns = 7};
}

// Two libraries take turns at two addresses; each has been seen, their combination never was.
TEST_F(PipelineTest, CodeIsPutTogetherOfWhatHasBeenSeen) {
  const CodeMapping code = AMapping(kCode);
  const CodeMapping other = AMapping(0x50000);
  const ProcessSnapshot look1 = {
      .outcome = SnapshotOutcome::kSeen, .code = kVersion1, .mappings = {code}, .space = SpaceAt(kCode)};
  const ProcessSnapshot look2 = {
      .outcome = SnapshotOutcome::kSeen, .code = kVersion2, .mappings = {other}, .space = SpaceAt(0x50000)};
  processes_->Set(kProcess.pid, look1);
  pipeline_->Handle(AnInterval(1, 10));
  Settle();
  processes_->Set(kProcess.pid, look2);
  pipeline_->Handle(AnInterval(2, 20));
  pipeline_->Handle(ACapture(2, kVersion2));
  Settle();
  const CodeVersion both = {.sequence = 9, .hash = 33};
  pipeline_->Handle(CodeListEvent{.hash = both.hash, .mappings = {code, other}});
  pipeline_->Handle(AnInterval(3, 40));
  pipeline_->Handle(ACapture(3, both));
  const int snapshots = processes_->snapshots_taken(kProcess.pid);
  Settle();
  Finish();
  EXPECT_EQ(NsByOutcome(),
            (Outcomes{{std::string(Name(NoUserStack::kPending)), 10}, {"0 not mapped", 20}, {"2 guessed end", 40}}));
  EXPECT_EQ(processes_->snapshots_taken(kProcess.pid), snapshots);
}

TEST_F(PipelineTest, TwoContentsUnderOneNameAreCounted) {
  pipeline_->Handle(AnInterval(0, 10));
  for (const uint64_t address : {1, 2, 1}) pipeline_->Handle(KernelStackEvent{.id = 5, .addresses = {address}});
  for (const uint64_t begin : {1, 2, 1}) pipeline_->Handle(CodeListEvent{.hash = 33, .mappings = {AMapping(begin)}});
  Finish();
  EXPECT_EQ(LossCount("two contents under one name"), 2u);
  EXPECT_EQ(LossCount("kernel stack without definition"), 1u);
}

TEST_F(PipelineTest, AControlGroupThatIsNotToldIsCounted) {
  for (const uint64_t group : {uint64_t{5}, kUntoldGroup, kUntoldGroup}) {
    IntervalEvent event = AnInterval(0, 10);
    event.control_group = group;
    pipeline_->Handle(event);
  }
  Finish();
  EXPECT_EQ(LossCount("path of a control group not known"), 2u);
  EXPECT_EQ(profile_.rows.size(), 2u) << "the time of both is kept";
}

// The process has ended before a snapshot: what is known is walked, and the walk says where that ended.
TEST_F(PipelineTest, CodeThatWasNeverSeenEndsTheWalk) {
  processes_->SetCode(kProcess.pid, kVersion1, SpaceAt(kCode));
  pipeline_->Handle(AnInterval(1, 10));
  Settle();
  processes_->Set(kProcess.pid, {.outcome = SnapshotOutcome::kGone});
  pipeline_->Handle(CodeListEvent{.hash = kVersion2.hash, .mappings = {AMapping(kCode), AMapping(0x50000, 3)}});
  pipeline_->Handle(ACapture(1, kVersion2));
  Settle();
  Finish();
  EXPECT_EQ(NsByOutcome(), (Outcomes{{std::string(Name(NoUserStack::kGone)), 10}}))
      << "the look had no list of what it saw, so nothing is known of either mapping";
}

TEST_F(PipelineTest, PartOfTheCodeGivesPartOfTheStack) {
  const CodeMapping known = AMapping(kCode);
  const CodeMapping unknown = AMapping(0x50000, 3);
  processes_->Set(kProcess.pid,
                  {.outcome = SnapshotOutcome::kSeen, .code = kVersion1, .mappings = {known}, .space = SpaceAt(kCode)});
  pipeline_->Handle(AnInterval(1, 10));
  Settle();
  processes_->Set(kProcess.pid, {.outcome = SnapshotOutcome::kGone});
  CaptureEvent capture = ACapture(1, kVersion2);
  const uint64_t caller = unknown.begin + 8;  // the leaf's caller lies in what is not known
  std::memcpy(capture.stack.data() + 8, &caller, sizeof(caller));
  pipeline_->Handle(CodeListEvent{.hash = kVersion2.hash, .mappings = {known, unknown}});
  pipeline_->Handle(std::move(capture));
  Settle();
  Finish();
  EXPECT_EQ(NsByOutcome(), (Outcomes{{"1 maps changed", 10}}));
}

TEST_F(PipelineTest, WithoutHashesCodeThatIsTheSameAroundACaptureServes) {
  Make({.targets = {.code_hash = false}});
  processes_->SetCode(kProcess.pid, {.sequence = 2}, SpaceAt(kCode));
  pipeline_->Handle(AnInterval(1, 10));
  pipeline_->Handle(ACapture(1, {.sequence = 4}));
  Settle();
  processes_->SetCode(kProcess.pid, {.sequence = 8}, SpaceAt(0x50000));
  pipeline_->Handle(AnInterval(2, 20));
  pipeline_->Handle(ACapture(2, {.sequence = 6}));
  Settle();
  Finish();
  EXPECT_EQ(NsByOutcome(), (Outcomes{{"2 guessed end", 10}, {"0 maps changed", 20}}));
}

TEST_F(PipelineTest, AProcessThatIsGoneKeepsItsTime) {
  processes_->Set(kProcess.pid, {.outcome = SnapshotOutcome::kGone});
  pipeline_->Handle(AnInterval(1, 10));
  pipeline_->Handle(ACapture(1, kVersion1));
  Settle();
  pipeline_->Handle(AnInterval(2, 20));
  pipeline_->Handle(ACapture(2, kVersion1));
  Finish();
  EXPECT_EQ(NsByOutcome(), (Outcomes{{std::string(Name(NoUserStack::kGone)), 30}}));
  EXPECT_EQ(profile_.processes[0].name, "worker") << "its main thread's name";
}

// It was known before its first event, and its capture came before its interval: neither tells a name.
TEST_F(PipelineTest, TheNameOfAProcessThatIsGoneIsThatOfItsMainThread) {
  processes_->Set(kProcess.pid, {.outcome = SnapshotOutcome::kGone});
  pipeline_->Expect(kProcess, kProcess.pid);
  pipeline_->Handle(ACapture(1, kVersion1));
  Settle();
  const std::pair<int32_t, const char*> threads[] = {{kProcess.pid + 1, "helper"},
                                                     {kProcess.pid, "sh"},
                                                     {kProcess.pid, "renamed"},  // as /proc/PID/comm said at last
                                                     {kProcess.pid + 1, "helper"}};
  for (const auto& [tid, comm] : threads) {
    IntervalEvent event = AnInterval(1, 10);
    event.tid = tid;
    event.comm = comm;
    pipeline_->Handle(event);
  }
  Finish();
  ASSERT_EQ(profile_.processes.size(), 1u);
  EXPECT_EQ(profile_.processes[0].name, "renamed");
}

TEST_F(PipelineTest, AnotherThreadsNameIsNotThatOfTheProcess) {
  processes_->Set(kProcess.pid, {.outcome = SnapshotOutcome::kGone});
  IntervalEvent event = AnInterval(1, 10);
  event.tid = kProcess.pid + 1;
  pipeline_->Handle(event);
  Settle();
  Finish();
  ASSERT_EQ(profile_.processes.size(), 1u);
  EXPECT_EQ(profile_.processes[0].name, "");
  EXPECT_EQ(profile_.comms[0], "worker");
}

TEST_F(PipelineTest, AProcessThatWasSeenIsWalkedAfterItsEnd) {
  processes_->SetCode(kProcess.pid, kVersion1, SpaceAt(kCode));
  pipeline_->Handle(AnInterval(1, 10));
  Settle();
  processes_->Set(kProcess.pid, {.outcome = SnapshotOutcome::kGone});
  pipeline_->Handle(ExitEvent{.process = kProcess});
  pipeline_->Handle(ACapture(1, kVersion1));
  Finish();
  EXPECT_EQ(NsByOutcome(), (Outcomes{{"2 guessed end", 10}}));
}

// It has the code of the one that forked it, which has been looked at, and nobody has sent a list of that.
TEST_F(PipelineTest, AChildThatIsGoneHasTheCodeOfItsParent) {
  CodeMapping mapping = AMapping(kCode, 5);
  mapping.device = 0x00100006;  // 1:6
  const auto module = std::make_shared<Module>();
  module->matches_file = true;
  module->identity = {.device = makedev(1, 6), .inode = 5, .changed_ns = mapping.changed_ns};
  module->file = OwnedFd(open("/dev/null", O_RDONLY | O_CLOEXEC));
  const auto space = std::make_shared<AddressSpace>(
      std::vector<MappedCode>{{.begin = kCode, .end = kCode + 0x1000, .module = module, .bias = kCode}});
  processes_->Set(kProcess.pid,
                  {.outcome = SnapshotOutcome::kSeen, .code = kVersion1, .mappings = {mapping}, .space = space});
  pipeline_->Expect(kProcess, kProcess.pid);
  Settle();
  processes_->Set(kOther.pid, {.outcome = SnapshotOutcome::kGone});
  pipeline_->Handle(AnInterval(1, 10, kOther));
  pipeline_->Handle(ACapture(1, {.sequence = 1, .hash = kVersion1.hash}, kOther));
  Settle();
  Finish();
  EXPECT_EQ(NsByOutcome(), (Outcomes{{"1 no row", 10}})) << "the file is known, and has no tables here";
}

TEST_F(PipelineTest, AnUnreadableProcessIsTriedAgainLater) {
  processes_->Set(kProcess.pid, {.outcome = SnapshotOutcome::kUnreadable});
  pipeline_->Handle(AnInterval(1, 10));
  pipeline_->Handle(ACapture(1, kVersion1));
  Settle();
  processes_->SetCode(kProcess.pid, kVersion1, SpaceAt(kCode));
  pipeline_->Handle(AnInterval(2, 20));
  pipeline_->Handle(ACapture(2, kVersion1));
  now_ns_ += TargetsConfig().retry_ns;
  Settle();
  pipeline_->Handle(AnInterval(3, 40));
  pipeline_->Handle(ACapture(3, kVersion1));
  Settle();
  Finish();
  EXPECT_EQ(NsByOutcome(), (Outcomes{{std::string(Name(NoUserStack::kUnreadableProcess)), 30}, {"2 guessed end", 40}}));
}

// The first events may come before time has passed at all, and their process may take a while to be looked at.
TEST_F(PipelineTest, WhatComesBeforeTheFirstTickWaitsAsLongAsAnythingElse) {
  std::promise<void> go_on;
  processes_->Block(kProcess.pid, go_on.get_future().share());
  processes_->SetCode(kProcess.pid, kVersion1, SpaceAt(kCode));
  pipeline_->Handle(AnInterval(1, 10));
  pipeline_->Handle(ACapture(1, kVersion1));
  pipeline_->Tick(now_ns_);
  go_on.set_value();
  Settle();
  Finish();
  EXPECT_EQ(NsByOutcome(), (Outcomes{{"2 guessed end", 10}}));
}

TEST_F(PipelineTest, AProcessThatIsStartingIsLookedAtUntilItHoldsStill) {
  processes_->Set(kProcess.pid, {.outcome = SnapshotOutcome::kChanging});
  pipeline_->Handle(AnInterval(1, 10));
  pipeline_->Handle(ACapture(1, kVersion1));
  while (processes_->snapshots_taken(kProcess.pid) < 3) pipeline_->Tick(now_ns_);
  processes_->SetCode(kProcess.pid, kVersion1, SpaceAt(kCode));
  Settle();
  Finish();
  EXPECT_EQ(NsByOutcome(), (Outcomes{{"2 guessed end", 10}}));
}

TEST_F(PipelineTest, AProcessThatNeverHoldsStillIsGivenUp) {
  processes_->Set(kProcess.pid, {.outcome = SnapshotOutcome::kChanging});
  pipeline_->Handle(AnInterval(1, 10));
  pipeline_->Handle(ACapture(1, kVersion1));
  while (!pipeline_->idle()) {
    std::this_thread::yield();
    now_ns_ += 1'000'000;
    pipeline_->Tick(now_ns_);
  }
  Finish();
  EXPECT_EQ(NsByOutcome(), (Outcomes{{std::string(Name(NoUserStack::kChangingProcess)), 10}}));
}

TEST_F(PipelineTest, AStuckTargetHoldsUpNobodyElse) {
  PipelineConfig config;
  config.targets.deadline = kPatientDeadline;
  Make(config);
  std::promise<void> release;
  processes_->Block(kProcess.pid, release.get_future().share());
  processes_->SetCode(kOther.pid, kVersion1, SpaceAt(kCode));
  pipeline_->Handle(AnInterval(1, 10));
  pipeline_->Handle(ACapture(1, kVersion1));
  pipeline_->Handle(AnInterval(2, 20, kOther));
  pipeline_->Handle(ACapture(2, kVersion1, kOther));
  Settle();
  Finish();
  EXPECT_EQ(NsByOutcome(), (Outcomes{{std::string(Name(NoUserStack::kTargetStuck)), 10}, {"2 guessed end", 20}}));
  EXPECT_EQ(LossCount("target stuck"), 1u);
  pipeline_.reset();
  release.set_value();
}

// A user's processes that hang take up his readers, and nobody else's.
TEST_F(PipelineTest, AUserWhoseProcessesHangBlindsHimselfOnly) {
  Make({.targets = {.deadline = kPatientDeadline}}, {.of_user = 2});
  std::promise<void> release;
  const std::shared_future<void> released = release.get_future().share();
  uint64_t cookie = 0;
  const auto hear_of = [&](const ProcessKey& process) {
    ++cookie;
    pipeline_->Handle(AnInterval(cookie, 10, process));
    pipeline_->Handle(ACapture(cookie, kVersion1, process));
  };
  for (pid_t pid = 5000; pid < 5004; ++pid) {
    ProcessKey hanging = kProcess;
    hanging.pid = pid;
    host_->owners[pid] = 1000;
    processes_->Block(pid, released);
    hear_of(hanging);
  }
  processes_->SetCode(kOther.pid, kVersion1, SpaceAt(kCode));
  hear_of(kOther);
  Settle();
  Finish();
  EXPECT_EQ(NsByOutcome(), (Outcomes{{"target stuck", 40}, {"2 guessed end", 10}}));
  EXPECT_EQ(LossCount("target stuck"), 2u);
  EXPECT_EQ(LossCount("target not read: too many of its user are stuck"), 2u);
  pipeline_.reset();
  release.set_value();
}

TEST_F(PipelineTest, ASnapshotThatWasOnlySlowServesWhatComesAfterIt) {
  Make({.targets = {.deadline = std::chrono::milliseconds(20)}});
  std::promise<void> release;
  processes_->SetCode(kProcess.pid, kVersion1, SpaceAt(kCode));
  processes_->Block(kProcess.pid, release.get_future().share());
  pipeline_->Handle(AnInterval(1, 10));
  pipeline_->Handle(ACapture(1, kVersion1));
  Settle();  // given up
  pipeline_->Handle(AnInterval(2, 20));
  pipeline_->Handle(ACapture(2, kVersion1));
  release.set_value();
  const auto enough = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  for (uint64_t cookie = 3; std::chrono::steady_clock::now() < enough; ++cookie) {
    pipeline_->Tick(now_ns_);
    pipeline_->Handle(AnInterval(cookie, 1));
    pipeline_->Handle(ACapture(cookie, kVersion1));
    if (pipeline_->walks() != 0) break;
  }
  Finish();
  const auto outcomes = NsByOutcome();
  EXPECT_GE(outcomes.at("target stuck"), 30u);
  EXPECT_EQ(outcomes.at("2 guessed end"), 1u);
}

TEST_F(PipelineTest, AWindowThatIsTooSmallGrows) {
  processes_->SetCode(kProcess.pid, kVersion1, SpaceAt(kCode));
  CaptureEvent capture = ACapture(1, kVersion1);
  capture.stack.resize(16);  // the leaf's frame only
  pipeline_->Handle(AnInterval(1, 10));
  pipeline_->Handle(std::move(capture));
  Settle();
  Finish();
  EXPECT_EQ(NsByOutcome(), (Outcomes{{"2 stack copy", 10}}));
  EXPECT_EQ(host_->hints, (std::map<int32_t, StackHint>{{kProcess.pid, {.bytes = 0x20 + 64, .pieces = {}}}}))
      << "the outer frame ends 0x20 above the stack pointer";
}

TEST_F(PipelineTest, WhatLiesFarAboveGetsAPieceOfItsOwn) {
  const uint64_t far = kStack + 0x100000;
  processes_->SetCode(kProcess.pid, kVersion1, SpaceAt(kCode));
  CaptureEvent capture = ACapture(1, kVersion1);
  capture.stack.resize(16);
  const uint64_t outer[] = {0, 0};  // its saved rbp and return address: there is no caller
  std::memcpy(capture.stack.data(), &far, sizeof(far));
  StackPiece piece = {.begin = far, .bytes = std::vector<std::byte>(sizeof(outer)), .more = true};
  std::memcpy(piece.bytes.data(), outer, sizeof(outer));
  pipeline_->Handle(AnInterval(1, 10));
  pipeline_->Handle(CaptureEvent(capture));
  capture.cookie = 2;
  capture.pieces = {piece};
  pipeline_->Handle(AnInterval(2, 20));
  pipeline_->Handle(std::move(capture));
  Settle();
  Finish();
  EXPECT_EQ(NsByOutcome(), (Outcomes{{"2 stack copy", 10}, {"2 guessed end", 20}}));
  EXPECT_TRUE(host_->hints.empty()) << "a frame pointer asks for no piece";
}

TEST_F(PipelineTest, AWindowDoesNotGrowWhereTheMemoryEnds) {
  processes_->SetCode(kProcess.pid, kVersion1, SpaceAt(kCode));
  CaptureEvent capture = ACapture(1, kVersion1);
  capture.stack.resize(16);
  capture.more = false;
  pipeline_->Handle(AnInterval(1, 10));
  pipeline_->Handle(std::move(capture));
  Settle();
  Finish();
  EXPECT_TRUE(host_->hints.empty());
}

TEST_F(PipelineTest, AStackAtTheEndOfTheAddressSpaceIsRefused) {
  processes_->SetCode(kProcess.pid, kVersion1, SpaceAt(kCode));
  CaptureEvent capture = ACapture(1, kVersion1);
  capture.registers.value[kRsp] = UINT64_MAX - 8;
  pipeline_->Handle(AnInterval(1, 10));
  pipeline_->Handle(std::move(capture));
  Settle();
  Finish();
  EXPECT_EQ(NsByOutcome(), (Outcomes{{std::string(Name(NoUserStack::kUnreadable)), 10}}));
}

TEST_F(PipelineTest, ProcessesBeyondTheLimitKeepTheirTime) {
  Make({.targets = {.processes = 1}});
  processes_->SetCode(kProcess.pid, kVersion1, SpaceAt(kCode));
  pipeline_->Handle(AnInterval(1, 10));
  pipeline_->Handle(AnInterval(2, 20, kOther));
  pipeline_->Handle(ACapture(2, kVersion1, kOther));
  Settle();
  pipeline_->Handle(ExitEvent{.process = kProcess});
  processes_->SetCode(kOther.pid, kVersion1, SpaceAt(kCode));
  pipeline_->Handle(AnInterval(3, 40, kOther));  // takes the place of the one that has ended
  pipeline_->Handle(ACapture(3, kVersion1, kOther));
  Settle();
  pipeline_->Handle(CaptureFailedEvent{.cookie = 1, .reason = NoUserStack::kExiting});
  Finish();
  EXPECT_EQ(NsByOutcome(), (Outcomes{{std::string(Name(NoUserStack::kExiting)), 10},
                                     {std::string(Name(NoUserStack::kOverload)), 20},
                                     {"2 guessed end", 40}}));
  EXPECT_EQ(LossCount("too many processes"), 2u);
}

TEST_F(PipelineTest, WaitingStacksAreBoundedInBytes) {
  Make({.targets = {.waiting_bytes = 2 * 32}});
  std::promise<void> release;
  processes_->Block(kProcess.pid, release.get_future().share());
  processes_->SetCode(kProcess.pid, kVersion1, SpaceAt(kCode));
  for (uint64_t cookie = 1; cookie <= 3; ++cookie) {
    pipeline_->Handle(AnInterval(cookie, 10));
    pipeline_->Handle(ACapture(cookie, kVersion1));
  }
  release.set_value();
  Settle();
  Finish();
  EXPECT_EQ(NsByOutcome(), (Outcomes{{std::string(Name(NoUserStack::kOverload)), 10}, {"2 guessed end", 20}}));
}

TEST_F(PipelineTest, AProcessIsLookedAtThroughAThreadThatLives) {
  processes_->Set(kProcess.pid, {.outcome = SnapshotOutcome::kUnreadable});
  pipeline_->Expect(kProcess, kProcess.pid);  // its first thread has ended
  Settle();
  processes_->SetCode(kProcess.pid, kVersion1, SpaceAt(kCode));
  CaptureEvent capture = ACapture(1, kVersion1);
  capture.tid = kProcess.pid + 1;
  pipeline_->Handle(AnInterval(1, 10));
  pipeline_->Handle(std::move(capture));
  Settle();
  Finish();
  EXPECT_EQ(NsByOutcome(), (Outcomes{{"2 guessed end", 10}}));
}

TEST_F(PipelineTest, ProgramsThatAreReplacedMakeRoom) {
  Make({.targets = {.processes = 2}});
  for (uint64_t exec_id = 1; exec_id <= 100; ++exec_id) {
    const ProcessKey process = {.pid = kProcess.pid, .start_ns = 1, .exec_id = exec_id};
    processes_->SetCode(kProcess.pid, kVersion1, SpaceAt(kCode));
    pipeline_->Handle(ExecEvent{.process = process});
    pipeline_->Handle(AnInterval(exec_id, 1, process));
    pipeline_->Handle(ACapture(exec_id, kVersion1, process));
    Settle();
  }
  Finish();
  EXPECT_EQ(NsByOutcome(), (Outcomes{{"2 guessed end", 100}}));
}

TEST_F(PipelineTest, AFullCodeListMayGoOn) {
  const CodeMapping code = AMapping(kCode);
  std::vector<CodeMapping> full = {code};
  while (full.size() < WIRE_MAPPINGS) full.push_back(AMapping(0x100000 + full.size() * 0x1000));
  std::vector<MappedCode> seen;
  for (const CodeMapping& mapping : full) seen.push_back({.begin = mapping.begin, .end = mapping.end});
  const ProcessSnapshot snapshot = {.outcome = SnapshotOutcome::kSeen,
                                    .code = kVersion1,
                                    .mappings = full,
                                    .space = std::make_shared<AddressSpace>(seen)};
  processes_->Set(kProcess.pid, snapshot);
  pipeline_->Handle(AnInterval(1, 10));
  Settle();
  const int snapshots = processes_->snapshots_taken(kProcess.pid);
  pipeline_->Handle(CodeListEvent{.hash = kVersion2.hash, .mappings = full});
  pipeline_->Handle(ACapture(1, kVersion2));
  Settle();
  EXPECT_GT(processes_->snapshots_taken(kProcess.pid), snapshots) << "what lies beyond the list was taken to be known";
}

TEST_F(PipelineTest, CodeListsThatAreForgottenAreAskedForAgain) {
  for (uint64_t hash = 1; host_->forgotten.empty(); ++hash) {
    ASSERT_LT(hash, 1u << 20) << "unbounded";
    pipeline_->Handle(CodeListEvent{.hash = hash, .mappings = {}});
  }
  EXPECT_TRUE(host_->forgotten.contains(1));
}

TEST_F(PipelineTest, WhatStillWaitsAtTheEndIsNamed) {
  pipeline_->Handle(AnInterval(1, 10));
  IntervalEvent without = AnInterval(0, 20);
  without.missing = NoUserStack::kBudget;
  pipeline_->Handle(std::move(without));
  Settle();
  Finish();
  EXPECT_EQ(NsByOutcome(),
            (Outcomes{{std::string(Name(NoUserStack::kPending)), 10}, {std::string(Name(NoUserStack::kBudget)), 20}}));
  EXPECT_EQ(TotalNs(), 30u);
}

TEST_F(PipelineTest, ExecMakesANewProcess) {
  const ProcessKey after = {.pid = kProcess.pid, .start_ns = 1, .exec_id = 2};
  processes_->SetCode(kProcess.pid, kVersion1, SpaceAt(kCode));
  pipeline_->Handle(AnInterval(1, 10));
  pipeline_->Handle(ExecEvent{.process = after});
  pipeline_->Handle(AnInterval(2, 20, after));
  Settle();
  Finish();
  EXPECT_EQ(profile_.processes.size(), 2u);
}

IntervalEvent AnOpenInterval(uint64_t switches, uint64_t ns) {
  IntervalEvent event = AnInterval(0, ns);
  event.missing = NoUserStack::kStale;
  event.kind = WaitKind::kOpen;
  event.switches = switches;
  return event;
}

TEST_F(PipelineTest, AWaitThatIsOpenAtTheEndHasItsLiveStack) {
  processes_->SetCode(kProcess.pid, kVersion1, SpaceAt(kCode));
  pipeline_->ReadWaiting({AWaitingThread(40)});
  pipeline_->Handle(AnOpenInterval(40, 100));  // before the stack is there
  Settle();
  Finish();
  EXPECT_THAT(NsByOutcome(), ElementsAre(Pair("2 guessed end", 100)));
  EXPECT_EQ(profile_.stats.live_stacks, 1u);
  EXPECT_EQ(profile_.stats.captures, 0u);
}

TEST_F(PipelineTest, ALiveStackServesItsOwnWaitOnly) {
  processes_->SetCode(kProcess.pid, kVersion1, SpaceAt(kCode));
  pipeline_->ReadWaiting({AWaitingThread(40)});
  Settle();
  pipeline_->Handle(AnOpenInterval(41, 100));
  Finish();
  EXPECT_THAT(NsByOutcome(), ElementsAre(Pair("stale", 100)));
}

TEST_F(PipelineTest, AStackThatCouldNotBeReadLeavesItsReason) {
  processes_->SetCode(kProcess.pid, kVersion1, SpaceAt(kCode));
  host_->read = [](const auto& threads) {
    return std::vector<LiveStack>(threads.size(), {.missing = NoUserStack::kUnreadable});
  };
  pipeline_->ReadWaiting({AWaitingThread(40)});
  pipeline_->Handle(AnOpenInterval(40, 100));  // one before, one after
  Settle();
  pipeline_->Handle(AnOpenInterval(40, 10));
  Finish();
  EXPECT_THAT(NsByOutcome(), ElementsAre(Pair("unreadable", 110)));
}

// A thread that is killed where it waits, or on a kernel that cannot copy its stack when it comes back.
TEST_F(PipelineTest, ALongWaitHasItsStackWhenItEndsMuchLater) {
  processes_->SetCode(kProcess.pid, kVersion1, SpaceAt(kCode));
  pipeline_->ReadWaiting({AWaitingThread(40)});
  Settle();
  now_ns_ += 3'600'000'000'000;
  pipeline_->Tick(now_ns_);
  IntervalEvent ended = AnInterval(0, 100);
  ended.missing = NoUserStack::kUnsupported;
  ended.switches = 40;
  pipeline_->Handle(ended);
  Finish();
  EXPECT_THAT(NsByOutcome(), ElementsAre(Pair("2 guessed end", 100)));
}

TEST_F(PipelineTest, ALongWaitWhoseStackCouldNotBeReadHasItsCapture) {
  processes_->SetCode(kProcess.pid, kVersion1, SpaceAt(kCode));
  host_->read = [](const auto& threads) {
    return std::vector<LiveStack>(threads.size(), {.missing = NoUserStack::kStale});
  };
  pipeline_->ReadWaiting({AWaitingThread(40)});
  Settle();
  IntervalEvent ended = AnInterval(7, 100);
  ended.switches = 40;
  pipeline_->Handle(ended);
  pipeline_->Handle(ACapture(7, kVersion1));
  Finish();
  EXPECT_THAT(NsByOutcome(), ElementsAre(Pair("2 guessed end", 100)));
}

TEST_F(PipelineTest, ALiveStackServesTheWholeStay) {
  processes_->SetCode(kProcess.pid, kVersion1, SpaceAt(kCode));
  IntervalEvent earlier = AnInterval(7, 100);
  earlier.switches = 39;
  pipeline_->Handle(earlier);  // its capture is pending
  pipeline_->ReadWaiting({AWaitingThread(40, /*cookie=*/7)});
  pipeline_->Handle(AnOpenInterval(40, 10));
  Settle();
  Finish();
  EXPECT_THAT(NsByOutcome(), ElementsAre(Pair("2 guessed end", 110)));
}

TEST_F(PipelineTest, APendingCaptureIsStillAwaitedIfTheLiveStackFails) {
  processes_->SetCode(kProcess.pid, kVersion1, SpaceAt(kCode));
  host_->read = [](const auto& threads) {
    return std::vector<LiveStack>(threads.size(), {.missing = NoUserStack::kStale});
  };
  pipeline_->Handle(AnInterval(7, 100));
  pipeline_->ReadWaiting({AWaitingThread(40, /*cookie=*/7)});
  Settle();
  pipeline_->Handle(ACapture(7, kVersion1));
  Finish();
  EXPECT_THAT(NsByOutcome(), ElementsAre(Pair("2 guessed end", 100)));
}

TEST_F(PipelineTest, AWaitIsReadOnce) {
  processes_->SetCode(kProcess.pid, kVersion1, SpaceAt(kCode));
  std::atomic<size_t> read = 0;
  host_->read = [&read](const auto& threads) {
    read += threads.size();
    return std::vector<LiveStack>(threads.size(), ALiveStack());
  };
  pipeline_->ReadWaiting({AWaitingThread(40)});
  pipeline_->ReadWaiting({AWaitingThread(40)});
  Settle();
  pipeline_->ReadWaiting({AWaitingThread(40)});
  Settle();
  EXPECT_EQ(read, 1u);
  pipeline_->ReadWaiting({AWaitingThread(41)});
  Settle();
  EXPECT_EQ(read, 2u);
}

TEST_F(PipelineTest, ManyThreadsAreReadInBatchesThatWaitForAReader) {
  Make({}, {.serving = 1, .queued = 1});
  processes_->SetCode(kProcess.pid, kVersion1, SpaceAt(kCode));
  std::atomic<size_t> read = 0;
  std::atomic<size_t> most = 0;
  host_->read = [&](const auto& threads) {
    read += threads.size();
    most = std::max<size_t>(most, threads.size());
    return std::vector<LiveStack>(threads.size(), {.missing = NoUserStack::kStale});
  };
  std::vector<WaitingThread> threads;
  for (int32_t i = 0; i < 1000; ++i) {
    threads.push_back(AWaitingThread(40));
    threads.back().tid = 1000 + i;
  }
  pipeline_->ReadWaiting(threads);
  EXPECT_FALSE(pipeline_->idle());
  Settle();
  EXPECT_EQ(read, 1000u);
  EXPECT_EQ(most, kLiveThreadsAtOnce);
}

TEST_F(PipelineTest, AStackThatCannotBeReadInTimeIsGivenUp) {
  Make({.targets = {.deadline = std::chrono::milliseconds(50)}});
  processes_->SetCode(kProcess.pid, kVersion1, SpaceAt(kCode));
  std::promise<void> release;
  host_->read = [until = release.get_future().share()](const auto& threads) {
    until.wait();
    return std::vector<LiveStack>(threads.size());
  };
  pipeline_->ReadWaiting({AWaitingThread(40)});
  pipeline_->Handle(AnOpenInterval(40, 100));
  Settle();
  Finish();
  EXPECT_THAT(NsByOutcome(), ElementsAre(Pair("target stuck", 100)));
  release.set_value();
}

}  // namespace
}  // namespace offcpu
