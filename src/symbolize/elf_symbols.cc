#include "symbolize/elf_symbols.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "symbolize/xz.h"

namespace offcpu {
namespace {

struct Collected {
  std::vector<Symbol> symbols;
  std::deque<std::string> storage;  // the string tables
};

// Empty if there is none. "read@@GLIBC_2.2.5" is read.
std::string_view NameAt(std::string_view strings, uint32_t offset) {
  if (offset >= strings.size()) return {};
  std::string_view name = strings.substr(offset, kMaxSymbolNameBytes);
  name = name.substr(0, name.find('\0'));
  return name.substr(0, name.find('@'));
}

// Lower is better: a size tells where the symbol ends, a type that it is a function, a global name is the public one.
std::optional<int> RankOf(const Elf64_Sym& symbol, bool executable) {
  unsigned type = ELF64_ST_TYPE(symbol.st_info);
  bool function = type == STT_FUNC || type == STT_GNU_IFUNC;
  if (!function && !(type == STT_NOTYPE && executable)) return std::nullopt;
  bool local = ELF64_ST_BIND(symbol.st_info) == STB_LOCAL;
  return (symbol.st_size == 0 ? 4 : 0) + (function ? 0 : 2) + (local ? 1 : 0);
}

std::optional<Symbol> Convert(const Elf64_Sym& raw, const ElfFile& elf, std::string_view strings) {
  if (raw.st_shndx == SHN_UNDEF || raw.st_shndx >= elf.sections().size()) return std::nullopt;
  const ElfSection& section = elf.sections()[raw.st_shndx];
  auto rank = RankOf(raw, (section.flags & SHF_EXECINSTR) != 0);
  if (!rank || raw.st_value < section.address || raw.st_value - section.address >= section.size) return std::nullopt;
  uint64_t room = section.size - (raw.st_value - section.address);
  if (room > UINT64_MAX - raw.st_value) return std::nullopt;
  std::string_view name = NameAt(strings, raw.st_name);
  if (name.empty() || name.starts_with(".L")) return std::nullopt;
  bool sized = raw.st_size != 0;
  return Symbol{.begin = raw.st_value,
                .end = raw.st_value + (sized ? std::min(raw.st_size, room) : room),
                .sized = sized,
                .rank = *rank,
                .name = name};
}

// False if the file has no such table that can be read.
bool Collect(const ElfFile& elf, uint32_t type, Collected& collected) {
  const ElfSection* section = elf.FindType(type);
  if (section == nullptr || section->link >= elf.sections().size()) return false;
  auto table = elf.Read(*section);
  auto strings = elf.Read(elf.sections()[section->link]);
  if (!table.ok() || !strings.ok()) return false;
  std::string_view names = collected.storage.emplace_back(std::move(*strings));
  for (size_t at = 0; table->size() - at >= sizeof(Elf64_Sym); at += sizeof(Elf64_Sym)) {
    Elf64_Sym raw;
    std::memcpy(&raw, table->data() + at, sizeof(raw));
    if (auto symbol = Convert(raw, elf, names)) collected.symbols.push_back(*symbol);
  }
  return true;
}

void CollectDebugData(const ElfFile& elf, Collected& collected) {
  const ElfSection* section = elf.Find(".gnu_debugdata");
  if (section == nullptr) return;
  auto compressed = elf.Read(*section);
  if (!compressed.ok()) return;
  auto image = DecompressXz(*compressed, kMaxSectionBytes);
  if (!image.ok()) return;
  SpanMemory memory(0, std::as_bytes(std::span(*image)));
  auto inner = ElfFile::Parse(memory);
  if (inner.ok()) Collect(*inner, SHT_SYMTAB, collected);
}

}  // namespace

ElfSymbols ReadElfSymbols(const ElfFile& elf) {
  Collected collected;
  bool full = Collect(elf, SHT_SYMTAB, collected);
  if (!full) {
    Collect(elf, SHT_DYNSYM, collected);
    CollectDebugData(elf, collected);
  }
  return {.table = SymbolTable(std::move(collected.symbols), std::move(collected.storage)), .full = full};
}

}  // namespace offcpu
