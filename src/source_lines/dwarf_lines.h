// Finds the functions and places in the source of addresses by the debug information of an ELF file, through libdw:
// DWARF 2 to 5, compressed sections, supplementary files (dwz), split units (.dwo, and .dwp where libdw reads it).
//
// For code that is confined (os/confined_work.h): libdw maps the file, which ends the process when the file is cut, and
// takes the memory that the file makes it take. One thread.
#ifndef OFFCPU_SOURCE_LINES_DWARF_LINES_H_
#define OFFCPU_SOURCE_LINES_DWARF_LINES_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/functional/function_ref.h"
#include "source_lines/line_chain.h"

namespace offcpu {

struct DwarfInput {
  int file = -1;           // an ELF object
  int supplementary = -1;  // the file that dwz has moved parts of it to; -1: libdw looks for it
};

struct DwarfLimits {
  uint64_t max_entries = 100'000'000;  // that are looked at
  uint64_t max_units = 1'000'000;      // likewise
  size_t max_held_bytes = 24u << 20;   // by libdw, beside what all of the file takes; then it begins anew
};

enum class DwarfEnd : uint8_t {
  kDone,
  kNone,   // the file has no debug information
  kLimit,  // not all was looked at: it is damaged, or there is more than may be looked at or than memory has room for
  kSplit,  // of some addresses only the places are known: the functions are in split units, which were not found
};

// What is known of the address of that index. The views are valid during the call.
using LineSink = absl::FunctionRef<void(size_t index, const LineChain& chain)>;

// `addresses`: link-time, sorted, each once. `sink` gets those of which something is known, in any order.
DwarfEnd FindLines(const DwarfInput& input, std::span<const uint64_t> addresses, const DwarfLimits& limits,
                   LineSink sink);

}  // namespace offcpu

#endif  // OFFCPU_SOURCE_LINES_DWARF_LINES_H_
