#include "recorder/worker_tasks.h"

#include <utility>

namespace offcpu {

uint64_t WorkerTasks::Add(Task task) {
  const std::lock_guard lock(mutex_);
  waiting_.push_back(std::move(task));
  news_.notify_one();
  return ++posted_;
}

void WorkerTasks::Post(Task task) { Add(std::move(task)); }

void WorkerTasks::Run(Task task) {
  const uint64_t number = Add(std::move(task));
  std::unique_lock lock(mutex_);
  done_changed_.wait(lock, [&] { return done_ >= number; });
}

void WorkerTasks::Await(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  news_.wait_for(lock, patience, [this] { return is_poked_ || !waiting_.empty(); });
  is_poked_ = false;
}

// Who is woken finds the mutex free.
void WorkerTasks::Poke() {
  {
    const std::lock_guard lock(mutex_);
    is_poked_ = true;
  }
  news_.notify_one();
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
