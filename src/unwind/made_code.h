// What is known of code that a runtime has made in a process: compiled methods, stubs, an interpreter. The seam between
// the walk, which asks before it guesses, and the runtimes that know (src/runtimes). It is asked of code in no module
// alone: an interpreter whose loop is in a library has native frames there. A value of one stack: what it answers is
// for the moment at which that was captured.
//
// One thread. Reads nothing but the stack copy.
#ifndef OFFCPU_UNWIND_MADE_CODE_H_
#define OFFCPU_UNWIND_MADE_CODE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "unwind/apply.h"
#include "unwind/stack_copy.h"
#include "unwind/unwind_row.h"
#include "unwind/user_stack.h"

namespace offcpu {

// What tells this version of made code from what is at the same addresses at another time: words of the process's
// memory, as they were when the stack was captured. The BPF programs read them at each switch, so they must be of
// memory that has been read from outside, which leaves out the registers of devices.
struct CodeStamp {
  uint64_t address = 0;  // of 16 bytes; 0: nothing that is known tells it
  uint32_t offset = 0;   // behind `address`, in bytes: of 4 more
  std::array<uint64_t, 2> words = {};
  uint32_t behind = 0;

  bool operator==(const CodeStamp&) const = default;
};

// Words of a frame that say what it runs, as its address does not: each so many words below the frame pointer; 0: none.
inline constexpr size_t kShownWords = 2;
using ShownWords = std::array<uint8_t, kShownWords>;

struct MadeFrame {
  Frame frame;                   // but for its source
  std::optional<UnwindRow> row;  // to its caller; nothing: that is not known
  // Nothing but what the process had at that moment has decided.
  bool is_proven = false;
  // The frame and its row follow from its address, this version of the code and these words.
  CodeStamp stamp;
  ShownWords shown = {};
};

class MadeCode {
 public:
  virtual ~MadeCode() = default;

  // The frame that a walk has come to. Nothing: it is in no code that is known here.
  virtual std::optional<MadeFrame> Find(const FrameState& state, const StackCopy& copy) const = 0;
};

}  // namespace offcpu

#endif  // OFFCPU_UNWIND_MADE_CODE_H_
