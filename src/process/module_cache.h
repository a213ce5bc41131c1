// One Module for each content, however many processes map it. Thread-safe. Modules live as long as someone uses them;
// the cache only knows those that do. It may go before them, but not while a reader thread is in it: jobs that might be
// abandoned hold it by shared_ptr.
//
// Modules are told apart by every byte that was read; the build id is a label that anybody can forge.
#ifndef OFFCPU_PROCESS_MODULE_CACHE_H_
#define OFFCPU_PROCESS_MODULE_CACHE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "process/module.h"

namespace offcpu {

struct ModuleCacheLimits {
  size_t modules = 16384;
  size_t table_bytes = size_t{1} << 30;
  size_t files = 4096;  // descriptors held open
};

struct ModuleCacheStats {
  size_t modules = 0;  // alive now
  size_t table_bytes = 0;
  size_t files = 0;
  uint64_t shared = 0;           // asked for again while alive
  uint64_t over_limit = 0;       // path only: too many modules or bytes
  uint64_t over_file_limit = 0;  // kept without its file
  uint64_t unreadable = 0;       // path only: not an ELF object that could be read and believed; or without a table
};

class ModuleCache {
 public:
  explicit ModuleCache(ModuleCacheLimits limits = {});

  // `module` with its content_hash set, or the one alive that was made of the same bytes. Above a limit its tables (or
  // its file) are dropped: frames in it are still named, the walk ends there.
  std::shared_ptr<const Module> Intern(Module module);

  // A module of which only the path is known, so that frames in it can be told by file and offset.
  std::shared_ptr<const Module> Unreadable(std::string path);

  // False once as many files are held as may be: the caller need not open one.
  bool WantsFile() const;

  ModuleCacheStats stats() const;

 private:
  struct State;  // shared with the modules' deleters
  std::shared_ptr<State> state_;
};

}  // namespace offcpu

#endif  // OFFCPU_PROCESS_MODULE_CACHE_H_
