// What differs between two recordings, as files for other programs.
#ifndef OFFCPU_OUTPUT_DIFF_FILES_H_
#define OFFCPU_OUTPUT_DIFF_FILES_H_

#include "bytes/byte_sink.h"
#include "output/diff.h"

namespace offcpu {

// As difffolded.pl writes it and flamegraph.pl reads it: a line for each stack, "STACK BEFORE AFTER", sorted. What was
// before is what it would have been in a recording as long as the later one. In microseconds, unless `nanoseconds`.
void WriteDiffFolded(const ProfileDiff& diff, bool nanoseconds, ByteSink sink);

// One object; amounts are as recorded, beside how long that took.
void WriteDiffJson(const ProfileDiff& diff, ByteSink sink);

}  // namespace offcpu

#endif  // OFFCPU_OUTPUT_DIFF_FILES_H_
