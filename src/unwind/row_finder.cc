#include "unwind/row_finder.h"

#include <algorithm>

#include "unwind/frame_pointer.h"

namespace offcpu {

FindOutcome RowFinder::Find(const std::shared_ptr<const Module>& module, uint64_t address, Row* row) {
  if (UsesFramePointer(module.get())) {
    *row = kFramePointerRow;
    return FindOutcome::kFound;
  }
  Tables& tables = Open(module);
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

// SFrame will come first here. What a module's tables do not describe, the frame pointer does not either: such code (a
// PLT, an epilogue in assembler) is what has no frame.
RowFinder::Answer RowFinder::Ask(Tables& tables, uint64_t address) {
  Answer answer;
  if (tables.eh_frame == nullptr) return answer;
  answer.outcome = tables.eh_frame->Find(address, &answer.row);
  if (answer.outcome == FindOutcome::kCorrupt) ++stats_.bad_entries;
  return answer;
}

RowFinder::Tables& RowFinder::Open(const std::shared_ptr<const Module>& module) {
  std::unique_ptr<Tables>& slot = tables_[module.get()];
  if (slot == nullptr) {
    slot = std::make_unique<Tables>();
    Tables& opened = *slot;
    opened.module = module;
    if (!module->eh_frame.bytes.empty()) {
      opened.eh_frame = EhFrameTable::Open(module->eh_frame);
      if (opened.eh_frame == nullptr) ++stats_.corrupt_tables;
    }
    if (opened.eh_frame != nullptr) {
      stats_.bad_entries += opened.eh_frame->bad_entries();
      bytes_ += opened.eh_frame->bytes();
    }
    opened.last_use = ++clock_;
    EvictFor(opened);
    return opened;
  }
  slot->last_use = ++clock_;
  return *slot;
}

void RowFinder::EvictFor(const Tables& kept) {
  while (tables_.size() > 1 && (bytes_ > limits_.bytes || tables_.size() > limits_.modules)) {
    auto oldest = std::min_element(tables_.begin(), tables_.end(), [](const auto& a, const auto& b) {
      return a.second->last_use < b.second->last_use;
    });
    if (oldest->second.get() == &kept) return;
    rows_ -= oldest->second->answers.size();
    if (oldest->second->eh_frame != nullptr) bytes_ -= oldest->second->eh_frame->bytes();
    tables_.erase(oldest);
    ++stats_.evictions;
  }
}

}  // namespace offcpu
