// Which processes are known. There is room for so many; those that have ended make room for others. A process that was
// not heard of in a window can be forgotten. Plain state of one thread.
#ifndef OFFCPU_RECORDER_TARGET_TABLE_H_
#define OFFCPU_RECORDER_TARGET_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "process/identity.h"
#include "profile/profile.h"
#include "recorder/target.h"

namespace offcpu {

class TargetTable {
 public:
  using Map = absl::flat_hash_map<ProcessKey, std::unique_ptr<Target>>;

  explicit TargetTable(size_t max_processes) : max_processes_(max_processes) {}

  // Null if it is not known. Valid until the process is evicted or forgotten.
  Target* Find(const ProcessKey& process) const;
  // Something has happened to a thread of the process. `comm`: the thread's name, "" if that is not known. Null if
  // there is no room.
  struct Heard {
    Target* target = nullptr;
    bool is_new = false;
  };
  Heard HearOf(const ProcessKey& process, int32_t tid, const std::string& comm);
  void OnExit(const ProcessKey& process) { exited_.push_back(process); }
  const Map& targets() const { return targets_; }

  // Another window begins.
  void BeginWindow() { ++windows_; }
  // Only of targets that are known already.
  void HearOfInWindow(const ProcessKey& process);
  // Forgets those that were not heard of since, unless something of theirs is under way.
  void Forget();

  // Processes that have made room since it was last called, as they were known.
  std::vector<ProcessInfo> TakeEvicted() { return std::exchange(evicted_, {}); }
  std::vector<ProcessInfo> Describe() const;

  size_t exited() const { return exited_.size(); }
  uint64_t over_limit() const { return over_limit_; }  // times that there was no room for another process

 private:
  void EvictExited();

  const size_t max_processes_;
  Map targets_;
  std::deque<ProcessKey> exited_;
  std::vector<ProcessInfo> evicted_;
  uint64_t windows_ = 0;  // begun after the first
  uint64_t over_limit_ = 0;
};

}  // namespace offcpu

#endif  // OFFCPU_RECORDER_TARGET_TABLE_H_
