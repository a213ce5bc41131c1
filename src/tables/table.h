// Tables for a reader: the processes that were off the CPU longest, and the stacks that cost most. Plain text without
// colours, UTF-8 only where a name has it. Sums are over threads, and so may exceed the length of the recording.
#ifndef OFFCPU_TABLES_TABLE_H_
#define OFFCPU_TABLES_TABLE_H_

#include <cstddef>

#include "bytes/byte_sink.h"
#include "labels/row_value.h"
#include "profile/named_profile.h"

namespace offcpu {

// One line for each of the `limit` processes with the most time, with the leaf of its costliest stack.
void WriteProcessTable(const NamedProfile& profile, RowValue value, size_t limit, ByteSink sink);

// The `limit` costliest stacks of one thread name of one process, all kinds of wait together: times, then the frames
// from the outermost one down to where the thread left the CPU.
void WriteStackTable(const NamedProfile& profile, RowValue value, size_t limit, ByteSink sink);

}  // namespace offcpu

#endif  // OFFCPU_TABLES_TABLE_H_
