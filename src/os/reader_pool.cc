#include "os/reader_pool.h"

#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "os/proc_file.h"
#include "os/start_thread.h"

namespace offcpu {
namespace {

constexpr size_t kIdle = 2;                             // threads that are kept without a job
constexpr std::chrono::milliseconds kNoticePeriod(20);  // of who waits for a job: after which he looks around
constexpr int kMostDeadlines = 5;                       // that a job may take which is slow, and does not hang

constexpr size_t kMaxStatBytes = 4096;

std::string StatOf(pid_t tid, const char* file) {
  return ReadProcFile(absl::StrCat("/proc/self/task/", tid, "/", file), kMaxStatBytes).value_or("");
}

// How long a thread of this process had ever waited for a CPU when it came to one last; 0 if the kernel does not say.
std::chrono::nanoseconds RunDelay(pid_t tid) {
  const std::vector<std::string> fields = absl::StrSplit(StatOf(tid, "schedstat"), ' ');
  int64_t ns = 0;
  if (fields.size() < 2 || !absl::SimpleAtoi(fields[1], &ns)) return {};
  return std::chrono::nanoseconds(ns);
}

// Does the thread neither run nor wait for a CPU? If that cannot be read, it may.
bool IsBlocked(pid_t tid) {
  const std::string stat = StatOf(tid, "stat");
  const size_t end_of_name = stat.rfind(") ");
  return end_of_name == std::string::npos || stat[end_of_name + 2] != 'R';
}

// The CPU time of a thread, by its clock.
std::chrono::nanoseconds CpuTime(clockid_t clock) {
  timespec time = {};
  clock_gettime(clock, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace

struct ReaderPool::Task {
  uid_t owner = 0;
  uint64_t subject = 0;
  std::chrono::milliseconds deadline{0};
  Job job;  // until it begins
  State state = State::kQueued;
  Clock::time_point begun;
  pid_t tid = 0;                                  // of its thread, while it runs
  clockid_t cpu_clock = CLOCK_THREAD_CPUTIME_ID;  // likewise
  std::chrono::nanoseconds cpu_begun{0};
  std::chrono::nanoseconds delay_begun{0};
  bool is_slow = false;

  // Has it been blocked for so long, or not come to an end by far? A busy host, on which it waits for a CPU, is no
  // fault of the target's.
  bool Hangs(Clock::time_point now) const {
    const Clock::duration taken = now - begun;
    if (taken < deadline || taken >= kMostDeadlines * deadline) return taken >= deadline;
    if (!IsBlocked(tid)) return false;
    return taken - (CpuTime(cpu_clock) - cpu_begun) - (RunDelay(tid) - delay_begun) >= deadline;
  }
};

// A thread that is in a stuck job still counts as one of the pool and of its user.
struct ReaderPool::Shared : std::enable_shared_from_this<Shared> {
  struct User {
    std::deque<std::shared_ptr<Task>> queue;
    size_t running = 0;  // stuck ones too
    size_t stuck = 0;
  };

  explicit Shared(const ReaderLimits& l) : limits(l) {}

  void Serve();
  std::shared_ptr<Task> Next();
  void Run(const std::shared_ptr<Task>& task, std::unique_lock<std::mutex>& lock);
  void NoteLate();
  void StartThreads();
  void StartOne();
  void Forget(uid_t owner);
  bool HasEnded() const { return Clock::now() >= end; }
  bool MayBegin() const { return serving < limits.serving && !HasEnded(); }
  bool HasWork() const;
  bool IsStuck(uint64_t subject) const;
  void DropQueued(User& user);

  const ReaderLimits limits;
  mutable std::mutex mutex;  // guards what follows
  std::condition_variable work;
  std::condition_variable changed;  // a job is done, or nothing goes on
  std::map<uid_t, User> users;      // with a job each
  uid_t last_user = 0;              // whose job was begun last: the next one's turn comes after
  std::vector<std::shared_ptr<Task>> running;
  Clock::time_point end = Clock::time_point::max();
  size_t serving = 0;  // jobs under way that are not slow
  size_t queued = 0;
  size_t idle = 0;  // threads
  size_t threads = 0;
  size_t stuck = 0;
  uint64_t not_started = 0;
};

bool ReaderPool::Shared::HasWork() const {
  return queued != 0 && std::any_of(users.begin(), users.end(), [this](const auto& user) {
           return !user.second.queue.empty() && user.second.running < limits.of_user;
         });
}

bool ReaderPool::Shared::IsStuck(uint64_t subject) const {
  return std::any_of(running.begin(), running.end(),
                     [subject](const auto& task) { return task->subject == subject && task->state == State::kStuck; });
}

// Users in turn, so that who asks for much waits for himself.
std::shared_ptr<ReaderPool::Task> ReaderPool::Shared::Next() {
  if (!MayBegin() || queued == 0) return nullptr;
  auto user = users.upper_bound(last_user);
  for (size_t left = users.size(); left != 0; --left, ++user) {
    if (user == users.end()) user = users.begin();
    if (user->second.queue.empty() || user->second.running >= limits.of_user) continue;
    std::shared_ptr<Task> task = std::move(user->second.queue.front());
    user->second.queue.pop_front();
    --queued;
    ++user->second.running;
    last_user = user->first;
    return task;
  }
  return nullptr;
}

void ReaderPool::Shared::Serve() {
  std::unique_lock lock(mutex);
  while (!HasEnded()) {
    NoteLate();
    if (const std::shared_ptr<Task> task = Next()) {
      Run(task, lock);
    } else if (idle >= kIdle) {
      break;
    } else {
      ++idle;
      work.wait(lock);
      --idle;
    }
  }
  --threads;
}

void ReaderPool::Shared::Run(const std::shared_ptr<Task>& task, std::unique_lock<std::mutex>& lock) {
  task->state = State::kRunning;
  task->begun = Clock::now();
  pthread_getcpuclockid(pthread_self(), &task->cpu_clock);
  task->cpu_begun = CpuTime(task->cpu_clock);
  task->tid = gettid();
  task->delay_begun = RunDelay(task->tid);
  running.push_back(task);
  ++serving;
  StartThreads();  // for what else there is
  Job job = std::exchange(task->job, nullptr);
  lock.unlock();
  job();
  job = nullptr;  // what nobody wants is freed without the lock
  lock.lock();
  User& user = users[task->owner];
  --user.running;
  if (!task->is_slow) --serving;
  if (task->state == State::kStuck) {
    --user.stuck;
    --stuck;
  }
  task->state = State::kDone;
  std::erase(running, task);
  Forget(task->owner);
  changed.notify_all();
}

void ReaderPool::Shared::Forget(uid_t owner) {
  const auto user = users.find(owner);
  if (user != users.end() && user->second.queue.empty() && user->second.running == 0) users.erase(user);
}

// Notes which tasks under way have taken long by now; others may begin in their places.
void ReaderPool::Shared::NoteLate() {
  const Clock::time_point now = Clock::now();
  for (const std::shared_ptr<Task>& task : running) {
    if (!task->is_slow && now - task->begun >= std::min(limits.slow, task->deadline)) {
      task->is_slow = true;
      --serving;
    }
    if (task->state != State::kRunning || !task->Hangs(now)) continue;
    task->state = State::kStuck;
    User& user = users[task->owner];
    ++stuck;
    if (++user.stuck >= limits.of_user) DropQueued(user);
  }
  StartThreads();
}

void ReaderPool::Shared::StartThreads() {
  if (!MayBegin() || !HasWork()) return;
  if (idle != 0) return work.notify_one();
  if (threads < limits.threads) StartOne();
}

void ReaderPool::Shared::StartOne() {
  ++threads;
  absl::StatusOr<std::thread> thread = StartThread("reader", [self = shared_from_this()] { self->Serve(); });
  if (thread.ok()) return thread->detach();
  --threads;
  ++not_started;
}

// Their jobs are freed by who has submitted them.
void ReaderPool::Shared::DropQueued(User& user) {
  for (const std::shared_ptr<Task>& task : user.queue) task->state = State::kDropped;
  queued -= user.queue.size();
  user.queue.clear();
}

ReaderPool::ReaderPool(const ReaderLimits& limits) : shared_(std::make_shared<Shared>(limits)) {
  const std::lock_guard lock(shared_->mutex);
  shared_->StartOne();
}

ReaderPool::~ReaderPool() { EndAt(Clock::now()); }

ReadTaken ReaderPool::Submit(const ReadSubject& subject, std::chrono::milliseconds deadline, Job job,
                             std::shared_ptr<Task>* taken) {
  Shared& shared = *shared_;
  const std::lock_guard lock(shared.mutex);
  shared.NoteLate();
  if (shared.HasEnded() || shared.queued >= shared.limits.queued) return ReadTaken::kFull;
  if (subject.id != 0 && shared.IsStuck(subject.id)) return ReadTaken::kUserStuck;
  Shared::User& user = shared.users[subject.owner];
  const ReadTaken answer = user.stuck >= shared.limits.of_user                 ? ReadTaken::kUserStuck
                           : user.queue.size() >= shared.limits.queued_of_user ? ReadTaken::kFull
                                                                               : ReadTaken::kYes;
  if (answer == ReadTaken::kYes) {
    *taken = std::make_shared<Task>();
    (*taken)->owner = subject.owner;
    (*taken)->subject = subject.id;
    (*taken)->deadline = deadline;
    (*taken)->job = std::move(job);
    user.queue.push_back(*taken);
    ++shared.queued;
    shared.StartThreads();
  }
  shared.Forget(subject.owner);
  return answer;
}

ReaderPool::State ReaderPool::Look(const std::shared_ptr<Task>& task) {
  const std::lock_guard lock(shared_->mutex);
  shared_->NoteLate();
  return task->state;
}

void ReaderPool::Loss(const std::shared_ptr<Task>& task) {
  Job unbegun;  // freed without the lock
  const std::lock_guard lock(shared_->mutex);
  if (task->state != State::kQueued) return;
  task->state = State::kDropped;
  unbegun = std::move(task->job);
  shared_->queued -= std::erase(shared_->users[task->owner].queue, task);
  shared_->Forget(task->owner);
}

bool ReaderPool::Run(const ReadSubject& subject, std::chrono::milliseconds deadline, Job job,
                     const IsCancelled& is_cancelled) {
  std::shared_ptr<Task> task;
  if (Submit(subject, deadline, std::move(job), &task) != ReadTaken::kYes) return false;
  const Clock::time_point begin_by = Clock::now() + deadline;
  std::unique_lock lock(shared_->mutex);
  while (task->state == State::kQueued || task->state == State::kRunning) {
    shared_->changed.wait_for(lock, kNoticePeriod);
    shared_->NoteLate();
    const bool is_late = task->state == State::kQueued && Clock::now() >= begin_by;
    if (!is_late && !shared_->HasEnded()) {
      lock.unlock();
      const bool goes_on = !is_cancelled();
      lock.lock();
      if (goes_on) continue;
    }
    break;
  }
  const bool is_done = task->state == State::kDone;
  lock.unlock();
  if (!is_done) Loss(task);
  return is_done;
}

void ReaderPool::EndAt(Clock::time_point end) {
  const std::lock_guard lock(shared_->mutex);
  shared_->end = std::min(shared_->end, end);
  if (shared_->HasEnded()) {
    for (auto& [uid, user] : shared_->users) shared_->DropQueued(user);
    std::erase_if(shared_->users, [](const auto& user) { return user.second.running == 0; });
  }
  shared_->work.notify_all();
  shared_->changed.notify_all();
}

ReaderPool::Stats ReaderPool::stats() const {
  const std::lock_guard lock(shared_->mutex);
  return {.threads = shared_->threads,
          .running = shared_->running.size(),
          .stuck = shared_->stuck,
          .not_started = shared_->not_started};
}

TimedRead TimedReadOn(std::shared_ptr<ReaderPool> pool, std::chrono::milliseconds deadline, IsCancelled is_cancelled) {
  return [pool = std::move(pool), deadline, is_cancelled = std::move(is_cancelled)](const ReadSubject& subject,
                                                                                    std::function<void()> read) {
    return pool->Run(subject, deadline, std::move(read), is_cancelled);
  };
}

}  // namespace offcpu
