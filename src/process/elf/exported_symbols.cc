#include "process/elf/exported_symbols.h"

#include <elf.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "process/elf/headers.h"

namespace offcpu {
namespace {

// The memory of one load of an object, by link-time addresses.
class LoadedObject final : public Memory {
 public:
  LoadedObject(const Memory& memory, const ElfHead& head) : memory_(memory), head_(head) {}

  [[nodiscard]] bool Read(uint64_t address, std::span<std::byte> out) const override {
    const uint64_t at = address + head_.bias;
    return Holds(at) && out.size() <= head_.end - at && memory_.Read(at, out);
  }
  // Dynamic linkers may have written addresses of the process into PT_DYNAMIC, in the place of link-time ones.
  uint64_t LinkTime(uint64_t value) const { return Holds(value) ? value - head_.bias : value; }

 private:
  bool Holds(uint64_t at) const { return at >= head_.begin && at < head_.end; }

  const Memory& memory_;
  const ElfHead& head_;
};

// What PT_DYNAMIC says of the symbols; 0: it does not. Link-time addresses, and bytes.
struct DynamicEntries {
  uint64_t symbols = 0;
  uint64_t strings = 0;
  uint64_t string_bytes = 0;
  uint64_t hash = 0;
  uint64_t gnu_hash = 0;
};

DynamicEntries ReadDynamic(const LoadedObject& object, const CodeRange& dynamic, bool is_32_bit) {
  const uint64_t entry_bytes = is_32_bit ? sizeof(Elf32_Dyn) : sizeof(Elf64_Dyn);
  const uint64_t bytes = std::min<uint64_t>(dynamic.end - dynamic.begin, kMaxDynamicBytes);
  std::vector<Elf64_Dyn> entries(bytes / entry_bytes);
  DynamicEntries found;
  if (!ReadStructs<Elf64_Dyn, Elf32_Dyn>(object, dynamic.begin, is_32_bit, entries)) return found;
  for (const Elf64_Dyn& entry : entries) {
    if (entry.d_tag == DT_NULL) break;
    const uint64_t value = entry.d_un.d_val;
    if (entry.d_tag == DT_SYMTAB) found.symbols = object.LinkTime(value);
    if (entry.d_tag == DT_STRTAB) found.strings = object.LinkTime(value);
    if (entry.d_tag == DT_STRSZ) found.string_bytes = value;
    if (entry.d_tag == DT_HASH) found.hash = object.LinkTime(value);
    if (entry.d_tag == DT_GNU_HASH) found.gnu_hash = object.LinkTime(value);
  }
  return found;
}

// Calls `use` with each of `count` words from `address` on, until it returns false; false if they cannot be read.
template <typename Use>
bool ForEachWord(const LoadedObject& object, uint64_t address, uint64_t count, Use use) {
  constexpr uint64_t kPiece = 4096;
  std::vector<uint32_t> piece;
  for (uint64_t at = 0; at < count; at += piece.size()) {
    piece.resize(std::min(kPiece, count - at));
    uint64_t begin = address + at * sizeof(uint32_t);
    // A chain ends somewhere: what follows the last one need not be there.
    while (!object.Read(begin, std::as_writable_bytes(std::span(piece)))) {
      if (piece.size() == 1) return false;
      piece.resize(piece.size() / 2);
    }
    for (const uint32_t word : piece) {
      if (!use(word)) return true;
    }
  }
  return true;
}

// The table of GNU's hashes ends with the chain of the symbol that is last among the first ones of all buckets.
uint64_t CountByGnuHash(const LoadedObject& object, uint64_t hash, bool is_32_bit, uint64_t most) {
  uint32_t head[4];  // buckets, the first symbol that is in them, words of the filter, its shift
  if (!object.Read(hash, std::as_writable_bytes(std::span(head)))) return 0;
  const uint64_t filter_bytes = uint64_t{head[2]} * (is_32_bit ? sizeof(uint32_t) : sizeof(uint64_t));
  const uint64_t buckets = hash + sizeof(head) + filter_bytes;
  uint64_t last = 0;
  const bool are_read = head[0] <= most && ForEachWord(object, buckets, head[0], [&](uint32_t first) {
                          last = std::max<uint64_t>(last, first);
                          return true;
                        });
  if (!are_read || last < head[1]) return 0;
  const uint64_t chains = buckets + uint64_t{head[0]} * sizeof(uint32_t);
  bool ends = false;
  const uint64_t from = last - head[1];
  const uint64_t room = last < most ? most - last : 0;
  (void)ForEachWord(object, chains + from * sizeof(uint32_t), room, [&](uint32_t link) {
    ++last;
    ends = (link & 1) != 0;
    return !ends;
  });
  return ends ? last : 0;
}

// Only the tables by which symbols are found say how many there are.
uint64_t CountSymbols(const LoadedObject& object, const DynamicEntries& entries, bool is_32_bit, uint64_t most) {
  if (entries.gnu_hash != 0) return CountByGnuHash(object, entries.gnu_hash, is_32_bit, most);
  if (entries.hash == 0) return 0;
  return object.ReadValue<uint32_t>(entries.hash + sizeof(uint32_t)).value_or(0);
}

ModuleTable ReadKept(const LoadedObject& object, uint64_t address, uint64_t bytes, Module* module) {
  if (bytes == 0) return {};
  const bool has_room = bytes <= kMaxTableBytes && module->memory.Grow(bytes);
  module->names_left_out |= !has_room;
  if (!has_room) return {};
  ModuleTable table = {.address = address, .bytes = std::vector<std::byte>(bytes)};
  if (object.Read(address, table.bytes)) return table;
  module->memory.Shrink(bytes);
  return {};
}

}  // namespace

void AddExportedSymbols(const Memory& memory, ElfImage* image) {
  Module& module = image->module;
  const bool is_32_bit = module.machine != nullptr && module.machine->word_bytes == sizeof(uint32_t);
  const uint64_t symbol_bytes = is_32_bit ? sizeof(Elf32_Sym) : sizeof(Elf64_Sym);
  const LoadedObject object(memory, image->head);
  const DynamicEntries entries = ReadDynamic(object, image->dynamic, is_32_bit);
  if (entries.symbols == 0 || entries.strings == 0) return;
  const uint64_t count = CountSymbols(object, entries, is_32_bit, kMaxTableBytes / symbol_bytes);
  module.dynamic_symbols = ReadKept(object, entries.symbols, count * symbol_bytes, &module);
  if (module.dynamic_symbols.bytes.empty()) return;
  module.dynamic_strings = ReadKept(object, entries.strings, entries.string_bytes, &module);
}

}  // namespace offcpu
