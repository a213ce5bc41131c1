// What the numbers of wire.h are called here. Pure functions.
#ifndef OFFCPU_BPF_PROGRAMS_WIRE_NAMES_H_
#define OFFCPU_BPF_PROGRAMS_WIRE_NAMES_H_

#include "bpf/wire.h"
#include "bpf_programs/i386_calls.h"
#include "process/identity.h"
#include "profile/profile.h"

namespace offcpu {

inline ProcessKey KeyOf(const wire_process& process) {
  return {.pid = static_cast<int32_t>(process.tgid), .start_ns = process.start_ns, .exec_id = process.exec_id};
}

WaitKind KindOf(uint32_t kind);           // of wire_kind; kOther if it is none
wire_kind WireKind(WaitKind kind);        // of one that an interval can have
NoUserStack MissingOf(uint32_t no_user);  // of wire_no_user; kLost if it is none

// Any number can be asked for, and each is a key of rows: those that no kernel can have are none.
inline int32_t SystemCallOf(int32_t syscall) {
  if (syscall >= 0 && (syscall & WIRE_32_BIT_CALL) != 0) return NativeCallOfI386(syscall & ~WIRE_32_BIT_CALL);
  return syscall >= 0 && syscall < kSystemCalls ? syscall : kNoSystemCall;
}

}  // namespace offcpu

#endif  // OFFCPU_BPF_PROGRAMS_WIRE_NAMES_H_
