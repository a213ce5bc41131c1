#include "symbolize/module_symbols.h"

#include <elf.h>
#include <sys/auxv.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "process/memory.h"
#include "symbolize/debug_files.h"
#include "symbolize/elf_file.h"
#include "symbolize/elf_symbols.h"

namespace offcpu {
namespace {

// The symbols of `fd` if it is an ELF file with a full table, else none.
ElfSymbols ReadFull(const OwnedFd& fd) {
  FileMemory file(fd.get());
  auto elf = ElfFile::Parse(file);
  return elf.ok() ? ReadElfSymbols(*elf) : ElfSymbols();
}

// Every process has the vDSO of its kernel; it is mapped whole, section headers last.
SymbolTable ReadVdso(const Module& module) {
  const auto* header = reinterpret_cast<const Elf64_Ehdr*>(getauxval(AT_SYSINFO_EHDR));
  if (header == nullptr) return {};
  size_t size = header->e_shoff + size_t{header->e_shnum} * header->e_shentsize;
  SpanMemory memory(0, std::span(reinterpret_cast<const std::byte*>(header), size));
  auto elf = ElfFile::Parse(memory);
  if (!elf.ok() || module.build_id.empty() || elf->BuildId() != module.build_id) return {};
  return ReadElfSymbols(*elf).table;
}

ElfSymbols ReadFile(const Module& module, const std::string& debug_directory) {
  FileMemory file(module.file.get());
  auto elf = ElfFile::Parse(file);
  if (!elf.ok() || (!module.build_id.empty() && elf->BuildId() != module.build_id)) return {};
  ElfSymbols own = ReadElfSymbols(*elf);
  if (own.full) return own;
  ElfSymbols linked = ReadFull(OpenDebugFileByLink(debug_directory, module.path, *elf, module.build_id));
  return linked.full ? std::move(linked) : std::move(own);
}

}  // namespace

SymbolTable ReadModuleSymbols(const Module& module, const std::string& debug_directory) {
  if (module.path == "[vdso]") return ReadVdso(module);
  ElfSymbols own = ReadFile(module, debug_directory);
  if (own.full) return std::move(own.table);
  ElfSymbols separate = ReadFull(OpenDebugFileByBuildId(debug_directory, module.build_id));
  return separate.full ? std::move(separate.table) : std::move(own.table);
}

}  // namespace offcpu
