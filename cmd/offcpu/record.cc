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
#include <utility>

#include "absl/status/status.h"
#include "offcpu/child.h"
#include "offcpu/duration.h"
#include "offcpu/outputs.h"
#include "offcpu/selection.h"
#include "offcpu/verb.h"
#include "output/frame_sources.h"
#include "output/summary.h"
#include "output/table.h"
#include "profiler/recorder.h"
#include "symbolize/symbolizer.h"
#include "unwind/unwind_order.h"

namespace offcpu {
namespace {

using Clock = std::chrono::steady_clock;

struct RecordFlags {
  std::vector<int> pids;
  std::vector<int> tids;
  std::vector<std::string> cgroups;
  std::vector<std::string> containers;
  std::vector<std::string> comms;
  std::string min_wait = "0";
  std::string unwind = "sframe,eh_frame,fp";
  bool per_thread = false;
  std::string idle;
  OutputFlags outputs;
  std::string seconds;  // empty: until a signal, or until what is recorded has ended
  std::vector<std::string> command;
};

constexpr size_t kStacks = 10;
constexpr size_t kProcesses = 20;
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

  // True if one came; waits at most a tick, less if a child ends.
  bool Wait() const {
    sigset_t wanted = signals_;
    sigaddset(&wanted, SIGCHLD);
    const timespec tick = {.tv_sec = 0, .tv_nsec = std::chrono::nanoseconds(kTick).count()};
    const int got = sigtimedwait(&wanted, nullptr, &tick);
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

bool IsWholeHost(const RecordFlags& flags) {
  return flags.pids.empty() && flags.tids.empty() && flags.cgroups.empty() && flags.containers.empty() &&
         flags.comms.empty() && flags.command.empty();
}

absl::StatusOr<RecordConfig> ConfigOf(const RecordFlags& flags) {
  RecordConfig config;
  for (const int pid : flags.pids) {
    if (absl::Status status = CheckProcess(pid); !status.ok()) return status;
    config.pids.push_back(pid);
  }
  for (const int tid : flags.tids) {
    if (absl::Status status = CheckThread(tid); !status.ok()) return status;
    config.tids.push_back(tid);
  }
  for (const std::string& path : flags.cgroups) {
    absl::StatusOr<std::string> directory = CgroupDirectory(path);
    if (!directory.ok()) return directory.status();
    config.cgroups.push_back(*std::move(directory));
  }
  for (const std::string& id : flags.containers) {
    absl::StatusOr<std::string> directory = ContainerDirectory(id);
    if (!directory.ok()) return directory.status();
    config.cgroups.push_back(*std::move(directory));
  }
  config.comms = flags.comms;
  const absl::StatusOr<uint64_t> min_wait = ParseDuration(flags.min_wait);
  if (!min_wait.ok()) return min_wait.status();
  config.min_wait_ns = *min_wait;
  absl::StatusOr<UnwindOrder> unwind = ParseUnwindOrder(flags.unwind);
  if (!unwind.ok()) return unwind.status();
  config.unwind = *std::move(unwind);
  config.per_thread = flags.per_thread;
  config.show_sleepers = flags.idle.empty() ? !IsWholeHost(flags) : flags.idle == "show";
  return config;
}

// Only processes and threads named by number can be seen to have ended for good.
bool AllEnded(const RecordConfig& config) {
  if (config.pids.empty() && config.tids.empty()) return false;
  return std::all_of(config.pids.begin(), config.pids.end(), HasEnded) &&
         std::all_of(config.tids.begin(), config.tids.end(), HasEnded);
}

class ProgressLine {
 public:
  void Show(const Recorder& recorder, Clock::time_point start) {
    if (!shown_) return;
    const RecorderProgress progress = recorder.progress();
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - start).count();
    std::fprintf(stderr, "\rrecording %lld s: %llu intervals, %llu rows, %llu lost; Ctrl-C ends it\033[K",
                 static_cast<long long>(seconds), static_cast<unsigned long long>(progress.intervals),
                 static_cast<unsigned long long>(progress.stacks), static_cast<unsigned long long>(progress.drops));
  }
  void Clear() const {
    if (shown_) std::fputs("\r\033[K", stderr);
  }

 private:
  bool shown_ = isatty(STDERR_FILENO) != 0;
};

void WaitForEnd(const Recorder& recorder, const RecordConfig& config, uint64_t length_ns, const EndSignals& signals,
                Child* child) {
  const Clock::time_point start = Clock::now();
  const Clock::time_point end = length_ns != 0 ? start + std::chrono::nanoseconds(length_ns) : Clock::time_point::max();
  ProgressLine progress;
  while (Clock::now() < end) {
    if (signals.Wait() || (child != nullptr && child->Ended())) break;
    if (child == nullptr && AllEnded(config)) break;
    progress.Show(recorder, start);
  }
  progress.Clear();
}

void PrintTables(const RecordFlags& flags, const Profile& profile, const SymbolizedProfile& symbols) {
  if (IsWholeHost(flags)) {
    WriteProcessTable(profile, symbols, kProcesses, ToStdout);
  } else {
    WriteStackTable(profile, symbols, kStacks, ToStdout);
  }
  ToStdout("\n");
  WriteSummary(profile, ToStdout);
}

absl::Status WriteResult(const RecordFlags& flags, const Profile& profile) {
  const SymbolizedProfile symbols = Symbolize(profile);
  if (absl::Status status = WriteOutputs(flags.outputs, profile, symbols); !status.ok()) return status;
  if (flags.outputs.frame_sources) {
    PrintTables(flags, profile, WithFrameSources(profile, symbols));
  } else {
    PrintTables(flags, profile, symbols);
  }
  return FlushStdout();
}

// The length: what is given, but not beyond the end of what is recorded.
absl::StatusOr<uint64_t> LengthOf(const RecordFlags& flags) {
  if (flags.seconds.empty()) return 0;
  absl::StatusOr<uint64_t> length = ParseDuration(flags.seconds, "s");
  if (length.ok() && *length == 0) return absl::InvalidArgumentError("a recording of 0 seconds records nothing");
  return length;
}

void AddFlags(CLI::App& app, RecordFlags* flags) {
  app.add_option("-p,--pid", flags->pids, "Record this process")->type_name("PID");
  app.add_option("-t,--tid", flags->tids, "Record this thread")->type_name("TID");
  app.add_option("--cgroup", flags->cgroups, "Record the processes of this cgroup (v2) and those below it")
      ->type_name("PATH");
  app.add_option("--container", flags->containers, "Record this container, by its id or the first 8 digits of it")
      ->type_name("ID");
  app.add_option("--comm", flags->comms, "Record threads with such a name; * and ? stand for others")
      ->type_name("GLOB");
  app.add_option("--min-wait", flags->min_wait, "Leave out shorter waits, such as 50us or 1ms")->type_name("TIME");
  app.add_option("--unwind", flags->unwind, "Where the rules for walking user stacks come from, first choice first")
      ->type_name("SOURCES")
      ->capture_default_str();
  app.add_flag("--per-thread", flags->per_thread, "Keep the threads of a process apart");
  app.add_option("--idle", flags->idle,
                 "Threads that sleep throughout: show their stacks, or only count them, as for the whole host")
      ->check(CLI::IsMember({"show", "count"}));
  AddOutputFlags(app, &flags->outputs);
  app.add_option("SECONDS", flags->seconds, "How long; without it until Ctrl-C, or until the end of what is recorded");
  for (CLI::Option* option : app.get_options()) {
    if (option->nonpositional()) option->allow_extra_args(false);  // "-o FILE 5": the 5 is not another file
  }
  app.footer(
      "Without a selection the whole host is recorded. Selections of one kind add up, those of different kinds\n"
      "narrow each other down. A COMMAND is recorded from its start, with all its children.\n"
      "\n"
      "Examples:\n"
      "  offcpu record 10                                  the whole host, 10 seconds\n"
      "  offcpu record -p 1234 -o waits.folded 5           one process; flamegraph.pl reads the file\n"
      "  offcpu record -p 1234 -o waits.pb.gz 5            for go tool pprof, and for offcpu report\n"
      "  offcpu record --comm 'nginx*' --min-wait 1ms 30   threads by name, waits of 1 ms and more\n"
      "  offcpu record --container 3f5c0b1e2a77            a container, until Ctrl-C\n"
      "  offcpu record -o build.json -- make -j4           a command and its children\n"
      "\n"
      "Exit status: 0 recorded, 1 failed, 2 wrong usage, 3 missing capability or kernel support,\n"
      "126 COMMAND cannot be run, 127 COMMAND not found.");
}

ExitCode RunRecord(const RecordFlags& flags) {
  if (absl::Status status = CheckOutputs(flags.outputs); !status.ok()) return Fail(status);
  const absl::StatusOr<uint64_t> length_ns = LengthOf(flags);
  if (!length_ns.ok()) return Fail(length_ns.status());
  absl::StatusOr<RecordConfig> config = ConfigOf(flags);
  if (!config.ok()) return Fail(config.status());

  const EndSignals signals;
  std::optional<Child> child;
  if (!flags.command.empty()) {
    absl::StatusOr<Child> forked = Child::Fork(flags.command, signals.before());
    if (!forked.ok()) return Fail(forked.status());
    child = *std::move(forked);
    config->command = child->pid();
    config->follow_forks = true;
  }
  absl::StatusOr<std::unique_ptr<Recorder>> recorder = Recorder::Start(*config);
  if (!recorder.ok()) return Fail(recorder.status());
  if (const int error = child.has_value() ? child->Run() : 0; error != 0) {
    std::fprintf(stderr, "offcpu: cannot run %s: %s\n", flags.command[0].c_str(), strerror(error));
    return error == ENOENT ? kExitCommandUnknown : kExitCannotRun;
  }
  WaitForEnd(**recorder, *config, *length_ns, signals, child.has_value() ? &*child : nullptr);
  const absl::StatusOr<Profile> profile = (*recorder)->Stop();
  if (!profile.ok()) return Fail(profile.status());
  if (absl::Status status = WriteResult(flags, *profile); !status.ok()) {
    Fail(status);
    return kExitFailed;
  }
  signals.Restore();
  if (child.has_value()) child->WaitForEnd();
  return kExitOk;
}

}  // namespace

Verb AddRecord(CLI::App& offcpu, const std::vector<std::string>& command) {
  auto flags = std::make_shared<RecordFlags>();
  CLI::App* app = offcpu.add_subcommand("record", "Record waits and write where they happened");
  AddFlags(*app, flags.get());
  return {app, [flags, &command] {
            flags->command = command;
            return RunRecord(*flags);
          }};
}

}  // namespace offcpu
