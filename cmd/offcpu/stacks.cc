// `offcpu stacks`: where every thread of a process stands now.
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "classify/idle_match.h"
#include "offcpu/daemon.h"
#include "offcpu/line_flags.h"
#include "offcpu/outputs.h"
#include "offcpu/verb.h"
#include "recorder/operands.h"
#include "recorder/process_stacks.h"
#include "symbolize/symbolizer.h"
#include "tables/thread_stacks.h"
#include "unwind/unwind_order.h"

namespace offcpu {
namespace {

struct StacksFlags {
  int pid = 0;
  std::string unwind = "sframe,eh_frame,fp";
  bool as_json = false;
  std::string socket;
  LineFlags lines;
};

absl::StatusOr<std::string> AskForStacks(const StacksFlags& flags) {
  return AskDaemon(flags.socket,
                   absl::StrCat("/stacks?pid=", flags.pid, "&unwind=", flags.unwind, "&json=", flags.as_json ? 1 : 0));
}

absl::Status ReadAndPrint(const StacksFlags& flags, const UnwindOrder& unwind) {
  absl::StatusOr<ProcessStacks> stacks = ReadProcessStacks(flags.pid, unwind);
  if (!stacks.ok()) return stacks.status();
  const auto write = flags.as_json ? WriteThreadStacksJson : WriteThreadStacks;
  NamedProfile profile = Symbolize(std::move(stacks->profile), {.lines = !flags.lines.none});
  ApplyLineFlags(flags.lines, &profile);
  NameWaits(DefaultIdlePatterns(), &profile);
  write(profile,
        {.pcs = std::move(stacks->pcs),
         .lock_owners = std::move(stacks->lock_owners),
         .missing_functions = std::move(stacks->missing_functions)},
        ToStdout);
  return absl::OkStatus();
}

ExitCode RunStacks(const StacksFlags& flags) {
  if (absl::Status status = CheckUserProcess(flags.pid); !status.ok()) return Fail(status);
  const absl::StatusOr<UnwindOrder> unwind = ParseUnwindOrder(flags.unwind);
  if (!unwind.ok()) return Fail(unwind.status());
  const absl::StatusOr<std::string> answer = AskForStacks(flags);
  if (answer.ok()) {
    ToStdout(*answer);
  } else if (!IsWorthDoingWithout(answer.status())) {
    return Fail(answer.status());
  } else if (absl::Status here = ReadAndPrint(flags, *unwind); !here.ok()) {
    return Fail(WithoutDaemon(here, answer.status()));
  }
  const absl::Status printed = FlushStdout();
  return printed.ok() ? kExitOk : Fail(printed);
}

}  // namespace

Verb StacksVerb() {
  auto flags = std::make_shared<StacksFlags>();
  Verb verb = {.name = "stacks", .help = "Show where every thread of a process stands now"};
  verb.flags = {
      {"PID", &flags->pid, "The pid of the process", "", {.is_required = true}},
      {"--unwind",
       &flags->unwind,
       "The sources of unwind rows for user stacks, first choice first",
       "SOURCES",
       {.shows_default = true}},
      {"--json", &flags->as_json, "Print one JSON object, for scripts"},
      SocketFlag(&flags->socket),
  };
  AddLineFlags(&flags->lines, &verb.flags);
  verb.footer =
      "No thread is stopped. A stack is shown only if its thread has not run while it was read. A thread that runs all "
      "the time has no stack, and the output says so. Threads with the same state and functions are one entry. If the "
      "service (offcpud) runs, this asks it: root and members of its group may. Otherwise this needs root.\n"
      "\n"
      "Examples:\n"
      "  offcpu stacks 1234                                what a process that hangs waits for\n"
      "  offcpu stacks --json 1234 | jq '.threads[].comm'  for scripts\n"
      "  offcpu stacks --unwind=sframe 1234                how far SFrame tables alone get\n"
      "\n"
      "Exit status: 0 shown, 1 failed, 2 wrong usage or no such process, 3 missing capability or kernel support.";
  verb.run = [flags] { return RunStacks(*flags); };
  return verb;
}

}  // namespace offcpu
