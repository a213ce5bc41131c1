// The kernel's lists of tasks, of threads that wait and of the accounts of threads, without those that the selection
// leaves out. A BPF program can tell only of the thread that runs whether it is in a control group: that is looked up
// here. Any thread.
#ifndef OFFCPU_RECORDER_RECORDED_THREADS_H_
#define OFFCPU_RECORDER_RECORDED_THREADS_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "bpf_programs/programs.h"
#include "bpf_programs/selection.h"

namespace offcpu {

class RecordedThreads {
 public:
  // `selection` must outlive this.
  RecordedThreads(const Selection& selection, std::shared_ptr<const Programs> programs)
      : selection_(selection), programs_(std::move(programs)) {}

  // Whose processes can be looked at; none if they cannot be listed.
  std::vector<TaskDescription> Tasks() const;
  // As Programs::ListThreads.
  absl::StatusOr<std::vector<WaitingThread>> Waiting(uint64_t min_off_ns, uint64_t open_at_ns) const;
  // None if they cannot be listed.
  std::vector<WaitingThread> Open(uint64_t open_at_ns) const;
  std::vector<ThreadAccount> Accounts() const;

 private:
  const Selection& selection_;
  const std::shared_ptr<const Programs> programs_;
};

}  // namespace offcpu

#endif  // OFFCPU_RECORDER_RECORDED_THREADS_H_
