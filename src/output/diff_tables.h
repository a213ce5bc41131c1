// What differs between two recordings, for a reader: what grew and what shrank. Figures are those of a second; a share
// is of all that there was before, so that the shares of all lines add up to the change of the whole. Plain text.
#ifndef OFFCPU_OUTPUT_DIFF_TABLES_H_
#define OFFCPU_OUTPUT_DIFF_TABLES_H_

#include <cstddef>
#include <string>

#include "bytes/byte_sink.h"
#include "output/diff.h"

namespace offcpu {

// How much is hidden, of what no table shows; "" if nothing is.
std::string HiddenLine(const ProfileDiff& diff);

// `lines` of the table by label; `stacks` that grew, and as many that shrank.
void WriteDiffTables(const ProfileDiff& diff, size_t lines, size_t stacks, ByteSink sink);

}  // namespace offcpu

#endif  // OFFCPU_OUTPUT_DIFF_TABLES_H_
