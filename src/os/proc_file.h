// The whole text of a file under /proc, whose size is not known before it is read. Safe from any thread, but a read may
// block for as long as the target likes. Does not interpret anything.
#ifndef OFFCPU_OS_PROC_FILE_H_
#define OFFCPU_OS_PROC_FILE_H_

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"

namespace offcpu {

// NotFound where the process is gone, ResourceExhausted above `max_bytes`.
absl::StatusOr<std::string> ReadProcFile(const std::string& path, size_t max_bytes);

}  // namespace offcpu

#endif  // OFFCPU_OS_PROC_FILE_H_
