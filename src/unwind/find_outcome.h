// How a look-up of a row ends.
#ifndef OFFCPU_UNWIND_FIND_OUTCOME_H_
#define OFFCPU_UNWIND_FIND_OUTCOME_H_

#include <cstdint>

namespace offcpu {

// What asking a source for a row comes to.
enum class FindOutcome : uint8_t {
  kFound,
  kNotHere,     // try the next source
  kExpression,  // there is a rule, but a row cannot hold it: another table may have other words for it
  kCorrupt,     // what the source says of this address is damaged
};

}  // namespace offcpu

#endif  // OFFCPU_UNWIND_FIND_OUTCOME_H_
