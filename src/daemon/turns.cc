#include "daemon/turns.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace offcpu {
namespace {

constexpr std::chrono::milliseconds kNoticePeriod(50);  // after which it is seen that nobody waits any more

}  // namespace

absl::StatusOr<Turns::Turn> Turns::Await(const char* what, Clock::time_point deadline, const IsCancelled& is_cancelled,
                                         absl::FunctionRef<bool()> has_room) {
  const int me = 0;
  std::unique_lock lock(mutex_);
  waiting_.push_back(&me);
  absl::Status status;
  while (status.ok() && (waiting_.front() != &me || running_ >= at_once_ || !has_room())) {
    changed_.wait_for(lock, kNoticePeriod);
    if (Clock::now() >= deadline)
      status = absl::ResourceExhaustedError(absl::StrCat("too many ", what, " are wanted at the same time; try again"));
    if (is_cancelled()) status = absl::CancelledError(absl::StrCat("the client that asked for the ", what, " is gone"));
  }
  std::erase(waiting_, &me);
  changed_.notify_all();
  if (!status.ok()) return status;
  ++running_;
  return Turn(this, [](Turns* self) { self->End(); });
}

void Turns::End() {
  const std::lock_guard lock(mutex_);
  --running_;
  changed_.notify_all();
}

}  // namespace offcpu
