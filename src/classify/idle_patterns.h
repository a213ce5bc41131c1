// Patterns of two kinds, which text in one form describes. Those of waits for work set these apart from all others: a
// thread of a pool that has nothing to do, a server between two requests (packaging/waiting-for-work.conf, which
// explains the form). Those of what waits are name a wait by its stack: a mutex, a join (packaging/causes.conf). This
// reads them. Nothing is matched here (see idle_match.h), and no file is opened but by ReadIdlePatterns.
#ifndef OFFCPU_CLASSIFY_IDLE_PATTERNS_H_
#define OFFCPU_CLASSIFY_IDLE_PATTERNS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "classify/wait_cause.h"

namespace offcpu {

// One function of a stack.
struct IdleFrame {
  std::vector<std::string> names;       // any of these globs
  bool may_be_missing = false;          // it can be inlined
  bool may_be_unnamed = false;          // as static functions are in stripped programs
  std::vector<std::string> unnamed_in;  // globs of modules that have no other function that could stand there

  bool operator==(const IdleFrame&) const = default;
};

struct IdleStack {
  std::vector<IdleFrame> frames;  // leaf first; the last is there and has a name, as has the first with `own_callees`
  bool own_callees = false;       // the first one may call others of its own module

  bool operator==(const IdleStack&) const = default;
};

// All that is given must hold, of each any one.
struct IdlePattern {
  std::string name;
  std::string wait;                    // what it says that the wait is: "mutex"; empty: a wait for work
  std::vector<std::string> processes;  // globs; empty: any
  std::vector<std::string> threads;    // likewise
  std::vector<int32_t> syscalls;       // empty, if there are causes and it is no wait for work: any
  std::vector<WaitCause> causes;       // empty: the one that the system call is for
  std::vector<IdleStack> stacks;       // not empty

  bool operator==(const IdlePattern&) const = default;
};

using IdlePatterns = std::vector<IdlePattern>;  // the first of each kind that matches counts

inline constexpr size_t kMaxIdleFileBytes = 1u << 20;
inline constexpr size_t kMaxIdlePatterns = 1000;  // of all files together
inline constexpr size_t kMaxIdleFrames = 32;      // of a stack
inline constexpr size_t kMaxIdleNames = 64;       // of one list, and stacks of one pattern
inline constexpr size_t kMaxWaitBytes = 64;       // of what a wait is called

// What packaging/waiting-for-work.conf says, and what packaging/causes.conf says.
extern const std::string_view kDefaultIdlePatterns;
extern const std::string_view kDefaultCausePatterns;
IdlePatterns DefaultIdlePatterns();  // of both

// Puts the patterns of a text in front of those that there are. One with the name of another takes its place, or only
// removes it, if all it says is "off". InvalidArgument with "NAME:LINE: what is wrong"; nothing is added then.
absl::Status AddIdlePatterns(std::string_view text, const std::string& name, IdlePatterns* patterns);

// Those that are shipped, behind those of the files, of which later ones come first. InvalidArgument, too, if a file
// cannot be read.
absl::StatusOr<IdlePatterns> ReadIdlePatterns(const std::vector<std::string>& paths);

}  // namespace offcpu

#endif  // OFFCPU_CLASSIFY_IDLE_PATTERNS_H_
