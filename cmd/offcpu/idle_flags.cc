#include "offcpu/idle_flags.h"

#include "classify/idle_match.h"

namespace offcpu {

void AddIdleFlags(CLI::App& app, const std::string& what, IdleFlags* flags) {
  app.add_option("--idle", flags->idle, what)->check(CLI::IsMember({"show", "count"}))->type_name("HOW");
  app.add_option("--idle-patterns", flags->patterns,
                 "Further patterns that tell waits for work; what is stored is told again")
      ->type_name("FILE")
      ->allow_extra_args(false);
}

void MarkStoredIdle(const IdleFlags& flags, const IdlePatterns& patterns, NamedProfile* profile) {
  if (!profile->idle_is_told || !flags.patterns.empty()) MarkIdle(patterns, profile);
}

}  // namespace offcpu
