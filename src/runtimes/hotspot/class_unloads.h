// How many classes a Java virtual machine has unloaded. Where a class was another one may be since, at the same
// addresses and with methods of the same form; so what is read of methods after a stack was captured is of the methods
// of that stack only if no class was unloaded in between.
//
// It is one of the virtual machine's performance counters (perfMemory.hpp of OpenJDK), and is counted before the memory
// of classes is used again. A virtual machine without them (-XX:-UsePerfData) says nothing. Not thread-safe.
#ifndef OFFCPU_RUNTIMES_HOTSPOT_CLASS_UNLOADS_H_
#define OFFCPU_RUNTIMES_HOTSPOT_CLASS_UNLOADS_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "process/memory.h"
#include "runtimes/hotspot/layout.h"

namespace offcpu {

inline constexpr size_t kMaxPerfBytes = 1 << 20;  // of all counters

// Where the counter is in the process; 0: there is none.
uint64_t FindClassUnloads(const HotSpotLayout& layout, const Memory& memory);

class ClassUnloads {
 public:
  // The number was read between these moments, after all that were noted before.
  void Note(uint64_t count, uint64_t before_ns, uint64_t after_ns) {
    if (count_ != count) first_ns_ = after_ns;
    count_ = count;
    last_ns_ = before_ns;
  }
  // What it was then. Nothing: classes may have been unloaded just then, or it has not been read since.
  std::optional<uint64_t> At(uint64_t ns) const {
    return count_ && first_ns_ <= ns && ns <= last_ns_ ? count_ : std::nullopt;
  }

 private:
  std::optional<uint64_t> count_;
  uint64_t first_ns_ = 0;  // it has been the same
  uint64_t last_ns_ = 0;   // up to then
};

}  // namespace offcpu

#endif  // OFFCPU_RUNTIMES_HOTSPOT_CLASS_UNLOADS_H_
