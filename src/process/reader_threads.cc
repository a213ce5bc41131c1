#include "process/reader_threads.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <utility>
#include <vector>

namespace offcpu {
namespace {

using Clock = std::chrono::steady_clock;

struct Task {
  ReaderThreads::Job job;
  ReaderThreads::Completion completion;  // the job's or, if it is given up, the owner's
  Clock::time_point begun;
  bool given_up = false;
};

}  // namespace

// A thread serves until it is stuck in a job that is given up; it counts as abandoned until the job ends. Threads that
// serve and threads that are abandoned are never more than limits.threads + limits.abandoned.
struct ReaderThreads::State : std::enable_shared_from_this<ReaderThreads::State> {
  explicit State(ReaderLimits l) : limits(l) {}

  void Serve();
  void RunOne(std::unique_lock<std::mutex>& lock);
  void AddThreads();
  bool StartThread();
  void GiveUpOverdue();

  const ReaderLimits limits;
  std::mutex mutex;  // guards what follows
  std::condition_variable work;
  std::deque<std::shared_ptr<Task>> queue;
  std::vector<std::shared_ptr<Task>> running;
  std::vector<Completion> due;
  ReaderStats stats;
  size_t serving = 0;
  bool stopping = false;
};

void ReaderThreads::State::Serve() {
  std::unique_lock lock(mutex);
  while (!stopping && serving <= limits.threads) {
    if (queue.empty()) {
      work.wait(lock);
    } else {
      RunOne(lock);
    }
  }
  --serving;
}

void ReaderThreads::State::RunOne(std::unique_lock<std::mutex>& lock) {
  std::shared_ptr<Task> task = std::move(queue.front());
  queue.pop_front();
  task->begun = Clock::now();
  running.push_back(task);
  Job job = std::move(task->job);
  lock.unlock();
  Completion completion = job();
  job = nullptr;
  lock.lock();
  if (task->given_up) {
    --stats.abandoned;
    ++serving;
    ++stats.late;
    if (!stopping) due.push_back(std::exchange(completion, nullptr));
    lock.unlock();
    completion = nullptr;  // what the job has read is freed without the lock
    lock.lock();
    return;
  }
  std::erase(running, task);
  due.push_back(std::move(completion));
  ++stats.done;
}

void ReaderThreads::State::AddThreads() {
  while (serving < limits.threads && serving + stats.abandoned < limits.threads + limits.abandoned) {
    ++serving;
    if (StartThread()) continue;
    --serving;
    return;  // tried again at the next Poll or Submit
  }
}

bool ReaderThreads::State::StartThread() {
  auto run = [](void* argument) -> void* {
    auto* self = static_cast<std::shared_ptr<State>*>(argument);
    (*self)->Serve();
    delete self;
    return nullptr;
  };
  auto* self = new std::shared_ptr<State>(shared_from_this());
  // Signals belong to the threads that wait for them.
  sigset_t all, old;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  pthread_t thread;
  bool started = pthread_create(&thread, nullptr, run, self) == 0;
  pthread_sigmask(SIG_SETMASK, &old, nullptr);
  if (started) {
    pthread_detach(thread);
  } else {
    delete self;
  }
  return started;
}

void ReaderThreads::State::GiveUpOverdue() {
  const Clock::time_point now = Clock::now();
  std::erase_if(running, [&](const std::shared_ptr<Task>& task) {
    if (now - task->begun < limits.deadline) return false;
    task->given_up = true;
    due.push_back(std::move(task->completion));
    ++stats.stuck;
    ++stats.abandoned;
    --serving;
    return true;
  });
  AddThreads();
  if (serving > 0) return;
  // Nobody is left to begin these.
  for (const std::shared_ptr<Task>& task : queue) due.push_back(std::move(task->completion));
  stats.stuck += queue.size();
  queue.clear();
}

ReaderThreads::ReaderThreads(ReaderLimits limits) : state_(std::make_shared<State>(limits)) {}

ReaderThreads::~ReaderThreads() {
  // Freed without the lock, and by the owner: a stuck thread may keep the rest of the state for ever.
  std::deque<std::shared_ptr<Task>> unbegun;
  std::vector<Completion> unpolled;
  std::lock_guard lock(state_->mutex);
  state_->stopping = true;
  unbegun.swap(state_->queue);
  unpolled.swap(state_->due);
  for (const std::shared_ptr<Task>& task : state_->running) unpolled.push_back(std::move(task->completion));
  state_->work.notify_all();
}

bool ReaderThreads::Submit(Job job, Completion stuck) {
  std::lock_guard lock(state_->mutex);
  state_->AddThreads();
  if (state_->stats.abandoned >= state_->limits.abandoned || state_->queue.size() >= state_->limits.queued ||
      state_->serving == 0) {
    ++state_->stats.refused;
    return false;
  }
  auto task = std::make_shared<Task>();
  task->job = std::move(job);
  task->completion = std::move(stuck);
  state_->queue.push_back(std::move(task));
  state_->work.notify_one();
  return true;
}

void ReaderThreads::Poll() {
  std::vector<Completion> due;
  {
    std::lock_guard lock(state_->mutex);
    state_->GiveUpOverdue();
    due.swap(state_->due);
  }
  for (Completion& completion : due) completion();
}

size_t ReaderThreads::pending() const {
  std::lock_guard lock(state_->mutex);
  return state_->queue.size() + state_->running.size() + state_->due.size();
}

ReaderStats ReaderThreads::stats() const {
  std::lock_guard lock(state_->mutex);
  return state_->stats;
}

}  // namespace offcpu
