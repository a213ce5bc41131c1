// Finds the row for an address of a module, asking the sources in their order, and remembers the answers. One thread.
// Keeps the modules it has rows of alive, up to a cap in bytes; the least recently used one goes first.
//
// Does not apply rows and reads no memory of a target.
#ifndef OFFCPU_UNWIND_ROW_FINDER_H_
#define OFFCPU_UNWIND_ROW_FINDER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "process/module.h"
#include "unwind/eh_frame.h"
#include "unwind/row.h"
#include "unwind/unwind_order.h"

namespace offcpu {

struct RowFinderLimits {
  size_t rows = 1 << 17;     // cached; all are forgotten when there are more
  size_t bytes = 256 << 20;  // of prepared tables
  size_t modules = 4096;     // held
};

struct RowFinderStats {
  uint64_t hits = 0;
  uint64_t misses = 0;
  uint64_t clears = 0;          // of all cached rows
  uint64_t evictions = 0;       // of a module
  uint64_t corrupt_tables = 0;  // given up as a whole: their modules have no rows
  uint64_t bad_entries = 0;     // of tables, left out
};

class RowFinder {
 public:
  explicit RowFinder(UnwindOrder order = {}, RowFinderLimits limits = {}) : order_(std::move(order)), limits_(limits) {}

  // The row for the link-time `address` of `module` (null: code without a file). `row` is set if and only if kFound.
  FindOutcome Find(const std::shared_ptr<const Module>& module, uint64_t address, Row* row);

  const RowFinderStats& stats() const { return stats_; }

 private:
  struct Answer {
    FindOutcome outcome = FindOutcome::kNotHere;
    Row row;
  };
  struct Tables {
    std::shared_ptr<const Module> module;    // the key stays valid
    std::unique_ptr<EhFrameTable> eh_frame;  // null: none, or corrupt
    absl::flat_hash_map<uint64_t, Answer> answers;
    uint64_t last_use = 0;
  };

  Tables& Open(const std::shared_ptr<const Module>& module);
  Answer Ask(Tables& tables, uint64_t address);
  void EvictFor(const Tables& kept);

  UnwindOrder order_;
  RowFinderLimits limits_;
  RowFinderStats stats_;
  absl::flat_hash_map<const Module*, std::unique_ptr<Tables>> tables_;
  size_t rows_ = 0;   // in all `answers`
  size_t bytes_ = 0;  // of all `eh_frame`
  uint64_t clock_ = 0;
};

}  // namespace offcpu

#endif  // OFFCPU_UNWIND_ROW_FINDER_H_
