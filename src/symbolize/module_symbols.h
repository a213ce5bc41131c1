// The best names that can be had for addresses of a module: of its own file, of its separate debug file, of the perf
// map that it stands for, or of this process's vDSO. Safe from any thread; reads block as the files do, perhaps for
// ever.
#ifndef OFFCPU_SYMBOLIZE_MODULE_SYMBOLS_H_
#define OFFCPU_SYMBOLIZE_MODULE_SYMBOLS_H_

#include <cstdint>
#include <span>
#include <string>

#include "process/module.h"
#include "symbolize/module_names.h"

namespace offcpu {

// `addresses`: link-time, sorted, each once. A file whose build id is not the module's is not used: it has been
// replaced since it was mapped.
ModuleNames ReadModuleNames(const Module& module, std::span<const uint64_t> addresses,
                            const std::string& debug_directory);

}  // namespace offcpu

#endif  // OFFCPU_SYMBOLIZE_MODULE_SYMBOLS_H_
