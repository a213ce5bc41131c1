// Threads that wait and do not come back are seen from outside, whole or not at all.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <thread>

#include "bpf_programs/kernel.h"
#include "bpf_programs/programs.h"
#include "recorder/listing.h"
#include "recorder/live.h"
#include "recorder/process_stacks.h"
#include "symbolize/symbolizer.h"
#include "tests/harness/harness.h"

namespace offcpu::integration {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

uint64_t Ns(steady_clock::duration time) { return static_cast<uint64_t>(std::chrono::nanoseconds(time).count()); }

struct TimedRecording {
  Recording recording;
  uint64_t at_least_ns = 0;  // it lasted, seen from outside
  uint64_t at_most_ns = 0;
};

TimedRecording RecordFor(const RecordConfig& config, milliseconds length, const std::function<void()>& meanwhile = {}) {
  TimedRecording result;
  const auto before_start = steady_clock::now();
  absl::StatusOr<std::unique_ptr<Recorder>> recorder = Recorder::Start(config);
  const auto after_start = steady_clock::now();
  EXPECT_TRUE(recorder.ok()) << recorder.status();
  if (!recorder.ok()) return result;
  if (meanwhile) meanwhile();
  std::this_thread::sleep_until(after_start + length);
  const auto before_stop = steady_clock::now();
  absl::StatusOr<Profile> profile = (*recorder)->Stop();
  const auto after_stop = steady_clock::now();
  EXPECT_TRUE(profile.ok()) << profile.status();
  if (!profile.ok()) return result;
  result.recording.profile = Symbolize(*std::move(profile));
  result.at_least_ns = Ns(before_stop - after_start);
  result.at_most_ns = Ns(after_stop - before_start);
  return result;
}

std::unique_ptr<Target> Blocked(const std::vector<std::string>& options = {}) {
  std::vector<std::string> words = {"blocked"};
  words.insert(words.end(), options.begin(), options.end());
  return Target::Start(words);
}

TEST(Live, AThreadThatBlockedBeforeAndNeverReturnsHasItsStackAndLength) {
  const std::unique_ptr<Target> target = Blocked();
  ASSERT_NE(target, nullptr);
  const TimedRecording result = RecordFor(Unthrottled({target->pid()}), milliseconds(500));
  const std::map<std::string, std::vector<std::string>> stacks = {
      {"reader", {"start_thread", "reader_thread", "first_wait"}},
      {"waiter", {"start_thread", "waiter_thread", "condition_wait"}},
      {"big", {"start_thread", "big_thread", "big_frames", "big_frames"}},  // 400 KiB below its start
      {"blocked", {"_start", "main"}},
  };
  for (const auto& [comm, functions] : stacks) {
    const std::vector<StackRow> rows =
        result.recording.Rows([&thread = comm](const StackRow& row) { return row.comm == thread; });
    ASSERT_EQ(rows.size(), 1u) << comm;
    EXPECT_EQ(rows[0].row->kind, WaitKind::kOpen);
    EXPECT_EQ(rows[0].row->count, 1u);
    EXPECT_GE(rows[0].row->blocked_ns, result.at_least_ns) << comm;
    EXPECT_LE(rows[0].row->blocked_ns, result.at_most_ns) << comm;
    EXPECT_EQ(rows[0].row->runnable_ns, 0u);
    EXPECT_FALSE(rows[0].kernel.empty());
    if (comm == "big") {
      EXPECT_EQ(rows[0].user->end, EndReason::kStackCopy) << "its stack is larger than what is read";
      EXPECT_TRUE(rows[0].Has("big_frames"));
    } else {
      EXPECT_TRUE(rows[0].complete()) << rows[0].Text();
      EXPECT_TRUE(rows[0].Calls(functions)) << rows[0].Text();
    }
  }
  EXPECT_EQ(result.recording.profile.stats.live_stacks, 4u);
}

TEST(Live, AWaitIsCutByBothEndsOfTheRecording) {
  const std::unique_ptr<Target> target = Blocked();
  ASSERT_NE(target, nullptr);
  uint64_t moved_at_most_ns = 0;
  const TimedRecording result = RecordFor(Unthrottled({target->pid()}), milliseconds(500), [&] {
    std::this_thread::sleep_for(milliseconds(200));
    const auto before = steady_clock::now();
    target->Go();
    target->AwaitDone();
    moved_at_most_ns = Ns(steady_clock::now() - before);
    std::this_thread::sleep_for(milliseconds(250));  // in the second wait, however late it began
  });
  const auto in = [&](const std::string& function, WaitKind kind) {
    return result.recording
        .Sum([&](const StackRow& row) { return row.comm == "reader" && row.Has(function) && row.row->kind == kind; })
        .ns;
  };
  // It had left the CPU before anybody could see how. Once awake, it may lose the CPU on its way out of the call.
  EXPECT_GE(in("first_wait", WaitKind::kSleeping), 200'000'000u);
  EXPECT_LE(in("first_wait", WaitKind::kPreempted), moved_at_most_ns);
  const Measure first =
      result.recording.Sum([](const StackRow& row) { return row.comm == "reader" && row.Has("first_wait"); });
  EXPECT_EQ(first.ns, in("first_wait", WaitKind::kSleeping) + in("first_wait", WaitKind::kPreempted));
  EXPECT_GE(in("second_wait", WaitKind::kOpen), 200'000'000u);
  const uint64_t all = result.recording.Sum([](const StackRow& row) { return row.comm == "reader"; }).ns;
  EXPECT_LE(all, result.at_most_ns);
  EXPECT_GE(all + moved_at_most_ns, result.at_least_ns) << "all that it did not run";
}

TEST(Live, AThreadThatIsKilledInALongWaitKeepsItsStack) {
  const std::unique_ptr<Target> target = Blocked();
  ASSERT_NE(target, nullptr);
  RecordConfig config = Unthrottled({target->pid()});
  config.live_after_ms = 100;
  const TimedRecording result = RecordFor(config, milliseconds(2500), [&] {
    std::this_thread::sleep_for(milliseconds(2200));  // longer than the time between two looks, and the bound
    kill(target->pid(), SIGKILL);
    siginfo_t info;
    waitid(P_PID, static_cast<id_t>(target->pid()), &info, WEXITED | WNOWAIT);
  });
  const std::vector<StackRow> rows = result.recording.Rows([](const StackRow& row) {
    return row.Calls({"start_thread", "waiter_thread", "condition_wait"});
  });
  // On its way to its end it may lose the CPU where it has waited.
  uint64_t ns = 0;
  for (const StackRow& row : rows) {
    EXPECT_TRUE(row.complete()) << row.Text();
    EXPECT_NE(row.row->kind, WaitKind::kOpen) << "it has ended";
    ns += row.row->total_ns();
  }
  EXPECT_GE(ns, 2'200'000'000u) << result.recording.LossesText();
  EXPECT_LE(ns, result.at_most_ns);
}

TEST(Live, ThreadsThatSleepThroughoutMayBeCountedOnly) {
  const std::unique_ptr<Target> target = Blocked({"--threads", "300"});
  ASSERT_NE(target, nullptr);
  RecordConfig config = Unthrottled({target->pid()});
  const TimedRecording shown = RecordFor(config, milliseconds(200));
  const auto in_crowd = [](const StackRow& row) { return row.comm == "crowd" && row.complete(); };
  EXPECT_EQ(shown.recording.Sum(in_crowd).count, 300u);
  EXPECT_EQ(shown.recording.Rows(in_crowd).size(), 1u) << "one stack";
  EXPECT_EQ(shown.recording.profile.stats.slept_throughout, 0u);

  config.show_sleepers = false;
  const TimedRecording counted = RecordFor(config, milliseconds(200));
  EXPECT_EQ(counted.recording.profile.rows.size(), 0u);
  EXPECT_EQ(counted.recording.profile.stats.slept_throughout, 304u);
}

class LiveListing : public testing::Test {
 protected:
  void SetUp() override {
    const absl::StatusOr<KernelFeatures> features = ProbeKernel();
    ASSERT_TRUE(features.ok()) << features.status();
    absl::StatusOr<std::unique_ptr<Programs>> programs = Programs::LoadListing(*features);
    ASSERT_TRUE(programs.ok()) << programs.status();
    listing_ = ListingOf(*std::move(programs));
  }

  Listing listing_;
};

TEST_F(LiveListing, AThreadThatRunsBetweenTheTwoReadingsIsStale) {
  const std::unique_ptr<Target> target = Blocked();
  ASSERT_NE(target, nullptr);
  const absl::StatusOr<std::vector<WaitingThread>> threads = listing_.list(target->pid());
  ASSERT_TRUE(threads.ok()) << threads.status();
  ASSERT_EQ(threads->size(), 4u);
  bool moved = false;
  const auto second_reading = [&](pid_t tid) {
    if (!moved) target->Go();  // "reader" returns from its wait and goes into another one
    if (!moved) target->AwaitDone();
    moved = true;
    return listing_.find(tid);
  };
  const std::vector<LiveStack> stacks = ReadLiveStacks(*threads, kLiveStackBytes, second_reading, listing_.describe);
  ASSERT_EQ(stacks.size(), threads->size());
  std::map<std::string, NoUserStack> outcome;
  for (size_t i = 0; i < threads->size(); ++i) outcome[(*threads)[i].comm] = stacks[i].missing;
  EXPECT_EQ(outcome, (std::map<std::string, NoUserStack>{{"blocked", NoUserStack::kStale},
                                                         {"reader", NoUserStack::kStale},
                                                         {"waiter", NoUserStack::kNone},
                                                         {"big", NoUserStack::kNone}}));
}

TEST_F(LiveListing, AProcessThatEndsBetweenTheTwoReadingsIsStale) {
  const std::unique_ptr<Target> target = Blocked();
  ASSERT_NE(target, nullptr);
  const absl::StatusOr<std::vector<WaitingThread>> threads = listing_.list(target->pid());
  ASSERT_TRUE(threads.ok()) << threads.status();
  bool ended = false;
  const auto second_reading = [&](pid_t tid) {
    if (!ended) target->End();
    ended = true;
    return listing_.find(tid);
  };
  for (const LiveStack& stack : ReadLiveStacks(*threads, kLiveStackBytes, second_reading, listing_.describe)) {
    EXPECT_EQ(stack.missing, NoUserStack::kStale);
  }
}

// What has been read of a program outlives the reading, with tables or without.
TEST(ProcessStacksTest, OfAProgramWithoutTables) {
  const std::unique_ptr<Target> target = Target::Start({"raw_fp"});
  ASSERT_NE(target, nullptr);
  const absl::StatusOr<ProcessStacks> stacks = ReadProcessStacks(target->pid(), UnwindOrder());
  ASSERT_TRUE(stacks.ok()) << stacks.status();
  ASSERT_EQ(stacks->profile.rows.size(), 1u);
  const UserStack& stack = stacks->profile.user_stacks[0].stack;
  EXPECT_EQ(stack.end, EndReason::kComplete) << Name(stack.end);
  ASSERT_EQ(stack.frames.size(), 3u) << "raw_read, raw_main, _start";
  for (const Frame& frame : stack.frames) EXPECT_THAT(frame.code->path, testing::EndsWith("/raw_fp"));
}

TEST(ProcessStacksTest, AThreadThatWaitsForAMutexSaysWhoHoldsIt) {
  const std::unique_ptr<Target> target = Target::Start({"deadlock"});
  ASSERT_NE(target, nullptr);
  const auto ready = steady_clock::now();
  std::this_thread::sleep_for(milliseconds(100));
  const uint64_t at_least_ns = Ns(steady_clock::now() - ready);
  const absl::StatusOr<ProcessStacks> stacks = ReadProcessStacks(target->pid(), UnwindOrder());
  ASSERT_TRUE(stacks.ok()) << stacks.status();
  const Profile& profile = stacks->profile;
  ASSERT_EQ(stacks->lock_owners.size(), profile.rows.size());
  std::map<int32_t, std::string> names;
  for (const ProfileRow& row : profile.rows) names[row.tid] = profile.comms[row.comm];
  std::map<std::string, std::string> owners;
  for (size_t i = 0; i < profile.rows.size(); ++i) {
    owners[names[profile.rows[i].tid]] = stacks->lock_owners[i] == 0 ? "" : names[stacks->lock_owners[i]];
    if (profile.rows[i].tid == target->pid()) continue;  // it has looked at the others
    // Without what interrupts have taken, and by a clock that is read once a tick.
    EXPECT_GE(profile.rows[i].blocked_ns, at_least_ns / 2) << names[profile.rows[i].tid];
  }
  EXPECT_EQ(owners, (std::map<std::string, std::string>{{"deadlock", ""},
                                                        {"plain-a", "plain-b"},
                                                        {"plain-b", "plain-a"},
                                                        {"recursive-a", "recursive-b"},
                                                        {"recursive-b", "recursive-a"},
                                                        {"robust-a", "robust-b"},
                                                        {"robust-b", "robust-a"},
                                                        {"holder", ""},
                                                        {"waiter", "holder"},
                                                        {"condition", ""}}));
}

TEST(OffcpuStacks, NamesWhatItCannotDo) {
  for (const std::string pid : {"0", "-1", "4194303", "x"}) {
    const auto program = Program::Start({BinDirectory() + "/offcpu", "stacks", pid}, "/dev/null");
    EXPECT_EQ(program->Wait(), 2) << pid;
  }
}

TEST(ProcessStacksTest, AThreadThatRunsHasNone) {
  const std::unique_ptr<Program> busy = StartBusyLoop(0);
  const absl::StatusOr<ProcessStacks> stacks = ReadProcessStacks(busy->pid(), UnwindOrder());
  ASSERT_TRUE(stacks.ok()) << stacks.status();
  ASSERT_EQ(stacks->profile.rows.size(), 1u);
  const UserStackEntry& entry = stacks->profile.user_stacks[0];
  // It may have been preempted.
  EXPECT_TRUE(entry.missing == NoUserStack::kOnCpu || stacks->profile.rows[0].kind == WaitKind::kPreempted)
      << Name(entry.missing);
}

TEST(ProcessStacksTest, NoProcessIsAnError) {
  EXPECT_EQ(ReadProcessStacks(0x3fffff, UnwindOrder()).status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace offcpu::integration
