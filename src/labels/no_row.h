// Why no unwind row describes the code that a walk has ended in, by what its file has of unwind tables. A pure
// function.
#ifndef OFFCPU_LABELS_NO_ROW_H_
#define OFFCPU_LABELS_NO_ROW_H_

#include <cstdint>

#include "process/code_object.h"

namespace offcpu {

enum class NoRow : uint8_t {
  kNotKnown,      // a stored recording does not say what its files have
  kNoTable,       // the file has none
  kLeftOut,       // the file has one, which leaves this code out
  kTableMissing,  // the file has one that is damaged or too large, or for which there was no room
};

// `code`: null if it is in no file.
NoRow WhyNoRow(const CodeObject* code);

}  // namespace offcpu

#endif  // OFFCPU_LABELS_NO_ROW_H_
