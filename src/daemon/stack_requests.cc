#include "daemon/stack_requests.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "proto/control.pb.h"
#include "recorder/process_stacks.h"
#include "symbolize/symbolizer.h"
#include "tables/thread_stacks.h"

namespace offcpu {
namespace {

constexpr std::chrono::milliseconds kReadDeadline(2000);  // for some threads, or for the symbols of a file
constexpr std::chrono::milliseconds kNoticePeriod(50);    // after which it is seen that nobody waits any more

}  // namespace

absl::StatusOr<std::string> StackRequests::Format(const control::StacksRequest& request, Clock::time_point deadline,
                                                  const IsCancelled& is_cancelled) {
  const absl::StatusOr<UnwindOrder> unwind = ParseUnwindOrder(request.unwind());
  if (!unwind.ok()) return unwind.status();
  if (absl::Status turn = AwaitTurn(deadline, is_cancelled); !turn.ok()) return turn;
  const std::unique_ptr<StackRequests, void (*)(StackRequests*)> end_of_turn(this, [](auto* self) { self->EndTurn(); });
  const absl::StatusOr<Listing> listing = SharedListing();
  if (!listing.ok()) return listing.status();
  const TimedRead read = TimedReadOn(readers_, kReadDeadline, is_cancelled);
  absl::StatusOr<ProcessStacks> stacks =
      ReadProcessStacks(request.pid(), *unwind, *listing, modules_, read, is_cancelled);
  if (!stacks.ok()) return stacks.status();
  SymbolizerOptions naming;
  naming.timed_read = read;
  std::string text;
  const auto write = request.json() ? WriteThreadStacksJson : WriteThreadStacks;
  write(Name(std::move(stacks->profile), naming), stacks->pcs, [&text](std::string_view piece) { text += piece; });
  return text;
}

// Who comes second finds most names.
NamedProfile StackRequests::Name(Profile profile, const SymbolizerOptions& options) {
  const std::lock_guard lock(naming_);
  return Symbolize(std::move(profile), options, &names_);
}

absl::Status StackRequests::AwaitTurn(Clock::time_point deadline, const IsCancelled& is_cancelled) {
  const int me = 0;
  std::unique_lock lock(mutex_);
  waiting_.push_back(&me);
  absl::Status status;
  while (status.ok() && (running_ >= kAtOnce || waiting_.front() != &me)) {
    changed_.wait_for(lock, kNoticePeriod);
    if (Clock::now() >= deadline)
      status = absl::ResourceExhaustedError("too many stacks are being asked for; try again");
    if (is_cancelled()) status = absl::CancelledError("nobody waits for the stacks any more");
  }
  std::erase(waiting_, &me);
  if (status.ok()) ++running_;
  changed_.notify_all();
  return status;
}

void StackRequests::EndTurn() {
  const std::lock_guard lock(mutex_);
  --running_;
  changed_.notify_all();
}

absl::StatusOr<Listing> StackRequests::SharedListing() {
  const std::lock_guard lock(loading_);
  if (!listing_.has_value()) {
    absl::StatusOr<Listing> loaded = load_();
    if (!loaded.ok()) return loaded.status();
    listing_ = *std::move(loaded);
  }
  return *listing_;
}

}  // namespace offcpu
