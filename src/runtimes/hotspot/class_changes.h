// Whether a method's place may have another method, by what a Java virtual machine counts. What is read of a method
// after a stack was captured is of that stack's method only if it may not, in between.
//
// * Where a class was unloaded another one may be since, with methods of the same form at the same addresses.
// * A class that is redefined is not unloaded. Its methods go at a safepoint, once none of them is on a stack, and
//   others come with a class that is loaded, a new version of the same one among them. So either no safepoint was begun
//   or ended in between, or no class was loaded.
//
// The counters are those of performance (perfMemory.hpp of OpenJDK). Unloads are counted before the memory of classes
// is used again, loads before a class is linked, and a safepoint where it begins and where it ends. A virtual machine
// without counters (-XX:-UsePerfData) says nothing. Not thread-safe.
#ifndef OFFCPU_RUNTIMES_HOTSPOT_CLASS_CHANGES_H_
#define OFFCPU_RUNTIMES_HOTSPOT_CLASS_CHANGES_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "process/memory.h"
#include "runtimes/hotspot/layout.h"
#include "unwind/made_code.h"

namespace offcpu {

inline constexpr size_t kMaxPerfBytes = 1 << 20;  // of all counters

struct ClassCounts {
  uint64_t unloaded = 0;
  uint64_t loaded = 0;
  uint64_t safepoints = 0;  // grows with each begin and each end

  bool operator==(const ClassCounts&) const = default;
};

// Where the counters are in the process.
class ClassCounters {
 public:
  static ClassCounters Find(const HotSpotLayout& layout, const Memory& memory);

  // Nothing says when classes change.
  bool empty() const { return unloaded_ == 0 || loaded_ == 0 || safepoints_ == 0 || safepoint_time_ == 0; }
  // Nothing: they cannot be read.
  std::optional<ClassCounts> Read(const Memory& memory) const;
  // How many classes were unloaded and loaded, as the process has it.
  CodeStamp StampOf(const ClassCounts& counts) const;

 private:
  uint64_t loaded_ = 0;
  uint64_t unloaded_ = 0;
  uint64_t safepoints_ = 0;
  uint64_t safepoint_time_ = 0;
  // The words there, which stay.
  uint64_t behind_loaded_ = 0;
  uint64_t behind_unloaded_ = 0;
};

// What was read at several times. Times of one version have the same methods at the same places.
class ClassChanges {
 public:
  // The counters were read between these moments, after all that were noted before. Returns the version.
  uint64_t Note(const ClassCounts& counts, uint64_t before_ns, uint64_t after_ns);
  uint64_t version() const { return version_; }
  // What it was then. Nothing: classes may have changed just then, or nothing has been read since.
  std::optional<uint64_t> At(uint64_t ns) const;
  // What was counted then. Nothing: more were unloaded or loaded just then.
  std::optional<ClassCounts> CountsAt(uint64_t ns) const;

 private:
  uint64_t version_ = 0;   // 0: nothing was read
  ClassCounts first_;      // of this version
  ClassCounts last_;       // likewise
  uint64_t first_ns_ = 0;  // it has been this version
  uint64_t same_ns_ = 0;   // it has been `last_`, but for safepoints
  uint64_t last_ns_ = 0;   // up to then
};

}  // namespace offcpu

#endif  // OFFCPU_RUNTIMES_HOTSPOT_CLASS_CHANGES_H_
