// What a walk yields: frames, how each was found, and why it ended where it did. EndReason is the one list of these;
// tables/stack_shares.cc says what users can do about each.
#ifndef OFFCPU_UNWIND_USER_STACK_H_
#define OFFCPU_UNWIND_USER_STACK_H_

#include <cstdint>
#include <string_view>
#include <vector>

namespace offcpu {

class CodeObject;

// What kind of code runs in a frame.
enum class FrameKind : uint8_t {
  kNative,       // of an ELF object
  kGenerated,    // that a program has made itself, or mapped from a file that is no ELF object
  kInterpreted,  // a function that a runtime interprets, which stands for the native frames that do so
  kKernel,
  kMarker,  // none: it stands for so many frames as `address` says, which were left out of a deep stack
};

// How a frame was found: from the saved registers (the leaf), or by the rule that led to it from its callee.
enum class FrameSource : uint8_t {
  kRegisters,
  kSFrame,
  kEhFrame,
  kFramePointer,
  kSignalTrampoline,
  kDebugFrame,
  kRuntime,  // what a runtime knows of the code that it has made
};
inline constexpr int kFrameSourceCount = 7;

// Why a walk ended. Only kComplete says that the last frame is the outermost one, and only where that is proven:
// kGuessedEnd is what looks like an end to a guess.
enum class EndReason : uint8_t {
  kComplete,          // the outermost frame's mark: RA undefined, or RA 0; or code that nobody calls
  kStackCopy,         // the walk needs bytes above the stack copy
  kNoRow,             // no source has a row for the pc
  kExpression,        // the row needs a DWARF expression that has no form here
  kRegisterUnknown,   // the row names a register whose value is not known in this frame
  kBadCfa,            // the CFA is unaligned, does not rise, or wraps
  kBadReturnAddress,  // the return address is not in executable memory
  kBadMemory,         // a read inside the stack failed
  kFrameLimit,        // the stack has more frames than are kept, see kept_frames.h
  kNotMapped,         // the leaf's pc lies in no executable mapping
  kMapsChanged,       // what was mapped at the pc when the stack was captured is not known any more
  kOtherStack,        // the frame lies on a stack that was not captured: a signal handler ran on one of its own
  kUnread,  // the walk needs a page of the stack that was not resident, or of which it was not known whose it is
  // A walk by frame pointers came to one of 0, or to RA 0. That may be the end; or the code uses the register for
  // something else. Or it came to the end by one that may have led past frames, see MaySkipFrames.
  kGuessedEnd,
  // The code was made by the program itself, or is in a file that is no ELF object, and does not keep a frame pointer.
  kGeneratedCode,
};
inline constexpr int kEndReasonCount = 15;

std::string_view Name(FrameSource source);  // "registers", "sframe", "eh_frame", "fp", "trampoline", "debug_frame",
                                            // "runtime"
std::string_view Name(EndReason reason);    // "complete", "stack copy", "no row", ...

struct Frame {
  const CodeObject* code = nullptr;  // null: executable memory that nobody names (JIT code); kept alive by the profile
  // In `code`, else in the process or in the kernel. For a caller, the return address itself.
  uint64_t address = 0;
  FrameSource source = FrameSource::kRegisters;
  // False: `address` is a return address, and the call is the instruction before it.
  bool exact = true;
  FrameKind kind = FrameKind::kNative;

  bool is_marker() const { return kind == FrameKind::kMarker; }
  // The address to look up: a return address after a call to a noreturn function belongs to the next function.
  uint64_t lookup_address() const { return exact ? address : address - 1; }
  bool operator==(const Frame&) const = default;
};

struct UserStack {
  std::vector<Frame> frames;  // leaf first
  EndReason end = EndReason::kComplete;

  bool operator==(const UserStack&) const = default;
};

// The same code, and the same end: however the frames were found.
bool IsSameStack(const UserStack& a, const UserStack& b);

}  // namespace offcpu

#endif  // OFFCPU_UNWIND_USER_STACK_H_
