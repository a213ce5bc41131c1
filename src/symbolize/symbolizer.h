// Names for the addresses of a profile, with inlined functions and places in the source if they are wanted, and from
// them which of its rows are waits for work. Reads symbol tables from the files that the modules hold open, from debug
// directories by build id, and kernel names from /proc/kallsyms. Needs no target to be alive. A file that is damaged,
// hostile or missing costs names, never more: such frames are shown as module and offset. So does one that cannot be
// read in time, and each user's processes have a share of the room for names.
#ifndef OFFCPU_SYMBOLIZE_SYMBOLIZER_H_
#define OFFCPU_SYMBOLIZE_SYMBOLIZER_H_

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "classify/idle_patterns.h"
#include "os/owned_fd.h"
#include "os/timed_read.h"
#include "profile/named_profile.h"
#include "profile/profile.h"
#include "symbolize/name_cache.h"

namespace offcpu {

// How long a caller that reads on other threads waits for the symbols of a file.
inline constexpr std::chrono::milliseconds kNamesDeadline(2000);

// What reading the debug information of one file may take, and of all files of a profile.
inline constexpr std::chrono::milliseconds kLinesTime(5000);
inline constexpr std::chrono::milliseconds kAllLinesTime(30000);

using FetchDebugFile =
    std::function<absl::StatusOr<OwnedFd>(const std::string& build_id, std::string_view module_name)>;

struct SymbolizerOptions {
  std::string kallsyms_path = "/proc/kallsyms";
  std::string modules_path = "/proc/modules";
  std::string kernel_notes_path = "/sys/kernel/notes";
  std::string debug_directory = "/usr/lib/debug";
  // Gets the debug file with a build id from elsewhere, for a module whose names or lines are not here: NotFound if
  // there is none. Is called in the thread that names; empty: nothing is fetched.
  FetchDebugFile fetch;
  TimedRead timed_read;  // every read of a target's file; empty: they are done in line, however long they take
  // Inlined functions, and places in the source. Takes the time of reading debug information: see kLinesTime.
  bool lines = false;
  const IdlePatterns* idle = nullptr;  // what waits for work look like; null: they are not marked
};

// With a cache, names that it has are not looked up again, and those that are found are put there. Names that were not
// found for another reason than that there are none are among the losses. What the profile holds is moved, and its
// stacks are freed as they are named: there are never two of them all.
NamedProfile Symbolize(Profile profile, const SymbolizerOptions& options = {}, NameCache* cache = nullptr);

}  // namespace offcpu

#endif  // OFFCPU_SYMBOLIZE_SYMBOLIZER_H_
