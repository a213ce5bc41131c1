// What runs and what waits, in one profile: together they are the wall-clock time.
#include <gtest/gtest.h>
#include <linux/bpf.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <set>
#include <thread>

#include "tests/deep/memory_cgroup.h"
#include "tests/deep/undrained.h"
#include "tests/harness/harness.h"

namespace offcpu::integration {
namespace {

constexpr uint32_t kHz = 997;
constexpr uint64_t kPeriodNs = 1'000'000'000 / kHz;

bool IsSample(const StackRow& row) { return row.row->kind == WaitKind::kRunning; }

struct Times {
  uint64_t off_ns = 0;
  uint64_t cpu_ns = 0;
  uint64_t samples = 0;
};

Times TimesOf(const Recording& recording, const RowPredicate& wanted) {
  Times times;
  for (const StackRow& row : recording.Rows(wanted)) {
    times.off_ns += row.row->total_ns();
    times.cpu_ns += row.row->cpu_ns;
    times.samples += row.row->samples;
  }
  return times;
}

double Percent(uint64_t part, uint64_t whole) { return 100.0 * static_cast<double>(part) / static_cast<double>(whole); }

TEST(OnCpu, SamplesAndIntervalsTogetherAreTheWallClockTime) {
  const std::unique_ptr<Target> target = Target::Start({"duty", "--seconds", "10"});
  ASSERT_NE(target, nullptr);
  RecordConfig config = Unthrottled({target->pid()});
  config.oncpu_hz = kHz;
  const Recording recording = Record(config, *target);
  const Times all = TimesOf(recording, [](const StackRow& row) { return row.Has("duty_cycle"); });
  const uint64_t wall_ns = target->Value("wall_ns");
  const uint64_t cpu_ns = target->Value("cpu_ns");
  std::printf(
      "off %.2f %% + on %.2f %% = %.2f %% of the wall-clock time; the program measures %.2f %% on; %llu samples\n%s",
      Percent(all.off_ns, wall_ns), Percent(all.cpu_ns, wall_ns), Percent(all.off_ns + all.cpu_ns, wall_ns),
      Percent(cpu_ns, wall_ns), static_cast<unsigned long long>(all.samples), recording.LossesText().c_str());
  ASSERT_GT(cpu_ns, wall_ns / 10) << "it hardly ran: no test";
  // While a hypervisor has the CPU no sample is taken: a loss says how many are missing.
  const Loss* missed = recording.FindLoss("on-CPU sample: missed");
  const uint64_t missed_ns = std::max(missed == nullptr ? 0 : missed->ns, target->stolen_ns());
  ASSERT_LT(missed_ns, wall_ns / 2) << "no test";
  EXPECT_TRUE(Within(all.off_ns + all.cpu_ns, wall_ns, 0.02, missed_ns));
  EXPECT_EQ(recording.profile.stats.oncpu_period_ns, kPeriodNs);

  const Times working = TimesOf(recording, [](const StackRow& row) { return IsSample(row) && row.Has("duty_work"); });
  // Each stretch of work begins and ends anywhere between two samples: the standard error of one is at most half a
  // period. What a hypervisor takes in between is not in the time that the program measures, and may be in samples.
  const auto stolen_ns = static_cast<double>(target->stolen_ns());
  const auto work_ns = static_cast<double>(target->Value("work_ns"));
  const double error_ns = static_cast<double>(kPeriodNs) / 2 * std::sqrt(static_cast<double>(target->Value("cycles")));
  const auto working_ns = static_cast<double>(working.cpu_ns);
  std::printf("work: %.3f s measured, %.3f s of samples, standard error %.3f s, %.3f s stolen\n", work_ns / 1e9,
              working_ns / 1e9, error_ns / 1e9, stolen_ns / 1e9);
  EXPECT_LE(working_ns, work_ns + 5 * error_ns + stolen_ns);
  EXPECT_GE(working_ns, work_ns - 5 * error_ns - static_cast<double>(missed_ns));
  // The rest is what falling asleep and waking up take, captures too.
  const double rest_ns = static_cast<double>(all.cpu_ns) - working_ns;
  EXPECT_LE(rest_ns, static_cast<double>(cpu_ns) - work_ns + 5 * error_ns + stolen_ns);
  for (const StackRow& row : recording.Rows(IsSample)) {
    EXPECT_EQ(row.row->count, 0u);
    EXPECT_EQ(row.row->total_ns(), 0u);
    EXPECT_EQ(row.row->cpu_ns, row.row->samples * recording.profile.stats.oncpu_period_ns);
  }
}

// A system call that copies for long, and waits hundreds of times in between.
TEST(OnCpu, ASampleAndTheIntervalsOfASystemCallHaveOneStack) {
  const std::unique_ptr<Target> target = Target::Start({"pipe_writer", "--mib", "256"});
  ASSERT_NE(target, nullptr);
  RecordConfig config = Unthrottled({target->pid()});
  config.tids = {target->Detail("tid")};
  config.oncpu_hz = kHz;
  const Recording recording = Record(config, *target);
  const ProfileStats& stats = recording.profile.stats;

  // Who may give up the CPU once more on its way out, after the stack was captured, needs another cookie for that.
  const auto below_write = [](const StackRow& row) {
    return row.Calls({"write_caller", "one_write"}) && row.complete() && row.row->syscall == SYS_write &&
           !row.HasInKernel("exit_to_user_mode_loop");
  };
  std::set<const NamedUserStack*> stacks;
  Times call;
  uint64_t intervals = 0;
  for (const StackRow& row : recording.Rows(below_write)) {
    stacks.insert(row.user);
    call.samples += row.row->samples;
    intervals += row.row->count;
  }
  std::printf("%llu intervals and %llu samples of one call; in all %llu cookies, %llu captures, %llu walks\n%s",
              static_cast<unsigned long long>(intervals), static_cast<unsigned long long>(call.samples),
              static_cast<unsigned long long>(stats.cookies), static_cast<unsigned long long>(stats.captures),
              static_cast<unsigned long long>(stats.walks), recording.LossesText().c_str());
  EXPECT_GE(intervals, 100u);
  ASSERT_GE(call.samples, 10u) << "it hardly ran: no test";
  EXPECT_EQ(stacks.size(), 1u);
  // What the thread did before and after the write may have taken one of each.
  const uint64_t others = stats.intervals + stats.oncpu_samples - intervals - call.samples;
  EXPECT_LE(stats.cookies, 1 + others);
  EXPECT_LE(stats.captures, 1 + others);
  EXPECT_LE(stats.walks, 1 + others);
  EXPECT_LE(others * 20, intervals + call.samples) << "the thread did something else: no test";
}

// One on every CPU: none of them is ever idle.
std::vector<std::unique_ptr<Program>> StartHogs() {
  std::vector<std::unique_ptr<Program>> hogs;
  const long count = sysconf(_SC_NPROCESSORS_ONLN);
  for (long cpu = 0; cpu < count; ++cpu) {
    hogs.push_back(StartBusyLoop(static_cast<int>(cpu)));
  }
  return hogs;
}

// Everything but this process, so that whatever else is known of a sample is known of every one.
RecordConfig WholeHost() {
  RecordConfig config = Unthrottled({});
  config.kernel_threads = true;
  config.oncpu_hz = kHz;
  return config;
}

// Without a PMU the event is of the clock: it counts nanoseconds.
bool IsOfTheClock(const Undrained& recording) {
  const wire_counter& fired = recording.counter(WIRE_COUNT_SAMPLE);
  return fired.ns == fired.count * kPeriodNs;
}

// Each time that the event fired while no CPU was idle is a sample, or lost for a reason, or was this process.
void ExpectEveryEventIsToldOf(const Undrained& recording) {
  constexpr wire_counter_id kReasons[] = {WIRE_COUNT_SAMPLE_RING_FULL, WIRE_COUNT_SAMPLE_RING_BUSY,
                                          WIRE_COUNT_SAMPLE_NO_STORAGE};
  uint64_t told = recording.samples.size();
  for (const wire_counter_id reason : kReasons) {
    const wire_counter& lost = recording.counter(reason);
    EXPECT_EQ(lost.ns, lost.count * kPeriodNs) << reason;
    told += lost.count;
  }
  const uint64_t fired = recording.counter(WIRE_COUNT_SAMPLE).count;
  const uint64_t own = recording.own_cpu_ns / kPeriodNs + recording.own_stretches;
  std::printf("%llu events: %zu samples, ring full %llu, busy %llu, no storage %llu, own at most %llu\n",
              (unsigned long long)fired, recording.samples.size(),
              (unsigned long long)recording.counter(WIRE_COUNT_SAMPLE_RING_FULL).count,
              (unsigned long long)recording.counter(WIRE_COUNT_SAMPLE_RING_BUSY).count,
              (unsigned long long)recording.counter(WIRE_COUNT_SAMPLE_NO_STORAGE).count, (unsigned long long)own);
  EXPECT_LE(told, fired);
  EXPECT_GE(told + own, fired);
  // An interrupt that is no NMI comes when nobody on its CPU holds the ring.
  EXPECT_TRUE(!IsOfTheClock(recording) || recording.counter(WIRE_COUNT_SAMPLE_RING_BUSY).count == 0);
}

TEST(OnCpu, SamplesThatTheRingHasNoRoomForAreCounted) {
  const std::vector<std::unique_ptr<Program>> hogs = StartHogs();
  const std::unique_ptr<Target> target = Target::Start({"duty", "--seconds", "1"});
  ASSERT_NE(target, nullptr);
  RecordConfig config = WholeHost();
  config.interval_ring_bytes = 4096;
  config.min_wait_ns = 1'000'000'000;  // or the ring is full of waits before the first sample
  const Undrained recording = RecordUndrained([&] { return LoadFor(config); }, *target);
  ASSERT_TRUE(recording.ok);
  ExpectEveryEventIsToldOf(recording);
  EXPECT_GT(recording.samples.size(), 0u);
  EXPECT_LE(recording.samples.size(), 4096 / sizeof(wire_sample));
  EXPECT_GT(recording.counter(WIRE_COUNT_SAMPLE_RING_FULL).count, 0u);
}

// Changes a map of its own until it goes out of scope: meanwhile the kernel calls no program of an event on its CPU.
class MapWriter {
 public:
  MapWriter() : thread_([this] { Run(); }) {}
  ~MapWriter() {
    stop_ = true;
    thread_.join();
  }

 private:
  static int Bpf(bpf_cmd command, bpf_attr* attributes) {
    return static_cast<int>(syscall(SYS_bpf, command, attributes, sizeof(*attributes)));
  }

  void Run() {
    bpf_attr attributes = {};
    attributes.map_type = BPF_MAP_TYPE_HASH;
    attributes.key_size = attributes.value_size = sizeof(uint64_t);
    attributes.max_entries = 1;
    const OwnedFd map(Bpf(BPF_MAP_CREATE, &attributes));
    ASSERT_TRUE(map) << std::strerror(errno);
    uint64_t value = 0;
    attributes = {};
    attributes.map_fd = static_cast<uint32_t>(map.get());
    attributes.key = attributes.value = reinterpret_cast<uintptr_t>(&value);
    while (!stop_ && Bpf(BPF_MAP_UPDATE_ELEM, &attributes) == 0) {
    }
    EXPECT_TRUE(stop_) << std::strerror(errno);
  }

  std::atomic<bool> stop_{false};
  std::thread thread_;
};

TEST(OnCpu, EventsThatNoProgramIsCalledForAreCounted) {
  const std::vector<std::unique_ptr<Program>> hogs = StartHogs();
  const std::unique_ptr<Target> target = Target::Start({"duty", "--seconds", "3"});
  ASSERT_NE(target, nullptr);
  const MapWriter writer;
  const Undrained recording = RecordUndrained([] { return LoadFor(WholeHost()); }, *target);
  ASSERT_TRUE(recording.ok);
  ExpectEveryEventIsToldOf(recording);
  if (!IsOfTheClock(recording)) GTEST_SKIP() << "how long a period of the hardware's event takes is not known";
  const wire_counter& missed = recording.counter(WIRE_COUNT_SAMPLE_MISSED);
  const uint64_t fired = recording.counter(WIRE_COUNT_SAMPLE).count;
  const uint64_t periods = hogs.size() * recording.recorded_ns / kPeriodNs;
  std::printf("%llu missed, %.2f %% of %llu periods told of\n", (unsigned long long)missed.count,
              Percent(fired + missed.count, periods), (unsigned long long)periods);
  EXPECT_GT(missed.count, 0u);
  EXPECT_EQ(missed.ns, missed.count * kPeriodNs);
  // A CPU reports what it missed when the event fires there next: not at all if the host pauses then until the end.
  constexpr uint64_t kPausePeriods = 500'000'000 / kPeriodNs;
  EXPECT_LE(fired + missed.count, periods + periods / 50);
  EXPECT_GE(fired + missed.count + kPausePeriods, periods - periods / 50);
}

TEST(OnCpu, SamplesOfThreadsThatNothingCouldBeStoredOfAreCounted) {
  const std::unique_ptr<MemoryCgroup> cgroup = MemoryCgroup::Create();
  if (cgroup == nullptr) GTEST_SKIP() << "no cgroup hierarchy with the memory controller is mounted";
  const std::vector<std::unique_ptr<Program>> hogs = StartHogs();
  const std::unique_ptr<Target> target = Target::Start({"latecomers", "--turns", "20", "--spin-us", "5000"});
  ASSERT_NE(target, nullptr);
  const auto load = [&] {
    cgroup->Enter();
    auto programs = LoadFor(WholeHost());
    cgroup->Leave();
    cgroup->KeepFull();
    return programs;
  };
  const Undrained recording = RecordUndrained(load, *target);
  ASSERT_TRUE(recording.ok);
  ExpectEveryEventIsToldOf(recording);
  EXPECT_GT(recording.counter(WIRE_COUNT_SAMPLE_NO_STORAGE).count, 0u);
}

}  // namespace
}  // namespace offcpu::integration
