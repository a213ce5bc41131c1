#include "os/reader_threads.h"

#include <utility>

#include "os/scoped_priority.h"

namespace offcpu {

ReaderThreads::ReaderThreads(std::shared_ptr<ReaderPool> pool, std::chrono::milliseconds deadline)
    : pool_(std::move(pool)), deadline_(deadline) {}

ReaderThreads::~ReaderThreads() {
  for (const Entry& entry : entries_) pool_->Loss(entry.task);
}

ReadTaken ReaderThreads::Submit(uid_t owner, Job job, OnGivenUp given_up) {
  Entry entry = {.result = std::make_shared<Completion>(), .given_up = std::move(given_up)};
  // Processes end, and what is read too late is given up.
  const auto run = [result = entry.result, job = std::move(job)] {
    const ScopedPriority priority;
    *result = job();
  };
  const ReadTaken taken = pool_->Submit({.owner = owner}, deadline_, run, &entry.task);
  if (taken == ReadTaken::kUserStuck) ++stats_.not_begun;
  if (taken != ReadTaken::kYes) return taken;
  entries_.push_back(std::move(entry));
  ++pending_;
  return taken;
}

void ReaderThreads::Poll() {
  std::vector<Completion> due;
  std::erase_if(entries_, [&](Entry& entry) {
    const ReaderPool::State state = pool_->Look(entry.task);
    if (state == ReaderPool::State::kQueued || state == ReaderPool::State::kRunning) return false;
    const bool is_stuck = state == ReaderPool::State::kStuck;
    const bool is_done = state == ReaderPool::State::kDone;
    if (entry.given_up != nullptr) {
      --pending_;
      ++(is_done ? stats_.done : is_stuck ? stats_.stuck : stats_.not_begun);
      if (!is_done) {
        const GivenUp why = is_stuck ? GivenUp::kStuck : GivenUp::kNotBegun;
        due.push_back([tell = std::exchange(entry.given_up, nullptr), why] { tell(why); });
      }
    } else if (is_done) {
      ++stats_.late;
    }
    if (is_done) due.push_back(std::move(*entry.result));
    return !is_stuck;
  });
  for (Completion& completion : due) completion();
}

}  // namespace offcpu
