#include "runtimes/exported.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "absl/functional/function_ref.h"

namespace offcpu {
namespace {

using Symbols = std::map<std::string, uint64_t, std::less<>>;

// `skipped`: how many bytes of the name are none of the key; nothing: the symbol is not kept.
Symbols Exported(const ElfFile& elf, absl::FunctionRef<std::optional<size_t>(std::string_view name)> skipped) {
  Symbols found;
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
    name = name.substr(0, name.find('\0'));
    const std::optional<size_t> skip = name.size() <= kMaxExportedNameBytes ? skipped(name) : std::nullopt;
    if (skip) found.try_emplace(std::string(name.substr(*skip)), symbol.st_value);
  }
  return found;
}

}  // namespace

Symbols ExportedSymbols(const ElfFile& elf, std::string_view prefix) {
  return Exported(elf, [prefix](std::string_view name) {
    return name.starts_with(prefix) ? std::optional(prefix.size()) : std::nullopt;
  });
}

Symbols ExportedSymbols(const ElfFile& elf, std::span<const std::string_view> names) {
  return Exported(elf, [names](std::string_view name) {
    const bool is_wanted = std::find(names.begin(), names.end(), name) != names.end();
    return is_wanted ? std::optional<size_t>(0) : std::nullopt;
  });
}

}  // namespace offcpu
