// The best names that can be had for addresses of a code object: of a module's own file, of its separate debug file, of
// what it exports, or of a perf map. Safe from any thread; reads block as the files do, perhaps for ever.
#ifndef OFFCPU_SYMBOLIZE_MODULE_SYMBOLS_H_
#define OFFCPU_SYMBOLIZE_MODULE_SYMBOLS_H_

#include <cstdint>
#include <span>
#include <string>

#include "os/owned_fd.h"
#include "process/code_object.h"
#include "process/module.h"
#include "symbolize/module_names.h"

namespace offcpu {

// `addresses`: sorted, each once. A file whose build id is not the module's is not used: it has been
// replaced since it was mapped.
ModuleNames ReadNames(const CodeObject& code, std::span<const uint64_t> addresses, const std::string& debug_directory);

// From a debug file of the module. `full` if it is an ELF file with a full table.
ModuleNames ReadDebugFile(const OwnedFd& fd, const Module& module, std::span<const uint64_t> addresses);

}  // namespace offcpu

#endif  // OFFCPU_SYMBOLIZE_MODULE_SYMBOLS_H_
