// Functions and places in the source for addresses of a module: from the first file with debug information among its
// own, its separate debug file, and what its process has of that. Safe from any thread; reads block as the files do,
// perhaps for ever, but for what source_lines/ bounds.
#ifndef OFFCPU_SYMBOLIZE_MODULE_LINES_H_
#define OFFCPU_SYMBOLIZE_MODULE_LINES_H_

#include <chrono>
#include <cstdint>
#include <span>
#include <string>

#include "process/code_object.h"
#include "source_lines/source_lines.h"

namespace offcpu {

// `addresses`: sorted, each once. No chains if there is no such file. A file whose build id is not the module's is not
// used.
SourceLines ReadModuleLines(const CodeObject& code, std::span<const uint64_t> addresses,
                            const std::string& debug_directory, std::chrono::milliseconds time);

// The build id of the supplementary file that dwz has made of the file and of others, in lower-case hex; "" without
// one.
std::string SupplementaryId(int fd);

}  // namespace offcpu

#endif  // OFFCPU_SYMBOLIZE_MODULE_LINES_H_
