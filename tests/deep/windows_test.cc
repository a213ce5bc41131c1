// Windows of a recording that goes on add up to one that was never cut, to the nanosecond: both are made of one run, by
// two recorders. Their programs read the scheduler's clock where it does not move, so an interval is the same in both.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <map>
#include <set>
#include <thread>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "bpf_programs/kernel.h"
#include "profile/losses.h"
#include "recorder/open_waits.h"
#include "symbolize/symbolizer.h"
#include "tests/harness/harness.h"

namespace offcpu::integration {
namespace {

const std::string kMissedOpenWait(InfoOf(LossId::kOpenWaitMissed).name);

using std::chrono::milliseconds;
using std::chrono::steady_clock;

struct Windows {
  std::vector<Profile> profiles;
  Profile single;
};

constexpr milliseconds kPeriod(50);

// The recorder of the one recording starts before the other and stops after it. Cuts until `done`.
Windows RecordInWindows(const RecordConfig& config, const std::function<void()>& begin, const std::atomic<bool>& done) {
  Windows result;
  absl::StatusOr<std::unique_ptr<Recorder>> single = Recorder::Start(config);
  absl::StatusOr<std::unique_ptr<Recorder>> recorder = Recorder::Start(config);
  EXPECT_TRUE(single.ok()) << single.status();
  EXPECT_TRUE(recorder.ok()) << recorder.status();
  if (!single.ok() || !recorder.ok()) return result;
  begin();
  for (auto next = steady_clock::now() + kPeriod; !done; next += kPeriod) {
    std::this_thread::sleep_until(next);
    absl::StatusOr<Profile> profile = (*recorder)->Cut();
    EXPECT_TRUE(profile.ok()) << profile.status();
    if (!profile.ok()) break;
    result.profiles.push_back(*std::move(profile));
  }
  absl::StatusOr<Profile> last = (*recorder)->Stop();
  absl::StatusOr<Profile> all = (*single)->Stop();
  EXPECT_TRUE(last.ok()) << last.status();
  EXPECT_TRUE(all.ok()) << all.status();
  if (!last.ok() || !all.ok()) return result;
  result.profiles.push_back(*std::move(last));
  result.single = *std::move(all);
  return result;
}

Windows RecordRun(const RecordConfig& config, Target& target) {
  std::atomic<bool> done = false;
  std::thread awaiter;
  Windows windows = RecordInWindows(
      config,
      [&] {
        target.Go();
        awaiter = std::thread([&] {
          target.AwaitDone();
          done = true;
        });
      },
      done);
  if (awaiter.joinable()) awaiter.join();
  target.End();
  return windows;
}

struct Times {
  uint64_t ns = 0;
  uint64_t ended = 0;  // waits, but for those that were open at the end of a window

  bool operator==(const Times&) const = default;
};
using Thread = std::tuple<pid_t, uint64_t, uint64_t, pid_t>;  // process and tid
using ByThread = std::map<Thread, Times>;

void AddTo(const Profile& profile, ByThread* sums) {
  for (const ProfileRow& row : profile.rows) {
    const ProcessKey& process = profile.processes[row.process].key;
    Times& sum = (*sums)[{process.pid, process.start_ns, process.exec_id, row.tid}];
    sum.ns += row.total_ns();
    if (row.kind != WaitKind::kOpen) sum.ended += row.count;
  }
}

ByThread SumOf(const std::vector<Profile>& profiles) {
  ByThread sums;
  for (const Profile& profile : profiles) AddTo(profile, &sums);
  return sums;
}

// Time that is in no row, by its name. (That of rows without a stack is.)
std::map<std::string, uint64_t> Losses(const Profile& profile) {
  std::map<std::string, uint64_t> losses;
  for (const Loss& loss : profile.stats.losses) {
    const bool in_rows = loss.reason.rfind("no user stack", 0) == 0 || loss.reason == "kernel stack without definition";
    if (!in_rows && loss.ns != 0) losses[loss.reason] = loss.ns;
  }
  return losses;
}

// Threads that had reported their end and were kept from their CPU until after the last window's, but not after the one
// recording's, which ends later.
constexpr char kOutlived[] = "ended before its open wait was listed";
uint64_t Outlived(const Windows& windows) {
  uint64_t count = 0;
  for (const Loss& loss : windows.profiles.back().stats.losses) count += loss.reason == kOutlived ? loss.count : 0;
  return count;
}

// A thread that has reported its end is in no list any more, and may still be kept from its CPU when a window ends.
// Returns what that has cost; nothing else is lost.
uint64_t MissedNs(const Windows& windows) {
  EXPECT_THAT(Losses(windows.single), testing::IsEmpty());
  uint64_t missed_ns = 0;
  for (const Profile& profile : windows.profiles) {
    std::map<std::string, uint64_t> losses = Losses(profile);
    missed_ns += losses[kMissedOpenWait];
    losses.erase(kMissedOpenWait);
    if (&profile == &windows.profiles.back()) losses.erase(kOutlived);
    EXPECT_THAT(losses, testing::IsEmpty());
  }
  return missed_ns;
}

void ExpectTiled(const std::vector<Profile>& profiles) {
  for (size_t i = 1; i < profiles.size(); ++i) {
    EXPECT_EQ(profiles[i - 1].start_unix_ns + profiles[i - 1].duration_ns, profiles[i].start_unix_ns) << i;
  }
}

uint64_t SumOfLengths(const std::vector<Profile>& profiles) {
  uint64_t ns = 0;
  for (const Profile& profile : profiles) ns += profile.duration_ns;
  return ns;
}

uint64_t OnCpuNs(pid_t tid) {
  std::ifstream file("/proc/" + std::to_string(tid) + "/schedstat");
  uint64_t ns = 0;
  file >> ns;
  EXPECT_NE(ns, 0u) << tid;
  return ns;
}

bool HasSchedulerClock() {
  const absl::StatusOr<KernelFeatures> features = ProbeKernel();
  return features.ok() && features->rq_clock && features->exit_tp;
}

TEST(Windows, OfABusyRunAddUpToOneRecordingOfIt) {
  if (!HasSchedulerClock()) GTEST_SKIP() << "two recorders cannot read the same times on this kernel";
  const std::unique_ptr<Target> target = Target::Start({"pingpong", "--seconds", "5"});
  const std::unique_ptr<Target> sleepers = Target::Start({"blocked", "--threads", "20"});
  ASSERT_NE(target, nullptr);
  ASSERT_NE(sleepers, nullptr);
  const pid_t ping = target->pid();
  RecordConfig config;
  config.pids = {ping, target->Detail("pong"), sleepers->pid()};
  config.per_thread = true;
  const uint64_t on_cpu_before_ns = OnCpuNs(ping);
  std::atomic<bool> done = false;
  std::thread awaiter;
  const Windows windows = RecordInWindows(
      config,
      [&] {
        target->Go();
        awaiter = std::thread([&] {
          target->AwaitDone();
          done = true;
        });
      },
      done);
  awaiter.join();
  const uint64_t on_cpu_ns = OnCpuNs(ping) - on_cpu_before_ns;
  target->End();

  EXPECT_EQ(MissedNs(windows), 0u);
  ExpectTiled(windows.profiles);
  ByThread single;
  AddTo(windows.single, &single);
  const ByThread sums = SumOf(windows.profiles);
  // What the one recording lasted longer by, all threads that live throughout waited.
  std::set<uint64_t> longer_ns;
  std::set<uint64_t> lengths_ns;  // of the windows together, told by threads that never ran
  for (const auto& [thread, times] : sums) {
    EXPECT_EQ(times.ended, single[thread].ended) << std::get<0>(thread) << " " << std::get<3>(thread);
    if (std::get<0>(thread) == sleepers->pid()) lengths_ns.insert(times.ns);
    if (std::get<0>(thread) == target->Detail("pong")) continue;  // it has ended
    longer_ns.insert(single[thread].ns - times.ns);
  }
  EXPECT_EQ(sums.size(), single.size());
  EXPECT_EQ(longer_ns.size(), 1u) << testing::PrintToString(longer_ns);
  ASSERT_EQ(lengths_ns.size(), 1u) << testing::PrintToString(lengths_ns);
  for (const Profile& profile : windows.profiles) {
    ByThread of_window;
    AddTo(profile, &of_window);
    uint64_t length_ns = 0;
    for (const auto& [thread, times] : of_window) {
      if (std::get<0>(thread) == sleepers->pid()) length_ns = times.ns;
    }
    for (const auto& [thread, times] : of_window) EXPECT_LE(times.ns, length_ns) << "more than there was";
  }
  uint64_t ping_ns = 0;
  for (const auto& [thread, times] : sums) {
    if (std::get<0>(thread) == ping) ping_ns = times.ns;
  }
  const uint64_t wall_ns = SumOfLengths(windows.profiles);
  std::printf("%zu windows, %.1f ms each; wall - on CPU %.3f ms, in the windows %.3f ms: %+.3f %%\n",
              windows.profiles.size(),
              static_cast<double>(wall_ns) / 1e6 / static_cast<double>(windows.profiles.size()),
              static_cast<double>(wall_ns - on_cpu_ns) / 1e6, static_cast<double>(ping_ns) / 1e6,
              100 * (static_cast<double>(ping_ns) / static_cast<double>(wall_ns - on_cpu_ns) - 1));
  EXPECT_GE(windows.profiles.size(), 20u);
  EXPECT_TRUE(Within(ping_ns, wall_ns - on_cpu_ns, 0.005, target->stolen_ns()));
}

// Whatever comes and goes between its windows: threads and processes, images of one process, tids that are used again.
void RecordChurn(const std::vector<std::string>& words) {
  if (!HasSchedulerClock()) GTEST_SKIP() << "two recorders cannot read the same times on this kernel";
  const std::unique_ptr<Target> target = Target::Start(words);
  ASSERT_NE(target, nullptr);
  RecordConfig config;
  config.pids = {target->pid()};
  config.follow_forks = true;
  config.per_thread = true;
  config.interval_ring_bytes = 64u << 20;
  const Windows windows = RecordRun(config, *target);
  ExpectTiled(windows.profiles);
  ByThread single;
  AddTo(windows.single, &single);
  const ByThread sums = SumOf(windows.profiles);
  EXPECT_EQ(sums.size(), single.size());
  uint64_t ns = 0;
  uint64_t single_ns = 0;
  uint64_t outlived = Outlived(windows);
  for (const auto& [thread, times] : sums) {
    if (std::get<3>(thread) == target->pid()) continue;  // it was there before and after the recordings
    if (times.ended + 1 == single[thread].ended && outlived != 0) {
      --outlived;
      continue;
    }
    EXPECT_EQ(times.ended, single[thread].ended) << std::get<0>(thread) << " " << std::get<3>(thread);
    EXPECT_LE(times.ns, single[thread].ns) << std::get<0>(thread) << " " << std::get<3>(thread);
    ns += times.ns;
    single_ns += single[thread].ns;
  }
  const uint64_t missed_ns = MissedNs(windows);
  std::printf("%s: %zu windows, %zu threads, %.1f ms, %.1f ms missed\n", words[1].c_str(), windows.profiles.size(),
              sums.size(), static_cast<double>(ns) / 1e6, static_cast<double>(missed_ns) / 1e6);
  EXPECT_EQ(ns + missed_ns, single_ns);
  EXPECT_GE(sums.size(), 20u) << "no test";
}

TEST(Windows, OfThreadsThatExitAddUp) { RecordChurn({"churn", "exit", "--rounds", "300"}); }
TEST(Windows, OfProcessesThatExitAddUp) { RecordChurn({"churn", "fork", "--rounds", "300"}); }
TEST(Windows, OfPidsThatAreUsedAgainAddUp) { RecordChurn({"churn", "pids", "--rounds", "100"}); }
TEST(Windows, OfProgramsThatAreReplacedAddUp) { RecordChurn({"churn", "exec", "--rounds", "200"}); }

// The measure is the program's own. Every wait has its stack, in whatever pieces it comes.
TEST(Windows, StacksAreWholeThoughTheirWaitsAreNot) {
  const std::unique_ptr<Target> target = Target::Start({"waits", "--seconds", "3"});
  ASSERT_NE(target, nullptr);
  const Windows windows = RecordRun(Unthrottled({target->pid()}), *target);
  std::map<std::string, uint64_t> ns;
  uint64_t open = 0;
  for (const Profile& profile : windows.profiles) {
    Recording recording;
    recording.profile = Symbolize(profile);
    for (const StackRow& row : recording.Rows([](const StackRow& row) { return row.complete(); })) {
      for (const NamedFrame& frame : row.user->frames) {
        if (std::string_view(frame.name()).substr(0, 8) == "wait_in_")
          ns[absl::StrCat(row.comm, " ", std::string(frame.name()))] += row.row->total_ns();
      }
      if (row.row->kind == WaitKind::kOpen) ++open;
    }
  }
  EXPECT_GT(open, windows.profiles.size()) << "no test";
  for (const char* kind : {"nanosleep", "futex", "pipe", "poll", "epoll", "mutex", "condvar", "virtual", "lambda"}) {
    const std::string thread = std::string("w_") + kind;
    const std::string function = std::string("wait_in_") + kind;
    const Measure measured = target->Measured(thread, function);
    const uint64_t got = ns[absl::StrCat(thread, " ", function)];
    std::printf("%s: %.3f %% of the measured time\n", thread.c_str(),
                100.0 * static_cast<double>(got) / static_cast<double>(measured.ns));
    EXPECT_TRUE(Within(got, measured.ns, 0.02, target->stolen_ns()))
        << thread << ": " << got << " ns, measured " << measured.ns;
  }
}

}  // namespace
}  // namespace offcpu::integration
