// Finds the row for an address of a module, asking the sources in their order, and remembers the answers. One thread.
// Keeps the modules it has rows of alive, up to a cap in bytes; the least recently used one goes first. Modules that
// share their tables share the rows.
//
// The sources are data (row_sources.h), and what is peculiar about a module is worked out once (module_traits.h).
//
// Code that no table of its module describes, in a hole that is large (frame_pointer.h), has the row of a frame
// pointer: whether to believe that is for the walk to say, as for any such row.
//
// A source that has nothing to say of an address, or nothing that a row can hold, leaves it to the next one. An SFrame
// table that turns out to be damaged is given up for its module; entries of .eh_frame stand for themselves.
//
// What is prepared of a module's tables counts as memory of the user who pays for the module. Where there is no
// room for it, what was prepared for other modules of the same user goes first; then the module has no rows for now.
//
// Does not apply rows and reads no memory of a target.
#ifndef OFFCPU_UNWIND_ROW_FINDER_H_
#define OFFCPU_UNWIND_ROW_FINDER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "process/module.h"
#include "unwind/module_traits.h"
#include "unwind/row_sources.h"
#include "unwind/row_table.h"
#include "unwind/unwind_order.h"
#include "unwind/unwind_row.h"

namespace offcpu {

struct RowFinderLimits {
  size_t rows = 1 << 17;     // cached; all are forgotten when there are more
  size_t bytes = 256 << 20;  // of prepared tables
  size_t modules = 4096;     // held
};

struct RowFinderStats {
  uint64_t hits = 0;
  uint64_t misses = 0;
  uint64_t clears = 0;               // of all cached rows
  uint64_t evictions = 0;            // of a module
  uint64_t corrupt_tables = 0;       // given up as a whole
  uint64_t bad_entries = 0;          // of tables, left out
  uint64_t no_room = 0;              // a table was not prepared, for now
  uint64_t sframe_old_versions = 0;  // tables that are passed over, as if they were not there
};

class RowFinder {
 public:
  explicit RowFinder(const Machine& machine, UnwindOrder order = {}, RowFinderLimits limits = {});

  // The row for the link-time `address` of `module` (null: code without a file). `row` is unspecified unless kFound.
  // `plausible_fp`: the frame pointer of the frame in question looks like one.
  FindOutcome Find(const std::shared_ptr<const Module>& module, uint64_t address, bool plausible_fp, UnwindRow* row);

  // What is known of an instruction that is not a call: a function may have no frame of its own there, so that by frame
  // pointer its caller would be left out. Tables may say so, and `syscall; ret` does. kNotHere for all else.
  FindOutcome FindInterrupted(const std::shared_ptr<const Module>& module, uint64_t address, UnwindRow* row);

  // The row for a thread that is in a system call, or comes out of one, if the call is made at the begin of a small
  // hole: glibc's tables leave out where clone and clone3 return twice. What is in front of the hole describes the
  // parent's frame, which has nothing on the stack but the return address; what is behind it, the child's, which has no
  // caller. kNotHere for all else.
  FindOutcome FindAtClone(const std::shared_ptr<const Module>& module, uint64_t address, bool is_child, UnwindRow* row);

  // The row of what was called and returns to `return_address`, by what the code does from there on, if the module has
  // its text, or that is in the page cache (Module::text and text_in_file). Undefined is the caller of what never
  // returns. kNotHere for all else.
  FindOutcome FindByCode(const std::shared_ptr<const Module>& module, uint64_t return_address, UnwindRow* row);

  // Does a signal trampoline begin at the link-time `address`, as the first source says that describes it?
  bool BeginsSignalFrame(const std::shared_ptr<const Module>& module, uint64_t address);

  // Does Find answer by the frame pointer if that is plausible, and may answer otherwise if it is not?
  bool MayGoByFramePointer(const std::shared_ptr<const Module>& module) {
    return module != nullptr && TablesOf(module).traits.by_plausible_fp;
  }

  const RowFinderStats& stats() const { return stats_; }

 private:
  struct Answer {
    FindOutcome outcome = FindOutcome::kNotHere;
    UnwindRow row;
  };
  struct Source {
    const RowSource* from = nullptr;
    std::unique_ptr<RowTable> table;  // null: not yet opened, or the module has none that can be read
    bool opened = false;              // when it is first asked
    size_t estimate = 0;              // 0: not made yet
    size_t bytes = 0;                 // of the table
  };
  struct Tables {
    std::shared_ptr<const Module> module;  // the key stays valid, and so do the bytes that tables refer to
    ModuleTraits traits;
    std::vector<Source> sources;  // in the order in which they are asked
    bool no_room = false;         // for a table that was asked
    uint64_t ask_again = 0;       // for room, when there have been so many misses
    size_t asked_bytes = 0;       // that libdw may keep of what was asked
    std::optional<bool> is_bare;  // all of the code is as a hole; not known before it is asked
    bool damaged = false;         // in part or as a whole: nobody knows what is left out by mistake
    size_t bytes = 0;             // of all
    MemoryLease memory;
    absl::flat_hash_map<uint64_t, Answer> answers;
    uint64_t last_use = 0;

    // What is prepared of a source, if that says what code is there.
    const RowTable* Describing(const Source& source) const {
      return source.from->fills_gaps && traits.keeps_frame_pointer ? nullptr : source.table.get();
    }
  };

  Tables& TablesOf(const std::shared_ptr<const Module>& module);
  FindOutcome Ask(Tables& tables, uint64_t address, UnwindRow* row);
  void Remember(Tables& tables, uint64_t key, const Answer& answer);
  FindOutcome AskSource(Tables& tables, Source& source, uint64_t address, UnwindRow* row);
  CodeRange HoleAround(const Tables& tables, const CodeRange& code, uint64_t address) const;
  static bool IsBare(Tables& tables);
  FindOutcome AskHole(Tables& tables, uint64_t address, UnwindRow* row) const;
  void Open(Tables& tables, FrameSource ordered);
  void Open(Tables& tables, Source& source);
  void GiveUp(Tables& tables, Source& source);
  void CountCorrupt(Tables& tables);
  void CountBad(Tables& tables, size_t entries);
  bool Afford(Tables& tables, size_t bytes);
  // Makes what is paid for what is held, after the source's table may have grown or gone. Closes the tables if they
  // have become too much.
  void Settle(Tables& tables, Source& source);
  void Close(Tables& tables);
  void EvictFor(const Tables& kept);
  bool EvictOfOwner(const Tables& kept);
  template <typename Condition>
  const Tables* Oldest(const Condition& is_meant) const;
  void Evict(const Module* module);

  const Machine* machine_;
  UnwindOrder order_;
  RowFinderLimits limits_;
  ModuleTraits made_code_;  // of code without a file
  RowFinderStats stats_;
  absl::flat_hash_map<const Module*, std::unique_ptr<Tables>> tables_;
  Tables* last_ = nullptr;  // that were used
  size_t rows_ = 0;         // in all `answers`
  size_t bytes_ = 0;        // in all `tables_`
  uint64_t clock_ = 0;
};

}  // namespace offcpu

#endif  // OFFCPU_UNWIND_ROW_FINDER_H_
