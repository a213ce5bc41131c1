// A profile whose frames have names, and whose rows say which of them are waits for work: what every output is made of.
// symbolize/symbolizer.h makes it of a profile, pprof/pprof_reader.h of a file. Plain data; safe to read from any
// thread. A copy shares the names with what it was copied from, so who adds to them holds all copies.
#ifndef OFFCPU_PROFILE_NAMED_PROFILE_H_
#define OFFCPU_PROFILE_NAMED_PROFILE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profile/profile.h"

namespace offcpu {

// The longest name of a function that a symbolizer makes of a mangled one. Who reads names from files allows as much.
inline constexpr size_t kMaxDemangledBytes = 16384;

enum class FrameKind : uint8_t { kNative, kKernel };

// The address of a kernel frame is one to return to, as that of a caller is: a thread leaves the CPU inside a call.
struct NamedFrame : Frame {
  FrameKind kind = FrameKind::kNative;
  bool named = false;  // a symbol was found
  // Demangled function. Where there is none: "libfoo.so+0x1234", "[unknown] 0x7f..." without a module, or of the kernel
  // "[kernel] 0xff...".
  std::string_view name;
  std::string_view module_name;  // file name of the module, "" without one
};

// As KernelStack, with names.
struct NamedKernelStack {
  uint64_t id = 0;                 // 0: not known, as of a file
  std::vector<NamedFrame> frames;  // leaf first; empty if the definition was lost
  bool overflow = false;
  bool user_mode = false;

  bool is_lost() const { return frames.empty() && !overflow && !user_mode; }
};

// As UserStackEntry, with names.
struct NamedUserStack {
  std::vector<NamedFrame> frames;  // leaf first; empty if `missing` is not kNone, or `overflow`
  EndReason end = EndReason::kComplete;
  NoUserStack missing = NoUserStack::kNone;
  bool overflow = false;
  // Read from a file in which pprof has left out or put in frames. They are as the file lists them, at the addresses to
  // look up, with the word for what is missing as one of them; how they were found is not known any more.
  bool filtered = false;
  std::optional<EndReason> filtered_end;  // of such a stack, if the file tells it; `end` says nothing then
};

struct NamedRow : ProfileRow {
  std::string_view idle;  // the pattern of waiting for work that it matches, "" if it is no such wait
};

struct NamedProfile : ProfileFacts {
  std::vector<NamedKernelStack> kernel_stacks;
  std::vector<NamedUserStack> user_stacks;
  std::vector<NamedRow> rows;
  bool idle_is_told = false;  // false: `idle` of the rows says nothing, as of a file that does not tell
  std::shared_ptr<std::deque<std::string>> names = std::make_shared<std::deque<std::string>>();  // behind the views
};

}  // namespace offcpu

#endif  // OFFCPU_PROFILE_NAMED_PROFILE_H_
