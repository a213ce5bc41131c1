// A profile whose frames have names, and whose rows say which of them are waits for work: what every output is made of.
// symbolize/symbolizer.h makes it of a profile, pprof/pprof_reader.h of a file. Plain data; safe to read from any
// thread. A copy shares the names with what it was copied from, so who adds to them holds all copies.
#ifndef OFFCPU_PROFILE_NAMED_PROFILE_H_
#define OFFCPU_PROFILE_NAMED_PROFILE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "profile/profile.h"

namespace offcpu {

// The longest name of a function that a symbolizer makes of a mangled one. Who reads names from files allows as much.
inline constexpr size_t kMaxDemangledBytes = 16384;

// A function that an address lies in, and the place in its source.
struct FrameLine {
  // Demangled. Where there is no name: "libfoo.so+0x1234", "[unknown] 0x7f..." without a module, or of the kernel
  // "[kernel] 0xff...".
  std::string_view function;
  std::string_view file;  // as the compiler has recorded it; "": not known
  uint32_t line = 0;      // 0: not known, as of the numbers below
  uint32_t column = 0;
  uint32_t start_line = 0;  // where the function begins in `file`

  bool operator==(const FrameLine&) const = default;
  template <typename H>
  friend H AbslHashValue(H h, const FrameLine& of) {
    return H::combine(std::move(h), absl::string_view(of.function.data(), of.function.size()),
                      absl::string_view(of.file.data(), of.file.size()), of.line, of.column, of.start_line);
  }
};

// What the views of a profile point into: texts and lines, at addresses that do not change. One thread adds to it.
class NameStore {
 public:
  NameStore() = default;
  NameStore(const NameStore&) = delete;
  NameStore& operator=(const NameStore&) = delete;

  std::string_view Add(std::string_view text) { return texts_.emplace_back(text); }
  std::span<const FrameLine> Add(std::vector<FrameLine> lines) { return lines_.emplace_back(std::move(lines)); }
  // The lines of a frame in one function, of which no more than the name is known.
  std::span<const FrameLine> AddLine(std::string_view function) { return Add(std::vector<FrameLine>{{function}}); }

  // Keeps what the views into another one point to.
  void Keep(std::shared_ptr<const NameStore> other) { others_.push_back(std::move(other)); }

 private:
  std::deque<std::string> texts_;
  std::deque<std::vector<FrameLine>> lines_;
  std::vector<std::shared_ptr<const NameStore>> others_;
};

// The address of a kernel frame is one to return to, as that of a caller is: a thread leaves the CPU inside a call.
struct NamedFrame : Frame {
  bool named = false;  // a symbol was found
  // The functions that the address lies in, innermost first: each was inlined into the next, and the last one is the
  // function of the frame. At least one.
  std::span<const FrameLine> lines;
  std::string_view module_name;  // file name of the module, "" without one

  std::string_view name() const { return lines.empty() ? std::string_view() : lines.back().function; }
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
};

struct NamedRow : ProfileRow {
  std::string_view idle;  // the pattern of waiting for work that it matches, "" if it is no such wait
  std::string_view wait;  // what the wait is, as exactly as is known: "mutex"; "" where nothing has judged it
};

struct NamedProfile : ProfileFacts {
  std::vector<NamedKernelStack> kernel_stacks;
  std::vector<NamedUserStack> user_stacks;
  std::vector<NamedRow> rows;
  bool idle_is_told = false;  // false: `idle` of the rows says nothing, as of a file that does not tell
  std::shared_ptr<NameStore> names = std::make_shared<NameStore>();  // behind the views
};

}  // namespace offcpu

#endif  // OFFCPU_PROFILE_NAMED_PROFILE_H_
