// Chains of functions as bytes, on their way from the process that reads debug information to the one that asked. The
// reader takes every byte as hostile. One thread.
//
// Records, all numbers little-endian and of four bytes: 1, a text: its length and bytes; texts are numbered from 0.
// 2, a chain: the index of its address, how many functions, and for each the numbers of the texts of its name and its
// file, line, column and first line. 3, the end: a DwarfEnd.
#ifndef OFFCPU_SOURCE_LINES_LINE_RECORDS_H_
#define OFFCPU_SOURCE_LINES_LINE_RECORDS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "source_lines/dwarf_lines.h"
#include "source_lines/line_chain.h"

namespace offcpu {

inline constexpr size_t kMaxLineTextBytes = 4096;  // of a name or a path; a longer one is left out

class LineRecordWriter {
 public:
  void Add(size_t index, const LineChain& chain);
  void End(DwarfEnd end);
  // What was written since the last call.
  std::string Take() { return std::exchange(bytes_, {}); }
  size_t bytes() const { return bytes_.size(); }

 private:
  void Number(uint64_t number);
  uint32_t Text(std::string_view text);

  std::string bytes_;
  absl::flat_hash_map<std::string, uint32_t> texts_;
};

struct LineRecords {
  std::vector<LineChain> chains;  // by index of the address; empty: unknown
  std::optional<DwarfEnd> end;    // nothing: there is more that is not here
};

// `addresses`: how many there are. Views point into `bytes`. What follows a damaged record is not read.
LineRecords ReadLineRecords(std::span<const char> bytes, size_t addresses);

}  // namespace offcpu

#endif  // OFFCPU_SOURCE_LINES_LINE_RECORDS_H_
