// Reads a pprof file that offcpu wrote back into what it was made of, so that every format can be made of it later, on
// any machine. Files of other tools are refused: they do not say what the waits are. So are files that others have
// written again (`go tool pprof -proto`): they may lack frames and labels.
//
// The file is anyone's: its sizes are capped, its numbers and references checked. What does not come back: stacks and
// processes that no row refers to, ids of kernel stacks, start times of processes (ProcessKey::exec_id counts the
// programs of one pid instead), and of modules all but path and build id.
#ifndef OFFCPU_PPROF_PPROF_READER_H_
#define OFFCPU_PPROF_PPROF_READER_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "pprof/pprof_fields.h"
#include "profile/named_profile.h"

namespace offcpu {

inline constexpr size_t kMaxPprofFileBytes = 256u << 20;  // a recording at the caps of its tables takes half
inline constexpr size_t kMaxPprofBytes = 512u << 20;      // of what is compressed in it

// A pprof message, gzipped or not. InvalidArgument if it is not one of offcpu's, DataLoss if it is damaged,
// ResourceExhausted beyond a limit; the message continues a sentence that begins with the file's name.
absl::StatusOr<NamedProfile> ParsePprof(std::string_view bytes, const PprofLimits& limits = {});

// NotFound or InvalidArgument if there is no such regular file. The status names the path.
absl::StatusOr<NamedProfile> ReadPprofFile(const std::string& path);

}  // namespace offcpu

#endif  // OFFCPU_PPROF_PPROF_READER_H_
