// A recorder without a kernel: each window has a row whose time says which of the cuts it is, one of 1000 ns, and
// on-CPU samples if they are wanted.
#ifndef OFFCPU_TESTS_DAEMON_FAKE_RECORDER_H_
#define OFFCPU_TESTS_DAEMON_FAKE_RECORDER_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "daemon/recording.h"
#include "profile/time_buckets.h"
#include "recorder/clocks.h"

namespace offcpu {

// What tests see of all recorders that were started with it, and how they go wrong.
struct FakeKernel {
  std::atomic<int> started{0};
  std::atomic<int> running{0};
  std::atomic<int> most_running{0};
  std::atomic<uint64_t> cuts{0};
  std::atomic<uint64_t> drains{0};
  std::atomic<uint64_t> turns{0};
  std::atomic<bool> refuse_start{false};
  std::atomic<bool> refuse_cut{false};
  std::atomic<bool> hold_cut{false};    // cuts wait until it is false
  std::atomic<bool> long_names{false};  // its process has a name of 5 MiB
  std::atomic<bool> sample{false};      // each window has 3 on-CPU samples of 1 ms
  std::atomic<bool> adapts_sample{true};
  std::atomic<uint64_t> threshold_ns{37'000};
  std::atomic<bool> stop_drainer{false};
  std::atomic<bool> stop_worker{false};
};

class FakeRecorder final : public Recorder {
 public:
  explicit FakeRecorder(FakeKernel& kernel) : kernel_(kernel) {
    ++kernel_.started;
    const int running = ++kernel_.running;
    if (running > kernel_.most_running) kernel_.most_running = running;
  }
  ~FakeRecorder() override { --kernel_.running; }

  RecorderProgress progress() const override {
    if (!kernel_.stop_drainer) ++kernel_.drains;
    if (!kernel_.stop_worker) ++kernel_.turns;
    return {.drains = kernel_.drains,
            .turns = kernel_.turns,
            .adapts_sample = kernel_.adapts_sample,
            .threshold_ns = kernel_.threshold_ns};
  }
  absl::StatusOr<Profile> Cut() override {
    while (kernel_.hold_cut) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (kernel_.refuse_cut) return absl::InternalError("the window could not be cut");
    Profile profile;
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    profile.start_unix_ns = static_cast<uint64_t>(std::chrono::nanoseconds(now).count());
    profile.start_boot_ns = ReadClocks().boot_ns;
    profile.duration_ns = 1;
    profile.processes = {{.key = {.pid = 10, .start_ns = 5, .exec_id = 0}, .name = "server", .container = ""}};
    if (kernel_.long_names) profile.processes[0].name.assign(5u << 20, 'x');
    profile.comms = {"worker", "other"};
    profile.kernel_stacks = {{.id = 1, .addresses = {0xffffffff81000010}}};
    profile.user_stacks = {{.missing = NoUserStack::kLost}};
    profile.rows = {{{.comm = 0}, {.count = 1, .blocked_ns = ++kernel_.cuts}},
                    {{.comm = 1}, {.count = 1, .blocked_ns = 1000}}};
    profile.times = {.bucket_ns = 1'000'000'000, .begin_ns = -5};
    for (ProfileRow& row : profile.rows) {
      TimeBuckets times;
      times.Add(TimeBucket::Of(0, row));
      row.times = PackTimes(times, 0, 0);
    }
    if (kernel_.sample) profile.rows.push_back({{.kind = WaitKind::kRunning}, {.samples = 3, .cpu_ns = 3'000'000}});
    profile.stats.intervals = 2;
    profile.stats.walked_at_switch = 7;
    profile.stats.summed_at_switch = 6;
    profile.stats.proven_walks = 1;
    profile.stats.walk_misses = {2, 0, 1, 0};
    profile.stats.told_rows = 30;
    profile.stats.told_stacks = 4;
    profile.stats.walks = 1;
    profile.stats.capture_ns = 500'000'000;
    profile.stats.own_programs_ns = 250'000'000;
    profile.stats.own_process_ns = 125'000'000;
    profile.stats.host_cpu_ns = 4'000'000'000;
    profile.stats.cpu_budget_ppm = 10'000;
    profile.stats.run_queue.Add(20'000'000, RowSums::OfWait(0, 20'000'000, 0, 0));
    profile.stats.run_queue.Add(5'000, RowSums::OfWait(0, 5'000, 0, 12'500));
    profile.stats.walk_ends[0] = 1;
    profile.stats.losses.push_back({.reason = "no user stack: lost", .count = 1, .ns = 5});
    return profile;
  }
  absl::StatusOr<Profile> Stop() override { return Cut(); }

 private:
  FakeKernel& kernel_;
};

// `kernel` must outlive the recording.
inline StartRecorder StartFake(FakeKernel& kernel) {
  return [&kernel](const DaemonConfig&) -> absl::StatusOr<std::unique_ptr<Recorder>> {
    if (kernel.refuse_start) return absl::InternalError("the recorder did not start");
    return std::make_unique<FakeRecorder>(kernel);
  };
}

}  // namespace offcpu

#endif  // OFFCPU_TESTS_DAEMON_FAKE_RECORDER_H_
