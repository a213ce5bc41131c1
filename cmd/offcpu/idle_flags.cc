#include "offcpu/idle_flags.h"

#include <algorithm>

#include "classify/idle_match.h"

namespace offcpu {

void AddIdleFlags(const std::string& what, IdleFlags* values, std::vector<Flag>* flags) {
  flags->push_back({"--idle", &values->idle, what, "HOW", {.one_of = {"show", "count"}}});
  flags->push_back(
      {"--idle-patterns", &values->patterns,
       "Also use these patterns to name waits and to recognize waits for work; stored waits are matched again",
       "FILE"});
}

void MarkStoredIdle(const IdleFlags& flags, const IdlePatterns& patterns, NamedProfile* profile) {
  const auto is_named = [](const NamedRow& row) { return !row.wait.empty(); };
  if (!profile->idle_is_told || !flags.patterns.empty()) {
    MarkIdle(patterns, profile);
  } else if (std::none_of(profile->rows.begin(), profile->rows.end(), is_named)) {
    NameWaits(patterns, profile);
  }
}

}  // namespace offcpu
