// `offcpu record`: flags, the wait for the end, and what is written then. All the work is the recorder's.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "bytes/utf8.h"
#include "classify/idle.h"
#include "offcpu/child.h"
#include "offcpu/fetched_files.h"
#include "offcpu/outputs.h"
#include "offcpu/record_flags.h"
#include "offcpu/stored.h"
#include "offcpu/verb.h"
#include "profile/time_table.h"
#include "recorder/operands.h"
#include "recorder/recorder.h"
#include "symbolize/symbolizer.h"
#include "tables/idle_table.h"

namespace offcpu {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kTick(100);

// Ctrl-C ends the recording, not the program: the signals wait until they are asked for.
class EndSignals {
 public:
  EndSignals() {
    sigemptyset(&signals_);
    sigaddset(&signals_, SIGINT);
    sigaddset(&signals_, SIGTERM);
    struct sigaction hangup;
    sigaction(SIGHUP, nullptr, &hangup);
    if (hangup.sa_handler != SIG_IGN) sigaddset(&signals_, SIGHUP);  // else it was started by nohup
    sigset_t blocked = signals_;
    sigaddset(&blocked, SIGCHLD);  // only to wake up
    sigprocmask(SIG_BLOCK, &blocked, &before_);
    signal(SIGPIPE, SIG_IGN);
  }
  const sigset_t& before() const { return before_; }

  // True if one came; waits at most so long, less if a child ends.
  bool Wait(std::chrono::nanoseconds at_most) const {
    sigset_t wanted = signals_;
    sigaddset(&wanted, SIGCHLD);
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(at_most);
    const timespec patience = {.tv_sec = seconds.count(), .tv_nsec = (at_most - seconds).count()};
    const int got = sigtimedwait(&wanted, nullptr, &patience);
    return got > 0 && sigismember(&signals_, got) == 1;
  }
  // From here on Ctrl-C ends the program. One that came before was meant for the recording: who sends a signal twice
  // wants its result no less.
  void Restore() const {
    const timespec now = {};
    while (sigtimedwait(&signals_, nullptr, &now) > 0) {
    }
    sigprocmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t signals_;
  sigset_t before_;
};

// Only processes and threads named by number can be seen to have ended for good.
bool AllEnded(const RecordConfig& config) {
  if (config.pids.empty() && config.tids.empty()) return false;
  return std::all_of(config.pids.begin(), config.pids.end(), ProcessHasEnded) &&
         std::all_of(config.tids.begin(), config.tids.end(), ThreadHasEnded);
}

// What is to be said where no thread of a selection has waited.
std::string NothingOf(const std::string& selection) {
  return absl::StrCat("no thread selected by ", selection, " has waited");
}

// Nobody may notice a misspelled name before the recording is over. Empty if there is such a thread, or no name is
// asked for.
std::string NobodyOf(const RecordFlags& flags) {
  if (flags.comms.empty() || HasThreadCalled(flags.comms)) return "";
  return absl::StrCat("no thread is called ", absl::StrJoin(flags.comms, " or "));
}

// Why a recording is empty; empty for the whole host. `nobody`: what NobodyOf was at its start.
std::string WhyNothing(const RecordFlags& flags, const std::string& nobody) {
  const std::string selection = SelectionOf(flags);
  if (selection.empty()) return "";
  return nobody.empty() || NobodyOf(flags).empty() ? NothingOf(selection) : nobody;
}

// What the flags ask for, checked before anything is recorded.
struct RecordPlan {
  ProfileFilter filter;
  IdlePatterns idle;
  uint64_t length_ns = 0;  // 0: until somebody ends it
  RecordConfig config;
};

absl::StatusOr<RecordPlan> PlanOf(const RecordFlags& flags) {
  if (absl::Status status = CheckOutputs(flags.outputs); !status.ok()) return status;
  if (absl::Status status = CheckValue(flags.outputs, flags.oncpu_hz != 0); !status.ok()) return status;
  absl::StatusOr<ProfileFilter> filter = FilterOf(flags.filter);
  if (!filter.ok()) return filter.status();
  absl::StatusOr<IdlePatterns> idle = ReadIdlePatterns(flags.outputs.idle.patterns);
  if (!idle.ok()) return idle.status();
  const absl::StatusOr<uint64_t> length_ns = RecordLength(flags);
  if (!length_ns.ok()) return length_ns.status();
  absl::StatusOr<RecordConfig> config = RecordConfigOf(flags);
  if (!config.ok()) return config.status();
  config->service_names = WritesOtlp(flags.outputs);
  constexpr uint64_t kUsualLengthNs = 60'000'000'000;  // of a recording that somebody ends
  config->bucket_ns = TimeTable::BucketNsFor(*length_ns != 0 ? *length_ns : kUsualLengthNs);
  return RecordPlan{*std::move(filter), *std::move(idle), *length_ns, *std::move(config)};
}

class ProgressLine {
 public:
  // `selection`: as the user has typed it; empty: the whole host.
  explicit ProgressLine(std::string selection) : selection_(std::move(selection)) {}

  void Show(const Recorder& recorder, Clock::time_point start) {
    if (!shown_) return;
    const RecorderProgress progress = recorder.progress();
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - start).count();
    if (progress.intervals == 0 && seconds > 0 && !selection_.empty()) {
      std::fprintf(stderr, "\rrecording %lld s: %s; Ctrl-C ends it\033[K", static_cast<long long>(seconds),
                   NothingOf(selection_).c_str());
      return;
    }
    std::fprintf(stderr, "\rrecording %lld s: %llu intervals, %llu rows, %llu lost; Ctrl-C ends it\033[K",
                 static_cast<long long>(seconds), static_cast<unsigned long long>(progress.intervals),
                 static_cast<unsigned long long>(progress.stacks), static_cast<unsigned long long>(progress.losses));
  }
  void Clear() const {
    if (shown_) std::fputs("\r\033[K", stderr);
  }
  bool is_shown() const { return shown_; }

 private:
  const std::string selection_;
  const bool shown_ = isatty(STDERR_FILENO) != 0;
};

void WaitForEnd(const Recorder& recorder, const RecordPlan& plan, const std::string& selection,
                const EndSignals& signals, Child* child) {
  const RecordConfig& config = plan.config;
  const Clock::time_point start = Clock::now();
  const Clock::time_point end =
      plan.length_ns != 0 ? start + std::chrono::nanoseconds(plan.length_ns) : Clock::time_point::max();
  ProgressLine progress(selection);
  // Where nothing has to be looked at before the end, it sleeps until then: each look is a wake-up.
  const bool ticks = progress.is_shown() || child != nullptr || !config.pids.empty() || !config.tids.empty();
  for (auto now = start; now < end; now = Clock::now()) {
    const std::chrono::nanoseconds left = end - now;
    if (signals.Wait(ticks ? std::min<std::chrono::nanoseconds>(kTick, left) : left)) break;
    if (child != nullptr && child->Ended()) break;
    if (child == nullptr && AllEnded(config)) break;
    progress.Show(recorder, start);
  }
  progress.Clear();
}

absl::Status WriteResult(const RecordFlags& flags, const RecordPlan& plan, const std::string& note,
                         FetchedFiles& fetched, Profile recorded) {
  SymbolizerOptions naming;
  naming.idle = &plan.idle;
  naming.lines = !flags.outputs.lines.none;
  naming.fetch = fetched.fetcher();
  NamedProfile profile = Symbolize(std::move(recorded), naming);
  fetched.Finish();
  ApplyLineFlags(flags.outputs.lines, &profile);
  KeepWanted(plan.filter, &profile);
  OutputFlags shown = flags.outputs;
  shown.files.clear();
  absl::Status written = WriteOutputs(flags.outputs, profile, &shown.files);
  if (WritesToStdout(flags.outputs)) {
    TellHidden(flags.outputs, IdleLine(SumIdle(profile)));
    return written;
  }
  const bool has_groups = IsWholeHost(flags) || !flags.outputs.by.empty();
  written.Update(PrintTables(shown, std::move(profile), has_groups ? TextTables::kGroups : TextTables::kStacks,
                             IsWholeHost(flags) && plan.filter.is_everything(), note));
  return written;
}

// Waits for COMMAND, which may go on after the recording, and passes its exit status on.
ExitCode StatusOfCommand(const RecordFlags& flags, Child* child) {
  if (!child->Ended()) {
    std::fprintf(stderr, "offcpu: the recording has ended; waiting for %s (%d); Ctrl-C ends it\n",
                 Printable(flags.command[0]).c_str(), child->pid());
  }
  child->WaitForEnd();
  return static_cast<ExitCode>(child->exit_status());
}

ExitCode RunRecord(const RecordFlags& flags) {
  absl::StatusOr<RecordPlan> plan = PlanOf(flags);
  if (!plan.ok()) return Fail(plan.status());
  const EndSignals signals;
  const auto fetched = FetchedFiles::Open(flags.debuginfod, [&signals] { return signals.Wait({}); });
  if (!fetched.ok()) return Fail(fetched.status());
  std::optional<Child> child;
  if (!flags.command.empty()) {
    absl::StatusOr<Child> forked = Child::Fork(flags.command, signals.before());
    if (!forked.ok()) return Fail(forked.status());
    child = *std::move(forked);
    plan->config.command = child->pid();
    plan->config.follow_forks = true;
  }
  absl::StatusOr<std::unique_ptr<Recorder>> recorder = Recorder::Start(plan->config);
  if (!recorder.ok()) return Fail(recorder.status());
  if (const int error = child.has_value() ? child->Run() : 0; error != 0) {
    std::fprintf(stderr, "offcpu: cannot run %s: %s\n", flags.command[0].c_str(), strerror(error));
    return error == ENOENT ? kExitCommandUnknown : kExitCannotRun;
  }
  const std::string nobody = NobodyOf(flags);
  if (!nobody.empty()) std::fprintf(stderr, "offcpu: %s so far\n", nobody.c_str());
  WaitForEnd(**recorder, *plan, SelectionOf(flags), signals, child.has_value() ? &*child : nullptr);
  absl::StatusOr<Profile> profile = (*recorder)->Stop();
  if (!profile.ok()) return Fail(profile.status());
  const std::string note = profile->rows.empty() ? WhyNothing(flags, nobody) : "";
  if (!note.empty()) std::fprintf(stderr, "offcpu: %s\n", note.c_str());
  if (absl::Status status = WriteResult(flags, *plan, note, **fetched, *std::move(profile)); !status.ok()) {
    Fail(status);
    return kExitFailed;
  }
  signals.Restore();
  return child.has_value() ? StatusOfCommand(flags, &*child) : kExitOk;
}

}  // namespace

Verb RecordVerb() {
  auto flags = std::make_shared<RecordFlags>();
  Verb verb = {.name = "record", .help = "Record where threads wait, and print or write it"};
  verb.flags = RecordFlagsOf(flags.get());
  verb.command = &flags->command;
  verb.footer =
      "Without a selection, the whole host is recorded. With several selections of one kind, a thread has to match one "
      "of them; with selections of different kinds, it has to match all kinds. A COMMAND is recorded from its start, "
      "with all its children.\n"
      "\n"
      "Examples:\n"
      "  offcpu record 10                                  the whole host, 10 seconds\n"
      "  offcpu record -p 1234 -o waits.folded 5           one process, for flamegraph.pl\n"
      "  offcpu record -p 1234 -o waits.pb.gz 5            for go tool pprof, and for offcpu report\n"
      "  offcpu record --comm 'nginx*' --min-wait 1ms 30   threads by name, waits of 1 ms and more\n"
      "  offcpu record --state D --kernel-threads 10       what waits for disks\n"
      "  offcpu record --container 3f5c0b1e2a77            a container, until Ctrl-C\n"
      "  offcpu record -o build.json -- make -j4           a command and its children\n"
      "  offcpu record --oncpu 99 -p 1234 10               waits and work: where the wall-clock time goes\n"
      "  offcpu record --wakers -p 1234 -o waits.folded 5  who ended the waits: after \"--\" in each line\n"
      "  offcpu record --ledger -p 1234 10                 does it all add up?\n"
      "\n"
      "Exit status: 0 recorded, 1 failed, 2 wrong usage, 3 missing capability or kernel support, 126 COMMAND "
      "cannot be run, 127 COMMAND not found. After a recording with a COMMAND, it is COMMAND's own exit status, or 128 "
      "plus the number of the signal that ended it.";
  verb.run = [flags] { return RunRecord(*flags); };
  return verb;
}

}  // namespace offcpu
