#include "unwind/row_finder.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "absl/status/status.h"
#include "unwind/debug_frame.h"
#include "unwind/frame_pointer.h"

namespace offcpu {
namespace {

bool HasOtherSFrame(const Module& module) {
  const SFrameVersion version = SFrameVersionOf(module.sframe.bytes);
  return version != SFrameVersion::kNone && version != SFrameVersion::kV3;
}

// At the base of a thread of its runtime the frame pointer leads nowhere, and the table does.
bool IsGoWithTable(const Module& module) { return module.is_go && !module.debug_frame.bytes.empty(); }

}  // namespace

FindOutcome RowFinder::Find(const std::shared_ptr<const Module>& module, uint64_t address, bool plausible_fp,
                            Row* row) {
  if (module == nullptr) {
    if (!UsesFramePointer(order_, nullptr, plausible_fp)) return FindOutcome::kNotHere;
    *row = kFramePointerRow;
    return FindOutcome::kFound;
  }
  Tables& tables = TablesOf(module);
  if (plausible_fp ? tables.uses_plausible_fp : tables.uses_any_fp) {
    if (HasOtherSFrame(*module) && order_.Has(FrameSource::kSFrame)) {
      AskSFrame(tables, address, row);  // has nothing to say, which is counted
    }
    *row = kFramePointerRow;
    return FindOutcome::kFound;
  }
  auto known = tables.answers.find(address);
  if (known != tables.answers.end()) {
    ++stats_.hits;
    *row = known->second.row;
    return known->second.outcome;
  }
  ++stats_.misses;
  Answer answer = Ask(tables, address);
  if (rows_ >= limits_.rows) {
    for (auto& [key, other] : tables_) other->answers.clear();
    rows_ = 0;
    ++stats_.clears;
  }
  tables.answers.emplace(address, answer);
  ++rows_;
  *row = answer.row;
  return answer.outcome;
}

// What a module's tables do not describe, the frame pointer mostly does not either: such code (a PLT, an epilogue in
// assembler) is what has no frame. Only where they leave out a lot is it asked.
RowFinder::Answer RowFinder::Ask(Tables& tables, uint64_t address) {
  Answer answer;
  for (const FrameSource source : order_.sources) {
    FindOutcome outcome = FindOutcome::kNotHere;
    if (source == FrameSource::kSFrame) outcome = AskSFrame(tables, address, &answer.row);
    if (source == FrameSource::kEhFrame) outcome = AskEhFrame(tables, address, &answer.row);
    if (outcome != FindOutcome::kNotHere) answer.outcome = outcome;
    if (outcome == FindOutcome::kFound) break;
  }
  if (answer.outcome == FindOutcome::kNotHere) answer.outcome = AskHole(tables, address, &answer.row);
  return answer;
}

FindOutcome RowFinder::AskHole(const Tables& tables, uint64_t address, Row* row) const {
  const Module& module = *tables.module;
  const auto code = std::find_if(module.code.begin(), module.code.end(), [address](const CodeRange& range) {
    return address >= range.begin && address < range.end;
  });
  if (!order_.Has(FrameSource::kFramePointer) || tables.damaged || code == module.code.end()) {
    return FindOutcome::kNotHere;
  }
  CodeRange hole = *code;
  const auto narrow = [&](const auto& table) {
    const CodeRange in_table = table == nullptr ? hole : table->HoleAt(address);
    hole.begin = std::max(hole.begin, in_table.begin);
    hole.end = std::min(hole.end, in_table.end);
  };
  narrow(tables.sframe);
  narrow(tables.eh_frame);
  if (!module.is_go) narrow(tables.debug_frame);
  if (hole.begin >= hole.end || hole.end - hole.begin < kMinHoleBytes) return FindOutcome::kNotHere;
  *row = FramePointerRowOf(hole);
  return FindOutcome::kFound;
}

bool RowFinder::BeginsSignalFrame(const std::shared_ptr<const Module>& module, uint64_t address) {
  if (module == nullptr) return false;
  Tables& tables = TablesOf(module);
  std::optional<bool> begins;
  for (const FrameSource source : order_.sources) {
    if (source == FrameSource::kSFrame) {
      if (!tables.sframe_opened) OpenSFrame(tables);
      if (tables.sframe != nullptr) begins = tables.sframe->BeginsSignalFrame(address);
    } else if (source == FrameSource::kEhFrame) {
      if (!tables.eh_frame_opened) OpenEhFrame(tables);
      if (tables.eh_frame != nullptr) begins = tables.eh_frame->BeginsSignalFrame(address);
      if (!begins && tables.debug_frame != nullptr && !module->is_go) {
        begins = tables.debug_frame->BeginsSignalFrame(address);
      }
    }
    if (begins) break;
  }
  return begins.value_or(false);
}

FindOutcome RowFinder::AskSFrame(Tables& tables, uint64_t address, Row* row) {
  if (!tables.sframe_opened) OpenSFrame(tables);
  if (tables.sframe == nullptr) return FindOutcome::kNotHere;
  const size_t bytes = tables.sframe->bytes();
  const FindOutcome outcome = tables.sframe->Find(address, row);
  Hold(tables, tables.sframe->bytes() - bytes);
  if (outcome == FindOutcome::kCorrupt) GiveUpSFrame(tables);
  return outcome;
}

FindOutcome RowFinder::AskEhFrame(Tables& tables, uint64_t address, Row* row) {
  if (!tables.eh_frame_opened) OpenEhFrame(tables);
  FindOutcome outcome = FindOutcome::kNotHere;
  if (tables.eh_frame != nullptr) outcome = tables.eh_frame->Find(address, row);
  if (outcome == FindOutcome::kCorrupt) ++stats_.bad_entries;
  // Where Go's code is asked here, its frame pointer leads nowhere.
  const bool is_only_table = tables.eh_frame == nullptr || !tables.module->is_go;
  return outcome == FindOutcome::kNotHere && is_only_table ? AskDebugFrame(tables, address, row) : outcome;
}

FindOutcome RowFinder::AskDebugFrame(const Tables& tables, uint64_t address, Row* row) {
  if (tables.debug_frame == nullptr) return FindOutcome::kNotHere;
  const FindOutcome outcome = tables.debug_frame->Find(address, row);
  if (outcome == FindOutcome::kFound) row->source = FrameSource::kDebugFrame;
  if (outcome == FindOutcome::kCorrupt) ++stats_.bad_entries;
  return outcome;
}

FindOutcome RowFinder::FindInterrupted(const std::shared_ptr<const Module>& module, uint64_t address, Row* row) {
  if (module == nullptr || !module->is_go) return FindOutcome::kNotHere;
  if (order_.Has(FrameSource::kEhFrame) && !module->debug_frame.bytes.empty()) {
    Tables& tables = TablesOf(module);
    if (!tables.eh_frame_opened) OpenEhFrame(tables);
    if (AskDebugFrame(tables, address, row) == FindOutcome::kFound) return FindOutcome::kFound;
  }
  const std::vector<CodeRange>& ranges = module->go_without_frames;
  const auto after = std::upper_bound(ranges.begin(), ranges.end(), address,
                                      [](uint64_t at, const CodeRange& range) { return at < range.begin; });
  if (after == ranges.begin() || address >= std::prev(after)->end) return FindOutcome::kNotHere;
  *row = kWithoutFrameRow;
  row->begin = std::prev(after)->begin;
  row->end = std::prev(after)->end;
  return FindOutcome::kFound;
}

void RowFinder::OpenSFrame(Tables& tables) {
  tables.sframe_opened = true;
  const Module& module = *tables.module;
  // A linker that has no functions to describe may leave a segment without so much as a header.
  if (SFrameVersionOf(module.sframe.bytes) == SFrameVersion::kNone) {
    if (module.damaged_sframe) CountCorrupt(tables);
    return;
  }
  absl::StatusOr<std::unique_ptr<SFrameTable>> table = SFrameTable::Open(module.sframe, module.code);
  if (!table.ok()) {
    if (absl::IsUnimplemented(table.status())) {
      ++stats_.sframe_old_versions;
    } else {
      CountCorrupt(tables);
    }
    return;
  }
  tables.sframe = *std::move(table);
  CountBad(tables, tables.sframe->bad_functions());
  Hold(tables, tables.sframe->bytes());
}

// Where one function is damaged nothing says that the others are not. So what it has answered before is forgotten, too.
void RowFinder::GiveUpSFrame(Tables& tables) {
  CountCorrupt(tables);
  bytes_ -= tables.sframe->bytes();
  tables.bytes -= tables.sframe->bytes();
  tables.sframe = nullptr;
  rows_ -= tables.answers.size();
  tables.answers.clear();
}

void RowFinder::OpenEhFrame(Tables& tables) {
  tables.eh_frame_opened = true;
  const Module& module = *tables.module;
  if (!module.eh_frame.bytes.empty()) tables.eh_frame = EhFrameTable::Open(module.eh_frame);
  if (tables.eh_frame != nullptr) {
    HoldEhFrame(tables, *tables.eh_frame);
  } else if (!module.eh_frame.bytes.empty() || module.damaged_eh_frame) {
    CountCorrupt(tables);
  }
  if (!module.debug_frame.bytes.empty()) OpenDebugFrame(tables);
}

void RowFinder::OpenDebugFrame(Tables& tables) {
  std::optional<std::vector<std::byte>> bytes = DebugFrameAsEhFrame(tables.module->debug_frame.bytes);
  if (bytes) tables.debug_frame = EhFrameTable::Open({.address = 0, .bytes = *std::move(bytes)});
  if (tables.debug_frame == nullptr) {
    CountCorrupt(tables);
  } else {
    HoldEhFrame(tables, *tables.debug_frame);
  }
}

void RowFinder::HoldEhFrame(Tables& tables, const EhFrameTable& table) {
  CountBad(tables, table.bad_entries());
  Hold(tables, table.bytes());
}

void RowFinder::CountCorrupt(Tables& tables) {
  ++stats_.corrupt_tables;
  tables.damaged = true;
}

void RowFinder::CountBad(Tables& tables, size_t entries) {
  stats_.bad_entries += entries;
  tables.damaged |= entries != 0;
}

void RowFinder::Hold(Tables& tables, size_t bytes) {
  tables.bytes += bytes;
  bytes_ += bytes;
  EvictFor(tables);
}

RowFinder::Tables& RowFinder::TablesOf(const std::shared_ptr<const Module>& module) {
  if (last_ != nullptr && last_->module == module) return *last_;  // most callers are in the module of their callee
  std::unique_ptr<Tables>& slot = tables_[module.get()];
  const bool is_new = slot == nullptr;
  if (is_new) slot = std::make_unique<Tables>();
  Tables& tables = *slot;
  tables.last_use = ++clock_;
  if (is_new) {
    tables.module = module;
    tables.uses_any_fp =
        UsesFramePointer(order_, module.get(), false) && !(IsGoWithTable(*module) && order_.Has(FrameSource::kEhFrame));
    tables.uses_plausible_fp = UsesFramePointer(order_, module.get(), true);
    EvictFor(tables);
  }
  last_ = &tables;
  return tables;
}

void RowFinder::EvictFor(const Tables& kept) {
  while (tables_.size() > 1 && (bytes_ > limits_.bytes || tables_.size() > limits_.modules)) {
    auto oldest = std::min_element(tables_.begin(), tables_.end(), [](const auto& a, const auto& b) {
      return a.second->last_use < b.second->last_use;
    });
    if (oldest->second.get() == &kept) return;
    if (oldest->second.get() == last_) last_ = nullptr;
    rows_ -= oldest->second->answers.size();
    bytes_ -= oldest->second->bytes;
    tables_.erase(oldest);
    ++stats_.evictions;
  }
}

}  // namespace offcpu
