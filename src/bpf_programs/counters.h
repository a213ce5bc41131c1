// The counters of the BPF programs, and what those of losses are called. Plain data and pure functions; needs no
// libbpf.
#ifndef OFFCPU_BPF_PROGRAMS_COUNTERS_H_
#define OFFCPU_BPF_PROGRAMS_COUNTERS_H_

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include "bpf/wire.h"
#include "profile/profile.h"

namespace offcpu {

using Counters = std::array<wire_counter, WIRE_COUNTERS>;

// The losses and limits among them that happened. `ns` is time that is in no row of the profile.
std::vector<Loss> NameCounters(const Counters& counters);

// Events that were lost (not: filtered, delayed, or served in another way).
uint64_t CountLost(const Counters& counters);

// How things were done. Intervals that a sample left out; the CPU time that captures took of the threads they were made
// in, and how long the longest took, sleep included.
inline uint64_t NotSampled(const Counters& counters) { return counters[WIRE_COUNT_NOT_SAMPLED].count; }
inline uint64_t CaptureNs(const Counters& counters) { return counters[WIRE_COUNT_CAPTURE_TIME].ns; }
inline uint64_t LongestCaptureNs(const Counters& counters) { return counters[WIRE_COUNT_CAPTURE_LONGEST].ns; }
// Walks of user stacks that did not tell the stack, by WalkMiss.
inline std::array<uint64_t, kWalkMissCount> WalkMisses(const Counters& counters) {
  return {counters[WIRE_COUNT_USER_WALK_UNKNOWN].count, counters[WIRE_COUNT_USER_WALK_NO_CODE].count,
          counters[WIRE_COUNT_USER_WALK_NO_ROW].count, counters[WIRE_COUNT_USER_WALK_NO_MEMORY].count};
}

// The most of `value` and what `most` has been so far, which it becomes. Threads may raise it at the same time.
inline uint64_t RaiseTo(uint64_t value, std::atomic<uint64_t>& most) {
  uint64_t before = most.load(std::memory_order_relaxed);
  while (before < value && !most.compare_exchange_weak(before, value, std::memory_order_relaxed)) {
  }
  return std::max(before, value);
}

}  // namespace offcpu

#endif  // OFFCPU_BPF_PROGRAMS_COUNTERS_H_
