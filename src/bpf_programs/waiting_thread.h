// Threads as a task iterator finds them, and what can be said of a wait that has not ended. Decoding is a pure function
// of bytes; needs no libbpf. Does not read user memory.
#ifndef OFFCPU_BPF_PROGRAMS_WAITING_THREAD_H_
#define OFFCPU_BPF_PROGRAMS_WAITING_THREAD_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "process/identity.h"
#include "process/registers.h"
#include "profile/profile.h"

namespace offcpu {

// The wait that a thread was in at one moment, as far as it lies in the recording.
struct OpenWait {
  uint64_t begin_ns = 0;  // scheduler's clock
  uint64_t blocked_ns = 0;
  uint64_t runnable_ns = 0;
  WaitKind kind = WaitKind::kOther;  // what it will be when it ends
  bool throughout = false;           // it began before the recording, or never ran in it
};

struct WaitingThread {
  ProcessKey process;
  int32_t tid = 0;
  std::string comm;
  // How often it has ever left a CPU. The same number at two moments, at the later one of which it was not on a CPU:
  // it has not run in between.
  uint64_t switches = 0;
  bool on_cpu = false;      // it runs, or is about to: it has no stacks then
  uint64_t cookie = 0;      // of its kernel entry, if a capture is pending
  uint64_t out_ns = 0;      // stamp of its last leaving, scheduler's clock; 0: none
  uint64_t off_cpu_ns = 0;  // for so long it has been off the CPU, without interrupts meanwhile; 0: not known
  WaitKind state = WaitKind::kOther;
  bool is_kernel = false;  // it never runs in user mode
  bool has_user = false;   // `registers` are set
  Registers registers;
  uint64_t stack_begin = 0;  // where its stack may be read; equal: that is not known
  uint64_t stack_end = 0;
  bool in_syscall = false;
  bool is_32_bit = false;  // it runs code of i386
  int32_t syscall = kNoSystemCall;
  uint64_t control_group = 0;    // its id
  std::vector<uint64_t> kernel;  // leaf first; empty if it could not be taken
  // Its wait at that moment, the end of the recording or now or one between; nothing if it was not waiting, or nothing
  // is recorded.
  std::optional<OpenWait> open;
  bool in_open_wait = false;  // the stacks are those of `open`: it has not run since
  bool came_back = false;     // from `open`: while threads are recorded, it says so itself
};

// As many whole records as there are in `bytes`. The recording began at `start_ns` and ended at `end_ns`, or is to be
// looked at as it was then; scheduler's clock. `end_ns` 0: there is none.
std::vector<WaitingThread> DecodeThreads(std::span<const std::byte> bytes, uint64_t start_ns, uint64_t end_ns);

}  // namespace offcpu

#endif  // OFFCPU_BPF_PROGRAMS_WAITING_THREAD_H_
