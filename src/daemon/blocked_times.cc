#include "daemon/blocked_times.h"

#include <malloc.h>

#include <string_view>
#include <utility>

#include "classify/idle.h"
#include "classify/wait_cause.h"
#include "os/start_thread.h"
#include "profile/losses.h"
#include "profile/merge.h"

namespace offcpu {

namespace {

// Those that the kernel shows and those that the patterns name. A thread that is preempted or throttled is not blocked.
std::vector<BlockedBy> CausesOf(const IdlePatterns& patterns) {
  std::vector<BlockedBy> all;
  const auto add = [&all](WaitCause cause, std::string_view name) {
    if (cause == WaitCause::kPreempted || cause == WaitCause::kThrottled) return;
    all.push_back({std::string(Family(cause)), std::string(name)});
  };
  for (int i = 0; i < kWaitCauseCount; ++i) add(static_cast<WaitCause>(i), Name(static_cast<WaitCause>(i)));
  for (const IdlePattern& pattern : patterns) {
    if (pattern.wait.empty()) continue;
    for (const WaitCause cause : pattern.causes) add(cause, pattern.wait);
    if (!pattern.causes.empty()) continue;
    for (const int32_t syscall : pattern.syscalls) add(CauseOf(WaitKind::kSleeping, syscall, {}), pattern.wait);
  }
  return all;
}

}  // namespace

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

void BlockedTimes::Configure(bool is_wanted, const IdlePatterns& patterns) {
  const std::vector<BlockedBy> causes = CausesOf(patterns);
  const std::lock_guard lock(mutex_);
  for (const BlockedBy& by : causes) sums_.times.try_emplace(by);
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
    const auto [added, groups] = SumsOf(window);
    window.reset();
    malloc_trim(0);  // it was much, and the next window is far
    lock.lock();
    if (stop_) return;  // names may be missing
    for (const auto& [by, time] : added.times) {
      sums_.times[by].work_ns += time.work_ns;
      sums_.times[by].idle_ns += time.idle_ns;
    }
    AddLosses(added.lost_names, sums_.lost_names);
    sums_.groups.Add(groups);
  }
}

// A window that the exporter has, too, gets its names in any case.
BlockedTimes::WindowSums BlockedTimes::SumsOf(const std::shared_ptr<EndedWindow>& window) {
  const NamedProfile& profile = window->Named([&] { return stop_ && window.use_count() == 1; });
  WaitCauses causes(profile);
  BlockedSums sums;
  for (const NamedRow& row : profile.rows) {
    if (row.blocked_ns == 0) continue;
    const WaitCause cause = causes.Of(row);
    BlockedTime& time = sums.times[{std::string(Family(cause)), std::string(causes.NameOf(row))}];
    (IsIdle(row) ? time.idle_ns : time.work_ns) += row.blocked_ns;
  }
  for (const Loss& loss : profile.stats.losses) {
    if (loss.reason == InfoOf(LossId::kNamesNotRead).name || loss.reason == InfoOf(LossId::kNameMemoryShare).name)
      sums.lost_names.push_back(loss);
  }
  return {std::move(sums), GroupTimesOf(profile)};
}

}  // namespace offcpu
