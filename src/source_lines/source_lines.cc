#include "source_lines/source_lines.h"

#include <utility>

#include "source_lines/line_records.h"

namespace offcpu {

SourceLines ReadSourceLines(const DwarfInput& input, std::span<const uint64_t> addresses,
                            const ConfinedLimits& confined, const DwarfLimits& limits) {
  constexpr size_t kPiece = 32u << 10;
  std::vector<int> files = {input.file};
  if (input.supplementary >= 0) files.push_back(input.supplementary);
  ConfinedResult result = RunConfined(confined, files, [&](ConfinedWriter write) {
    LineRecordWriter records;
    const DwarfEnd end = FindLines(input, addresses, limits, [&](size_t index, const LineChain& chain) {
      records.Add(index, chain);
      if (records.bytes() > kPiece) write(records.Take());
    });
    records.End(end);
    write(records.Take());
  });
  SourceLines lines;
  lines.bytes = std::move(result.bytes);
  LineRecords records = ReadLineRecords(lines.bytes, addresses.size());
  lines.chains = std::move(records.chains);
  lines.is_without_split = records.end == DwarfEnd::kSplit;
  lines.is_cut = records.end != DwarfEnd::kDone && records.end != DwarfEnd::kNone && !lines.is_without_split;
  return lines;
}

}  // namespace offcpu
