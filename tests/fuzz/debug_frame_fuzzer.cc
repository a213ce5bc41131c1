// A .debug_frame: whatever it holds, its other form is a table that .eh_frame's reader takes as a whole, with no more
// functions than there are bytes for.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <span>
#include <vector>

#include "unwind/debug_frame.h"
#include "unwind/eh_frame.h"
#include "unwind/eh_frame_index.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace offcpu;
  const std::optional<std::vector<std::byte>> bytes = DebugFrameAsEhFrame(std::as_bytes(std::span(data, size)));
  if (!bytes) return 0;
  const ModuleTable table = {.address = 0, .bytes = *bytes};
  const std::optional<EhFrameIndex> index = IndexEhFrame(table, kX86_64);
  if (!index || index->fdes.size() > size / 24) std::abort();
  const auto rows = EhFrameTable::Open(table, kX86_64);
  if (rows == nullptr) std::abort();
  for (const FdeSpan& fde : index->fdes) {
    UnwindRow row;
    if (rows->Find(fde.begin, &row) == FindOutcome::kNotHere) std::abort();
  }
  return 0;
}
