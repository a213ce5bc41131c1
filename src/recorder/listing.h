// Functions that ask the kernel's iterators for threads. They own the programs behind them, because they are called on
// threads that may outlive their starter.
#ifndef OFFCPU_RECORDER_LISTING_H_
#define OFFCPU_RECORDER_LISTING_H_

#include <functional>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "bpf_programs/programs.h"
#include "recorder/live.h"
#include "recorder/process_snapshot.h"

namespace offcpu {

struct Listing {
  DescribeFunction describe;
  FindThreadFunction find;
  std::function<absl::StatusOr<std::vector<WaitingThread>>(pid_t process)> list;  // all threads of it
};

// Loads programs of its own, which record nothing. Needs what CheckProcessContext names.
absl::StatusOr<Listing> LoadListing();

Listing ListingOf(const std::shared_ptr<const Programs>& programs);

}  // namespace offcpu

#endif  // OFFCPU_RECORDER_LISTING_H_
