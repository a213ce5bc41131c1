// What other threads want done on the worker's thread, in the order in which they asked. Thread-safe; one worker.
#ifndef OFFCPU_RECORDER_WORKER_TASKS_H_
#define OFFCPU_RECORDER_WORKER_TASKS_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

namespace offcpu {

class WorkerTasks {
 public:
  using Task = std::function<void()>;

  void Post(Task task);
  // Returns when it has been done. Not on the worker's thread, and not when there is no worker any more.
  void Run(Task task);

  // Worker: waits for a task or a poke, at most so long.
  void Await(std::chrono::milliseconds patience);
  // There is something else to do for the worker.
  void Poke();
  // Worker: takes what there is, and when it has done all of that, says so.
  std::vector<Task> Take();
  void CountDone(size_t tasks);

 private:
  uint64_t Add(Task task);

  std::mutex mutex_;
  std::condition_variable done_changed_;
  std::condition_variable news_;
  bool is_poked_ = false;  // guarded by mutex_, as what follows is
  std::vector<Task> waiting_;
  uint64_t posted_ = 0;
  uint64_t done_ = 0;
};

}  // namespace offcpu

#endif  // OFFCPU_RECORDER_WORKER_TASKS_H_
