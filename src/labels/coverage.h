// What each module's unwind tables were good for: by which source its frames led to their callers, and why walks ended
// in it too early. So that one sees which binary lacks tables. A pure function of a profile.
#ifndef OFFCPU_LABELS_COVERAGE_H_
#define OFFCPU_LABELS_COVERAGE_H_

#include <array>
#include <cstdint>
#include <vector>

#include "profile/named_profile.h"

namespace offcpu {

// Counts are of intervals: a stack counts as often as a thread waited with it.
struct ModuleCoverage {
  const CodeObject* code = nullptr;  // null: code without a file
  // Frames whose caller was found, by the source of the rule that led there (the caller's Frame::source).
  std::array<uint64_t, kFrameSourceCount> frames = {};
  // Walks whose last frame is in the module, by why they ended.
  std::array<uint64_t, kEndReasonCount> ends = {};

  uint64_t total_frames() const;
  uint64_t early_ends() const;  // all but complete ones
};

// The modules of all stacks of the profile's rows, those with most early ends first, then those with most frames.
std::vector<ModuleCoverage> CoverageOf(const NamedProfile& profile);

}  // namespace offcpu

#endif  // OFFCPU_LABELS_COVERAGE_H_
