// Checks every entry of an .eh_frame table and lists those that describe code. Where the linker has left a search
// table, that says which entries there are, as it does to the runtimes of languages: an entry that follows another one
// may be out of date, and a zero between two ends nothing. What it leaves out is taken too. The purpose is to keep
// damaged entries from libdw, which reads past the end of some, allocates by numbers found in others and takes lengths
// on trust. A pure function of the bytes; safe from any thread. Does not compute rows.
#ifndef OFFCPU_UNWIND_EH_FRAME_INDEX_H_
#define OFFCPU_UNWIND_EH_FRAME_INDEX_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "process/machine.h"
#include "process/module.h"

namespace offcpu {

inline constexpr size_t kMaxFdes = 4 << 20;

// A description of the code at the link-time addresses [begin, end), at `offset` of the table.
struct FdeSpan {
  uint64_t begin = 0;
  uint64_t end = 0;
  uint32_t offset = 0;
  bool signal = false;  // of a signal trampoline
};

struct EhFrameIndex {
  std::vector<FdeSpan> fdes;  // sorted, not overlapping
  size_t bad_entries = 0;     // left out: damaged, of an unknown kind, or for code that an equal one describes
};

// How many entries the chain has, up to where it ends or is broken.
size_t CountEntries(std::span<const std::byte> table);

// `header`: the .eh_frame_hdr of the table, if it has one. Nothing if there are more than kMaxFdes, or if the chain of
// entries is broken and no search table names them.
std::optional<EhFrameIndex> IndexEhFrame(const ModuleTable& table, const Machine& machine,
                                         const ModuleTable& header = {});

}  // namespace offcpu

#endif  // OFFCPU_UNWIND_EH_FRAME_INDEX_H_
