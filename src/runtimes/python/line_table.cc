#include "runtimes/python/line_table.h"

namespace offcpu {
namespace {

// The kinds of entries; those below are short forms in the same line.
constexpr unsigned kOneLineEntry = 10;  // the kind says how many lines further, with two bytes of columns
constexpr unsigned kNoColumnsEntry = 13;
constexpr unsigned kLongEntry = 14;
constexpr unsigned kNoLineEntry = 15;

// Reads from the front of a table. At its end, everything is 0, and it is damaged.
class Entries {
 public:
  explicit Entries(std::span<const std::byte> table) : rest_(table) {}

  bool empty() const { return rest_.empty(); }
  bool is_damaged() const { return is_damaged_; }

  unsigned Byte() {
    is_damaged_ |= rest_.empty();
    if (rest_.empty()) return 0;
    const auto byte = static_cast<unsigned>(rest_.front());
    rest_ = rest_.subspan(1);
    return byte;
  }
  // Six bits in each byte, the lowest first; the seventh says that there are more.
  uint64_t Number() {
    uint64_t number = 0;
    for (unsigned shift = 0; shift < 36; shift += 6) {
      const unsigned byte = Byte();
      number |= uint64_t{byte & 0x3f} << shift;
      if ((byte & 0x40) == 0) return number;
    }
    is_damaged_ = true;
    return 0;
  }
  // The lowest bit is the sign.
  int64_t SignedNumber() {
    const uint64_t number = Number();
    const auto magnitude = static_cast<int64_t>(number >> 1);
    return (number & 1) != 0 ? -magnitude : magnitude;
  }

 private:
  std::span<const std::byte> rest_;
  bool is_damaged_ = false;
};

// Reads on behind the first byte of an entry of that kind: returns how many lines further it is.
int64_t ReadRest(unsigned kind, Entries* entries) {
  int64_t lines = 0;
  if (kind == kLongEntry) {
    lines = entries->SignedNumber();
    for (int i = 0; i < 3; ++i) entries->Number();
  } else if (kind == kNoColumnsEntry) {
    lines = entries->SignedNumber();
  } else if (kind >= kOneLineEntry && kind < kNoColumnsEntry) {
    lines = kind - kOneLineEntry;
    entries->Byte();
    entries->Byte();
  } else if (kind < kOneLineEntry) {
    entries->Byte();
  }
  return lines;
}

}  // namespace

std::optional<uint32_t> LineOf(std::span<const std::byte> table, int32_t first_line, uint64_t unit) {
  Entries entries(table);
  int64_t line = first_line;
  uint64_t end = 0;
  while (!entries.empty()) {
    const unsigned head = entries.Byte();
    const unsigned kind = head >> 3 & 0xf;
    line += ReadRest(kind, &entries);
    end += (head & 7) + 1;
    const bool is_line = line > 0 && line <= INT32_MAX;
    if ((head & 0x80) == 0 || entries.is_damaged()) return std::nullopt;
    if (unit < end) return kind != kNoLineEntry && is_line ? std::optional(static_cast<uint32_t>(line)) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace offcpu
