#include "recorder/recorded_threads.h"

#include "recorder/cgroup_threads.h"

namespace offcpu {
namespace {

template <typename Thread>
std::vector<Thread> MembersOf(const Selection& selection, absl::StatusOr<std::vector<Thread>> threads) {
  if (!threads.ok()) return {};
  KeepMembers(selection, &*threads);
  return *std::move(threads);
}

}  // namespace

std::vector<TaskDescription> RecordedThreads::Tasks() const {
  absl::StatusOr<std::vector<TaskDescription>> tasks = programs_->ListTasks();
  if (tasks.ok()) std::erase_if(*tasks, [](const TaskDescription& task) { return !task.recorded || task.is_kernel; });
  return MembersOf(selection_, std::move(tasks));
}

absl::StatusOr<std::vector<WaitingThread>> RecordedThreads::Waiting(uint64_t min_off_ns, uint64_t open_at_ns) const {
  absl::StatusOr<std::vector<WaitingThread>> threads = programs_->ListThreads({}, min_off_ns, open_at_ns);
  if (threads.ok()) KeepMembers(selection_, &*threads);
  return threads;
}

std::vector<WaitingThread> RecordedThreads::Open(uint64_t open_at_ns) const {
  return MembersOf(selection_, programs_->ListThreads({}, 0, open_at_ns));
}

std::vector<ThreadAccount> RecordedThreads::Accounts() const {
  return MembersOf(selection_, programs_->ListAccounts());
}

}  // namespace offcpu
