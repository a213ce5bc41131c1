#include "runtimes/hotspot/class_changes.h"

#include <string_view>
#include <vector>

namespace offcpu {
namespace {

constexpr uint8_t kLong = 'J';
// A PerfDataEntry, whose form has never changed: see perfMemory.hpp.
constexpr uint64_t kNameOffsetAt = 4, kTypeAt = 12, kDataOffsetAt = 16, kEntryBytes = 20;
constexpr uint64_t kFirstEntryAt = 24;  // in the prologue

// The counter that this entry is of has that name, and is a number of 8 bytes.
bool IsOf(const SpanMemory& memory, uint64_t entry, uint64_t end, std::string_view name) {
  const uint64_t at = entry + memory.ReadValue<uint32_t>(entry + kNameOffsetAt).value_or(0);
  std::vector<std::byte> text(name.size() + 1);
  if (at > end || !memory.Read(at, text)) return false;
  const std::string_view found(reinterpret_cast<const char*>(text.data()), name.size());
  return found == name && text.back() == std::byte{0} && memory.ReadValue<uint8_t>(entry + kTypeAt) == kLong;
}

// 0: there is none.
uint64_t FindCounter(const SpanMemory& counters, uint64_t begin, uint64_t end, std::string_view name) {
  uint64_t entry = begin + counters.ReadValue<uint32_t>(begin + kFirstEntryAt).value_or(0);
  while (entry < end && end - entry >= kEntryBytes) {
    if (IsOf(counters, entry, end, name)) {
      const uint64_t data = entry + counters.ReadValue<uint32_t>(entry + kDataOffsetAt).value_or(0);
      return data < end && data % sizeof(uint64_t) == 0 ? data : 0;
    }
    const uint32_t length = counters.ReadValue<uint32_t>(entry).value_or(0);
    if (length < kEntryBytes) break;
    entry += length;
  }
  return 0;
}

}  // namespace

ClassCounters ClassCounters::Find(const HotSpotLayout& layout, const Memory& memory) {
  ClassCounters found;
  if (layout.perf_start == 0 || layout.perf_top == 0) return found;
  const uint64_t begin = memory.ReadValue<uint64_t>(layout.perf_start).value_or(0);
  const uint64_t end = memory.ReadValue<uint64_t>(layout.perf_top).value_or(0);
  if (begin == 0 || end <= begin || end - begin > kMaxPerfBytes) return found;
  std::vector<std::byte> bytes(end - begin);
  if (!memory.Read(begin, bytes)) return found;
  const SpanMemory counters(begin, bytes);
  found.loaded_ = FindCounter(counters, begin, end, "java.cls.loadedClasses");
  found.unloaded_ = FindCounter(counters, begin, end, "java.cls.unloadedClasses");
  found.safepoints_ = FindCounter(counters, begin, end, "sun.rt.safepoints");
  found.safepoint_time_ = FindCounter(counters, begin, end, "sun.rt.safepointTime");
  found.behind_loaded_ = memory.ReadValue<uint64_t>(found.loaded_ + sizeof(uint64_t)).value_or(0);
  found.behind_unloaded_ = memory.ReadValue<uint64_t>(found.unloaded_ + sizeof(uint64_t)).value_or(0);
  return found;
}

std::optional<ClassCounts> ClassCounters::Read(const Memory& memory) const {
  const std::optional<uint64_t> unloaded = memory.ReadValue<uint64_t>(unloaded_);
  const std::optional<uint64_t> loaded = memory.ReadValue<uint64_t>(loaded_);
  const std::optional<uint64_t> safepoints = memory.ReadValue<uint64_t>(safepoints_);
  const std::optional<uint64_t> time = memory.ReadValue<uint64_t>(safepoint_time_);
  if (!unloaded || !loaded || !safepoints || !time) return std::nullopt;
  return ClassCounts{.unloaded = *unloaded, .loaded = *loaded, .safepoints = *safepoints + *time};
}

CodeStamp ClassCounters::StampOf(const ClassCounts& counts) const {
  if (loaded_ < unloaded_)
    return {.address = loaded_,
            .offset = static_cast<uint32_t>(unloaded_ - loaded_),
            .words = {counts.loaded, behind_loaded_},
            .behind = static_cast<uint32_t>(counts.unloaded)};
  return {.address = unloaded_,
          .offset = static_cast<uint32_t>(loaded_ - unloaded_),
          .words = {counts.unloaded, behind_unloaded_},
          .behind = static_cast<uint32_t>(counts.loaded)};
}

uint64_t ClassChanges::Note(const ClassCounts& counts, uint64_t before_ns, uint64_t after_ns) {
  const bool is_same = counts.unloaded == last_.unloaded && counts.loaded == last_.loaded;
  const bool may_differ =
      counts.unloaded != first_.unloaded || (counts.loaded != first_.loaded && counts.safepoints != first_.safepoints);
  if (version_ == 0 || !is_same) same_ns_ = after_ns;
  if (version_ == 0 || may_differ) {
    ++version_;
    first_ = counts;
    first_ns_ = after_ns;
  }
  last_ = counts;
  last_ns_ = before_ns;
  return version_;
}

std::optional<uint64_t> ClassChanges::At(uint64_t ns) const {
  return version_ != 0 && first_ns_ <= ns && ns <= last_ns_ ? std::optional(version_) : std::nullopt;
}

std::optional<ClassCounts> ClassChanges::CountsAt(uint64_t ns) const {
  return version_ != 0 && same_ns_ <= ns && ns <= last_ns_ ? std::optional(last_) : std::nullopt;
}

}  // namespace offcpu
