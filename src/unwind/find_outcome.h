// How a look-up of a row ends.
#ifndef OFFCPU_UNWIND_FIND_OUTCOME_H_
#define OFFCPU_UNWIND_FIND_OUTCOME_H_

#include <cstdint>

namespace offcpu {

// What asking a source for a row comes to.
enum class FindOutcome : uint8_t {
  kFound,
  kNotHere,     // try the next source
  kExpression,  // there is a rule, but a row cannot hold it: no other source may guess
  kCorrupt,     // what the source says of this address is damaged: no other source may guess
};

}  // namespace offcpu

#endif  // OFFCPU_UNWIND_FIND_OUTCOME_H_
