// An SFrame table, all of whose functions are looked up. The first byte chooses the machine. What is found must cover
// the address that it was found for, and look-ups must read no more rows than one function can have; the second of
// one address, none.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "unwind/sframe.h"
#include "unwind/sframe_dump.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace offcpu;
  constexpr uint32_t kMostRows = 65535;
  constexpr CodeRange kCode[] = {{0, uint64_t{1} << 40}};
  if (size == 0) return 0;
  ModuleTable table;
  table.address = 0x400000;
  std::span<const std::byte> bytes = std::as_bytes(std::span(data, size)).subspan(1);
  table.bytes.assign(bytes.begin(), bytes.end());
  auto opened = SFrameTable::Open(table, kCode, data[0] % 2 == 0 ? kX86_64 : kAArch64);
  if (!opened.ok()) return 0;
  SFrameTable& rows = **opened;
  size_t lines = 0;
  DumpSFrame(rows, [&lines](std::string_view) { ++lines; });
  if (lines > size) std::abort();
  for (const SFrameSection& section : rows.sections()) {
    section.ForEach([&](uint32_t, const SFrameFunction& function) {
      for (uint64_t pc : {function.begin, function.begin + function.size / 2, function.begin + function.size - 1}) {
        UnwindRow row;
        const uint64_t before = rows.rows_read();
        if (rows.Find(pc, &row) == FindOutcome::kFound && (row.begin > pc || row.end <= pc)) std::abort();
        const uint64_t between = rows.rows_read();
        if (between - before > kMostRows) std::abort();
        rows.Find(pc, &row);
        if (rows.rows_read() != between) std::abort();
      }
    });
  }
  return 0;
}
