// The command line tool: verbs and flags only.
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "offcpu/exit_code.h"
#include "offcpu/record.h"

int main(int argc, char** argv) {
  // Captured stacks hold other programs' secrets: no core dump, no ptrace by the same user.
  prctl(PR_SET_DUMPABLE, 0);

  CLI::App app("Shows where threads wait off the CPU: how long, and at which user and kernel stack.", "offcpu");
  app.set_version_flag("--version", "offcpu " OFFCPU_VERSION);
  app.require_subcommand(1);
  app.footer("offcpu VERB --help tells more of each.");
  offcpu::RecordFlags record_flags;
  CLI::App* record = app.add_subcommand("record", "Record waits and write where they happened");
  offcpu::AddRecord(*record, &record_flags);

  // What follows a lone "--" is a command of the user's, whatever it looks like.
  std::vector<std::string> arguments(argv + 1, argv + argc);
  const auto separator = std::find(arguments.begin(), arguments.end(), "--");
  const bool has_command = separator != arguments.end();
  if (has_command) record_flags.command.assign(separator + 1, arguments.end());
  arguments.erase(separator, arguments.end());
  std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants them
  try {
    app.parse(arguments);
    if (has_command && record_flags.command.empty()) throw CLI::ValidationError("nothing follows --", 1);
  } catch (const CLI::Success& success) {  // --help, --version
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    std::fprintf(stderr, "offcpu: %s; see offcpu %s--help\n", error.what(), *record ? "record " : "");
    return offcpu::kExitUsage;
  }
  return offcpu::RunRecord(record_flags);
}
