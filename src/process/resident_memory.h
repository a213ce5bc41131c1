// The memory of a running process, as far as reading it has no effect there: only pages that are in memory now, so that
// a read neither makes the kernel fetch one nor wakes what serves a mapping (userfaultfd, a file system). A page may be
// taken out of memory between the look and the read, so that a read may still block: as ProcessMemory, it belongs on a
// reader thread.
#ifndef OFFCPU_PROCESS_RESIDENT_MEMORY_H_
#define OFFCPU_PROCESS_RESIDENT_MEMORY_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "os/owned_fd.h"
#include "process/memory.h"

namespace offcpu {

class ResidentMemory final : public Memory {
 public:
  // Reads nothing if the kernel does not show which pages are in memory (/proc/PID/pagemap).
  explicit ResidentMemory(pid_t pid);
  [[nodiscard]] bool Read(uint64_t address, std::span<std::byte> out) const override;

 private:
  bool IsResident(uint64_t address, size_t bytes) const;

  const ProcessMemory memory_;
  const OwnedFd pagemap_;
};

}  // namespace offcpu

#endif  // OFFCPU_PROCESS_RESIDENT_MEMORY_H_
