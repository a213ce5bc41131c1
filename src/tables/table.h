// Tables for a reader: the programs that were off the CPU longest, and the stacks that cost most. Plain text without
// colours, UTF-8 only where a name has it. Sums are over threads, and so may exceed the length of the recording. What
// rows are one line says row_groups.h.
//
// `rows` are those of the profile that are to be shown (classify/idle.h).
#ifndef OFFCPU_TABLES_TABLE_H_
#define OFFCPU_TABLES_TABLE_H_

#include <cstddef>
#include <span>

#include "bytes/byte_sink.h"
#include "labels/row_value.h"
#include "profile/named_profile.h"
#include "tables/columns.h"
#include "tables/row_groups.h"

namespace offcpu {

struct TableOptions {
  RowValue value = RowValue::kOffCpu;  // that it is sorted by
  size_t limit = 20;                   // of lines, or of stacks
  RowsApart apart = RowsApart::kPrograms;
  size_t columns = kNoLimit;  // of the terminal; without one, lines are as long as they get, and stacks are whole
};

// One line for each of the programs or processes with the most time, with the cause and the innermost functions of its
// costliest stack, from the program's own function on.
void WriteProcessTable(const NamedProfile& profile, std::span<const NamedRow> rows, const TableOptions& options,
                       ByteSink sink);

// The costliest stacks of one thread name of one program or process, all kinds of wait together: times, then the frames
// from the outermost one down to where the thread left the CPU, with a mark at the program's own function
// (labels/own_function.h). Numbers in names of threads tell none apart. On a terminal the costliest comes last, where
// it stays on the screen.
void WriteStackTable(const NamedProfile& profile, std::span<const NamedRow> rows, const TableOptions& options,
                     ByteSink sink);

}  // namespace offcpu

#endif  // OFFCPU_TABLES_TABLE_H_
