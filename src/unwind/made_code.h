// What is known of code that a runtime has made in a process: compiled methods, stubs, an interpreter. The seam between
// the walk, which asks before it guesses, and the runtimes that know (src/runtimes). A value of one stack: what it
// answers is for the moment at which that was captured.
//
// One thread. Reads nothing but the stack copy.
#ifndef OFFCPU_UNWIND_MADE_CODE_H_
#define OFFCPU_UNWIND_MADE_CODE_H_

#include <optional>

#include "unwind/apply.h"
#include "unwind/row.h"
#include "unwind/stack_copy.h"
#include "unwind/user_stack.h"

namespace offcpu {

struct MadeFrame {
  Frame frame;             // but for its source
  std::optional<Row> row;  // to its caller; nothing: that is not known
  // Nothing but what the process had at that moment has decided.
  bool is_proven = false;
};

class MadeCode {
 public:
  virtual ~MadeCode() = default;

  // The frame that a walk has come to. Nothing: it is in no code that is known here.
  virtual std::optional<MadeFrame> Find(const FrameState& state, const StackCopy& copy) const = 0;
};

}  // namespace offcpu

#endif  // OFFCPU_UNWIND_MADE_CODE_H_
