// The thread that makes profiles of what the drainer brings. It owns the pipeline and the ledger, looks for threads
// that wait for long, and keeps the cost of recording within the budget.
//
// Threads: any thread may ask for something between Start and Stop, and waits until the worker has done it. When the
// worker has ended, what it owned is the caller's.
#ifndef OFFCPU_RECORDER_WORKER_H_
#define OFFCPU_RECORDER_WORKER_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bpf_programs/kernel.h"
#include "bpf_programs/programs.h"
#include "recorder/cost_keeper.h"
#include "recorder/drainer.h"
#include "recorder/ledger_maker.h"
#include "recorder/pipeline.h"
#include "recorder/record_config.h"
#include "recorder/recorded_threads.h"
#include "recorder/recording_clock.h"
#include "recorder/thread_checker.h"
#include "recorder/turn_times.h"
#include "recorder/worker_tasks.h"

namespace offcpu {

// The end of a window, by the scheduler's clock and by the others.
struct WindowEnd {
  uint64_t scheduler_ns = 0;
  Clocks clocks;
};

class Worker {
 public:
  // Processes that are there already are looked at first. All that is passed by reference must outlive it; `tasks` is
  // what the drainer pokes.
  Worker(const RecordConfig& config, const KernelFeatures& features, std::shared_ptr<Programs> programs,
         std::shared_ptr<Host> host, const RecordingClock& clock, Drainer& drainer, WorkerTasks& tasks);
  ~Worker() { Stop(); }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  absl::Status Start();
  // Works on what is in the queue, and waits a while for snapshots and reads that are under way. The drainer has ended.
  void Stop();

  // Ends the window now; nothing that ends later has been handled yet.
  absl::StatusOr<WindowEnd> BeginNextWindow();
  // The window before, once its stacks are known; see Pipeline. Its cost is in its statistics.
  std::optional<Profile> TakeClosed(const std::vector<Loss>& losses);
  // Does not wait.
  void ReadWaiting(std::vector<WaitingThread> threads);
  void AddOpenWaits(const std::vector<WaitingThread>& first, const std::vector<WaitingThread>& last);

  // After Stop.
  Profile Finish(std::vector<Loss> losses);
  LedgerMaker& ledger();

  uint64_t intervals() const { return intervals_.load(std::memory_order_relaxed); }
  uint64_t rows() const { return rows_.load(std::memory_order_relaxed); }
  uint64_t turns() const { return turns_.load(std::memory_order_relaxed); }
  uint64_t threshold_ns() const { return cost_.threshold_ns(); }

 private:
  void Loop();
  void Turn(bool last) ABSL_EXCLUSIVE_LOCKS_REQUIRED(own_);
  std::chrono::milliseconds TurnPeriod() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(own_);
  // False if there is more than can be done in time.
  bool DecodeQueued() ABSL_EXCLUSIVE_LOCKS_REQUIRED(own_);
  void Publish() ABSL_EXCLUSIVE_LOCKS_REQUIRED(own_);
  void ReadLongWaits() ABSL_EXCLUSIVE_LOCKS_REQUIRED(own_);
  void KeepBudget() ABSL_EXCLUSIVE_LOCKS_REQUIRED(own_);
  absl::StatusOr<WindowEnd> CutWindow() ABSL_EXCLUSIVE_LOCKS_REQUIRED(own_);
  CostReading ReadCostNow() const;

  const RecordConfig config_;
  const bool can_capture_;
  const std::shared_ptr<Programs> programs_;
  const RecordedThreads threads_;
  const RecordingClock& clock_;
  Drainer& drainer_;
  WorkerTasks& tasks_;
  TurnTimes times_;
  ThreadChecker own_;
  Pipeline pipeline_ ABSL_GUARDED_BY(own_);
  LedgerMaker ledger_ ABSL_GUARDED_BY(own_);
  CostKeeper cost_;  // likewise, but for its threshold
  ClockFollower follower_ ABSL_GUARDED_BY(own_);
  bool all_decoded_ ABSL_GUARDED_BY(own_) = false;  // whatever was in the queue when it took its tasks
  uint64_t next_live_ns_ ABSL_GUARDED_BY(own_) = 0;
  std::atomic<bool> ends_{false};
  std::atomic<uint64_t> intervals_{0};
  std::atomic<uint64_t> rows_{0};
  std::atomic<uint64_t> turns_{0};
  std::thread thread_;
};

}  // namespace offcpu

#endif  // OFFCPU_RECORDER_WORKER_H_
