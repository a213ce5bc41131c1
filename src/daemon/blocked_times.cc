#include "daemon/blocked_times.h"

#include <malloc.h>

#include <utility>

#include "classify/idle.h"
#include "process/start_thread.h"
#include "profile/losses.h"
#include "profile/merge.h"

namespace offcpu {

absl::StatusOr<std::unique_ptr<BlockedTimes>> BlockedTimes::Start() {
  std::unique_ptr<BlockedTimes> times(new BlockedTimes());
  absl::StatusOr<std::thread> thread = StartThread("causes", [self = times.get()] { self->Loop(); });
  if (!thread.ok()) return thread.status();
  times->thread_ = *std::move(thread);
  return times;
}

BlockedTimes::~BlockedTimes() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void BlockedTimes::Configure(bool is_wanted) {
  const std::lock_guard lock(mutex_);
  is_wanted_ = is_wanted;
}

void BlockedTimes::Add(std::shared_ptr<EndedWindow> window) {
  std::shared_ptr<EndedWindow> lost;  // freed without the lock
  const std::lock_guard lock(mutex_);
  if (!is_wanted_ || window->empty()) return;
  if (waiting_.size() == kMostWaiting) {
    lost = std::move(waiting_.front());
    waiting_.pop_front();
    sums_.not_told_ns += lost->blocked_ns();
  }
  waiting_.push_back(std::move(window));
  changed_.notify_all();
}

BlockedSums BlockedTimes::sums() const {
  const std::lock_guard lock(mutex_);
  return sums_;
}

void BlockedTimes::Loop() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stop_ || !waiting_.empty(); });
    if (stop_) return;
    std::shared_ptr<EndedWindow> window = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    const BlockedSums added = SumsOf(window);
    window.reset();
    malloc_trim(0);  // it was much, and the next window is far
    lock.lock();
    if (stop_) return;  // names may be missing
    for (size_t i = 0; i < kWaitCauseCount; ++i) {
      sums_.work_ns[i] += added.work_ns[i];
      sums_.idle_ns[i] += added.idle_ns[i];
    }
    AddDrops(added.lost_names, sums_.lost_names);
  }
}

// A window that the exporter has, too, gets its names in any case.
BlockedSums BlockedTimes::SumsOf(const std::shared_ptr<EndedWindow>& window) {
  const NamedProfile& profile = window->Named([&] { return stop_ && window.use_count() == 1; });
  WaitCauses causes(profile);
  BlockedSums sums;
  for (const NamedRow& row : profile.rows) {
    if (row.blocked_ns == 0) continue;
    auto& of_all_causes = IsIdle(row) ? sums.idle_ns : sums.work_ns;
    of_all_causes[static_cast<size_t>(causes.Of(row))] += row.blocked_ns;
  }
  for (const Drop& drop : profile.stats.drops) {
    if (drop.reason == InfoOf(LossId::kNamesNotRead).name || drop.reason == InfoOf(LossId::kNameMemoryShare).name)
      sums.lost_names.push_back(drop);
  }
  return sums;
}

}  // namespace offcpu
