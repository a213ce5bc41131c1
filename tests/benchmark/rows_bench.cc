// One row: known, and looked up in either table, beside libdw and libsframe on the same addresses. OFFCPU_BENCH_OBJECT
// names an ELF object with both tables; scripts/bench-unwind makes one.
#include <benchmark/benchmark.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "process/elf/file_image.h"
#include "process/memory.h"
#include "unwind/row_finder.h"
#include "unwind/sframe.h"
#ifdef OFFCPU_HAS_LIBSFRAME
#include <sframe-api.h>
#endif

namespace offcpu {
namespace {

constexpr size_t kAddresses = 4096;

struct Object {
  int fd = -1;
  std::shared_ptr<const Module> module;
  std::vector<uint64_t> addresses;  // that both tables have a row for
};

// Null if there is none.
const Object* TheObject() {
  static Object object;
  const char* path = getenv("OFFCPU_BENCH_OBJECT");
  if (path == nullptr) return nullptr;
  if (object.module != nullptr) return &object;
  object.fd = open(path, O_RDONLY | O_CLOEXEC);
  absl::StatusOr<Module> module = ReadFileImage(FileMemory(object.fd));
  if (!module.ok()) return nullptr;
  object.module = std::make_shared<const Module>(*std::move(module));
  auto sframe = SFrameTable::Open(object.module->sframe, object.module->code, kX86_64);
  if (!sframe.ok()) return nullptr;
  RowFinder eh_frame(kX86_64, *ParseUnwindOrder("eh_frame"));
  std::mt19937_64 random(1);
  const CodeRange code = object.module->code.at(0);
  for (size_t tries = 0; object.addresses.size() < kAddresses && tries < 100 * kAddresses; ++tries) {
    const uint64_t address = code.begin + random() % (code.end - code.begin);
    UnwindRow row;
    if ((*sframe)->Find(address, &row) == FindOutcome::kFound &&
        eh_frame.Find(object.module, address, false, &row) == FindOutcome::kFound) {
      object.addresses.push_back(address);
    }
  }
  return object.addresses.size() == kAddresses ? &object : nullptr;
}

template <typename LookUp>
void Run(benchmark::State& state, const std::vector<uint64_t>& addresses, LookUp look_up) {
  size_t i = 0;
  for (auto _ : state) {
    if (!look_up(addresses[i])) state.SkipWithError("no row");
    if (++i == addresses.size()) i = 0;
  }
}

void BM_RowKnown(benchmark::State& state) {
  const Object* object = TheObject();
  if (object == nullptr) return state.SkipWithError("OFFCPU_BENCH_OBJECT is none with both tables");
  RowFinder rows(kX86_64);
  Run(state, object->addresses, [&](uint64_t address) {
    UnwindRow row;
    return rows.Find(object->module, address, false, &row) == FindOutcome::kFound;
  });
}
BENCHMARK(BM_RowKnown);

void BM_RowSFrame(benchmark::State& state) {
  const Object* object = TheObject();
  if (object == nullptr) return state.SkipWithError("OFFCPU_BENCH_OBJECT is none with both tables");
  auto table = SFrameTable::Open(object->module->sframe, object->module->code, kX86_64);
  Run(state, object->addresses, [&](uint64_t address) {
    UnwindRow row;
    return (*table)->Find(address, &row) == FindOutcome::kFound;
  });
}
BENCHMARK(BM_RowSFrame);

void BM_RowEhFrame(benchmark::State& state) {
  const Object* object = TheObject();
  if (object == nullptr) return state.SkipWithError("OFFCPU_BENCH_OBJECT is none with both tables");
  RowFinder rows(kX86_64, *ParseUnwindOrder("eh_frame"), {.rows = 0});
  Run(state, object->addresses, [&](uint64_t address) {
    UnwindRow row;
    return rows.Find(object->module, address, false, &row) == FindOutcome::kFound;
  });
}
BENCHMARK(BM_RowEhFrame);

// libdw's own look-up, which keeps the entries that it has met. The first one of each address is not measured.
void BM_DwarfCfiAddrframe(benchmark::State& state) {
  const Object* object = TheObject();
  if (object == nullptr) return state.SkipWithError("OFFCPU_BENCH_OBJECT is none with both tables");
  elf_version(EV_CURRENT);
  Elf* elf = elf_begin(object->fd, ELF_C_READ, nullptr);
  Dwarf_CFI* cfi = dwarf_getcfi_elf(elf);
  const auto look_up = [&](uint64_t address) {
    Dwarf_Frame* frame = nullptr;
    if (dwarf_cfi_addrframe(cfi, address, &frame) != 0) return false;
    free(frame);
    return true;
  };
  for (const uint64_t address : object->addresses) look_up(address);
  Run(state, object->addresses, look_up);
  dwarf_cfi_end(cfi);
  elf_end(elf);
}
BENCHMARK(BM_DwarfCfiAddrframe);

#ifdef OFFCPU_HAS_LIBSFRAME
void BM_LibsframeFindFre(benchmark::State& state) {
  const Object* object = TheObject();
  if (object == nullptr) return state.SkipWithError("OFFCPU_BENCH_OBJECT is none with both tables");
  int error = 0;
  const ModuleTable& table = object->module->sframe;
  sframe_decoder_ctx* decoder =
      sframe_decode(reinterpret_cast<const char*>(table.bytes.data()), table.bytes.size(), &error);
  if (decoder == nullptr) return state.SkipWithError("sframe_decode");
  Run(state, object->addresses, [&](uint64_t address) {
    sframe_frame_row_entry fre;
    return sframe_find_fre(decoder, static_cast<int64_t>(address - table.address), &fre) == 0;
  });
  sframe_decoder_free(&decoder);
}
BENCHMARK(BM_LibsframeFindFre);
#endif

}  // namespace
}  // namespace offcpu
