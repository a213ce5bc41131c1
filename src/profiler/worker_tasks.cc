#include "profiler/worker_tasks.h"

#include <utility>

namespace offcpu {

uint64_t WorkerTasks::Add(Task task) {
  const std::lock_guard lock(mutex_);
  waiting_.push_back(std::move(task));
  return ++posted_;
}

void WorkerTasks::Post(Task task) { Add(std::move(task)); }

void WorkerTasks::Run(Task task) {
  const uint64_t number = Add(std::move(task));
  std::unique_lock lock(mutex_);
  done_changed_.wait(lock, [&] { return done_ >= number; });
}

std::vector<WorkerTasks::Task> WorkerTasks::Take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(waiting_, {});
}

void WorkerTasks::CountDone(size_t tasks) {
  if (tasks == 0) return;
  const std::lock_guard lock(mutex_);
  done_ += tasks;
  done_changed_.notify_all();
}

}  // namespace offcpu
