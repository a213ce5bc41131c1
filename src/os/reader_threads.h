// Reads of targets for a thread that must not wait for them: it submits jobs to a pool, and polls for what has become
// of them. A job that is not done in time is given up.
//
// Threads: one, the owner's. Destruction waits for no job.
#ifndef OFFCPU_OS_READER_THREADS_H_
#define OFFCPU_OS_READER_THREADS_H_

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "os/reader_pool.h"

namespace offcpu {

struct ReaderStats {
  uint64_t done = 0;
  uint64_t stuck = 0;      // jobs given up
  uint64_t late = 0;       // and of those, came back
  uint64_t not_begun = 0;  // not taken or not begun, because of others of their users that hang
};

class ReaderThreads {
 public:
  // What a job leaves for the owner to do with its result.
  using Completion = std::function<void()>;
  using Job = std::function<Completion()>;

  // `deadline`: from the moment a thread begins a job.
  ReaderThreads(std::shared_ptr<ReaderPool> pool, std::chrono::milliseconds deadline);
  ~ReaderThreads();
  ReaderThreads(const ReaderThreads&) = delete;
  ReaderThreads& operator=(const ReaderThreads&) = delete;

  // Why a job is given up. kNotBegun: too many of its user's reads hang, or the pool ends.
  enum class GivenUp { kStuck, kNotBegun };
  using OnGivenUp = std::function<void(GivenUp)>;

  // Runs `job` on a reader thread. A later Poll() runs the job's completion, or `given_up` if it is not done in time; a
  // job that was only slow has its completion run after that all the same. Neither will run if it is not taken.
  [[nodiscard]] ReadTaken Submit(uid_t owner, Job job, OnGivenUp given_up);

  // Runs what is due. Completions may call Submit.
  void Poll();

  // Submitted, and neither done nor given up.
  size_t pending() const { return pending_; }
  const ReaderStats& stats() const { return stats_; }

 private:
  struct Entry {
    std::shared_ptr<ReaderPool::Task> task;
    std::shared_ptr<Completion> result;  // set by the job
    OnGivenUp given_up;                  // null: it has run
  };

  const std::shared_ptr<ReaderPool> pool_;
  const std::chrono::milliseconds deadline_;
  std::vector<Entry> entries_;
  size_t pending_ = 0;
  ReaderStats stats_;
};

}  // namespace offcpu

#endif  // OFFCPU_OS_READER_THREADS_H_
