// What the file of a module adds to what is mapped of it: tables, where code keeps frames, and what a language runtime
// knows of it. Tables are found by section headers: for objects without PT_GNU_EH_FRAME, as static programs are linked,
// and without PT_GNU_SFRAME, as lld links. Section headers are not mapped, so `file` is the file itself, an offset
// being an address. Safe from any thread.
#ifndef OFFCPU_PROCESS_ELF_TABLE_SECTIONS_H_
#define OFFCPU_PROCESS_ELF_TABLE_SECTIONS_H_

#include <string_view>

#include "process/code_reader.h"
#include "process/elf/file.h"
#include "process/memory.h"
#include "process/module.h"

namespace offcpu {

// The section of that name that has bytes, and is mapped or not; null if there is none, or if it has more than a table
// may have (image.h), which `module` then notes, unless that is null.
const ElfSection* FindTableSection(const ElfFile& file, std::string_view name, bool mapped, Module* module = nullptr);

// The one that is mapped, for which the lease of `module` pays, if that is not null. Empty if there is none, the file
// is damaged, or there is no room.
ModuleTable ReadTableSection(const ElfFile& file, std::string_view name, Module* module);
ModuleTable ReadTableSection(const Memory& file, std::string_view name);

// .debug_frame, which is not mapped, uncompressed; its address is 0. Otherwise as above.
ModuleTable ReadDebugFrame(const Memory& file);

// Adds the tables that the program headers of `module` do not name, compares those that they do (matches_file), and
// says what else only sections tell: of a language that `reader` knows, that does.
void AddTableSections(const Memory& file, Module* module, const CodeReader& reader = {});

}  // namespace offcpu

#endif  // OFFCPU_PROCESS_ELF_TABLE_SECTIONS_H_
