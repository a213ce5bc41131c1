// Does a wait match a pattern? It must be in the system call and for the cause that the pattern is of, and every frame
// from the pattern's outermost function down to the leaf must be one that the pattern names. Callers further out do not
// matter. If it is a pattern of waiting for work, the wait must be one that can be interrupted. What is not known never
// matches: no stack, frames that are missing or have no name where one is asked for. Pure functions.
#ifndef OFFCPU_CLASSIFY_IDLE_MATCH_H_
#define OFFCPU_CLASSIFY_IDLE_MATCH_H_

#include <cstdint>
#include <span>
#include <string_view>

#include "classify/idle_patterns.h"
#include "profile/named_profile.h"

namespace offcpu {

// `frames`: leaf first, one for each function: what was inlined has a frame of its own.
bool MatchesStack(const IdleStack& stack, std::span<const NamedFrame> frames);

// What a row says of its wait, but the user stack.
struct IdleWait {
  std::string_view process;
  std::string_view thread;
  WaitKind kind = WaitKind::kSleeping;
  int32_t syscall = kNoSystemCall;
  std::span<const NamedFrame> kernel;  // leaf first
};
bool MatchesWait(const IdlePattern& pattern, const IdleWait& wait);

// Marks each row that waits for work with what it waits in, and names the waits. Marks from before are replaced.
void MarkIdle(const IdlePatterns& patterns, NamedProfile* profile);

// Names what each wait is (NamedRow::wait): by the first pattern with a name for it, or else by its cause alone.
void NameWaits(const IdlePatterns& patterns, NamedProfile* profile);

}  // namespace offcpu

#endif  // OFFCPU_CLASSIFY_IDLE_MATCH_H_
