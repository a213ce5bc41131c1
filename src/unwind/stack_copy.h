// The captured piece of a stack, which is all of it that a walk may read. A view: what it refers to must outlive it.
#ifndef OFFCPU_UNWIND_STACK_COPY_H_
#define OFFCPU_UNWIND_STACK_COPY_H_

#include <cstdint>

#include "process/memory.h"
#include "unwind/user_stack.h"

namespace offcpu {

// Nobody captures more: what is further away is on another stack.
inline constexpr uint64_t kMaxStackCopyBytes = 32 << 20;

struct StackCopy {
  const SpanMemory& memory;
  uint64_t begin = 0;  // [begin, end) was captured
  uint64_t end = 0;
  bool more = false;    // the stack goes on above `end`: a larger capture could help
  bool unread = false;  // it may go on there, but what follows could not be read

  bool goes_on() const { return more || unread; }
  // Why a walk ends that needs what lies above; `at_the_end` where there is nothing.
  EndReason Beyond(EndReason at_the_end) const {
    if (unread) return EndReason::kUnread;
    return more ? EndReason::kStackCopy : at_the_end;
  }
};

}  // namespace offcpu

#endif  // OFFCPU_UNWIND_STACK_COPY_H_
