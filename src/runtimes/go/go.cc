#include "runtimes/go/go.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "process/elf/table_sections.h"
#include "process/piecewise_memory.h"
#include "runtimes/go/frames.h"
#include "runtimes/go/table.h"

namespace offcpu {
namespace {

// Looks for it in the code of C in front of Go's code and behind it, if another linker has put them together.
void AddCgoThreadStart(const ElfFile& file, const ElfSection& text, const PiecewiseMemory& table, Module* module) {
  constexpr uint64_t kMostBytes = 8 << 20;
  const std::optional<GoTable> functions = GoTable::Open(table, table.bytes(), text.address);
  if (!functions || functions->functions() == 0) return;
  const auto first = functions->FunctionAt(0);
  const auto last = functions->FunctionAt(functions->functions() - 1);
  const uint64_t end = text.address + text.size;
  if (!first || !last || first->begin < text.address || last->end > end || end < text.address) return;
  for (const CodeRange& part : {CodeRange{text.address, first->begin}, CodeRange{last->end, end}}) {
    std::vector<std::byte> code(std::min(part.end - part.begin, kMostBytes));
    if (!file.memory().Read(text.offset + (part.begin - text.address), code)) continue;
    if (const auto start = FindCgoThreadStart(code, part.begin)) module->landmarks.push_back(*start);
  }
}

void ReadFrames(const ElfFile& file, Module* module) {
  const std::optional<GoSections> sections = FindGoSections(file);
  if (!sections) return;
  module->too_large |= sections->is_too_large();
  if (sections->is_too_large()) return;
  const PiecewiseMemory table(file.memory(), sections->table->offset, sections->table->size);
  // While they are collected they may take twice the room.
  const size_t most = 2 * std::min<uint64_t>(table.bytes(), kMaxGoRanges * sizeof(CodeRange));
  if (!module->Afford(most)) return;
  std::vector<CodeRange>& ranges = module->without_frames;
  ranges = GoCodeWithoutFrames(table, table.bytes(), sections->text->address);
  ranges.shrink_to_fit();
  module->too_large |= ranges.size() == kMaxGoRanges;
  module->landmarks = GoLandmarks(table, table.bytes(), sections->text->address);
  AddCgoThreadStart(file, *sections->text, table, module);
  module->memory.Shrink(most - std::min(most, ranges.size() * sizeof(CodeRange)));
}

}  // namespace

bool ReadGoModule(const ElfFile& file, Module* module) {
  if (FindTableSection(file, ".note.go.buildid", /*mapped=*/true) == nullptr) return false;
  module->language = "go";
  module->keeps_frame_pointer = true;
  ReadFrames(file, module);
  return true;
}

}  // namespace offcpu
