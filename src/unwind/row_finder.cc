#include "unwind/row_finder.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

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
    if (HasOtherSFrame(*tables.module) && order_.Has(FrameSource::kSFrame)) {
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
  if (tables.no_room) {  // perhaps there is, the next time
    *row = answer.row;
    return answer.outcome;
  }
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
  tables.no_room = false;
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
  if (!order_.Has(FrameSource::kFramePointer) || tables.damaged || tables.no_room || code == module.code.end()) {
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
      OpenEhFrame(tables);
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
  const FindOutcome outcome = tables.sframe->Find(address, row);
  if (outcome == FindOutcome::kCorrupt) GiveUpSFrame(tables);
  Settle(tables);
  return outcome;
}

FindOutcome RowFinder::AskEhFrame(Tables& tables, uint64_t address, Row* row) {
  OpenEhFrame(tables);
  FindOutcome outcome = FindOutcome::kNotHere;
  if (tables.eh_frame != nullptr) outcome = tables.eh_frame->Find(address, row);
  if (outcome == FindOutcome::kCorrupt) ++stats_.bad_entries;
  // Where Go's code is asked here, its frame pointer leads nowhere.
  const bool is_only_table = tables.eh_frame == nullptr || !tables.module->is_go;
  if (outcome == FindOutcome::kNotHere && is_only_table) outcome = AskDebugFrame(tables, address, row);
  tables.asked_bytes += EhFrameTable::kBytesPerEntry;
  Settle(tables);
  return outcome;
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
  if (order_.Has(FrameSource::kEhFrame) && !module->tables().debug_frame.bytes.empty()) {
    Tables& tables = TablesOf(module);
    OpenEhFrame(tables);
    if (AskDebugFrame(tables, address, row) == FindOutcome::kFound) return FindOutcome::kFound;
  }
  const std::vector<CodeRange>& ranges = module->tables().go_without_frames;
  const auto after = std::upper_bound(ranges.begin(), ranges.end(), address,
                                      [](uint64_t at, const CodeRange& range) { return at < range.begin; });
  if (after == ranges.begin() || address >= std::prev(after)->end) return FindOutcome::kNotHere;
  *row = kWithoutFrameRow;
  row->begin = std::prev(after)->begin;
  row->end = std::prev(after)->end;
  return FindOutcome::kFound;
}

void RowFinder::OpenSFrame(Tables& tables) {
  const Module& module = *tables.module;
  // A linker that has no functions to describe may leave a segment without so much as a header.
  if (SFrameVersionOf(module.sframe.bytes) == SFrameVersion::kNone) {
    tables.sframe_opened = true;
    if (module.damaged_sframe) CountCorrupt(tables);
    return;
  }
  if (tables.sframe_estimate == 0) tables.sframe_estimate = SFrameTable::Estimate(module.sframe);
  if (!Afford(tables, tables.sframe_estimate)) return;
  tables.sframe_opened = true;
  absl::StatusOr<std::unique_ptr<SFrameTable>> table = SFrameTable::Open(module.sframe, module.code);
  if (table.ok()) {
    tables.sframe = *std::move(table);
    CountBad(tables, tables.sframe->bad_functions());
  } else if (absl::IsUnimplemented(table.status())) {
    ++stats_.sframe_old_versions;
  } else {
    CountCorrupt(tables);
  }
  Settle(tables);
}

// Where one function is damaged nothing says that the others are not. So what it has answered before is forgotten, too.
void RowFinder::GiveUpSFrame(Tables& tables) {
  CountCorrupt(tables);
  tables.sframe = nullptr;
  rows_ -= tables.answers.size();
  tables.answers.clear();
}

void RowFinder::OpenEhFrame(Tables& tables) {
  const Module& module = *tables.module;
  if (!tables.eh_frame_opened && !module.eh_frame.bytes.empty()) {
    if (tables.eh_frame_estimate == 0) tables.eh_frame_estimate = EhFrameTable::Estimate(module.eh_frame.bytes);
    if (!Afford(tables, tables.eh_frame_estimate)) return;
    tables.eh_frame = EhFrameTable::Open(module.eh_frame);
    if (tables.eh_frame != nullptr) CountBad(tables, tables.eh_frame->bad_entries());
    Settle(tables);
  }
  const bool has_none = tables.eh_frame == nullptr && (!module.eh_frame.bytes.empty() || module.damaged_eh_frame);
  if (!tables.eh_frame_opened && has_none) CountCorrupt(tables);
  tables.eh_frame_opened = true;
  if (!tables.debug_frame_opened) OpenDebugFrame(tables);
}

void RowFinder::OpenDebugFrame(Tables& tables) {
  const std::vector<std::byte>& table = tables.module->debug_frame.bytes;
  if (!table.empty()) {
    // It is written in another form first, which is longer.
    if (tables.debug_frame_estimate == 0) tables.debug_frame_estimate = 4 * EhFrameTable::Estimate(table);
    if (!Afford(tables, tables.debug_frame_estimate)) return;
    std::optional<std::vector<std::byte>> bytes = DebugFrameAsEhFrame(table);
    if (bytes) tables.debug_frame = EhFrameTable::Open({.address = 0, .bytes = *std::move(bytes)});
    if (tables.debug_frame == nullptr) {
      CountCorrupt(tables);
    } else {
      CountBad(tables, tables.debug_frame->bad_entries());
    }
    Settle(tables);
  }
  tables.debug_frame_opened = true;
}

void RowFinder::CountCorrupt(Tables& tables) {
  ++stats_.corrupt_tables;
  tables.damaged = true;
}

void RowFinder::CountBad(Tables& tables, size_t entries) {
  stats_.bad_entries += entries;
  tables.damaged |= entries != 0;
}

bool RowFinder::Afford(Tables& tables, size_t bytes) {
  constexpr uint64_t kPatience = 256;  // look-ups: to ask is not for free
  tables.no_room = true;
  if (stats_.misses < tables.ask_again) return false;
  while (!tables.memory.Grow(bytes)) {
    if (EvictOfOwner(tables)) continue;
    tables.ask_again = stats_.misses + kPatience;
    ++stats_.no_room;
    return false;
  }
  tables.no_room = false;
  return true;
}

void RowFinder::Settle(Tables& tables) {
  constexpr size_t kSlack = 64 << 10;  // what libdw keeps is paid for in pieces of this size
  size_t bytes = tables.sframe != nullptr ? tables.sframe->bytes() : 0;
  if (tables.eh_frame != nullptr) bytes += tables.eh_frame->bytes();
  if (tables.debug_frame != nullptr) bytes += tables.debug_frame->bytes();
  bytes_ += bytes - tables.bytes;
  tables.bytes = bytes;
  const size_t held = bytes + tables.asked_bytes;
  if (held < tables.memory.bytes()) tables.memory.Shrink(tables.memory.bytes() - held);
  const size_t owed = held - tables.memory.bytes();
  if (owed > kSlack && !Afford(tables, owed)) return Close(tables);
  EvictFor(tables);
}

void RowFinder::Close(Tables& tables) {
  tables.sframe = nullptr;
  tables.eh_frame = nullptr;
  tables.debug_frame = nullptr;
  tables.sframe_opened = tables.eh_frame_opened = tables.debug_frame_opened = false;
  tables.memory = tables.memory.Another();
  tables.asked_bytes = 0;
  rows_ -= tables.answers.size();
  tables.answers.clear();
  bytes_ -= std::exchange(tables.bytes, 0);
}

RowFinder::Tables& RowFinder::TablesOf(const std::shared_ptr<const Module>& asked) {
  const std::shared_ptr<const Module>& module = asked->same_tables != nullptr ? asked->same_tables : asked;
  if (last_ != nullptr && last_->module == module) return *last_;  // most callers are in the module of their callee
  std::unique_ptr<Tables>& slot = tables_[module.get()];
  const bool is_new = slot == nullptr;
  if (is_new) slot = std::make_unique<Tables>();
  Tables& tables = *slot;
  tables.last_use = ++clock_;
  if (is_new) {
    tables.module = module;
    tables.memory = module->memory.Another();
    tables.uses_any_fp =
        UsesFramePointer(order_, module.get(), false) && !(IsGoWithTable(*module) && order_.Has(FrameSource::kEhFrame));
    tables.uses_plausible_fp = UsesFramePointer(order_, module.get(), true);
    EvictFor(tables);
  }
  last_ = &tables;
  return tables;
}

void RowFinder::EvictFor(const Tables& kept) {
  const auto any = [](const Tables&) { return true; };
  while (tables_.size() > 1 && (bytes_ > limits_.bytes || tables_.size() > limits_.modules)) {
    const Tables* oldest = Oldest(any);
    if (oldest == &kept) return;
    Evict(oldest->module.get());
  }
}

bool RowFinder::EvictOfOwner(const Tables& kept) {
  const Tables* oldest = Oldest([&kept](const Tables& tables) {
    return &tables != &kept && tables.memory.owner() == kept.memory.owner() && tables.memory.bytes() != 0;
  });
  if (oldest == nullptr) return false;
  Evict(oldest->module.get());
  return true;
}

template <typename Condition>
const RowFinder::Tables* RowFinder::Oldest(const Condition& is_meant) const {
  const Tables* oldest = nullptr;
  for (const auto& [module, tables] : tables_) {
    if (is_meant(*tables) && (oldest == nullptr || tables->last_use < oldest->last_use)) oldest = tables.get();
  }
  return oldest;
}

void RowFinder::Evict(const Module* module) {
  const auto found = tables_.find(module);
  if (found->second.get() == last_) last_ = nullptr;
  rows_ -= found->second->answers.size();
  bytes_ -= found->second->bytes;
  tables_.erase(found);
  ++stats_.evictions;
}

}  // namespace offcpu
