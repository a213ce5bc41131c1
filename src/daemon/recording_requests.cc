#include "daemon/recording_requests.h"

#include <utility>

namespace offcpu {

absl::Status RecordingRequests::AwaitCut(Clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  const uint64_t number = ++cuts_wanted_;
  wanted_.notify_all();
  if (!done_.wait_until(lock, deadline, [&] { return cuts_done_ >= number || interrupted_; }))
    return absl::DeadlineExceededError("the running window could not be cut in time");
  return cuts_done_ >= number ? cut_status_ : absl::CancelledError("the service is stopping");
}

absl::Status RecordingRequests::AwaitReload(const DaemonConfig& config) {
  std::unique_lock lock(mutex_);
  next_config_ = config;
  wanted_.notify_all();
  done_.wait(lock, [this] { return !next_config_.has_value(); });
  return reload_status_;
}

void RecordingRequests::Interrupt() {
  const std::lock_guard lock(mutex_);
  interrupted_ = true;
  done_.notify_all();
}

void RecordingRequests::Stop() {
  const std::lock_guard lock(mutex_);
  stop_ = true;
  wanted_.notify_all();
}

RecordingRequests::Wanted RecordingRequests::Await(Clock::time_point end) {
  std::unique_lock lock(mutex_);
  const auto is_asked = [this] { return stop_ || cuts_wanted_ > cuts_done_ || next_config_.has_value(); };
  wanted_.wait_until(lock, end, is_asked);
  return {.stop = stop_, .config = next_config_, .cut = cuts_wanted_ > cuts_done_, .last_cut = cuts_wanted_};
}

void RecordingRequests::Reloaded(absl::Status status) {
  const std::lock_guard lock(mutex_);
  reload_status_ = std::move(status);
  next_config_.reset();
  done_.notify_all();
}

void RecordingRequests::CutDone(uint64_t last_cut, absl::Status status) {
  const std::lock_guard lock(mutex_);
  cuts_done_ = last_cut;
  cut_status_ = std::move(status);
  done_.notify_all();
}

}  // namespace offcpu
