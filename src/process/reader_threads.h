// Threads for reads that may never come back: the memory and the files of a target. One owner thread submits jobs and
// polls; a job that is not done in time is given up together with its thread, and another thread serves on.
//
// A job outlives what submitted it if it is stuck: it owns all that it touches. Destruction waits for no job. Does not
// retry, and does not know what a job reads.
#ifndef OFFCPU_PROCESS_READER_THREADS_H_
#define OFFCPU_PROCESS_READER_THREADS_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

namespace offcpu {

struct ReaderLimits {
  size_t threads = 2;                        // that serve
  size_t abandoned = 4;                      // stuck at once and replaced; with that many, no job is taken
  size_t queued = 256;                       // jobs not begun yet
  std::chrono::milliseconds deadline{1000};  // from the moment a thread begins the job
};

struct ReaderStats {
  uint64_t done = 0;
  uint64_t stuck = 0;    // jobs given up
  uint64_t late = 0;     // and of those, came back
  uint64_t refused = 0;  // by Submit
  size_t abandoned = 0;  // threads inside a given-up job now
};

class ReaderThreads {
 public:
  // What a job leaves for the owner to do with its result.
  using Completion = std::function<void()>;
  using Job = std::function<Completion()>;

  explicit ReaderThreads(ReaderLimits limits = {});
  ~ReaderThreads();
  ReaderThreads(const ReaderThreads&) = delete;
  ReaderThreads& operator=(const ReaderThreads&) = delete;

  // Runs `job` on a reader thread. A later Poll() runs the job's completion, or `stuck` if it is not done in time; a
  // job that was only slow has its completion run after that all the same. False, and neither will run, if too much is
  // queued or stuck.
  [[nodiscard]] bool Submit(Job job, Completion stuck);

  // Runs, on the owner's thread, what is due. Completions may call Submit.
  void Poll();

  // Submitted and not yet polled.
  size_t pending() const;
  ReaderStats stats() const;

 private:
  struct State;
  std::shared_ptr<State> state_;  // shared with the threads
};

}  // namespace offcpu

#endif  // OFFCPU_PROCESS_READER_THREADS_H_
