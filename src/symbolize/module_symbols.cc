#include "symbolize/module_symbols.h"

#include <elf.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "process/memory.h"
#include "symbolize/debug_files.h"
#include "symbolize/elf_file.h"
#include "symbolize/elf_symbols.h"
#include "symbolize/go_symbols.h"
#include "symbolize/perf_map.h"

namespace offcpu {
namespace {

// The symbols of `fd` if it is an ELF file with a full table, else none.
ElfSymbols ReadFull(const OwnedFd& fd) {
  FileMemory file(fd.get());
  auto elf = ElfFile::Parse(file);
  return elf.ok() ? ReadElfSymbols(*elf) : ElfSymbols();
}

constexpr uint64_t kMaxVdsoBytes = 1u << 20;

// Every process has the vDSO of its kernel, so this one's serves; it is mapped whole, section headers last.
SymbolTable ReadVdso(const Module& module) {
  ProcessMemory self(getpid());
  uint64_t base = getauxval(AT_SYSINFO_EHDR);
  auto header = self.ReadValue<Elf64_Ehdr>(base);
  if (!header || header->e_shoff > kMaxVdsoBytes) return {};
  std::string image(header->e_shoff + uint64_t{header->e_shnum} * header->e_shentsize, '\0');
  if (!self.Read(base, std::as_writable_bytes(std::span(image)))) return {};
  SpanMemory memory(0, std::as_bytes(std::span(image)));
  auto elf = ElfFile::Parse(memory);
  if (!elf.ok() || module.build_id.empty() || elf->BuildId() != module.build_id) return {};
  return ReadElfSymbols(*elf).table;
}

// As far as it is written by now.
SymbolTable ReadPerfMap(const Module& module) {
  struct stat st;
  if (fstat(module.file.get(), &st) != 0 || st.st_size <= 0) return {};
  std::string text(std::min<uint64_t>(static_cast<uint64_t>(st.st_size), kMaxPerfMapBytes), '\0');
  const FileMemory file(module.file.get());
  if (!file.Read(0, std::as_writable_bytes(std::span(text)))) return {};
  return ParsePerfMap(std::move(text));
}

ElfSymbols ReadFile(const Module& module, const std::string& debug_directory) {
  FileMemory file(module.file.get());
  auto elf = ElfFile::Parse(file);
  if (!elf.ok() || (!module.build_id.empty() && elf->BuildId() != module.build_id)) return {};
  ElfSymbols own = ReadElfSymbols(*elf);
  if (own.full) return own;
  if (SymbolTable go = ReadGoSymbols(*elf); !go.empty()) return {.table = std::move(go), .full = true};
  ElfSymbols linked = ReadFull(OpenDebugFileByLink(debug_directory, module.path, *elf, module.build_id));
  return linked.full ? std::move(linked) : std::move(own);
}

}  // namespace

SymbolTable ReadModuleSymbols(const Module& module, const std::string& debug_directory) {
  if (module.is_perf_map) return ReadPerfMap(module);
  if (module.path == "[vdso]") return ReadVdso(module);
  ElfSymbols own = ReadFile(module, debug_directory);
  if (own.full) return std::move(own.table);
  ElfSymbols separate = ReadFull(OpenDebugFileByBuildId(debug_directory, module.build_id));
  return separate.full ? std::move(separate.table) : std::move(own.table);
}

}  // namespace offcpu
