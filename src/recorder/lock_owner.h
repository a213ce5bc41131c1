// Which thread holds the mutex that another one waits for in the system call futex, by what lies in the memory of the
// process. An owner is given only where the arguments of the call, the futex word and what lies around it prove that it
// is such a mutex: of glibc, of musl if the mutex notes its owner, or one that the kernel hands on (a PI futex).
#ifndef OFFCPU_RECORDER_LOCK_OWNER_H_
#define OFFCPU_RECORDER_LOCK_OWNER_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "bpf_programs/waiting_thread.h"
#include "process/memory.h"

namespace offcpu {

// The arguments of a wait for a futex.
struct FutexWait {
  uint64_t address = 0;
  uint32_t operation = 0;
  uint32_t value = 0;  // that the word had

  bool operator==(const FutexWait&) const = default;
};

// Nothing if the thread is not in that system call of a program of 64 bits.
std::optional<FutexWait> FutexWaitOf(const WaitingThread& thread);

// As the process itself numbers its threads, which in a container is not as the host does. 0: not known. A pure
// function of a memory.
int32_t LockOwnerIn(const FutexWait& wait, const Memory& memory);

// For each of `threads`, which are of one process, in their order: the thread of this process that holds its mutex, as
// the host numbers it; 0: not known. Reads pages that are in memory only, but may block all the same: it runs on a
// reader thread. It holds for the moment of the call, if the waiting thread has not run since it was listed.
std::vector<int32_t> LockOwnersOf(const std::vector<WaitingThread>& threads);

}  // namespace offcpu

#endif  // OFFCPU_RECORDER_LOCK_OWNER_H_
