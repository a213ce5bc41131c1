// Writes an output file whole or not at all: into a temporary file beside it, which takes its place when it is
// complete. After an error an older file is as it was, and nothing is left over. What is not a regular file (a fifo, a
// terminal, /dev/stdout) is written directly, and so is "-", the standard output.
//
// Does not sync: a crash of the machine may lose the file. A caller that writes to pipes ignores SIGPIPE.
#ifndef OFFCPU_BYTES_WRITE_FILE_H_
#define OFFCPU_BYTES_WRITE_FILE_H_

#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "bytes/byte_sink.h"

namespace offcpu {

// Writes all bytes to a descriptor that blocks. Zero, or the errno of the first failure. Safe in a signal handler.
int WriteAll(int fd, std::string_view bytes);

// `write` gets a sink for the file's bytes. The status names the path.
absl::Status WriteFile(const std::string& path, absl::FunctionRef<void(ByteSink)> write);

}  // namespace offcpu

#endif  // OFFCPU_BYTES_WRITE_FILE_H_
