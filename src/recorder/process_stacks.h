// Where every thread of one process stands now: user and kernel stacks, without stopping any. Needs what
// CheckProcessContext names, and a kernel with task iterators. Does not symbolize.
#ifndef OFFCPU_RECORDER_PROCESS_STACKS_H_
#define OFFCPU_RECORDER_PROCESS_STACKS_H_

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "os/reader_pool.h"
#include "process/module_cache.h"
#include "profile/profile.h"
#include "recorder/listing.h"
#include "unwind/unwind_order.h"

namespace offcpu {

struct ProcessStacks {
  // A row for each thread, by tid: what it is doing, and for how long, if that is known. `user_stacks` and
  // `kernel_stacks` are parallel to `rows`.
  Profile profile;
  // Parallel to profile.user_stacks: the program counters in the process, leaf first.
  std::vector<std::vector<uint64_t>> pcs;
  // Parallel to profile.rows: the thread that holds the mutex which this one waits for; 0: none, or not known.
  std::vector<int32_t> lock_owners;
  // Likewise: why functions are missing that the thread interprets, "[python: version]"; empty: none are, as far as is
  // known. Views of constants.
  std::vector<std::string_view> missing_functions;
};

// NotFound if there is no such process, Aborted if the kernel lists none of its threads all the same. A
// thread that runs, or that would not hold still for several attempts, has a reason in place of its user stack.
absl::StatusOr<ProcessStacks> ReadProcessStacks(pid_t pid, const UnwindOrder& unwind);
// By what `listing` says of it. Its memory and files are read by `read`, its modules are those of `modules`. Cancelled
// as soon as `is_cancelled` says so, which is asked now and then.
absl::StatusOr<ProcessStacks> ReadProcessStacks(pid_t pid, const UnwindOrder& unwind, const Listing& listing,
                                                std::shared_ptr<ModuleCache> modules, const TimedRead& read,
                                                const IsCancelled& is_cancelled);

}  // namespace offcpu

#endif  // OFFCPU_RECORDER_PROCESS_STACKS_H_
