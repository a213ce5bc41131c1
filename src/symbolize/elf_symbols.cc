#include "symbolize/elf_symbols.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "process/elf/headers.h"
#include "symbolize/symbol_search.h"
#include "symbolize/xz.h"

namespace offcpu {
namespace {

// Lower is better: a size tells where the symbol ends, a type that it is a function, a global name is the public one.
std::optional<int> RankOf(const Elf64_Sym& symbol, bool executable) {
  unsigned type = ELF64_ST_TYPE(symbol.st_info);
  bool function = type == STT_FUNC || type == STT_GNU_IFUNC;
  if (!function && !(type == STT_NOTYPE && executable)) return std::nullopt;
  bool local = ELF64_ST_BIND(symbol.st_info) == STB_LOCAL;
  return (symbol.st_size == 0 ? 4 : 0) + (function ? 0 : 2) + (local ? 1 : 0);
}

std::optional<SymbolRange> Convert(const Elf64_Sym& raw, const ElfFile& elf, NameSource* names) {
  if (raw.st_shndx == SHN_UNDEF || raw.st_shndx >= elf.sections().size()) return std::nullopt;
  const ElfSection& section = elf.sections()[raw.st_shndx];
  auto rank = RankOf(raw, (section.flags & SHF_EXECINSTR) != 0);
  if (!rank || raw.st_value < section.address || raw.st_value - section.address >= section.size) return std::nullopt;
  uint64_t room = section.size - (raw.st_value - section.address);
  if (room > UINT64_MAX - raw.st_value) return std::nullopt;
  bool sized = raw.st_size != 0;
  return SymbolRange{.begin = raw.st_value,
                     .end = raw.st_value + (sized ? std::min(raw.st_size, room) : room),
                     .sized = sized,
                     .rank = *rank,
                     .key = raw.st_value,
                     .names = names,
                     .name = raw.st_name};
}

// Compilers that are not C's call their code what they like.
bool IsOtherCode(const Elf64_Sym& raw, const ElfFile& elf) {
  if (ELF64_ST_TYPE(raw.st_info) != STT_OBJECT || raw.st_shndx == SHN_UNDEF) return false;
  return raw.st_shndx < elf.sections().size() && (elf.sections()[raw.st_shndx].flags & SHF_EXECINSTR) != 0;
}

// What begins so is for assemblers: labels, and on AArch64 marks of where there is code, and where data in it.
std::vector<std::string> NotNames(const ElfFile& elf) {
  if (elf.machine() == EM_AARCH64) return {".L", "$x", "$d"};
  return {".L"};
}

using NameSources = std::deque<NameSource>;

// To its last byte? It is searched a piece at a time, so that it may be large.
bool IsThere(const ElfFile& elf, const ElfSection& section) {
  return section.type != SHT_NOBITS && (section.flags & SHF_COMPRESSED) == 0 &&
         (section.size == 0 || (section.offset <= UINT64_MAX - section.size &&
                                elf.memory().ReadValue<std::byte>(section.offset + section.size - 1).has_value()));
}

// False if the file has no such table that can be read.
bool Search(const ElfFile& elf, uint32_t type, NameSources* sources, SymbolSearch* search, bool* too_large) {
  constexpr size_t kPiece = 8192;  // symbols
  const ElfSection* section = elf.FindType(type);
  if (section == nullptr || section->link >= elf.sections().size()) return false;
  *too_large |= section->size > kMaxSymbolTableBytes;
  if (section->size > kMaxSymbolTableBytes) return false;
  const ElfSection& strings = elf.sections()[section->link];
  if (!IsThere(elf, *section) || !IsThere(elf, strings)) return false;
  // "read@@GLIBC_2.2.5" is read.
  NameSource* names =
      &sources->emplace_back(elf.memory(), strings.offset, strings.size, std::string("\0@", 2), NotNames(elf));
  std::vector<Elf64_Sym> piece;
  const size_t symbol_bytes = elf.is_32_bit() ? sizeof(Elf32_Sym) : sizeof(Elf64_Sym);
  const uint64_t count = section->size / symbol_bytes;
  for (uint64_t at = 0; at < count; at += piece.size()) {
    piece.resize(std::min<uint64_t>(kPiece, count - at));
    const uint64_t offset = section->offset + at * symbol_bytes;
    if (!ReadStructs<Elf64_Sym, Elf32_Sym>(elf.memory(), offset, elf.is_32_bit(), piece)) return false;
    for (const Elf64_Sym& raw : piece) {
      if (auto symbol = Convert(raw, elf, names)) search->Add(*symbol);
      if (IsOtherCode(raw, elf)) search->AddBound(raw.st_value);
    }
  }
  return true;
}

// The file within the file; empty if there is none.
std::string DebugData(const ElfFile& elf) {
  const ElfSection* section = elf.Find(".gnu_debugdata");
  if (section == nullptr || section->size > kMaxDebugDataBytes) return "";
  auto compressed = elf.Read(*section);
  if (!compressed.ok()) return "";
  return DecompressXz(*compressed, kMaxDebugDataBytes).value_or("");
}

}  // namespace

ModuleNames ReadElfSymbols(const ElfFile& elf, std::span<const uint64_t> addresses, const FunctionStarts& starts) {
  NameSources sources;
  SymbolSearch search(addresses);
  ModuleNames found;
  found.full = Search(elf, SHT_SYMTAB, &sources, &search, &found.unread);
  bool has_all = found.full;
  const std::string image = found.full ? "" : DebugData(elf);
  const SpanMemory memory(0, std::as_bytes(std::span(image)));
  const absl::StatusOr<ElfFile> inner = ElfFile::Parse(memory);
  if (!found.full) {
    Search(elf, SHT_DYNSYM, &sources, &search, &found.unread);
    has_all |= inner.ok() && Search(*inner, SHT_SYMTAB, &sources, &search, &found.unread);
  }
  search.LimitUnsized([&starts, has_all](uint64_t begin, uint64_t address) {
    const std::optional<uint64_t> start = starts.Before(address);
    return has_all ? !start.has_value() || *start <= begin : start == begin;
  });
  found.names = search.Names(kMaxModuleNameBytes, &found.left_out);
  return found;
}

}  // namespace offcpu
