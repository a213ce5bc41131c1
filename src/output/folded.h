// The folded form that flame graph tools read: one line for each distinct stack,
//   THREAD NAME;outermost;...;leaf;-;kernel outermost;...;kernel leaf VALUE
// without "-" and a kernel stack where the thread was in user mode, on a CPU.
// Where it is known who ended a wait, his way back from there follows, and so on along the chain of wakers:
//   ...;kernel leaf;--;his kernel leaf;...;his kernel outermost;-;his leaf;...;his outermost;HIS THREAD NAME VALUE
// An interrupt has `[interrupt]` behind the "-", and nothing else. All other chains, beyond the table's limit, are
// `--;[other]`.
// Stacks whose names are all the same are one line, whatever their addresses, processes and kinds of wait. Lines are
// sorted by thread name, user stack, kernel stack and waker. A ';' in a name becomes ':'.
//
// VALUE is a whole number: time off the CPU, or another figure of the rows. Stacks without any of
// another figure are left out. In nanoseconds the lines add up to the profile's total; in microseconds each line is
// rounded on its own, half up, so that the sum is within half a microsecond a line of it.
#ifndef OFFCPU_OUTPUT_FOLDED_H_
#define OFFCPU_OUTPUT_FOLDED_H_

#include "bytes/byte_sink.h"
#include "labels/row_value.h"
#include "profile/named_profile.h"

namespace offcpu {

struct FoldedOptions {
  RowValue value = RowValue::kOffCpu;
  bool nanoseconds = false;  // microseconds else; counts have no unit
  bool per_process = false;  // lines begin with "PROCESS NAME-PID;", and processes are not added up
};

void WriteFolded(const NamedProfile& profile, const FoldedOptions& options, ByteSink sink);

}  // namespace offcpu

#endif  // OFFCPU_OUTPUT_FOLDED_H_
