#include "unwind/user_stack.h"

#include <algorithm>

namespace offcpu {

bool IsSameStack(const UserStack& a, const UserStack& b) {
  return a.end == b.end && std::equal(a.frames.begin(), a.frames.end(), b.frames.begin(), b.frames.end(),
                                      [](const Frame& x, const Frame& y) {
                                        return x.code == y.code && x.address == y.address && x.exact == y.exact &&
                                               x.kind == y.kind;
                                      });
}

std::string_view Name(FrameSource source) {
  switch (source) {
    case FrameSource::kRegisters:
      return "registers";
    case FrameSource::kSFrame:
      return "sframe";
    case FrameSource::kEhFrame:
      return "eh_frame";
    case FrameSource::kFramePointer:
      return "fp";
    case FrameSource::kSignalTrampoline:
      return "trampoline";
    case FrameSource::kDebugFrame:
      return "debug_frame";
    case FrameSource::kRuntime:
      return "runtime";
  }
  return "?";
}

std::string_view Name(EndReason reason) {
  switch (reason) {
    case EndReason::kComplete:
      return "complete";
    case EndReason::kStackCopy:
      return "stack copy";
    case EndReason::kNoRow:
      return "no row";
    case EndReason::kExpression:
      return "expression";
    case EndReason::kRegisterUnknown:
      return "register unknown";
    case EndReason::kBadCfa:
      return "bad cfa";
    case EndReason::kBadReturnAddress:
      return "bad return address";
    case EndReason::kBadMemory:
      return "bad memory";
    case EndReason::kFrameLimit:
      return "frame limit";
    case EndReason::kNotMapped:
      return "not mapped";
    case EndReason::kMapsChanged:
      return "maps changed";
    case EndReason::kOtherStack:
      return "other stack";
    case EndReason::kUnread:
      return "stack not read";
    case EndReason::kGuessedEnd:
      return "guessed end";
    case EndReason::kGeneratedCode:
      return "generated code";
  }
  return "?";
}

}  // namespace offcpu
