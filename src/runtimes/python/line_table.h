// The table by which a code object of CPython 3.11 and later says which line an instruction is of: entries one behind
// the other, each for up to eight code units. A pure function; any bytes are safe.
#ifndef OFFCPU_RUNTIMES_PYTHON_LINE_TABLE_H_
#define OFFCPU_RUNTIMES_PYTHON_LINE_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace offcpu {

// `unit`: the instruction, in code units from the first one. Nothing: it is of no line, or the table is damaged.
std::optional<uint32_t> LineOf(std::span<const std::byte> table, int32_t first_line, uint64_t unit);

}  // namespace offcpu

#endif  // OFFCPU_RUNTIMES_PYTHON_LINE_TABLE_H_
