// Symbols that an ELF file exports, by their names: those of .dynsym, which is there even in a stripped file. Reads as
// the file does; safe from any thread.
#ifndef OFFCPU_RUNTIMES_EXPORTED_H_
#define OFFCPU_RUNTIMES_EXPORTED_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "process/elf/file.h"

namespace offcpu {

inline constexpr size_t kMaxExportedBytes = 8 << 20;  // of .dynsym, and of its names
inline constexpr size_t kMaxExported = 256;           // symbols that are kept
inline constexpr size_t kMaxExportedNameBytes = 256;  // longer names are none

// The link-time addresses of all symbols whose name begins with `prefix`, by what follows; without a version. Empty if
// the file has none, or larger tables than are read.
std::map<std::string, uint64_t, std::less<>> ExportedSymbols(const ElfFile& elf, std::string_view prefix);
// The same of all symbols that have one of these names, by their names.
std::map<std::string, uint64_t, std::less<>> ExportedSymbols(const ElfFile& elf,
                                                             std::span<const std::string_view> names);

}  // namespace offcpu

#endif  // OFFCPU_RUNTIMES_EXPORTED_H_
