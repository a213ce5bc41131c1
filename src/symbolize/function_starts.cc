#include "symbolize/function_starts.h"

#include <algorithm>

namespace offcpu {
namespace {

// Version 1; a pointer of four bytes to .eh_frame, the number of entries in four bytes, and pairs of four bytes each
// relative to the section: begin of a function and its description, sorted.
constexpr uint32_t kHeader = 0x3b03'0001;
constexpr uint32_t kPointerFormat = 0x0f00;  // the encoding of the pointer to .eh_frame may be any of four bytes
constexpr uint64_t kCountAt = 8;
constexpr uint64_t kTableAt = 12;
constexpr uint64_t kEntryBytes = 8;

}  // namespace

FunctionStarts::FunctionStarts(const ElfFile& elf) : memory_(elf.memory()) {
  const ElfSection* section = elf.Find(".eh_frame_hdr");
  if (section == nullptr || !elf.MayRead(*section) || section->size < kTableAt) return;
  const std::optional<uint32_t> header = memory_.ReadValue<uint32_t>(section->offset);
  const std::optional<uint32_t> count = memory_.ReadValue<uint32_t>(section->offset + kCountAt);
  if (!header || !count || (*header & 0xffff'00ff) != kHeader) return;
  const uint32_t format = *header & kPointerFormat;
  if (format != 0x0300 && format != 0x0b00) return;
  table_ = section->offset + kTableAt;
  address_ = section->address;
  count_ = std::min<uint64_t>(*count, (section->size - kTableAt) / kEntryBytes);
}

std::optional<uint64_t> FunctionStarts::At(uint64_t index) const {
  const std::optional<int32_t> begin = memory_.ReadValue<int32_t>(table_ + index * kEntryBytes);
  if (!begin) return std::nullopt;
  return address_ + static_cast<uint64_t>(int64_t{*begin});
}

std::optional<uint64_t> FunctionStarts::Before(uint64_t address) const {
  uint64_t known = 0;  // entries that do not begin behind the address
  uint64_t limit = count_;
  while (known < limit) {
    const uint64_t middle = known + (limit - known) / 2;
    const std::optional<uint64_t> begin = At(middle);
    if (!begin) return std::nullopt;
    if (*begin <= address) {
      known = middle + 1;
    } else {
      limit = middle;
    }
  }
  return known == 0 ? std::nullopt : At(known - 1);
}

}  // namespace offcpu
