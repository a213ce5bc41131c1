// What the numbers of wire.h are called here. Pure functions.
#ifndef OFFCPU_BPF_PROGRAMS_WIRE_NAMES_H_
#define OFFCPU_BPF_PROGRAMS_WIRE_NAMES_H_

#include "bpf/wire.h"
#include "process/identity.h"
#include "process/machine.h"
#include "profile/profile.h"

namespace offcpu {

inline ProcessKey KeyOf(const wire_process& process) {
  return {.pid = static_cast<int32_t>(process.tgid), .start_ns = process.start_ns, .exec_id = process.exec_id};
}

WaitKind KindOf(uint32_t kind);           // of wire_kind; kOther if it is none
wire_kind WireKind(WaitKind kind);        // of one that an interval can have
NoUserStack MissingOf(uint32_t no_user);  // of wire_no_user; kLost if it is none

// The number that profiles have for a call of the machine, see wire_interval. Any number can be asked for, and each is
// a key of rows: those that no kernel can have are none.
int32_t SystemCallOf(const Machine& machine, int32_t syscall);

}  // namespace offcpu

#endif  // OFFCPU_BPF_PROGRAMS_WIRE_NAMES_H_
