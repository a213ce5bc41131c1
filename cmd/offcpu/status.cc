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
};

ExitCode RunStatus(const StatusFlags& flags) {
  const absl::StatusOr<std::string> text = AskDaemon(flags.socket, flags.as_json ? "/status?json=1" : "/status");
  if (!text.ok()) return Fail(text.status());
  ToStdout(*text);
  const absl::Status printed = FlushStdout();
  return printed.ok() ? kExitOk : Fail(printed);
}

}  // namespace

Verb StatusVerb() {
  auto flags = std::make_shared<StatusFlags>();
  Verb verb = {.name = "status", .help = "Show how the service, offcpud, is doing"};
  verb.flags = {{"--json", &flags->as_json, "Write one JSON object, for scripts"}, SocketFlag(&flags->socket)};
  verb.footer =
      "What it holds, what it has lost and why, and what it costs. Root may ask, and members of the service's "
      "group.\n"
      "\n"
      "Examples:\n"
      "  offcpu status\n"
      "  offcpu status --json | jq .memory_bytes\n"
      "\n"
      "Exit status: 0 done, 1 failed or no service, 2 wrong usage, 3 not allowed.";
  verb.run = [flags] { return RunStatus(*flags); };
  return verb;
}

}  // namespace offcpu
