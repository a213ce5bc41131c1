// The table of code ranges by unit that some compilers write, .debug_aranges. libdw reads it, too, but looks at every
// unit then, which maps all of a large file. Pure; every byte is taken as hostile.
#ifndef OFFCPU_SOURCE_LINES_UNIT_TABLE_H_
#define OFFCPU_SOURCE_LINES_UNIT_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/functional/function_ref.h"

namespace offcpu {

// A range of code of the unit whose header is at that offset of .debug_info. False: no more of them.
using UnitRangeSink = absl::FunctionRef<bool(uint64_t unit, uint64_t begin, uint64_t end)>;

// `table`: little-endian. What follows a damaged set is not read.
void ReadUnitTable(std::span<const std::byte> table, UnitRangeSink sink);

}  // namespace offcpu

#endif  // OFFCPU_SOURCE_LINES_UNIT_TABLE_H_
