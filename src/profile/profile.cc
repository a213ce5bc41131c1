#include "profile/profile.h"

namespace offcpu {

std::string_view Name(WaitKind kind) {
  switch (kind) {
    case WaitKind::kSleeping:
      return "sleeping";
    case WaitKind::kDisk:
      return "disk";
    case WaitKind::kStopped:
      return "stopped";
    case WaitKind::kPreempted:
      return "preempted";
    case WaitKind::kYielded:
      return "yielded";
    case WaitKind::kThrottled:
      return "throttled";
    case WaitKind::kOpen:
      return "open";
    case WaitKind::kRunning:
      return "running";
    case WaitKind::kOther:
      break;
  }
  return "other";
}

std::string_view Name(NoUserStack reason) {
  switch (reason) {
    case NoUserStack::kNone:
      return "none";
    case NoUserStack::kBudget:
      return "budget";
    case NoUserStack::kRingFull:
      return "ring full";
    case NoUserStack::kNoBuffer:
      return "no buffer";
    case NoUserStack::kUnreadable:
      return "unreadable";
    case NoUserStack::kExiting:
      return "exiting";
    case NoUserStack::kExec:
      return "exec";
    case NoUserStack::kPending:
      return "pending";
    case NoUserStack::kLost:
      return "lost";
    case NoUserStack::kGone:
      return "gone";
    case NoUserStack::kTargetStuck:
      return "target stuck";
    case NoUserStack::kUnreadableProcess:
      return "unreadable process";
    case NoUserStack::kChangingProcess:
      return "changing process";
    case NoUserStack::kNotSeenLeaving:
      return "not seen leaving";
    case NoUserStack::kSwitchedOff:
      return "switched off";
    case NoUserStack::kOverload:
      return "overload";
    case NoUserStack::k32BitCode:
      return "32-bit code";
    case NoUserStack::kUnsupported:
      return "unsupported";
    case NoUserStack::kStale:
      return "stale";
    case NoUserStack::kKernelThread:
      return "kernel thread";
    case NoUserStack::kOnCpu:
      return "on CPU";
    case NoUserStack::kNotAsked:
      return "not asked";
  }
  return "unknown";
}

}  // namespace offcpu
