#include "bpf_programs/wire_names.h"

#include "bpf_programs/aarch64_calls.h"
#include "bpf_programs/i386_calls.h"

namespace offcpu {

WaitKind KindOf(uint32_t kind) {
  switch (kind) {
    case WIRE_KIND_SLEEPING:
      return WaitKind::kSleeping;
    case WIRE_KIND_DISK:
      return WaitKind::kDisk;
    case WIRE_KIND_STOPPED:
      return WaitKind::kStopped;
    case WIRE_KIND_PREEMPTED:
      return WaitKind::kPreempted;
    case WIRE_KIND_YIELDED:
      return WaitKind::kYielded;
    case WIRE_KIND_THROTTLED:
      return WaitKind::kThrottled;
    default:
      return WaitKind::kOther;
  }
}

wire_kind WireKind(WaitKind kind) {
  for (uint32_t wire = 0; wire < WIRE_KINDS; ++wire) {
    if (KindOf(wire) == kind) return static_cast<wire_kind>(wire);
  }
  return WIRE_KIND_OTHER;
}

int32_t SystemCallOf(const Machine& machine, int32_t syscall) {
  if (syscall < 0) return kNoSystemCall;
  const int32_t number = syscall & ~WIRE_32_BIT_CALL;
  if (number != syscall) return machine.also == &kI386 ? NativeCallOfI386(number) : kNoSystemCall;
  if (&machine == &kAArch64) return ProfileCallOfAArch64(number);
  return number < kSystemCalls ? number : kNoSystemCall;
}

NoUserStack MissingOf(uint32_t no_user) {
  switch (no_user) {
    case WIRE_NO_USER_BUDGET:
      return NoUserStack::kBudget;
    case WIRE_NO_USER_RING_FULL:
      return NoUserStack::kRingFull;
    case WIRE_NO_USER_NO_BUFFER:
      return NoUserStack::kNoBuffer;
    case WIRE_NO_USER_UNREADABLE:
      return NoUserStack::kUnreadable;
    case WIRE_NO_USER_EXITING:
      return NoUserStack::kExiting;
    case WIRE_NO_USER_EXEC:
      return NoUserStack::kExec;
    case WIRE_NO_USER_UNSUPPORTED:
      return NoUserStack::kUnsupported;
    case WIRE_NO_USER_KERNEL_THREAD:
      return NoUserStack::kKernelThread;
    case WIRE_NO_USER_NOT_ASKED:
      return NoUserStack::kNotAsked;
    case WIRE_NO_USER_NOT_SEEN_LEAVING:
      return NoUserStack::kNotSeenLeaving;
    case WIRE_NO_USER_32_BIT:
      return NoUserStack::k32BitCode;
    case WIRE_NO_USER_SWITCHED_OFF:
      return NoUserStack::kSwitchedOff;
    case WIRE_NO_USER_OVERLOAD:
      return NoUserStack::kOverload;
    default:
      return NoUserStack::kLost;
  }
}

}  // namespace offcpu
