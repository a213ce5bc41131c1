#include "runtimes/hotspot/class_unloads.h"

#include <string_view>
#include <vector>

namespace offcpu {
namespace {

constexpr std::string_view kName = "java.cls.unloadedClasses";
constexpr uint8_t kLong = 'J';
// A PerfDataEntry, whose form has never changed: see perfMemory.hpp.
constexpr uint64_t kNameOffsetAt = 4, kTypeAt = 12, kDataOffsetAt = 16, kEntryBytes = 20;
constexpr uint64_t kFirstEntryAt = 24;  // in the prologue

// The counter that this entry is of has the name that is looked for, and is a number of 8 bytes.
bool IsOfClassUnloads(const SpanMemory& memory, uint64_t entry, uint64_t end) {
  const uint64_t name = entry + memory.ReadValue<uint32_t>(entry + kNameOffsetAt).value_or(0);
  std::vector<std::byte> text(kName.size() + 1);
  if (name > end || !memory.Read(name, text)) return false;
  const std::string_view found(reinterpret_cast<const char*>(text.data()), kName.size());
  return found == kName && text.back() == std::byte{0} && memory.ReadValue<uint8_t>(entry + kTypeAt) == kLong;
}

}  // namespace

uint64_t FindClassUnloads(const HotSpotLayout& layout, const Memory& memory) {
  if (layout.perf_start == 0 || layout.perf_top == 0) return 0;
  const uint64_t begin = memory.ReadValue<uint64_t>(layout.perf_start).value_or(0);
  const uint64_t end = memory.ReadValue<uint64_t>(layout.perf_top).value_or(0);
  if (begin == 0 || end <= begin || end - begin > kMaxPerfBytes) return 0;
  std::vector<std::byte> bytes(end - begin);
  if (!memory.Read(begin, bytes)) return 0;
  const SpanMemory counters(begin, bytes);
  uint64_t entry = begin + counters.ReadValue<uint32_t>(begin + kFirstEntryAt).value_or(0);
  while (entry < end && end - entry >= kEntryBytes) {
    if (IsOfClassUnloads(counters, entry, end)) {
      const uint64_t data = entry + counters.ReadValue<uint32_t>(entry + kDataOffsetAt).value_or(0);
      return data < end && data % sizeof(uint64_t) == 0 ? data : 0;
    }
    const uint32_t length = counters.ReadValue<uint32_t>(entry).value_or(0);
    if (length < kEntryBytes) break;
    entry += length;
  }
  return 0;
}

}  // namespace offcpu
