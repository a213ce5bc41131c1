// Names for the addresses of a profile. Reads symbol tables from the files that the modules hold open, from debug
// directories by build id, and kernel names from /proc/kallsyms. Needs no target to be alive. A file that is damaged,
// hostile or missing costs names, never more: such frames are shown as module and offset. So does one that cannot be
// read in time, and each user's processes have a share of the room for names.
#ifndef OFFCPU_SYMBOLIZE_SYMBOLIZER_H_
#define OFFCPU_SYMBOLIZE_SYMBOLIZER_H_

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "process/timed_read.h"
#include "profile/profile.h"
#include "symbolize/name_cache.h"

namespace offcpu {

struct SymbolizedFrame {
  // Demangled function; "libfoo.so+0x1234" where there is none; "[unknown] 0x7f..." without a module.
  std::string_view name;
  std::string_view module;  // file name of the module, "" without one
  bool named = false;       // a symbol was found
};

// Parallel to Profile::kernel_stacks and Profile::user_stacks; frames in the same order (leaf first). Many frames share
// few names, so each name is held once.
struct SymbolizedProfile {
  std::vector<std::vector<std::string_view>> kernel_stacks;
  std::vector<std::vector<SymbolizedFrame>> user_stacks;
  // Parallel to Profile::rows: what a row waits for work in, "" if it is no such wait. Empty until MarkIdle.
  std::vector<std::string_view> idle;
  std::vector<Drop> losses;  // names that were not found for another reason than that there are none
  std::unique_ptr<std::deque<std::string>> names = std::make_unique<std::deque<std::string>>();  // behind the views
};

struct SymbolizerOptions {
  std::string kallsyms_path = "/proc/kallsyms";
  std::string modules_path = "/proc/modules";
  std::string debug_directory = "/usr/lib/debug";
  TimedRead timed_read;  // every read of a target's file; empty: they are done in line, however long they take
};

// With a cache, names that it has are not looked up again, and those that are found are put there.
SymbolizedProfile Symbolize(const Profile& profile, const SymbolizerOptions& options = {}, NameCache* cache = nullptr);

}  // namespace offcpu

#endif  // OFFCPU_SYMBOLIZE_SYMBOLIZER_H_
