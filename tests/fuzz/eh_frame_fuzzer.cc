// An .eh_frame table, all of whose entries are looked up: what is to be found here is damage that libdw does not
// survive.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "unwind/eh_frame.h"
#include "unwind/eh_frame_index.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace offcpu;
  ModuleTable table;
  table.address = 0x2000;
  std::span<const std::byte> bytes = std::as_bytes(std::span(data, size));
  table.bytes.assign(bytes.begin(), bytes.end());
  auto index = IndexEhFrame(table);
  auto rows = EhFrameTable::Open(table);
  if (!index || rows == nullptr) return 0;
  for (const FdeSpan& fde : index->fdes) {
    if (fde.begin >= fde.end) std::abort();
    for (uint64_t pc : {fde.begin, fde.begin + (fde.end - fde.begin) / 2, fde.end - 1}) {
      Row row;
      if (rows->Find(pc, &row) == FindOutcome::kNotHere) std::abort();
    }
  }
  return 0;
}
