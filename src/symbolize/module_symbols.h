// The best symbols that can be had for a module: of its own file, of its separate debug file, or of this process's
// vDSO. Safe from any thread; reads block as the files do.
#ifndef OFFCPU_SYMBOLIZE_MODULE_SYMBOLS_H_
#define OFFCPU_SYMBOLIZE_MODULE_SYMBOLS_H_

#include <string>

#include "process/module.h"
#include "symbolize/symbol_table.h"

namespace offcpu {

// By link-time address; empty if nothing is found. A file whose build id is not the module's is not used: it has been
// replaced since it was mapped.
SymbolTable ReadModuleSymbols(const Module& module, const std::string& debug_directory);

}  // namespace offcpu

#endif  // OFFCPU_SYMBOLIZE_MODULE_SYMBOLS_H_
