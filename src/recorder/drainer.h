// The thread that empties the rings of the BPF programs into the queue of the worker, and sends what they add up. It
// never waits for the worker: what finds no room in the queue is dropped and counted there.
//
// Threads: any, but for what is marked as the drainer's own. Start and Stop: the one that owns the object.
#ifndef OFFCPU_RECORDER_DRAINER_H_
#define OFFCPU_RECORDER_DRAINER_H_

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>

#include "absl/status/status.h"
#include "bpf_programs/event_queue.h"
#include "bpf_programs/programs.h"
#include "recorder/drain_pace.h"
#include "recorder/thread_checker.h"
#include "recorder/turn_times.h"
#include "recorder/worker_tasks.h"

namespace offcpu {

class Drainer {
 public:
  // `worker` must outlive it: it is poked when there is something in the queue. `settles`: see DrainPace.
  Drainer(std::shared_ptr<Programs> programs, bool settles, size_t queue_bytes, WorkerTasks& worker);
  ~Drainer() { Stop(); }
  Drainer(const Drainer&) = delete;
  Drainer& operator=(const Drainer&) = delete;

  absl::Status Start();
  // What is in the rings is in the queue when it returns, and the thread has ended. The BPF programs record nothing any
  // more.
  void Stop();

  // Until the rings have been drained once more.
  void AwaitDrain();
  // All that was added up by now is in the queue after this: what finds no room in a ring does so when it has been
  // drained.
  void FlushSums();

  EventQueue& queue() { return queue_; }  // for the worker to pop
  uint64_t drains() const { return drains_.load(std::memory_order_relaxed); }
  EventQueueStats QueueStats();
  const TurnTimes& times() const { return times_; }

 private:
  void Loop();
  // False: this was the last time.
  bool DrainOnce() ABSL_EXCLUSIVE_LOCKS_REQUIRED(own_);

  const std::shared_ptr<Programs> programs_;
  EventQueue queue_;
  WorkerTasks& worker_;
  ThreadChecker own_;
  DrainPace pace_ ABSL_GUARDED_BY(own_);
  uint64_t next_flush_ns_ ABSL_GUARDED_BY(own_) = 0;
  TurnTimes times_;
  std::mutex mutex_;  // held while the queue is filled
  std::condition_variable drained_;
  bool stop_ = false;                // guarded by mutex_
  std::atomic<uint64_t> drains_{0};  // of the rings; changed under mutex_
  std::thread thread_;
};

}  // namespace offcpu

#endif  // OFFCPU_RECORDER_DRAINER_H_
