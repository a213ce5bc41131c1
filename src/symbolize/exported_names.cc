#include "symbolize/exported_names.h"

#include <elf.h>

#include <algorithm>
#include <string>
#include <vector>

#include "process/elf/headers.h"
#include "symbolize/symbol_search.h"

namespace offcpu {
namespace {

bool IsFunction(const Elf64_Sym& symbol) {
  const unsigned type = ELF64_ST_TYPE(symbol.st_info);
  return (type == STT_FUNC || type == STT_GNU_IFUNC) && symbol.st_shndx != SHN_UNDEF && symbol.st_size != 0;
}

bool IsIn(const Module& module, const Elf64_Sym& symbol) {
  return std::any_of(module.code.begin(), module.code.end(), [&](const CodeRange& code) {
    return symbol.st_value >= code.begin && symbol.st_value < code.end && symbol.st_size <= code.end - symbol.st_value;
  });
}

}  // namespace

ModuleNames ReadExportedNames(const Module& module, std::span<const uint64_t> addresses) {
  constexpr uint64_t kPiece = 8192;  // symbols
  const bool is_32_bit = module.machine != nullptr && module.machine->word_bytes == sizeof(uint32_t);
  const uint64_t symbol_bytes = is_32_bit ? sizeof(Elf32_Sym) : sizeof(Elf64_Sym);
  const SpanMemory symbols(0, module.tables().dynamic_symbols.bytes);
  const SpanMemory strings(0, module.tables().dynamic_strings.bytes);
  NameSource names(strings, 0, module.tables().dynamic_strings.bytes.size(), std::string("\0@", 2));
  SymbolSearch search(addresses);
  const uint64_t count = module.tables().dynamic_symbols.bytes.size() / symbol_bytes;
  std::vector<Elf64_Sym> piece;
  for (uint64_t at = 0; at < count; at += piece.size()) {
    piece.resize(std::min(kPiece, count - at));
    if (!ReadStructs<Elf64_Sym, Elf32_Sym>(symbols, at * symbol_bytes, is_32_bit, piece)) break;
    for (const Elf64_Sym& symbol : piece) {
      if (!IsFunction(symbol) || !IsIn(module, symbol)) continue;
      search.Add({.begin = symbol.st_value,
                  .end = symbol.st_value + symbol.st_size,
                  .sized = true,
                  .rank = ELF64_ST_BIND(symbol.st_info) == STB_LOCAL ? 1 : 0,
                  .key = symbol.st_value,
                  .names = &names,
                  .name = symbol.st_name});
    }
  }
  ModuleNames found;
  found.names = search.Names(kMaxModuleNameBytes, &found.left_out);
  return found;
}

}  // namespace offcpu
