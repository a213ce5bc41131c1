// Finds the functions and the places in the source of addresses of one ELF object, inlined functions included, by the
// debug information of a file. The file may be hostile, and the library that reads it has faults. So a confined process
// (os/confined_work.h) reads it, with limited memory and time. Safe from any thread. Does not look for files.
#ifndef OFFCPU_SOURCE_LINES_SOURCE_LINES_H_
#define OFFCPU_SOURCE_LINES_SOURCE_LINES_H_

#include <cstdint>
#include <span>
#include <vector>

#include "os/confined_work.h"
#include "source_lines/dwarf_lines.h"
#include "source_lines/line_chain.h"

namespace offcpu {

struct SourceLines {
  std::vector<LineChain> chains;  // parallel to the addresses; empty: nothing is known
  // Not all of the debug information was read: it is damaged, or takes more time or memory than it may.
  bool is_cut = false;
  bool is_without_split = false;  // otherwise all was read, but as DwarfEnd::kSplit says
  std::vector<char> bytes;        // that the views point into
};

// `addresses`: link-time, sorted, each once.
SourceLines ReadSourceLines(const DwarfInput& input, std::span<const uint64_t> addresses,
                            const ConfinedLimits& confined = {}, const DwarfLimits& limits = {});

}  // namespace offcpu

#endif  // OFFCPU_SOURCE_LINES_SOURCE_LINES_H_
