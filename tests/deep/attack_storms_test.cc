// While another user's programs come and go as fast as they can, at the lowest priority, the service at its unit's
// limits tells how long a program of root's has waited: within three of its standard errors, which are a tenth at most,
// in each of 20 dumps.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "pprof/pprof_reader.h"
#include "tests/harness/confined_service.h"

namespace offcpu::integration {
namespace {

constexpr int kDumps = 20;
constexpr std::chrono::seconds kBetween{3};
constexpr char kSpan[] = "15s";  // each dump has this much, and a window more
constexpr double kLeastNs = 14e9;
constexpr std::chrono::seconds kStormBefore{20};

// Sleeps for 10 ms at a time.
constexpr char kThread[] = "c_condvar";
// The naps would be sampled, too, with the T of the user who makes the storm.
constexpr uint64_t kLeastThresholdNs = 20'000'000;

// What a dump tells of the thread, and of when, by CLOCK_MONOTONIC.
struct Told {
  double begin_ns = 0;
  double end_ns = 0;
  double ns = 0;
  double variance = 0;
  double with_stack_ns = 0;
  uint64_t threshold_ns = 0;
  double stolen_ns = 0;  // since the first dump began
  std::string losses;
};

Told TellOf(pid_t pid, const Recording& dump, double unix_ns) {
  Told told;
  told.begin_ns = static_cast<double>(dump.profile.start_unix_ns) - unix_ns;
  told.end_ns = told.begin_ns + static_cast<double>(dump.profile.duration_ns);
  for (const StackRow& row :
       dump.Rows([pid](const StackRow& r) { return r.process->key.pid == pid && r.comm == kThread; })) {
    told.ns += static_cast<double>(row.row->total_ns());
    told.variance += row.row->ns_variance;
    if (row.complete()) told.with_stack_ns += static_cast<double>(row.row->total_ns());
  }
  told.threshold_ns = dump.profile.stats.sample_most_ns;
  told.losses = dump.LossesText();
  return told;
}

// What it has clocked itself off the CPU in that time.
double ClockedNs(const std::vector<std::string>& waits, const Told& told) {
  double ns = 0;
  for (const std::string& line : waits) {
    std::istringstream words(line);
    std::string thread;
    double begin_ns = 0;
    double end_ns = 0;
    double cpu_ns = 0;
    words >> thread >> begin_ns >> end_ns >> cpu_ns;
    const double within_ns = std::min(end_ns, told.end_ns) - std::max(begin_ns, told.begin_ns);
    if (thread == kThread && within_ns > 0) ns += std::max(0.0, within_ns - cpu_ns);
  }
  return ns;
}

class AttackStormsTest : public ::testing::Test {
 protected:
  // One storm for each CPU.
  void Begin(const std::string& kind) {
    for (unsigned cpu = 0; cpu < std::max(1u, std::thread::hardware_concurrency()); ++cpu)
      storms_.push_back(Program::Start({"setpriv", "--reuid=65534", "--clear-groups", "nice", "-n", "19",
                                        BinDirectory() + "/targets/storms", kind}));
  }

  Told Dump(const ConfinedService& service, pid_t pid) {
    const double unix_ns = ClockNs(CLOCK_REALTIME) - ClockNs(CLOCK_MONOTONIC);
    const std::string path = service.Path("dump.pb.gz");
    const Answer answer = service.Ask({"dump", "--since", kSpan, "--idle", "show", "-o", path});
    EXPECT_EQ(answer.code, 0) << answer.errors;
    Recording dump;
    absl::StatusOr<NamedProfile> profile = ReadPprofFile(path);
    EXPECT_TRUE(profile.ok()) << profile.status();
    if (!profile.ok()) return {};
    dump.profile = *std::move(profile);
    return TellOf(pid, dump, unix_ns);
  }

  void ExpectItIsTold(const std::string& kind) {
    const std::unique_ptr<ConfinedService> service =
        ConfinedService::Start("[windows]\nlength = \"5s\"\n", "", {.cpu_percent = 50, .nice = 5});
    if (service == nullptr && !HasFailure()) GTEST_SKIP() << "needs the cgroup controllers cpu, memory and pids";
    ASSERT_NE(service, nullptr);
    const std::unique_ptr<Target> target = Target::Start({"clocked", "--seconds", "300", "--only", kThread, "--log"});
    ASSERT_NE(target, nullptr);
    target->Go();
    Begin(kind);
    std::this_thread::sleep_for(kStormBefore);
    std::vector<Told> dumps;
    const uint64_t stolen_before_ns = StolenNs();
    for (int i = 0; i < kDumps; ++i) {
      std::this_thread::sleep_for(kBetween);
      dumps.push_back(Dump(*service, target->pid()));
      dumps.back().stolen_ns = static_cast<double>(StolenNs() - stolen_before_ns);
    }
    ASSERT_TRUE(service->alive()) << service->Account();
    kill(target->pid(), SIGTERM);
    target->AwaitDone();
    const std::vector<std::string> waits = target->Lines("wait");
    uint64_t threshold_ns = 0;
    for (const Told& told : dumps) {
      ExpectIsRight(told, ClockedNs(waits, told));
      threshold_ns = std::max(threshold_ns, told.threshold_ns);
    }
    EXPECT_GE(threshold_ns, kLeastThresholdNs) << "it is no storm: no test";
  }

  // Where every wait was recorded there is no error, and one percent is what may be between the clocks: see
  // accuracy_test.cc.
  static void ExpectIsRight(const Told& told, double clocked_ns) {
    const double error_ns = std::sqrt(told.variance);
    const double deviation_ns = told.ns - clocked_ns;
    std::printf("%.3f s of %.3f s, %+.2f ms, standard error %.2f ms; %.1f %% with stacks; T up to %.1f ms\n",
                told.ns / 1e9, clocked_ns / 1e9, deviation_ns / 1e6, error_ns / 1e6, 100 * told.with_stack_ns / told.ns,
                static_cast<double>(told.threshold_ns) / 1e6);
    ASSERT_GT(clocked_ns, kLeastNs) << "it hardly waits: no test";
    const double allowed_ns = std::max(0.01 * clocked_ns, 3 * error_ns);
    EXPECT_LE(deviation_ns, allowed_ns) << told.losses;
    EXPECT_GE(deviation_ns, -allowed_ns - told.stolen_ns) << told.losses;
    EXPECT_LE(error_ns, 0.1 * told.ns) << told.losses;
  }

  std::vector<std::unique_ptr<Program>> storms_;
};

TEST_F(AttackStormsTest, OfPrograms) { ExpectItIsTold("execs"); }

TEST_F(AttackStormsTest, OfChildrenThatEndAtOnce) { ExpectItIsTold("vforks"); }

TEST_F(AttackStormsTest, OfThreads) { ExpectItIsTold("threads"); }

}  // namespace
}  // namespace offcpu::integration
