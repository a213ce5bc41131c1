#include "source_lines/unit_table.h"

#include <algorithm>
#include <cstring>
#include <optional>

namespace offcpu {
namespace {

using Bytes = std::span<const std::byte>;

// Takes a number of so many bytes, at most 8, off the front.
std::optional<uint64_t> Take(Bytes& bytes, size_t size) {
  if (bytes.size() < size) return std::nullopt;
  uint64_t number = 0;
  std::memcpy(&number, bytes.data(), size);
  bytes = bytes.subspan(size);
  return number;
}

// A set: length, version 2, offset of the unit, bytes of an address and of a segment, and pairs of begin and length at
// a multiple of their size. False if it is damaged, or no more is wanted.
bool ReadSet(Bytes set, size_t header_bytes, size_t offset_bytes, UnitRangeSink sink) {
  const size_t whole = set.size() + header_bytes;
  const auto version = Take(set, 2);
  const auto unit = Take(set, offset_bytes);
  const auto address_bytes = Take(set, 1);
  const auto segment_bytes = Take(set, 1);
  if (version != 2 || !unit || segment_bytes != 0 || (address_bytes != 4 && address_bytes != 8)) return false;
  const size_t pair_bytes = 2 * *address_bytes;
  const size_t padding = (pair_bytes - (whole - set.size()) % pair_bytes) % pair_bytes;
  if (set.size() < padding) return false;
  set = set.subspan(padding);
  while (set.size() >= pair_bytes) {
    const uint64_t begin = *Take(set, *address_bytes);
    const uint64_t bytes = *Take(set, *address_bytes);
    if (begin == 0 && bytes == 0) break;
    if (!sink(*unit, begin, begin + std::min(bytes, UINT64_MAX - begin))) return false;
  }
  return true;
}

}  // namespace

void ReadUnitTable(Bytes table, UnitRangeSink sink) {
  constexpr uint64_t kLong = 0xffff'ffff;  // a length of 8 bytes follows
  for (;;) {
    std::optional<uint64_t> length = Take(table, 4);
    const bool is_long = length == kLong;
    if (is_long) length = Take(table, 8);
    if (!length || *length > table.size()) return;
    if (!ReadSet(table.first(*length), is_long ? 12 : 4, is_long ? 8 : 4, sink)) return;
    table = table.subspan(*length);
  }
}

}  // namespace offcpu
