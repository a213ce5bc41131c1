#include "runtimes/go/go.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "process/elf/table_sections.h"
#include "runtimes/go/frames.h"

namespace offcpu {
namespace {

void ReadFrames(const ElfFile& file, Module* module) {
  const ElfSection* text = FindTableSection(file, ".text", /*mapped=*/true);
  ModuleTable table = ReadTableSection(file, ".gopclntab", module);
  if (table.bytes.empty())
    table = ReadTableSection(file, ".data.rel.ro.gopclntab", module);  // it can be loaded anywhere
  const size_t table_bytes = table.bytes.size();
  // While they are collected they may take twice the room.
  const size_t most = 2 * std::min(table_bytes, kMaxGoRanges * sizeof(CodeRange));
  if (text != nullptr && table_bytes != 0 && module->Afford(most)) {
    const std::string_view bytes = {reinterpret_cast<const char*>(table.bytes.data()), table_bytes};
    std::vector<CodeRange>& ranges = module->without_frames;
    ranges = GoCodeWithoutFrames(bytes, text->address);
    ranges.shrink_to_fit();
    module->landmarks = GoLandmarks(bytes, text->address);
    module->memory.Shrink(most - std::min(most, ranges.size() * sizeof(CodeRange)));
  }
  module->memory.Shrink(table_bytes);
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
