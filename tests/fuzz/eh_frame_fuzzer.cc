// An .eh_frame table, all of whose entries are looked up, also by a search table of the same bytes: what is to be found
// here is damage that libdw does not survive.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "unwind/eh_frame.h"
#include "unwind/eh_frame_index.h"

namespace {

using namespace offcpu;

void LookUpAll(const ModuleTable& table, const ModuleTable& header) {
  auto index = IndexEhFrame(table, kX86_64, header);
  auto rows = EhFrameTable::Open(table, kX86_64, header);
  if (!index || rows == nullptr) return;
  for (const FdeSpan& fde : index->fdes) {
    if (fde.begin >= fde.end) std::abort();
    for (uint64_t pc : {fde.begin, fde.begin + (fde.end - fde.begin) / 2, fde.end - 1}) {
      UnwindRow row;
      if (rows->Find(pc, &row) == FindOutcome::kNotHere) std::abort();
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  ModuleTable table;
  table.address = 0x2000;
  std::span<const std::byte> bytes = std::as_bytes(std::span(data, size));
  table.bytes.assign(bytes.begin(), bytes.end());
  LookUpAll(table, {});
  ModuleTable header = {.address = table.address,
                        .bytes = {std::byte{1}, std::byte{0x3b}, std::byte{3}, std::byte{0x3b}}};
  header.bytes.insert(header.bytes.end(), bytes.begin(), bytes.end());
  LookUpAll(table, header);
  return 0;
}
