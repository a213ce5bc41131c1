#include "offcpu/record_flags.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "bytes/duration.h"
#include "recorder/operands.h"
#include "unwind/unwind_order.h"

namespace offcpu {
namespace {

constexpr uint64_t kMaxSampleNs = 1'000'000'000;
constexpr uint32_t kMaxOnCpuHz = 1000;

// Nothing would be recorded of a kernel thread that is named, and nothing be said.
absl::Status CheckIsRecorded(pid_t id, const RecordFlags& flags) {
  if (flags.kernel_threads || !IsKernelThread(id)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(id, " is a kernel thread: `offcpu record --kernel-threads` records those"));
}

absl::Status SetSample(const std::string& text, RecordConfig* config) {
  if (text == "auto") {
    AdaptSample(kDrawsPerCpuOnce, *config);
    return absl::OkStatus();
  }
  const absl::StatusOr<uint64_t> sample = ParseDuration(text);
  if (!sample.ok()) return sample.status();
  if (*sample > kMaxSampleNs) return absl::InvalidArgumentError("--sample takes at most 1s");
  config->sample_ns = *sample;
  return absl::OkStatus();
}

absl::Status SetThreads(const RecordFlags& flags, RecordConfig* config) {
  for (const int pid : flags.pids) {
    if (absl::Status status = CheckProcess(pid); !status.ok()) return status;
    if (absl::Status status = CheckIsRecorded(pid, flags); !status.ok()) return status;
    config->pids.push_back(pid);
  }
  for (const int tid : flags.tids) {
    if (absl::Status status = CheckThread(tid); !status.ok()) return status;
    if (absl::Status status = CheckIsRecorded(tid, flags); !status.ok()) return status;
    config->tids.push_back(tid);
  }
  return absl::OkStatus();
}

// Which waits, and of whom.
absl::Status SetFilters(const RecordFlags& flags, RecordConfig* config) {
  for (const std::string& name : flags.uids) {
    const absl::StatusOr<uid_t> uid = FindUser(name);
    if (!uid.ok()) return uid.status();
    config->uids.push_back(*uid);
  }
  for (const std::string& name : flags.states) {
    const absl::StatusOr<WaitKind> kind = FindState(name);
    if (!kind.ok()) return kind.status();
    config->kinds.push_back(*kind);
  }
  const absl::StatusOr<uint64_t> min_wait = ParseDuration(flags.min_wait);
  if (!min_wait.ok()) return min_wait.status();
  const absl::StatusOr<uint64_t> max_wait = ParseDuration(flags.max_wait);
  if (!max_wait.ok()) return max_wait.status();
  if (*max_wait != 0 && *max_wait < *min_wait) {
    return absl::InvalidArgumentError("no wait is longer than --min-wait and shorter than --max-wait");
  }
  config->min_wait_ns = *min_wait;
  config->max_wait_ns = *max_wait;
  if (absl::Status status = SetSample(flags.sample, config); !status.ok()) return status;
  config->kernel_threads = flags.kernel_threads;
  return absl::OkStatus();
}

}  // namespace

void AddRecordFlags(CLI::App& app, RecordFlags* flags) {
  app.add_option("-p,--pid", flags->pids, "Record this process")->type_name("PID");
  app.add_option("-t,--tid", flags->tids, "Record this thread")->type_name("TID");
  app.add_option("--cgroup", flags->cgroups, "Record the processes of this cgroup (v2) and those below it")
      ->type_name("PATH");
  app.add_option("--container", flags->containers, "Record this container, by its id or the first 8 digits of it")
      ->type_name("ID");
  app.add_option("--comm", flags->comms, "Record threads with such a name; * and ? stand for others")
      ->type_name("GLOB");
  app.add_option("--uid", flags->uids, "Record threads of this user, by number or name")->type_name("USER");
  app.add_flag("--kernel-threads", flags->kernel_threads, "Record the kernel's own threads too");
  app.add_option("--min-wait", flags->min_wait, "Leave out shorter waits, such as 50us or 1ms")->type_name("TIME");
  app.add_option("--max-wait", flags->max_wait, "Leave out longer waits")->type_name("TIME");
  app.add_option("--state", flags->states,
                 "Only waits that were left for: sleeping (S), disk (D), stopped (T), preempted (R) or yielded (Y)")
      ->type_name("STATE")
      ->delimiter(',');
  app.add_option(
         "--sample", flags->sample,
         "Of shorter waits record a sample that adds up to the same time; 0 records every wait, auto as many as "
         "cost little")
      ->type_name("TIME")
      ->capture_default_str();
  app.add_option("--unwind", flags->unwind, "Where the rules for walking user stacks come from, first choice first")
      ->type_name("SOURCES")
      ->capture_default_str();
  app.add_flag("--per-thread", flags->per_thread, "Keep the threads of a process apart");
  app.add_flag("--ledger", flags->ledger,
               "Account for all the time of every thread: on a CPU, stolen from it there, blocked, runnable, and lost");
  app.add_flag("--wakers", flags->wakers,
               "Tell who ended each wait: the stacks of the thread that woke the waiting one, or of the interrupt");
  app.add_option("--oncpu", flags->oncpu_hz,
                 "Sample what runs, too, so often a second and CPU: the profile has all of the wall-clock time")
      ->check(CLI::Range(1, static_cast<int>(kMaxOnCpuHz)))
      ->type_name("HZ");
  AddOutputFlags(app, "Waits for work, and threads that sleep throughout: show their stacks, or only count them",
                 &flags->outputs);
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
      "  offcpu record --state D --kernel-threads 10       what waits for disks, and who writes to them\n"
      "  offcpu record --container 3f5c0b1e2a77            a container, until Ctrl-C\n"
      "  offcpu record -o build.json -- make -j4           a command and its children\n"
      "  offcpu record --oncpu 99 -p 1234 10               waits and work: where the wall-clock time goes\n"
      "  offcpu record --wakers -p 1234 -o waits.folded 5  who it waited for, behind \"--\" in each line\n"
      "  offcpu record --ledger -p 1234 10                 does it all add up?\n"
      "\n"
      "Exit status: 0 recorded, 1 failed, 2 wrong usage, 3 missing capability or kernel support,\n"
      "126 COMMAND cannot be run, 127 COMMAND not found.");
}

bool IsWholeHost(const RecordFlags& flags) {
  return flags.pids.empty() && flags.tids.empty() && flags.cgroups.empty() && flags.containers.empty() &&
         flags.comms.empty() && flags.uids.empty() && flags.command.empty();
}

absl::StatusOr<RecordConfig> RecordConfigOf(const RecordFlags& flags) {
  RecordConfig config;
  if (absl::Status status = SetThreads(flags, &config); !status.ok()) return status;
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
  if (absl::Status status = SetFilters(flags, &config); !status.ok()) return status;
  absl::StatusOr<UnwindOrder> unwind = ParseUnwindOrder(flags.unwind);
  if (!unwind.ok()) return unwind.status();
  config.unwind = *std::move(unwind);
  config.per_thread = flags.per_thread;
  config.ledger = flags.ledger;
  config.wakers = flags.wakers;
  config.oncpu_hz = flags.oncpu_hz;
  const std::string& idle = flags.outputs.idle.idle;
  config.show_sleepers = idle.empty() ? !IsWholeHost(flags) : idle == "show";
  return config;
}

absl::StatusOr<uint64_t> RecordLength(const RecordFlags& flags) {
  if (flags.seconds.empty()) return 0;
  absl::StatusOr<uint64_t> length = ParseDuration(flags.seconds, "s");
  if (length.ok() && *length == 0) return absl::InvalidArgumentError("a recording of 0 seconds records nothing");
  return length;
}

}  // namespace offcpu
