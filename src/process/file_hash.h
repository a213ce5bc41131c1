// The name of an executable by which back ends find its symbols though it has no build id: OpenTelemetry's attribute
// process.executable.build_id.htlhash. Safe from any thread; may block on a file system that hangs.
#ifndef OFFCPU_PROCESS_FILE_HASH_H_
#define OFFCPU_PROCESS_FILE_HASH_H_

#include <string>

#include "os/owned_fd.h"

namespace offcpu {

// In lower-case hex, the first 16 bytes of the SHA-256 of the file's first 4 KiB, its last 4 KiB (of a shorter file
// twice all of it), and its length as a big-endian number of 64 bits. Empty if the file cannot be read.
// See https://opentelemetry.io/docs/specs/otel/profiles/mappings.
std::string FileHash(const OwnedFd& file);

}  // namespace offcpu

#endif  // OFFCPU_PROCESS_FILE_HASH_H_
