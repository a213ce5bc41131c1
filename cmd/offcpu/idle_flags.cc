#include "offcpu/idle_flags.h"

#include "absl/status/status.h"

namespace offcpu {

void AddIdleFlags(CLI::App& app, const std::string& what, IdleFlags* flags) {
  app.add_option("--idle", flags->idle, what)->check(CLI::IsMember({"show", "count"}))->type_name("HOW");
  app.add_option("--idle-patterns", flags->patterns, "Further patterns that tell waits for work; they come first")
      ->type_name("FILE")
      ->allow_extra_args(false);
}

absl::StatusOr<IdlePatterns> IdlePatternsOf(const IdleFlags& flags) {
  IdlePatterns patterns = DefaultIdlePatterns();
  for (const std::string& file : flags.patterns) {
    if (absl::Status status = AddIdlePatternsFile(file, &patterns); !status.ok()) return status;
  }
  return patterns;
}

}  // namespace offcpu
