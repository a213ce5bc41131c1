// The command line tool: finds the verb and runs it.
#include <sys/prctl.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "offcpu/exit_code.h"
#include "offcpu/verb.h"

int main(int argc, char** argv) {
  // Captured stacks hold other programs' secrets: no core dump, no ptrace by the same user.
  prctl(PR_SET_DUMPABLE, 0);

  CLI::App app("Shows where threads wait off the CPU: how long, and at which user and kernel stack.", "offcpu");
  app.set_version_flag("--version", "offcpu " OFFCPU_VERSION);
  app.require_subcommand(1);
  app.footer("offcpu VERB --help tells more of each.");
  std::vector<std::string> command;
  const std::vector<offcpu::Verb> verbs = {
      offcpu::AddRecord(app, command), offcpu::AddTop(app),    offcpu::AddStacks(app),
      offcpu::AddReport(app),          offcpu::AddDump(app),   offcpu::AddStatus(app),
      offcpu::AddDoctor(app),          offcpu::AddSFrame(app),
  };

  // What follows a lone "--" is a command of the user's, whatever it looks like.
  std::vector<std::string> arguments(argv + 1, argv + argc);
  const auto separator = std::find(arguments.begin(), arguments.end(), "--");
  const bool has_command = separator != arguments.end();
  if (has_command) command.assign(separator + 1, arguments.end());
  arguments.erase(separator, arguments.end());
  std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants them
  const auto chosen = [&verbs] {
    return std::find_if(verbs.begin(), verbs.end(), [](const offcpu::Verb& verb) { return verb.app->parsed(); });
  };
  try {
    app.parse(arguments);
    if (has_command && command.empty()) throw CLI::ValidationError("nothing follows --", 1);
    if (has_command && chosen() != verbs.begin()) throw CLI::ValidationError("only record runs a command", 1);
  } catch (const CLI::Success& success) {  // --help, --version
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    const std::string verb = chosen() != verbs.end() ? chosen()->app->get_name() + " " : "";
    std::fprintf(stderr, "offcpu: %s; see offcpu %s--help\n", error.what(), verb.c_str());
    return offcpu::kExitUsage;
  }
  return chosen()->run();
}
