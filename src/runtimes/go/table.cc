#include "runtimes/go/table.h"

#include <elf.h>

namespace offcpu {
namespace {

constexpr uint32_t kGo116 = 0xfffffffa;
constexpr uint32_t kGo118 = 0xfffffff0;
constexpr uint32_t kGo120 = 0xfffffff1;

}  // namespace

std::optional<GoSections> FindGoSections(const ElfFile& file) {
  const ElfSection* table = file.Find(".gopclntab");
  if (table == nullptr) table = file.Find(".data.rel.ro.gopclntab");  // of programs that can be loaded anywhere
  const ElfSection* text = file.Find(".text");
  // Debug files keep the header of a section that they do not have.
  if (table == nullptr || table->type == SHT_NOBITS || text == nullptr) return std::nullopt;
  return GoSections{.table = table, .text = text};
}

// The header's words lie behind magic, two zeros, and the sizes of an instruction and of a pointer. The table of
// functions has one (entry, offset of its record) for each and, behind them, where the last one ends.
std::optional<GoTable> GoTable::Open(const Memory& memory, uint64_t bytes, uint64_t text_address) {
  constexpr uint64_t kWords = 8;
  GoTable table(memory, bytes);
  const std::optional<uint32_t> magic = table.At<uint32_t>(0);
  if (!magic.has_value() || table.At<uint8_t>(7) != 8) return std::nullopt;
  const auto word = [&](uint64_t i) { return table.At<uint64_t>(kWords + i * sizeof(uint64_t)).value_or(UINT64_MAX); };
  table.functions_ = word(0);
  if (*magic == kGo116) {
    table.names_ = word(2);
    table.pc_tables_ = word(5);
    table.records_ = word(6);
    table.entry_bytes_ = sizeof(uint64_t);
  } else if (*magic == kGo118 || *magic == kGo120) {
    // Where the program can be loaded anywhere, the loader puts the address in; the newest linkers leave it out.
    table.text_ = word(2) == 0 ? text_address : word(2);
    table.names_ = word(3);
    table.pc_tables_ = word(6);
    table.records_ = word(7);
    table.entry_bytes_ = sizeof(uint32_t);
  } else {
    return std::nullopt;
  }
  const uint64_t pair = 2 * table.entry_bytes_;
  if (table.names_ >= bytes || table.records_ >= bytes) return std::nullopt;
  if (table.functions_ > (bytes - table.records_) / pair) return std::nullopt;
  return table;
}

std::optional<uint64_t> GoTable::WordAt(uint64_t offset) const {
  if (entry_bytes_ == sizeof(uint32_t)) return At<uint32_t>(offset);
  return At<uint64_t>(offset);
}

std::optional<GoTable::Function> GoTable::FunctionAt(uint64_t index) const {
  const uint64_t pair = records_ + index * 2 * entry_bytes_;
  const std::optional<uint64_t> begin = WordAt(pair);
  const std::optional<uint64_t> record = WordAt(pair + entry_bytes_);
  const std::optional<uint64_t> end = WordAt(pair + 2 * entry_bytes_);
  if (!begin || !record || !end || *end <= *begin || *end > UINT64_MAX - text_) return std::nullopt;
  if (*record > bytes_) return std::nullopt;
  // A record begins with its entry once more, and the offset of its name; behind two other numbers is its pc table.
  const uint64_t behind_entry = records_ + *record + entry_bytes_;
  const std::optional<uint32_t> name = At<uint32_t>(behind_entry);
  const uint32_t depths = At<uint32_t>(behind_entry + 12).value_or(0);
  if (!name.has_value()) return std::nullopt;
  const bool has_depths = depths != 0 && pc_tables_ < bytes_;
  return Function{.begin = text_ + *begin,
                  .end = text_ + *end,
                  .name = names_ + *name,
                  .depths = has_depths ? pc_tables_ + depths : 0};
}

}  // namespace offcpu
