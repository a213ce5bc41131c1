// Reads an ELF object from its file, as ReadElfImage reads it from a process that has mapped it. Safe from any thread;
// blocks as the file does. Every byte is taken as hostile.
#ifndef OFFCPU_PROCESS_ELF_FILE_IMAGE_H_
#define OFFCPU_PROCESS_ELF_FILE_IMAGE_H_

#include "absl/status/statusor.h"
#include "process/memory.h"
#include "process/module.h"

namespace offcpu {

// `file`: offsets are addresses. Without path, content_hash and file.
absl::StatusOr<Module> ReadFileImage(const Memory& file);

}  // namespace offcpu

#endif  // OFFCPU_PROCESS_ELF_FILE_IMAGE_H_
