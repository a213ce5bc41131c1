// A whole profile as pprof reads it, gzipped; `offcpu report` makes every other format of it (pprof_reader.h). The same
// profile gives the same bytes.
//
// Each row is a sample: all values of row_value.h, whether what ran was sampled or not, so that pprof can compare any
// two files; and the labels of row_labels.h and pprof_labels.h. Its stack is the kernel frames and then the user
// frames, leaf first, with what is missing as a frame of its own without an address, named as in the folded form.
// drop_frames makes pprof begin its views with the functions that wait (pprof_functions.h); the file has the
// scheduler's all the same.
//
// Addresses are those to look up: of a frame that called another, the return address less one, which lies inside the
// call, as pprof's format wants it; of the user leaf and of frames interrupted by a signal, the instruction itself.
// Symbolizers take them as they are. They are link-time addresses, because processes that map a module at different
// places share its frames; a mapping therefore spans the whole address space, which tells pprof not to move them.
// Code without a file keeps its address in the process and has no mapping. Names are as valid UTF-8 as the format
// demands: bytes that are not become U+FFFD, control characters '?'.
#ifndef OFFCPU_PPROF_PPROF_H_
#define OFFCPU_PPROF_PPROF_H_

#include "bytes/byte_sink.h"
#include "profile/named_profile.h"

namespace offcpu {

void WritePprof(const NamedProfile& profile, ByteSink sink);

}  // namespace offcpu

#endif  // OFFCPU_PPROF_PPROF_H_
