// What the BPF programs report, decoded and checked: the vocabulary between the rings and the pipeline. Plain data.
#ifndef OFFCPU_BPF_PROGRAMS_EVENTS_H_
#define OFFCPU_BPF_PROGRAMS_EVENTS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "process/identity.h"
#include "process/machine.h"
#include "process/stack_piece.h"
#include "profile/profile.h"

namespace offcpu {

inline constexpr uint32_t kMaxCaptureBytes = 64 << 10;  // of a stack, from the stack pointer upwards
inline constexpr size_t kMaxStackPieces = 4;            // of a capture beside that
inline constexpr uint32_t kMaxStackPieceBytes = 4096;
inline constexpr uint64_t kVdsoDevice = ~uint64_t{0};
inline constexpr size_t kMaxListedMappings = 128;  // of a code hash: what is beyond is not known

// Which code was mapped: equal hashes mean equal executable mappings, equal sequences that nothing at all has changed.
struct CodeVersion {
  uint64_t sequence = 0;  // 0: the kernel keeps none
  uint64_t hash = 0;      // 0: unknown

  bool operator==(const CodeVersion&) const = default;
};

// One executable mapping as the kernel names it. The file's device and inode are those of the file system that stores
// it, which on overlays are not those that /proc/PID/maps shows.
struct CodeMapping {
  uint64_t begin = 0;
  uint64_t end = 0;
  uint64_t offset = 0;  // of the vDSO, which of the kernel's it is
  uint64_t inode = 0;   // 0: no file
  uint64_t device = 0;  // with the inode's generation; of the vDSO kVdsoDevice
  uint64_t changed_ns = 0;

  bool operator==(const CodeMapping&) const = default;
  template <typename H>
  friend H AbslHashValue(H h, const CodeMapping& m) {
    return H::combine(std::move(h), m.begin, m.end, m.offset, m.inode, m.device, m.changed_ns);
  }
};

// What a code hash stands for: all executable mappings, by address, or the first of very many.
struct CodeListEvent {
  uint64_t hash = 0;
  std::vector<CodeMapping> mappings;
};

// Who ended a wait: a thread, or an interrupt, of which only the kernel stack is known.
struct WakerEvent {
  bool interrupt = false;
  ProcessKey process;  // this and the next ones: of a thread
  int32_t tid = 0;
  std::string comm;
  uint64_t cookie = 0;  // as in IntervalEvent
  NoUserStack missing = NoUserStack::kNone;
  uint64_t kernel_stack = 0;
};

struct IntervalEvent {
  ProcessKey process;
  int32_t tid = 0;
  uint64_t cookie = 0;      // 0: there will be no capture; without `user_stack` for the reason in `missing`
  uint64_t user_stack = 0;  // id of a stack that the BPF programs have walked: see UserStackId; 0: they have not
  NoUserStack missing = NoUserStack::kNone;
  uint64_t kernel_stack = 0;  // id; 0: could not be taken
  WaitKind kind = WaitKind::kOther;
  int32_t syscall = kNoSystemCall;
  uint64_t switches = 0;  // how often the thread had ever left a CPU: names the wait among its waits
  uint64_t end_ns = 0;    // scheduler's clock
  uint64_t blocked_ns = 0;
  uint64_t runnable_ns = 0;
  uint64_t waits = 1;       // more: the times are sums of so many, all in one time bucket; see wire_sum
  uint64_t longest_ns = 0;  // of several, as the next one is
  uint64_t longest_runnable_ns = 0;
  uint64_t sample_ns = 0;      // if it is shorter than this, it was sampled and stands for so much time
  uint64_t control_group = 0;  // its id
  std::string comm;
  std::vector<WakerEvent> wakers;  // the one that ended it, who had woken that one, and so on; empty: not known
};

// A thread that was running when its CPU's sampling event fired.
struct SampleEvent {
  ProcessKey process;
  int32_t tid = 0;
  uint64_t cookie = 0;  // as an interval's
  NoUserStack missing = NoUserStack::kNone;
  uint64_t kernel_stack = 0;  // id; 0: could not be taken, or `in_user`
  bool in_user = false;       // in user mode: there is no kernel stack
  int32_t syscall = kNoSystemCall;
  uint64_t at_ns = 0;          // scheduler's clock
  uint64_t control_group = 0;  // its id
  std::string comm;
};

struct KernelStackEvent {
  uint64_t id = 0;
  std::vector<uint64_t> addresses;  // leaf first
};

struct CaptureEvent {
  uint64_t cookie = 0;
  ProcessKey process;
  int32_t tid = 0;
  CodeVersion code;
  uint64_t walked = 0;       // id of the stack as the BPF programs have walked it; 0: they have not
  uint64_t walked_code = 0;  // the hash of the code by which they have
  uint64_t at_ns = 0;        // CLOCK_MONOTONIC
  Registers registers;
  bool in_syscall = false;       // rcx and r11 are void
  bool is_32_bit = false;        // the thread runs code of i386
  bool more = false;             // the copy ends at its limit, not where the memory does
  bool unread = false;           // it ends before a page that could not be read
  uint32_t red_zone_bytes = 0;   // of `stack`: they lie below the stack pointer
  std::vector<std::byte> stack;  // from the red zone upwards
  std::vector<StackPiece> pieces;

  size_t bytes_from_sp() const { return stack.size() - red_zone_bytes; }
  uint64_t stack_begin() const { return kHostMachine.SpOf(registers) - red_zone_bytes; }
  uint64_t stack_end() const { return kHostMachine.SpOf(registers) + bytes_from_sp(); }
  size_t bytes() const {
    size_t sum = stack.size();
    for (const StackPiece& piece : pieces) sum += piece.bytes.size();
    return sum;
  }
};

// What the next captures of a thread are to hold.
struct StackHint {
  uint32_t bytes = 0;            // from the stack pointer upwards
  std::vector<uint64_t> pieces;  // where they begin; at most kMaxStackPieces

  bool operator==(const StackHint&) const = default;
};

struct CaptureFailedEvent {
  uint64_t cookie = 0;
  NoUserStack reason = NoUserStack::kNone;
};

// A program was replaced (`process` is the new image), or the last thread of a process is gone.
struct ExecEvent {
  ProcessKey process;
};
struct ExitEvent {
  ProcessKey process;
};

using Event = std::variant<IntervalEvent, SampleEvent, KernelStackEvent, CodeListEvent, CaptureEvent,
                           CaptureFailedEvent, ExecEvent, ExitEvent>;

}  // namespace offcpu

#endif  // OFFCPU_BPF_PROGRAMS_EVENTS_H_
