// One Module for each file, path and content, however many processes map it. Thread-safe. Modules live as long as
// someone uses them; the cache only knows those that do. It may go before them, but not while a reader thread is in it:
// jobs that might be abandoned hold it by shared_ptr.
//
// Every byte that was read decides whether two modules are the same; the build id is a label that anybody can forge.
// Files with the same tables may have other names for the same functions, so those share their tables and nothing else:
// a copy of a program names no function of the original, and no path.
#ifndef OFFCPU_PROCESS_MODULE_CACHE_H_
#define OFFCPU_PROCESS_MODULE_CACHE_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "process/memory_budget.h"
#include "process/module.h"
#include "process/trusted_file.h"

namespace offcpu {

struct ModuleCacheLimits {
  size_t modules = 16384;
  size_t memory_bytes = size_t{1} << 30;  // of tables, as they are and prepared, and of lists of mappings
  size_t files = 16384;                   // descriptors held open
};

struct ModuleCacheStats {
  size_t modules = 0;  // alive now
  size_t table_bytes = 0;
  size_t files = 0;
  uint64_t shared = 0;          // asked for again while alive
  uint64_t shared_tables = 0;   // asked for again from another file
  uint64_t over_limit = 0;      // path only: too many modules
  uint64_t memory_refused = 0;  // to somebody who held too much of the budget
  uint64_t mappings_left_out = 0;
  uint64_t over_file_limit = 0;     // kept without its file
  uint64_t too_large = 0;           // with a table of which not all is read
  uint64_t unreadable = 0;          // path only: not an ELF object that could be read and believed; or without a table
  uint64_t unknown_runtimes = 0;    // processes with a language runtime of a form that is not known
  FileRefusals files_refused = {};  // of names of code, by why, at every look
};

class ModuleCache {
 public:
  explicit ModuleCache(ModuleCacheLimits limits = {});

  // `module` with its content_hash set, or the one alive that was made of the same bytes of the same file. Above a
  // limit its tables (or its file) are dropped: frames in it are still named, the walk ends there.
  std::shared_ptr<const Module> Intern(Module module);

  // A module of which only the path is known, so that frames in it can be shown by file and offset.
  std::shared_ptr<const Module> Unreadable(std::string path);

  void CountRefused(FileRefusal refusal);
  void CountUnknownRuntime();
  // Counts one process's mappings beyond those that are looked at.
  void CountLeftOut(size_t mappings);

  // Empty: for what is kept for the sake of a process of `owner`.
  MemoryLease LeaseFor(uid_t owner) const { return MemoryLease(budget_, owner); }
  MemoryBudgetStats budget() const { return budget_->stats(); }
  void SetMemoryLimit(size_t bytes) { budget_->SetLimit(bytes); }

  ModuleCacheStats stats() const;

 private:
  struct State;  // shared with the modules' deleters
  std::shared_ptr<State> state_;
  std::shared_ptr<MemoryBudget> budget_;
};

}  // namespace offcpu

#endif  // OFFCPU_PROCESS_MODULE_CACHE_H_
