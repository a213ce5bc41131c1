#include "unwind/row_finder.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "process/module_return_path.h"
#include "unwind/frame_pointer.h"

namespace offcpu {

RowFinder::RowFinder(const Machine& machine, UnwindOrder order, RowFinderLimits limits)
    : machine_(&machine), order_(std::move(order)), limits_(limits), made_code_(TraitsOf(nullptr, order_)) {}

FindOutcome RowFinder::Find(const std::shared_ptr<const Module>& module, uint64_t address, bool plausible_fp,
                            UnwindRow* row) {
  Tables* of_module = module != nullptr ? &TablesOf(module) : nullptr;
  const ModuleTraits& traits = of_module != nullptr ? of_module->traits : made_code_;
  if (traits.ByFramePointer(plausible_fp)) {
    *row = FramePointerRow(*machine_);
    return FindOutcome::kFound;
  }
  if (of_module == nullptr) return FindOutcome::kNotHere;
  Tables& tables = *of_module;
  auto known = tables.answers.find(address);
  if (known != tables.answers.end()) {
    ++stats_.hits;
    *row = known->second.row;
    return known->second.outcome;
  }
  ++stats_.misses;
  const FindOutcome outcome = Ask(tables, address, row);
  if (!tables.no_room)
    Remember(tables, address, {.outcome = outcome, .row = *row});  // else perhaps there is room later
  return outcome;
}

void RowFinder::Remember(Tables& tables, uint64_t key, const Answer& answer) {
  if (rows_ >= limits_.rows) {
    for (auto& [module, other] : tables_) other->answers.clear();
    rows_ = 0;
    ++stats_.clears;
  }
  tables.answers.try_emplace(key, answer);
  ++rows_;
}

FindOutcome RowFinder::FindByCode(const std::shared_ptr<const Module>& module, uint64_t return_address,
                                  UnwindRow* row) {
  constexpr uint64_t kByCode = uint64_t{1} << 63;  // no link-time address has that
  if (module == nullptr) return FindOutcome::kNotHere;
  if (module->tables().text.bytes.empty() && module->tables().text_in_file.bytes == 0) return FindOutcome::kNotHere;
  Tables& tables = TablesOf(module);
  const uint64_t key = return_address | kByCode;
  const auto known = tables.answers.find(key);
  if (known != tables.answers.end()) {
    *row = known->second.row;
    return known->second.outcome;
  }
  const ReturnPath path = ModuleReturnPath(*tables.module, return_address);
  *row = ReturnPathRow(*machine_, path, return_address);
  const FindOutcome outcome = path.kind == ReturnPath::Kind::kUnknown ? FindOutcome::kNotHere : FindOutcome::kFound;
  Remember(tables, key, {.outcome = outcome, .row = *row});
  return outcome;
}

// What a module's tables do not describe, the frame pointer mostly does not either: such code (a PLT, an epilogue in
// assembler) is what has no frame. Only where they leave out a lot is it asked.
FindOutcome RowFinder::Ask(Tables& tables, uint64_t address, UnwindRow* row) {
  tables.no_room = false;
  FindOutcome answer = FindOutcome::kNotHere;
  FindOutcome outcome = FindOutcome::kNotHere;
  bool is_known_otherwise = false;  // by the source before
  for (Source& source : tables.sources) {
    if (source.from->fills_gaps && (outcome != FindOutcome::kNotHere || is_known_otherwise)) continue;
    if (!source.opened) Open(tables, source.from->ordered);
    outcome = AskSource(tables, source, address, row);
    if (outcome == FindOutcome::kFound) return outcome;
    if (outcome != FindOutcome::kNotHere) answer = outcome;
    is_known_otherwise = tables.traits.keeps_frame_pointer && source.table != nullptr;
  }
  return answer == FindOutcome::kNotHere ? AskHole(tables, address, row) : answer;
}

// What no table describes around the address, within `code`; empty if one describes the address.
CodeRange RowFinder::HoleAround(const Tables& tables, const CodeRange& code, uint64_t address) const {
  CodeRange hole = code;
  for (const Source& source : tables.sources) {
    const RowTable* table = tables.Describing(source);
    const CodeRange in_table = table == nullptr ? hole : table->HoleAt(address);
    hole.begin = std::max(hole.begin, in_table.begin);
    hole.end = std::min(hole.end, in_table.end);
  }
  return hole;
}

// Do the tables leave out more of the code than they describe, and more than start-up code?
bool RowFinder::IsBare(Tables& tables) {
  if (tables.is_bare.has_value()) return *tables.is_bare;
  uint64_t bytes = 0;
  for (const CodeRange& range : tables.module->code) bytes += range.end - range.begin;
  bool is_bare = false;
  for (const Source& source : tables.sources) {
    const RowTable* table = tables.Describing(source);
    if (table == nullptr) continue;
    const uint64_t described = table->DescribedBytes();
    is_bare = bytes >= kMinBareBytes && described < bytes - bytes / 2 && described <= bytes - kMinBareBytes;
    if (!is_bare) break;
  }
  tables.is_bare = is_bare;
  return is_bare;
}

FindOutcome RowFinder::AskHole(Tables& tables, uint64_t address, UnwindRow* row) const {
  const Module& module = *tables.module;
  const auto code = std::find_if(module.code.begin(), module.code.end(), [address](const CodeRange& range) {
    return address >= range.begin && address < range.end;
  });
  if (!order_.Has(FrameSource::kFramePointer) || tables.damaged || tables.no_room || code == module.code.end()) {
    return FindOutcome::kNotHere;
  }
  const CodeRange hole = HoleAround(tables, *code, address);
  if (hole.begin >= hole.end || (hole.end - hole.begin < kMinHoleBytes && !IsBare(tables)))
    return FindOutcome::kNotHere;
  *row = FramePointerRow(*machine_, hole);
  return FindOutcome::kFound;
}

// The instruction at the begin of the hole is the system call, and who comes there from in front has what is said
// there.
FindOutcome RowFinder::FindAtClone(const std::shared_ptr<const Module>& module, uint64_t address, bool is_child,
                                   UnwindRow* row) {
  constexpr uint64_t kMostBytes = 24;  // test %rax, %rax; jl; jz; ret
  if (module == nullptr || machine_->syscall_bytes == 0 || address < machine_->syscall_bytes)
    return FindOutcome::kNotHere;
  const uint64_t call = address - machine_->syscall_bytes;
  UnwindRow parent;
  UnwindRow child;
  if (call == 0 || Find(module, call - 1, false, &parent) != FindOutcome::kFound) return FindOutcome::kNotHere;
  const CodeRange hole = HoleAround(TablesOf(module), {.begin = 0, .end = UINT64_MAX}, address);
  if (hole.begin != call || hole.end <= address || hole.end - hole.begin > kMostBytes) return FindOutcome::kNotHere;
  if (Find(module, hole.end, false, &child) != FindOutcome::kFound) return FindOutcome::kNotHere;
  const UnwindRow without_frame = WithoutFrameRow(*machine_, hole);
  const bool is_bare = parent.cfa == without_frame.cfa && parent.ra == without_frame.ra && !parent.signal;
  if (!is_bare || child.ra.place != Place::kUndefined) return FindOutcome::kNotHere;
  *row = is_child ? child : parent;
  row->begin = hole.begin;
  row->end = hole.end;
  return FindOutcome::kFound;
}

bool RowFinder::BeginsSignalFrame(const std::shared_ptr<const Module>& module, uint64_t address) {
  if (module == nullptr) return false;
  Tables& tables = TablesOf(module);
  for (const Source& source : tables.sources) {
    Open(tables, source.from->ordered);
    const RowTable* table = tables.Describing(source);
    const std::optional<bool> begins = table != nullptr ? table->BeginsSignalFrame(address) : std::nullopt;
    if (begins) return *begins;
  }
  return false;
}

FindOutcome RowFinder::AskSource(Tables& tables, Source& source, uint64_t address, UnwindRow* row) {
  if (source.table == nullptr) return FindOutcome::kNotHere;
  const FindOutcome outcome = source.table->Find(address, row);
  if (outcome == FindOutcome::kFound) row->source = source.from->rows;
  if (outcome != FindOutcome::kNotHere) tables.asked_bytes += source.from->kept_bytes;
  if (outcome == FindOutcome::kCorrupt && source.from->falls_as_a_whole) GiveUp(tables, source);
  if (outcome == FindOutcome::kCorrupt && !source.from->falls_as_a_whole) ++stats_.bad_entries;
  Settle(tables, source);
  return outcome;
}

FindOutcome RowFinder::FindInterrupted(const std::shared_ptr<const Module>& module, uint64_t address, UnwindRow* row) {
  if (module == nullptr) return FindOutcome::kNotHere;
  Tables& tables = TablesOf(module);
  for (Source& source : tables.sources) {
    const RowSource& from = *source.from;
    if (!tables.traits.keeps_frame_pointer || !from.fills_gaps || ((*tables.module).*from.table).bytes.empty())
      continue;
    Open(tables, from.ordered);
    if (AskSource(tables, source, address, row) == FindOutcome::kFound) return FindOutcome::kFound;
  }
  const std::vector<CodeRange>& ranges = tables.module->without_frames;
  const auto after = std::upper_bound(ranges.begin(), ranges.end(), address,
                                      [](uint64_t at, const CodeRange& range) { return at < range.begin; });
  if (after == ranges.begin() || address >= std::prev(after)->end) return FindOutcome::kNotHere;
  *row = WithoutFrameRow(*machine_, *std::prev(after));
  return FindOutcome::kFound;
}

void RowFinder::Open(Tables& tables, FrameSource ordered) {
  for (Source& source : tables.sources) {
    if (source.from->ordered == ordered && !source.opened) Open(tables, source);
  }
}

void RowFinder::Open(Tables& tables, Source& source) {
  const RowSource& from = *source.from;
  const Module& module = *tables.module;
  if (source.estimate == 0) source.estimate = from.estimate(module);
  if (source.estimate != 0 && !Afford(tables, source.estimate)) return;
  source.opened = true;
  if (source.estimate == 0) {
    if (from.damaged != nullptr && module.*from.damaged) CountCorrupt(tables);
    return;
  }
  absl::StatusOr<std::unique_ptr<RowTable>> table = from.open(module, *machine_);
  if (table.ok()) {
    source.table = *std::move(table);
    CountBad(tables, source.table->bad_entries());
  } else if (absl::IsUnimplemented(table.status())) {
    ++stats_.sframe_old_versions;
  } else {
    CountCorrupt(tables);
  }
  Settle(tables, source);
}

// What it has answered before is forgotten, too.
void RowFinder::GiveUp(Tables& tables, Source& source) {
  CountCorrupt(tables);
  source.table = nullptr;
  rows_ -= tables.answers.size();
  tables.answers.clear();
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

void RowFinder::Settle(Tables& tables, Source& source) {
  constexpr size_t kSlack = 64 << 10;  // what libdw keeps is paid for in pieces of this size
  const size_t bytes = source.table != nullptr ? source.table->bytes() : 0;
  bytes_ += bytes - source.bytes;
  tables.bytes += bytes - source.bytes;
  source.bytes = bytes;
  const size_t held = tables.bytes + tables.asked_bytes;
  const size_t paid = tables.memory.bytes();
  if (held < paid) tables.memory.Shrink(paid - held);
  if (held > paid + kSlack && !Afford(tables, held - paid)) return Close(tables);
  if (bytes_ > limits_.bytes) EvictFor(tables);
}

void RowFinder::Close(Tables& tables) {
  for (Source& source : tables.sources) {
    source.table = nullptr;
    source.opened = false;
    source.bytes = 0;
  }
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
    tables.traits = TraitsOf(module.get(), order_);
    for (const FrameSource ordered : order_.sources) {
      for (const RowSource& source : RowSources()) {
        if (source.ordered == ordered) tables.sources.push_back({.from = &source});
      }
    }
    EvictFor(tables);
    if (tables.traits.has_other_sframe) Open(tables, FrameSource::kSFrame);  // has nothing to say, which is counted
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
