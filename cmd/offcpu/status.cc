// `offcpu status`: how the service is doing.
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "offcpu/daemon.h"
#include "offcpu/outputs.h"
#include "offcpu/verb.h"

namespace offcpu {
namespace {

struct StatusFlags {
  std::string socket;
  bool as_json = false;
  bool health = false;
};

ExitCode RunStatus(const StatusFlags& flags) {
  const char* request = flags.health ? "/healthz" : flags.as_json ? "/status?json=1" : "/status";
  const absl::StatusOr<std::string> text = AskDaemon(flags.socket, request);
  if (!text.ok()) return Fail(text.status());
  ToStdout(*text);
  const absl::Status printed = FlushStdout();
  return printed.ok() ? kExitOk : Fail(printed);
}

}  // namespace

Verb StatusVerb() {
  auto flags = std::make_shared<StatusFlags>();
  Verb verb = {.name = "status", .help = "Show how the service (offcpud) is doing"};
  verb.flags = {{"--json", &flags->as_json, "Print one JSON object, for scripts"},
                {"--health", &flags->health, "Print only ok, or why the service is not healthy"},
                SocketFlag(&flags->socket)};
  verb.footer =
      "It shows what the service holds, what it has lost and why, and what it costs. Root and members of the service's "
      "group may ask.\n"
      "\n"
      "Examples:\n"
      "  offcpu status\n"
      "  offcpu status --json | jq .memory_bytes\n"
      "  offcpu status --health || echo restart it\n"
      "\n"
      "Exit status: 0 done, 1 failed, no service, or not healthy, 2 wrong usage, 3 not allowed.";
  verb.run = [flags] { return RunStatus(*flags); };
  return verb;
}

}  // namespace offcpu
