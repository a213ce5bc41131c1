#include "symbolize/go_symbols.h"

#include <cstring>
#include <deque>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace offcpu {
namespace {

constexpr uint32_t kGo116 = 0xfffffffa;
constexpr uint32_t kGo118 = 0xfffffff0;
constexpr uint32_t kGo120 = 0xfffffff1;

// Reads that never leave the table.
class GoTable {
 public:
  explicit GoTable(std::string_view bytes) : bytes_(bytes) {}

  template <typename T>
  std::optional<T> At(uint64_t offset) const {
    T value;
    if (offset > bytes_.size() || bytes_.size() - offset < sizeof(value)) return std::nullopt;
    std::memcpy(&value, bytes_.data() + offset, sizeof(value));
    return value;
  }
  std::string_view NameAt(uint64_t offset) const {
    if (offset >= bytes_.size()) return {};
    const std::string_view name = bytes_.substr(offset, kMaxSymbolNameBytes);
    return name.substr(0, name.find('\0'));
  }
  uint64_t size() const { return bytes_.size(); }

 private:
  std::string_view bytes_;
};

// The header's words lie behind magic, two zeros, and the sizes of an instruction and of a pointer. The table of
// functions has one (entry, offset of its record) for each and, behind them, where the last one ends.
struct Header {
  uint64_t functions = 0;
  uint64_t text = 0;     // what entries are relative to
  uint64_t names = 0;    // offset in the table, as what follows
  uint64_t records = 0;  // of the table of functions, and what offsets of records are relative to
  uint64_t entry_bytes = 0;
};

std::optional<Header> ReadHeader(const GoTable& table, uint64_t text_address) {
  constexpr uint64_t kWords = 8;
  const std::optional<uint32_t> magic = table.At<uint32_t>(0);
  if (!magic.has_value() || table.At<uint8_t>(7) != 8) return std::nullopt;
  const auto word = [&](uint64_t i) { return table.At<uint64_t>(kWords + i * sizeof(uint64_t)).value_or(UINT64_MAX); };
  Header header;
  header.functions = word(0);
  if (*magic == kGo116) {
    header.names = word(2);
    header.records = word(6);
    header.entry_bytes = sizeof(uint64_t);
  } else if (*magic == kGo118 || *magic == kGo120) {
    // Where the program can be loaded anywhere, the loader puts the address in; the newest linkers leave it out.
    header.text = word(2) == 0 ? text_address : word(2);
    header.names = word(3);
    header.records = word(7);
    header.entry_bytes = sizeof(uint32_t);
  } else {
    return std::nullopt;
  }
  const uint64_t pair = 2 * header.entry_bytes;
  if (header.names >= table.size() || header.records >= table.size()) return std::nullopt;
  if (header.functions > (table.size() - header.records) / pair) return std::nullopt;
  return header;
}

std::optional<uint64_t> WordAt(const GoTable& table, const Header& header, uint64_t offset) {
  if (header.entry_bytes == sizeof(uint32_t)) return table.At<uint32_t>(offset);
  return table.At<uint64_t>(offset);
}

std::optional<Symbol> FunctionAt(const GoTable& table, const Header& header, uint64_t index) {
  const uint64_t pair = header.records + index * 2 * header.entry_bytes;
  const std::optional<uint64_t> begin = WordAt(table, header, pair);
  const std::optional<uint64_t> record = WordAt(table, header, pair + header.entry_bytes);
  const std::optional<uint64_t> end = WordAt(table, header, pair + 2 * header.entry_bytes);
  if (!begin || !record || !end || *end <= *begin || *end > UINT64_MAX - header.text) return std::nullopt;
  if (*record > table.size()) return std::nullopt;
  // A record begins with its entry once more, and the offset of its name.
  const std::optional<uint32_t> name = table.At<uint32_t>(header.records + *record + header.entry_bytes);
  if (!name.has_value()) return std::nullopt;
  Symbol symbol = {.begin = header.text + *begin, .end = header.text + *end, .sized = true};
  symbol.name = table.NameAt(header.names + *name);
  return symbol.name.empty() ? std::nullopt : std::optional(symbol);
}

}  // namespace

SymbolTable ParseGoTable(std::string bytes, uint64_t text_address) {
  std::deque<std::string> storage;
  const GoTable table(storage.emplace_back(std::move(bytes)));
  const std::optional<Header> header = ReadHeader(table, text_address);
  if (!header.has_value()) return {};
  std::vector<Symbol> symbols;
  for (uint64_t i = 0; i < header->functions; ++i) {
    if (const std::optional<Symbol> symbol = FunctionAt(table, *header, i)) symbols.push_back(*symbol);
  }
  return SymbolTable(std::move(symbols), std::move(storage));
}

SymbolTable ReadGoSymbols(const ElfFile& elf) {
  const ElfSection* section = elf.Find(".gopclntab");
  if (section == nullptr) section = elf.Find(".data.rel.ro.gopclntab");  // of programs that can be loaded anywhere
  const ElfSection* text = elf.Find(".text");
  if (section == nullptr || text == nullptr) return {};
  absl::StatusOr<std::string> bytes = elf.Read(*section);
  return bytes.ok() ? ParseGoTable(*std::move(bytes), text->address) : SymbolTable();
}

}  // namespace offcpu
