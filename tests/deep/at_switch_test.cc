// What is done at a switch: kernel stacks that are walked by the kernel's own rows are those that the kernel tells, and
// waits that are left out of a sample are all counted, whether their stamps lie in the array or in storage.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "bpf_programs/decode.h"
#include "bpf_programs/kernel.h"
#include "recorder/record_config.h"
#include "tests/deep/undrained.h"
#include "tests/harness/load.h"

namespace offcpu::integration {
namespace {

constexpr uint64_t kSampleNs = 10'000'000;

// Budgets refuse no capture.
ProgramsConfig Unbounded(RecordConfig config) {
  config.task_works_per_second = 1'000'000;
  config.capture_bytes_per_second = uint64_t{1} << 40;
  return ProgramsConfigOf(config);
}

// As on this kernel, or as on one without sched_exit_tp.
std::unique_ptr<Programs> MustLoad(const ProgramsConfig& config, bool may_have_exit_tp = true) {
  absl::StatusOr<KernelFeatures> features = ProbeKernel();
  EXPECT_TRUE(features.ok()) << features.status();
  if (!features.ok()) return nullptr;
  if (!may_have_exit_tp) features->exit_tp = false;
  absl::StatusOr<std::unique_ptr<Programs>> programs = Programs::Load(config, *features);
  EXPECT_TRUE(programs.ok()) << programs.status();
  return programs.ok() ? *std::move(programs) : nullptr;
}

// Waits shorter than kSampleNs are sampled.
std::unique_ptr<Programs> MustLoadSample(ProgramsConfig config, bool may_have_exit_tp = true) {
  config.is_sampled = true;
  std::unique_ptr<Programs> programs = MustLoad(config, may_have_exit_tp);
  if (programs != nullptr) programs->SetThresholds(std::vector<uint64_t>(WIRE_USERS, kSampleNs));
  return programs;
}

// Switches, faults, locks, timers, files, the network to itself, and processes that come and go.
void AddMixedLoad(const std::string& directory, Load& load) {
  load.Add({"stress-ng", "--temp-path", directory, "--switch", "1", "--pipe", "1", "--futex",      "1",  "--poll",
            "1",         "--timer",     "1",       "--fault",  "1", "--sock", "1", "--hdd",        "1",  "--hdd-bytes",
            "4m",        "--sem",       "1",       "--yield",  "1", "--mmap", "1", "--mmap-bytes", "16m"});
  load.Add({BinDirectory() + "/targets/churn", "exec", "--rounds", "1000000", "--life-ms", "2"});
  load.AwaitThreads(14);
}

// How many walks a test goes on for. More than fit into its seconds, such as 1000000, with OFFCPU_WALKS.
uint64_t WantedWalks() {
  constexpr uint64_t kFewWalks = 10'000;
  const char* walks = std::getenv("OFFCPU_WALKS");
  return walks == nullptr ? kFewWalks : std::strtoull(walks, nullptr, 10);
}

// An interrupt and a task work take longer than a function call, and less than a thread would notice.
TEST(Captures, TellWhatAskingForThemCosts) {
  const std::unique_ptr<Programs> programs = MustLoad(Unbounded({}));
  ASSERT_NE(programs, nullptr);
  std::printf("%" PRIu64 " ns\n", programs->request_ns());
  EXPECT_GT(programs->request_ns(), 100u);
  EXPECT_LT(programs->request_ns(), 1'000'000u);
  const std::unique_ptr<Programs> at_once = MustLoad(Unbounded({}), /*may_have_exit_tp=*/false);
  ASSERT_NE(at_once, nullptr);
  EXPECT_EQ(at_once->request_ns(), 0u) << "without sched_exit_tp there is no task work";
}

// Each walk is compared with what the kernel's helper for stacks of other threads tells.
void ExpectWalksAsTheKernelTells(bool may_have_exit_tp) {
  ProgramsConfig config = Unbounded({});
  config.kernel_threads = true;
  config.checks_kernel_walks = true;
  const TemporaryDirectory directory;
  Load load;
  AddMixedLoad(directory.path(), load);
  const std::unique_ptr<Programs> programs = MustLoad(config, may_have_exit_tp);
  ASSERT_NE(programs, nullptr);
  const auto walks = [&programs] { return programs->ReadCounters()[WIRE_COUNT_KERNEL_WALKED].count; };
  programs->Arm();
  uint64_t before = 0;
  do {
    before = walks();
    for (int i = 0; i < 100; ++i) {  // the rings are emptied, so that definitions go on to be new
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      programs->Drain([](std::span<const std::byte>) {});
    }
  } while (walks() < WantedWalks() && walks() != before);
  programs->Disarm();
  const Counters counters = programs->ReadCounters();
  const uint64_t walked = counters[WIRE_COUNT_KERNEL_WALKED].count;
  const uint64_t not_walked = counters[WIRE_COUNT_KERNEL_NOT_WALKED].count;
  std::printf("%" PRIu64 " stacks walked, %" PRIu64 " not; %" PRIu64 " captures\n", walked, not_walked,
              counters[WIRE_COUNT_CAPTURE_TIME].count);
  EXPECT_EQ(counters[WIRE_COUNT_KERNEL_WALK_DIFFERS].count, 0u);
  EXPECT_GE(walked, WantedWalks()) << "hardly any load: no test";
  // What is preempted in a BPF program has frames without rows.
  EXPECT_LT(static_cast<double>(not_walked), 0.02 * static_cast<double>(walked));
}

bool CanWalk() {
  const absl::StatusOr<KernelFeatures> features = ProbeKernel();
  return features.ok() && features->orc;
}

TEST(KernelWalk, OfEveryWaitIsAsTheKernelTells) {
  if (!CanWalk()) GTEST_SKIP() << "this kernel has no unwind tables";
  if (!IsInstalled("stress-ng")) GTEST_SKIP() << "stress-ng is not installed";
  ExpectWalksAsTheKernelTells(/*may_have_exit_tp=*/true);
}

// They are walked in the program at the switch, too, but for the thread that comes.
TEST(KernelWalk, OfWaitsThatEndAtSwitchesIsAsTheKernelTells) {
  if (!CanWalk()) GTEST_SKIP() << "this kernel has no unwind tables";
  if (!IsInstalled("stress-ng")) GTEST_SKIP() << "stress-ng is not installed";
  ExpectWalksAsTheKernelTells(/*may_have_exit_tp=*/false);
}

struct Counted {
  uint64_t kept = 0;
  uint64_t left_out = 0;
  uint64_t untold = 0;  // arrivals behind tasks that the kernel hides
  uint64_t ns = 0;      // of all of them
};

Counted CountAll(Programs& programs) {
  Counted counted;
  programs.Settle();
  programs.Drain([&](std::span<const std::byte> record) {
    const std::optional<Event> event = Decode(record);
    const auto* interval = event.has_value() ? std::get_if<IntervalEvent>(&*event) : nullptr;
    if (interval == nullptr) return;
    ++counted.kept;
    counted.ns += interval->blocked_ns + interval->runnable_ns;
  });
  const Counters counters = programs.ReadCounters();
  counted.left_out = counters[WIRE_COUNT_NOT_SAMPLED].count;
  counted.untold = counters[WIRE_COUNT_ARRIVAL_UNTOLD].count;
  counted.ns += counters[WIRE_COUNT_NOT_SAMPLED].ns + counters[WIRE_COUNT_ARRIVAL_UNTOLD].ns;
  EXPECT_EQ(counters[WIRE_COUNT_NO_STORAGE].count, 0u);
  EXPECT_EQ(counters[WIRE_COUNT_JOINED_AWAY].count, 0u);
  EXPECT_EQ(counters[WIRE_COUNT_INTERVAL_RING_FULL].count, 0u);
  return counted;
}

std::unique_ptr<Target> StartWaits() { return Target::Start({"waits", "--seconds", "2"}); }

// What is recorded exactly, and what of a sample is kept and left out, of one run of StartWaits() targets.
void ExpectAllIsCounted(const std::vector<std::unique_ptr<Target>>& targets, uint32_t stamp_places,
                        bool may_have_exit_tp = true) {
  RecordConfig config;
  for (const std::unique_ptr<Target>& target : targets) {
    ASSERT_NE(target, nullptr);
    config.pids.push_back(target->pid());
  }
  ProgramsConfig sample_config = Unbounded(config);
  sample_config.stamp_places = stamp_places;
  const std::unique_ptr<Programs> exact = MustLoad(Unbounded(config));
  const std::unique_ptr<Programs> sample = MustLoadSample(sample_config, may_have_exit_tp);
  ASSERT_TRUE(exact != nullptr && sample != nullptr);
  exact->Arm();
  sample->Arm();
  for (const std::unique_ptr<Target>& target : targets) target->Go();
  for (const std::unique_ptr<Target>& target : targets) target->AwaitDone();
  sample->Disarm();
  exact->Disarm();
  const Counted all = CountAll(*exact);
  const Counted some = CountAll(*sample);
  for (const std::unique_ptr<Target>& target : targets) target->End();
  std::printf("exact: %" PRIu64 ", %.6f s; sample: %" PRIu64 ", %" PRIu64 " left out, %" PRIu64 " untold, %.6f s\n",
              all.kept, static_cast<double>(all.ns) / 1e9, some.kept, some.left_out, some.untold,
              static_cast<double>(some.ns) / 1e9);
  EXPECT_EQ(all.untold, 0u);
  if (may_have_exit_tp) {
    EXPECT_EQ(some.untold, 0u);
  }
  EXPECT_GT(some.left_out, 1000u);
  EXPECT_GT(some.kept, 100u);
  // One wait of each of the 14 threads may end between the two beginnings, and between the two ends.
  const size_t threads = 14 * targets.size();
  EXPECT_NEAR(static_cast<double>(some.kept + some.left_out + some.untold), static_cast<double>(all.kept),
              static_cast<double>(2 * threads));
  // They read the same clock at the same switches, but for a new thread's: the kernel books a moment later.
  EXPECT_NEAR(static_cast<double>(some.ns), static_cast<double>(all.ns), 0.002 * static_cast<double>(all.ns));
}

void ExpectAllOfOneIsCounted(uint32_t stamp_places, bool may_have_exit_tp = true) {
  std::vector<std::unique_ptr<Target>> targets;
  targets.push_back(StartWaits());
  ExpectAllIsCounted(targets, stamp_places, may_have_exit_tp);
}

TEST(Stamps, OfASampleCountAll) { ExpectAllOfOneIsCounted(WIRE_STAMPS); }

TEST(Stamps, CountAsMuchWhereTheyFindNoPlace) { ExpectAllOfOneIsCounted(1); }

// A number of the kernel's settings, while this lives.
class Setting {
 public:
  Setting(const std::string& name, int value, bool may_lower) : path_("/proc/sys/kernel/" + name) {
    std::ifstream(path_) >> before_;
    if (may_lower || value > before_) std::ofstream(path_) << value;
  }
  ~Setting() { std::ofstream(path_) << before_; }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;

 private:
  std::string path_;
  int before_ = 0;
};

// A target whose number has the place of that one's, and so have most of its threads; null if somebody else made a
// thread at the same time, again and again, or if the kernel does not let numbers be chosen.
std::unique_ptr<Target> StartWaitsWithThePlacesOf(const Target& first) {
  const pid_t wanted = first.pid() ^ static_cast<pid_t>(WIRE_STAMPS);
  for (int attempt = 0; attempt < 20; ++attempt) {
    const Setting last("ns_last_pid", wanted - 1, true);
    std::unique_ptr<Target> target = StartWaits();
    if (target == nullptr || target->pid() == wanted) return target;
  }
  return nullptr;
}

TEST(Stamps, OfThreadsWhosePlacesAreTakenCountAll) {
  if (access("/proc/sys/kernel/ns_last_pid", W_OK) != 0) GTEST_SKIP() << "this kernel lets nobody choose a number";
  const Setting numbers("pid_max", 2 * static_cast<int>(WIRE_STAMPS), false);
  std::vector<std::unique_ptr<Target>> targets;
  targets.push_back(StartWaits());
  ASSERT_NE(targets.front(), nullptr);
  targets.push_back(StartWaitsWithThePlacesOf(*targets.front()));
  ExpectAllIsCounted(targets, WIRE_STAMPS);
}

// Threads that are selected after they have come to their CPU: the programs did not report that arrival, because it was
// not asked for.
TEST(Stamps, OfThreadsThatAreNamedLaterMissNoArrival) {
  RecordConfig config;
  config.comms = {"w_*"};
  const std::unique_ptr<Programs> programs = MustLoadSample(Unbounded(config));
  ASSERT_NE(programs, nullptr);
  programs->Arm();
  for (int i = 0; i < 10; ++i) {
    const std::unique_ptr<Target> target = Target::Start({"waits", "--seconds", "0.1"});
    ASSERT_NE(target, nullptr);
    target->Go();
    target->AwaitDone();
    target->End();
  }
  programs->Disarm();
  const Counters counters = programs->ReadCounters();
  EXPECT_GT(counters[WIRE_COUNT_NOT_SAMPLED].count, 100u) << "no test";
  EXPECT_EQ(counters[WIRE_COUNT_ARRIVAL_UNTOLD].count, 0u);
}

// Here, and on kernels that hide tasks, the programs miss some arrivals; elsewhere none.
TEST(Stamps, CountAsMuchWithoutSchedExit) { ExpectAllOfOneIsCounted(WIRE_STAMPS, false); }

}  // namespace
}  // namespace offcpu::integration
