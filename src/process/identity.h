// Which process an event belongs to. A bare pid is reused; this name is not.
#ifndef OFFCPU_PROCESS_IDENTITY_H_
#define OFFCPU_PROCESS_IDENTITY_H_

#include <compare>
#include <cstdint>
#include <utility>

namespace offcpu {

// One program image of one process: the thread group, when its leader started, and how often it has called execve.
struct ProcessKey {
  int32_t pid = 0;        // thread group id in our pid namespace; 0: it is not in that
  uint64_t start_ns = 0;  // boot clock, of the group's leader
  uint64_t exec_id = 0;   // raised by the kernel at every exec

  auto operator<=>(const ProcessKey&) const = default;

  template <typename H>
  friend H AbslHashValue(H h, const ProcessKey& key) {
    return H::combine(std::move(h), key.pid, key.start_ns, key.exec_id);
  }
};

}  // namespace offcpu

#endif  // OFFCPU_PROCESS_IDENTITY_H_
