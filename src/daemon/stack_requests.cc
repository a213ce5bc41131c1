#include "daemon/stack_requests.h"

#include <string_view>
#include <utility>

#include "classify/idle_match.h"
#include "recorder/process_stacks.h"
#include "symbolize/symbolizer.h"
#include "tables/thread_stacks.h"

namespace offcpu {
namespace {

constexpr std::chrono::milliseconds kReadDeadline(2000);  // for some threads, or for the symbols of a file

}  // namespace

absl::StatusOr<std::string> StackRequests::Format(const StacksWanted& wanted, Clock::time_point deadline,
                                                  const IsCancelled& is_cancelled) {
  const absl::StatusOr<Turns::Turn> turn = turns_.Await("stacks", deadline, is_cancelled);
  if (!turn.ok()) return turn.status();
  const absl::StatusOr<Listing> listing = SharedListing();
  if (!listing.ok()) return listing.status();
  const TimedRead read = TimedReadOn(readers_, kReadDeadline, is_cancelled);
  absl::StatusOr<ProcessStacks> stacks =
      ReadProcessStacks(wanted.pid, wanted.unwind, *listing, modules_, read, is_cancelled);
  if (!stacks.ok()) return stacks.status();
  SymbolizerOptions naming;
  naming.timed_read = read;
  std::string text;
  const auto write = wanted.json ? WriteThreadStacksJson : WriteThreadStacks;
  write(Name(std::move(stacks->profile), naming),
        {.pcs = std::move(stacks->pcs),
         .lock_owners = std::move(stacks->lock_owners),
         .missing_functions = std::move(stacks->missing_functions)},
        [&text](std::string_view piece) { text += piece; });
  return text;
}

// Who comes second finds most names.
NamedProfile StackRequests::Name(Profile profile, const SymbolizerOptions& options) {
  const std::lock_guard lock(naming_);
  NamedProfile named = Symbolize(std::move(profile), options, &names_);
  NameWaits(DefaultIdlePatterns(), &named);
  return named;
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
