// Why a walk of a user stack at a switch did not tell the stack, and a capture had to.
#ifndef OFFCPU_PROFILE_WALK_MISS_H_
#define OFFCPU_PROFILE_WALK_MISS_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace offcpu {

enum class WalkMiss : uint8_t {
  kNewStack,  // nobody has walked this stack before
  kNewCode,   // something has been mapped since the code was looked at last
  kNoRow,     // for an address, or it is of a kind that is not handed over
  kNoMemory,  // what a row needs is not in the stack, or not resident
};
inline constexpr size_t kWalkMissCount = 4;

constexpr std::string_view Name(WalkMiss miss) {
  constexpr std::string_view kNames[kWalkMissCount] = {"new stack", "new code", "no row", "no memory"};
  return kNames[static_cast<size_t>(miss)];
}

}  // namespace offcpu

#endif  // OFFCPU_PROFILE_WALK_MISS_H_
