#include "process/elf/eh_frame_hdr.h"

#include <algorithm>
#include <cstring>

namespace offcpu {
namespace {

// Pointer encodings of the LSB: a format in the low four bits, what it is relative to above.
constexpr uint8_t kUdata4 = 0x03, kUdata8 = 0x04, kSdata4 = 0x0b, kSdata8 = 0x0c;
constexpr uint8_t kAbsolute = 0x00, kPcRelative = 0x10, kDataRelative = 0x30;
constexpr size_t kPointerAt = 4;  // behind the version and three encodings

template <typename T>
std::optional<uint64_t> ValueAt(const ModuleTable& table, size_t at = kPointerAt) {
  T value;
  if (table.bytes.size() < at + sizeof(value)) return std::nullopt;
  std::memcpy(&value, table.bytes.data() + at, sizeof(value));
  return static_cast<uint64_t>(value);
}

bool IsWide(uint8_t format) { return format == 0 || format == kUdata8 || format == kSdata8; }

std::optional<uint64_t> Pointer(const ModuleTable& table, uint8_t format) {
  switch (format) {
    case kUdata4:
      return ValueAt<uint32_t>(table);
    case kSdata4:
      return ValueAt<int32_t>(table);
    case 0:
    case kUdata8:
    case kSdata8:
      return ValueAt<uint64_t>(table);
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<uint64_t> EhFrameAddress(const ModuleTable& table) {
  if (table.bytes.size() < kPointerAt || table.bytes[0] != std::byte{1}) return std::nullopt;
  const uint8_t encoding = std::to_integer<uint8_t>(table.bytes[1]);
  std::optional<uint64_t> value = Pointer(table, encoding & 0x0f);
  if (!value) return std::nullopt;
  switch (encoding & 0xf0) {
    case kAbsolute:
      return value;
    case kPcRelative:
      return *value + table.address + kPointerAt;
    case kDataRelative:
      return *value + table.address;
    default:
      return std::nullopt;
  }
}

EhFrameSearch EhFrameSearch::Of(const ModuleTable& table) {
  EhFrameSearch search;
  if (!EhFrameAddress(table)) return search;
  const uint8_t pointer = std::to_integer<uint8_t>(table.bytes[1]);
  const bool is_known = table.bytes[2] == std::byte{kUdata4} && table.bytes[3] == std::byte{kDataRelative | kSdata4};
  const size_t count_at = kPointerAt + (IsWide(pointer & 0x0f) ? sizeof(uint64_t) : sizeof(uint32_t));
  const std::optional<uint64_t> count = ValueAt<uint32_t>(table, count_at);
  if (!is_known || !count) return search;
  const std::span<const std::byte> rest = std::span(table.bytes).subspan(count_at + sizeof(uint32_t));
  search.base_ = table.address;
  search.entries_ = rest.first(std::min<size_t>(*count, rest.size() / kEntryBytes) * kEntryBytes);
  return search;
}

EhFrameSearch::Entry EhFrameSearch::At(size_t index) const {
  int32_t numbers[2];
  std::memcpy(numbers, entries_.data() + index * kEntryBytes, kEntryBytes);
  return {.begin = base_ + static_cast<uint64_t>(int64_t{numbers[0]}),
          .fde = base_ + static_cast<uint64_t>(int64_t{numbers[1]})};
}

}  // namespace offcpu
