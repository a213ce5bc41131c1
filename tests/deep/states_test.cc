// Every way to leave the CPU has its own kind and all of its time: compared with what the program and the kernel count.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <set>
#include <thread>

#include "symbolize/symbolizer.h"
#include "tests/harness/harness.h"

namespace offcpu::integration {
namespace {

RecordConfig Exact(const Target& target) {
  RecordConfig config = Unthrottled({target.pid()});
  config.per_thread = true;
  config.follow_forks = true;
  return config;
}

struct Times {
  uint64_t blocked_ns = 0;
  uint64_t runnable_ns = 0;
  uint64_t total_ns() const { return blocked_ns + runnable_ns; }
};

Times TimesOf(const Recording& recording, const RowPredicate& wanted) {
  Times times;
  for (const StackRow& row : recording.Rows(wanted)) {
    times.blocked_ns += row.row->blocked_ns;
    times.runnable_ns += row.row->runnable_ns;
  }
  return times;
}

RowPredicate OfThread(const std::string& comm) {
  return [comm](const StackRow& row) { return row.comm == comm; };
}

// What a thread waited while it had a name, as the target measures it from both sides of the naming.
struct Bounds {
  uint64_t least_ns = 0;
  uint64_t most_ns = 0;
};

Bounds BoundsOf(const Target& target, const std::string& thread) {
  return {target.Measured(thread, "inner").ns, target.Measured(thread, "outer").ns};
}

// Half a percent, or a millisecond where that is more. `stolen_ns` of what is wanted may be no wait.
void ExpectWithin(uint64_t got_ns, Bounds want, const std::string& what, const Recording& recording,
                  uint64_t stolen_ns = 0) {
  std::printf("%s: %.3f ms, wanted %.3f to %.3f ms\n", what.c_str(), static_cast<double>(got_ns) / 1e6,
              static_cast<double>(want.least_ns) / 1e6, static_cast<double>(want.most_ns) / 1e6);
  const uint64_t allowed = std::max(want.least_ns / 200, uint64_t{1'000'000});
  EXPECT_LE(got_ns, want.most_ns + allowed) << what << "\n" << recording.LossesText();
  EXPECT_GE(got_ns + allowed + stolen_ns, want.least_ns) << what << "\n" << recording.LossesText();
}

// Nothing is in the way between two system calls but the tick, which takes the CPU from one and gives it to the other.
TEST(States, OfTwoHogsOnOneCpuArePreempted) {
  const std::unique_ptr<Target> target = Target::Start({"states", "hogs", "--seconds", "2"});
  ASSERT_NE(target, nullptr);
  const Recording recording = Record(Exact(*target), *target);
  const uint64_t wall_ns = target->Value("wall_ns");
  // The kernel's figures, not wall less CPU time: a hypervisor may have stolen from that.
  const std::map<std::string, Bounds> delays = {{"hog_a", BoundsOf(*target, "hog_a_run_delay")},
                                                {"hog_b", BoundsOf(*target, "hog_b_run_delay")}};
  const uint64_t both_ns = delays.at("hog_a").least_ns + delays.at("hog_b").least_ns;
  // What is stolen while one of them runs is not charged to it, and so the other waits for all of it.
  double unfair_ns = static_cast<double>(target->stolen_ns()) / 2;
  // A pause of the host that is charged to one of them is a wait of the other, whose turn may not come before the end.
  for (const StackRow& row : recording.Rows([](const StackRow& r) { return r.comm.starts_with("hog_"); }))
    unfair_ns = std::max(unfair_ns, static_cast<double>(row.row->max_ns) / 2);
  ASSERT_GT(both_ns, wall_ns / 100 * 98) << "one of them waits at any time, or it is no test";
  for (const auto& [hog, delay] : delays) {
    const Times times = TimesOf(recording, OfThread(hog));
    ExpectWithin(times.runnable_ns, delay, hog, recording);
    // Half of the time, and half of what others have had of the CPU.
    EXPECT_NEAR(static_cast<double>(times.runnable_ns), static_cast<double>(both_ns) / 2,
                0.02 * static_cast<double>(wall_ns) + unfair_ns);
    EXPECT_LE(times.blocked_ns, 1'000'000u) << hog;
    for (const StackRow& row : recording.Rows(OfThread(hog))) {
      EXPECT_EQ(row.row->kind, WaitKind::kPreempted) << row.Text();
      EXPECT_FALSE(row.complete() && !row.Has("hog_loop")) << row.Text();
    }
  }
}

TEST(States, OfAThreadThatYieldsAreYielded) {
  const std::unique_ptr<Target> target = Target::Start({"states", "yield", "--seconds", "2"});
  ASSERT_NE(target, nullptr);
  const Recording recording = Record(Exact(*target), *target);
  const auto yielder = OfThread("yielder");
  const Times yielded =
      TimesOf(recording, [&](const StackRow& row) { return yielder(row) && row.row->kind == WaitKind::kYielded; });
  const uint64_t all_ns = TimesOf(recording, yielder).total_ns();
  ASSERT_GT(yielded.runnable_ns, 500'000'000u) << "nobody took what it gave away: no test\n" << recording.LossesText();
  EXPECT_EQ(yielded.blocked_ns, 0u);
  // What the target measures of its yields holds the slices, too, that the tick took from it meanwhile.
  const uint64_t measured_ns = target->Measured("yielder", "yield_once").ns;
  const uint64_t preempted_ns = all_ns - yielded.total_ns();
  EXPECT_LE(yielded.runnable_ns, measured_ns + measured_ns / 200);
  EXPECT_GE(yielded.runnable_ns + preempted_ns + target->stolen_ns(), measured_ns - measured_ns / 200);
  uint64_t longest_ns = 0;  // the host may have paused once while it was preempted
  for (const StackRow& row : recording.Rows(yielder))
    if (row.row->kind == WaitKind::kPreempted) longest_ns = std::max(longest_ns, row.row->max_ns);
  EXPECT_LT(preempted_ns - std::min(preempted_ns, longest_ns), all_ns / 20);
  ExpectWithin(all_ns, BoundsOf(*target, "yielder"), "all of it", recording, target->stolen_ns());
  for (const StackRow& row : recording.Rows(yielder)) {
    const WaitKind kind = row.row->kind;
    EXPECT_TRUE(kind == WaitKind::kYielded || kind == WaitKind::kPreempted) << row.Text();
    EXPECT_TRUE(kind != WaitKind::kYielded || !row.complete() || row.Has("yield_once")) << row.Text();
  }
}

TEST(States, OfAThreadThatIsMovedWhileItIsBlockedAddUp) {
  const std::unique_ptr<Target> target = Target::Start({"states", "migrant", "--seconds", "2"});
  ASSERT_NE(target, nullptr);
  const Recording recording = Record(Exact(*target), *target);
  if (target->Value("migrations") == 0) GTEST_SKIP() << "there is only one CPU";
  EXPECT_GT(target->Value("migrations"), 10u) << "it was hardly moved: no test";
  const Times times = TimesOf(recording, OfThread("migrant"));
  ExpectWithin(times.total_ns(), BoundsOf(*target, "migrant"), "off the CPU", recording, target->stolen_ns());
  ExpectWithin(times.runnable_ns, BoundsOf(*target, "migrant_run_delay"), "runnable", recording);
}

TEST(States, OfTwoProcessesWithOnePidAreNotMixed) {
  const std::unique_ptr<Target> target = Target::Start({"states", "pids", "--rounds", "20"});
  ASSERT_NE(target, nullptr);
  const Recording recording = Record(Exact(*target), *target);
  ASSERT_GT(target->Value("reused"), 10u) << "pids were not reused: no test";
  std::map<uint64_t, Measure> lives;  // by the start of the process
  std::set<uint64_t> firsts;
  for (const StackRow& row : recording.Rows([](const StackRow& r) { return r.comm.ends_with("_life"); })) {
    Measure& life = lives[row.process->key.start_ns];
    life.ns += row.row->total_ns();
    life.count += row.row->count;
    const bool is_first = row.comm == "first_life";
    if (is_first) firsts.insert(row.process->key.start_ns);
    EXPECT_EQ(firsts.count(row.process->key.start_ns), is_first ? 1u : 0u) << row.Text();
    EXPECT_TRUE(!row.complete() || row.Has(is_first ? "first_life_wait" : "second_life_wait")) << row.Text();
  }
  EXPECT_EQ(lives.size(), 20u);
  EXPECT_EQ(firsts.size(), 10u);
  const std::vector<std::string> measured = target->Lines("measured");
  ASSERT_EQ(measured.size(), 2 * lives.size());
  size_t next = 0;
  for (const auto& [start_ns, life] : lives) {
    const std::string name = firsts.contains(start_ns) ? "first_life" : "second_life";
    const auto next_ns = [&](const std::string& side) {
      const std::string label = name + " " + side + " ";
      const std::string& line = measured[next++];
      EXPECT_TRUE(line.starts_with(label)) << line;
      return line.starts_with(label) ? std::stoull(line.substr(label.size())) : 0;
    };
    const Bounds bounds = {.least_ns = next_ns("inner"), .most_ns = next_ns("outer")};
    ExpectWithin(life.ns, bounds, name, recording, target->stolen_ns());
  }
}

// What ends a process wakes its threads: until then they are blocked, and the rest is waiting for a CPU to die on.
void ExpectNothingIsLostAtTheEnd(const std::string& ending) {
  const std::unique_ptr<Target> target = Target::Start({"states", ending, "--rounds", "10"});
  ASSERT_NE(target, nullptr);
  const Recording recording = Record(Exact(*target), *target);
  const auto doomed = OfThread("doomed");
  ASSERT_EQ(target->Measured("doomed", "inner").count, 30u);
  const Bounds blocked = BoundsOf(*target, "doomed");
  ExpectWithin(TimesOf(recording, doomed).blocked_ns, blocked, ending, recording, target->stolen_ns());
  const Measure with_stack =
      recording.Sum([&](const StackRow& row) { return doomed(row) && row.complete() && row.Has("doomed_wait"); });
  std::printf("%.1f %% of it with its stack\n",
              100 * static_cast<double>(with_stack.ns) / static_cast<double>(blocked.least_ns));
}

TEST(States, OfThreadsWhoseProgramIsReplacedAreWhole) { ExpectNothingIsLostAtTheEnd("exec"); }

TEST(States, OfThreadsWhoseProcessExitsAreWhole) { ExpectNothingIsLostAtTheEnd("exit"); }

TEST(States, OfThreadsThatAreKilledAreWhole) { ExpectNothingIsLostAtTheEnd("kill"); }

// No thread of a process that has ended waits, though its parent has not asked about its end yet.
void ExpectAZombieDoesNotWait(RecordConfig (*configure)(const Target&)) {
  const std::unique_ptr<Target> target = Target::Start({"states", "zombie", "--seconds", "0.5"});
  ASSERT_NE(target, nullptr);
  const Recording recording = Record(configure(*target), *target);
  const auto child = static_cast<pid_t>(target->Value("child"));
  const auto of_child = [child](const StackRow& row) { return row.process->key.pid == child; };
  const Measure lived = recording.Sum([&](const StackRow& r) { return of_child(r) && r.comm == "first_life"; });
  ExpectWithin(lived.ns, BoundsOf(*target, "first_life"), "its life", recording, target->stolen_ns());
  for (const StackRow& row : recording.Rows(of_child)) EXPECT_NE(row.row->kind, WaitKind::kOpen) << row.Text();
}

TEST(States, OfAZombieAreNone) { ExpectAZombieDoesNotWait(Exact); }

TEST(States, OfAZombieOfTheHostAreNone) {
  ExpectAZombieDoesNotWait([](const Target&) { return Unthrottled({}); });
}

// A thread that waits for its CPU at the end of the recording, and before.
class Queued : public testing::Test {
 protected:
  static constexpr uint64_t kAllowedNs = 1'000'000;

  static uint64_t NowNs() { return static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count()); }

  void RecordIt(const std::vector<std::string>& words) {
    target_ = Target::Start(words);
    ASSERT_NE(target_, nullptr);
    before_start_ns_ = NowNs();
    absl::StatusOr<std::unique_ptr<Recorder>> recorder = Recorder::Start(Exact(*target_));
    after_start_ns_ = NowNs();
    ASSERT_TRUE(recorder.ok()) << recorder.status();
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    target_->Go();
    target_->AwaitDone();
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    before_stop_ns_ = NowNs();
    absl::StatusOr<Profile> profile = (*recorder)->Stop();
    after_stop_ns_ = NowNs();
    target_->End();
    ASSERT_TRUE(profile.ok()) << profile.status();
    recording_.profile = Symbolize(*std::move(profile));
    ran_ns_ = target_->Value("ran_ns");
  }

  Times TimesOfVictim(bool open) const {
    return TimesOf(recording_, [open](const StackRow& row) {
      return row.comm == "victim" && (row.row->kind == WaitKind::kOpen) == open;
    });
  }

  // CPU time of the victim since before it slept: what a capture takes, and what the kernel does not tell apart from
  // it.
  uint64_t ran_cpu_ns() const { return target_->Value("ran_cpu_ns"); }

  std::unique_ptr<Target> target_;
  Recording recording_;
  uint64_t before_start_ns_ = 0;
  uint64_t after_start_ns_ = 0;
  uint64_t before_stop_ns_ = 0;
  uint64_t after_stop_ns_ = 0;
  uint64_t ran_ns_ = 0;
};

TEST_F(Queued, SinceBeforeTheRecordingIsRunnableFromItsStart) {
  RecordIt({"queued"});
  const Times times = TimesOfVictim(false);
  EXPECT_LE(times.blocked_ns, kAllowedNs);
  EXPECT_GE(times.runnable_ns + ran_cpu_ns() + target_->stolen_ns() + kAllowedNs, ran_ns_ - after_start_ns_);
  EXPECT_LE(times.runnable_ns, ran_ns_ - before_start_ns_);
}

TEST_F(Queued, AfterASleepThatBeganBeforeTheRecording) {
  RecordIt({"queued", "--asleep"});
  const Times times = TimesOfVictim(false);
  EXPECT_GE(times.blocked_ns + kAllowedNs, target_->Value("first_woken_after_ns") - after_start_ns_);
  EXPECT_LE(times.blocked_ns, target_->Value("first_woken_before_ns") - before_start_ns_ + kAllowedNs);
  EXPECT_GE(times.runnable_ns + ran_cpu_ns() + target_->stolen_ns() + kAllowedNs,
            ran_ns_ - target_->Value("first_woken_before_ns"));
  EXPECT_LE(times.runnable_ns, ran_ns_ - target_->Value("first_woken_after_ns") + kAllowedNs);
}

TEST_F(Queued, WhenTheRecordingEnds) {
  RecordIt({"queued"});
  const Times times = TimesOfVictim(true);
  EXPECT_GE(times.blocked_ns + kAllowedNs, target_->Value("second_woken_after_ns") - ran_ns_);
  EXPECT_LE(times.blocked_ns, target_->Value("second_woken_before_ns") - ran_ns_ + kAllowedNs);
  EXPECT_GE(times.runnable_ns + kAllowedNs, before_stop_ns_ - target_->Value("second_woken_before_ns"));
  EXPECT_LE(times.runnable_ns, after_stop_ns_ - target_->Value("second_woken_after_ns"));
}

}  // namespace
}  // namespace offcpu::integration
