// Names from the functions that an ELF object exports, as they were read from a process's memory
// (process/elf/exported_symbols.h). Pure; safe from any thread. Symbols without a size name nothing, because nothing
// shows how far they reach.
#ifndef OFFCPU_SYMBOLIZE_EXPORTED_NAMES_H_
#define OFFCPU_SYMBOLIZE_EXPORTED_NAMES_H_

#include <cstdint>
#include <span>

#include "process/module.h"
#include "symbolize/module_names.h"

namespace offcpu {

// `addresses`: link-time, sorted, each once. Never `full`.
ModuleNames ReadExportedNames(const Module& module, std::span<const uint64_t> addresses);

}  // namespace offcpu

#endif  // OFFCPU_SYMBOLIZE_EXPORTED_NAMES_H_
