// The threads of a program for reads that may never come back: of the memory and the files of targets. All that read
// share them; they are bounded in number, and so is what the processes of one user can make of them hang. A user whose
// reads hang, or are slow, leaves the threads of others alone.
//
// A job is given up when it is not done in time, together with its thread, until that comes back: another one serves
// on. What it has of a CPU, or waits for one, is no part of that time, up to some times as much: slow and busy machines
// need longer, and do not hang. A job may outlive what submitted it and the pool: it owns all that it touches.
// Destruction waits for no job. A thread that cannot be started is counted; jobs wait for those that there are.
//
// Threads: any. Does not retry, and does not know what a job reads.
#ifndef OFFCPU_OS_READER_POOL_H_
#define OFFCPU_OS_READER_POOL_H_

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "os/timed_read.h"

namespace offcpu {

struct ReaderLimits {
  size_t serving = 2;                  // jobs under way that are not slow: more would only compete for CPUs
  std::chrono::milliseconds slow{50};  // what makes a job slow: another may begin beside it
  size_t of_user = 4;                  // threads in jobs of one user; with all of them stuck none of his is taken
  size_t threads = 24;                 // in all
  size_t queued_of_user = 128;         // jobs not begun yet
  size_t queued = 1024;                // in all
};

enum class ReadTaken {
  kYes,
  kFull,       // too much is queued, or the pool takes nothing any more
  kUserStuck,  // as many reads of its user hang as may, or one of the same thing
};

// Whether what is being done is not wanted any more. Any thread.
using IsCancelled = std::function<bool()>;

class ReaderPool {
 public:
  using Clock = std::chrono::steady_clock;
  enum class State { kQueued, kRunning, kStuck, kDone, kDropped };  // kDropped: it will not begin
  struct Task;
  using Job = std::function<void()>;

  // With its first thread, if that can be started.
  explicit ReaderPool(const ReaderLimits& limits = {});
  ~ReaderPool();
  ReaderPool(const ReaderPool&) = delete;
  ReaderPool& operator=(const ReaderPool&) = delete;

  // Runs `job` on a thread. It is stuck if it is not done although it has waited for `deadline`, or in five times that.
  // `*taken`, if it is taken, names the job in what follows.
  ReadTaken Submit(const ReadSubject& subject, std::chrono::milliseconds deadline, Job job,
                   std::shared_ptr<Task>* taken);
  // As of now. Once it is kDone, what the job has written can be read.
  State Look(const std::shared_ptr<Task>& task);
  // It does not begin any more, if it has not yet.
  void Loss(const std::shared_ptr<Task>& task);

  // Submits and waits: true if it is done. Gives up when it is stuck, has not begun in `deadline`, or when
  // `is_cancelled` says so, which is asked now and then.
  bool Run(const ReadSubject& subject, std::chrono::milliseconds deadline, Job job, const IsCancelled& is_cancelled);

  // From then on nothing is taken, begun or waited for. It may be now.
  void EndAt(Clock::time_point end);

  struct Stats {
    size_t threads = 0;
    size_t running = 0;        // of them, in jobs
    size_t stuck = 0;          // and of those, in jobs that were given up
    uint64_t not_started = 0;  // threads, ever
  };
  Stats stats() const;

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;  // with the threads
};

// Reads on `pool`, each as Run does.
TimedRead TimedReadOn(std::shared_ptr<ReaderPool> pool, std::chrono::milliseconds deadline, IsCancelled is_cancelled);

}  // namespace offcpu

#endif  // OFFCPU_OS_READER_POOL_H_
