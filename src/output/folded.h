// The folded form that flame graph tools read: one line for each distinct stack,
//   PROGRAM;THREAD NAME;outermost;...;leaf;-;kernel outermost_[k];...;kernel leaf_[k] VALUE
// without "-" and a kernel stack where the thread was in user mode, on a CPU. "_[k]" is what flamegraph.pl colours
// functions of the kernel by (--color=java and others).
// Where it is known which thread ended a wait, its way back from there follows, and so on along the chain of wakers:
//   ...;kernel leaf_[k];--;its kernel leaf_[k];...;-;its leaf;...;its outermost;ITS THREAD NAME;ITS PROGRAM VALUE
// An interrupt has `[interrupt]` behind the "-", and nothing else. All other chains, beyond the table's limit, are
// `--;[other]`.
// Stacks whose names are all the same are one line, whatever their addresses, processes and kinds of wait. Lines are
// sorted by program, thread name, user stack, kernel stack and waker. A ';' in a name becomes ':'.
//
// VALUE is a whole number: time off the CPU, or another figure of the rows. Stacks that have 0 of it are left out, but
// not where it is time off the CPU or wall-clock time. In nanoseconds the lines add up to the profile's total; in
// microseconds each line is rounded on its own, half up, so that the sum is within half a microsecond a line of it.
#ifndef OFFCPU_OUTPUT_FOLDED_H_
#define OFFCPU_OUTPUT_FOLDED_H_

#include <cstdint>
#include <span>
#include <string>

#include "absl/functional/function_ref.h"
#include "bytes/byte_sink.h"
#include "labels/row_value.h"
#include "profile/named_profile.h"

namespace offcpu {

struct FoldedOptions {
  RowValue value = RowValue::kOffCpu;
  bool nanoseconds = false;  // microseconds else; counts have no unit
  bool per_process = false;  // "PROGRAM-PID" instead of the program: processes are not added up
};

using StackVisitor = absl::FunctionRef<void(const std::string& stack, const RowSums& sums)>;

// In the order of the lines; sums are not rounded. `rows`: those of the profile that are to be shown
// (classify/idle.h).
void ForEachStack(const NamedProfile& profile, std::span<const NamedRow> rows, const FoldedOptions& options,
                  StackVisitor visit);

void WriteFolded(const NamedProfile& profile, std::span<const NamedRow> rows, const FoldedOptions& options,
                 ByteSink sink);

}  // namespace offcpu

#endif  // OFFCPU_OUTPUT_FOLDED_H_
