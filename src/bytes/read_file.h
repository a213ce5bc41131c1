// Reads a file that a person has named: a configuration, a token, a certificate, a stored profile. Only regular files,
// of a bounded size: a FIFO would hang the process that opens it, and /dev/zero has no end. What a process has mapped,
// and what the kernel shows in /proc, is not read so.
//
// Threads: any. May block on a file system that hangs, and nowhere else.
#ifndef OFFCPU_BYTES_READ_FILE_H_
#define OFFCPU_BYTES_READ_FILE_H_

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"

namespace offcpu {

// What people write by hand is far smaller, and so are all certificates that a host trusts.
inline constexpr size_t kMaxSmallFileBytes = 1u << 20;

// The bytes of the file. NotFound and PermissionDenied as the kernel has it, InvalidArgument for what is no regular
// file, ResourceExhausted above `max_bytes`: in one line that begins with the path.
absl::StatusOr<std::string> ReadRegularFile(const std::string& path, size_t max_bytes = kMaxSmallFileBytes);

}  // namespace offcpu

#endif  // OFFCPU_BYTES_READ_FILE_H_
