#include "unwind/row_sources.h"

#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "unwind/debug_frame.h"
#include "unwind/eh_frame.h"
#include "unwind/sframe.h"

namespace offcpu {
namespace {

using Opened = absl::StatusOr<std::unique_ptr<RowTable>>;

Opened OpenSFrame(const Module& module, const Machine& machine) {
  return SFrameTable::Open(module.sframe, module.code, machine);
}

size_t EstimateSFrame(const Module& module) { return SFrameTable::Estimate(module.sframe); }

size_t EstimateEhFrame(const Module& module) {
  return module.eh_frame.bytes.empty() ? 0 : EhFrameTable::Estimate(module.eh_frame.bytes, module.eh_frame_hdr);
}

Opened OpenEhFrameTable(std::unique_ptr<EhFrameTable> opened) {
  if (opened == nullptr) return absl::DataLossError("damaged as a whole");
  return opened;
}

Opened OpenEhFrame(const Module& module, const Machine& machine) {
  return OpenEhFrameTable(EhFrameTable::Open(module.eh_frame, machine, module.eh_frame_hdr));
}

// It is written in another form first, which is longer.
size_t EstimateDebugFrame(const Module& module) {
  const std::vector<std::byte>& bytes = module.debug_frame.bytes;
  return bytes.empty() ? 0 : 4 * EhFrameTable::Estimate(bytes);
}

Opened OpenDebugFrame(const Module& module, const Machine& machine) {
  std::optional<std::vector<std::byte>> bytes = DebugFrameAsEhFrame(module.debug_frame.bytes);
  if (!bytes) return absl::DataLossError("damaged as a whole");
  return OpenEhFrameTable(EhFrameTable::Open({.address = 0, .bytes = *std::move(bytes)}, machine));
}

constexpr RowSource kSources[] = {
    {.rows = FrameSource::kSFrame,
     .ordered = FrameSource::kSFrame,
     .falls_as_a_whole = true,
     .table = &Module::sframe,
     .damaged = &Module::damaged_sframe,
     .estimate = EstimateSFrame,
     .open = OpenSFrame},
    {.rows = FrameSource::kEhFrame,
     .ordered = FrameSource::kEhFrame,
     .kept_bytes = EhFrameTable::kBytesPerEntry,
     .table = &Module::eh_frame,
     .damaged = &Module::damaged_eh_frame,
     .estimate = EstimateEhFrame,
     .open = OpenEhFrame},
    {.rows = FrameSource::kDebugFrame,
     .ordered = FrameSource::kEhFrame,
     .fills_gaps = true,
     .kept_bytes = EhFrameTable::kBytesPerEntry,
     .table = &Module::debug_frame,
     .estimate = EstimateDebugFrame,
     .open = OpenDebugFrame},
};

}  // namespace

std::span<const RowSource> RowSources() { return kSources; }

}  // namespace offcpu
