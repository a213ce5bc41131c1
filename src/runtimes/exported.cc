#include "runtimes/exported.h"

#include <elf.h>

#include <cstring>

namespace offcpu {

std::map<std::string, uint64_t, std::less<>> ExportedSymbols(const ElfFile& elf, std::string_view prefix) {
  std::map<std::string, uint64_t, std::less<>> found;
  const ElfSection* symbols = elf.FindType(SHT_DYNSYM);
  if (symbols == nullptr || elf.is_32_bit() || symbols->link >= elf.sections().size()) return found;
  const ElfSection& names = elf.sections()[symbols->link];
  if (symbols->size > kMaxExportedBytes || names.size > kMaxExportedBytes) return found;
  const absl::StatusOr<std::string> entries = elf.Read(*symbols);
  const absl::StatusOr<std::string> texts = elf.Read(names);
  if (!entries.ok() || !texts.ok()) return found;
  for (size_t at = 0; at + sizeof(Elf64_Sym) <= entries->size() && found.size() < kMaxExported;
       at += sizeof(Elf64_Sym)) {
    Elf64_Sym symbol;
    std::memcpy(&symbol, entries->data() + at, sizeof(symbol));
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_name >= texts->size()) continue;
    // As many symbols as there may be can have the same long name.
    std::string_view name = std::string_view(*texts).substr(symbol.st_name, kMaxExportedNameBytes + 1);
    if (!name.starts_with(prefix)) continue;
    name = name.substr(0, name.find('\0'));
    if (name.size() > kMaxExportedNameBytes) continue;
    found.try_emplace(std::string(name.substr(prefix.size())), symbol.st_value);
  }
  return found;
}

}  // namespace offcpu
