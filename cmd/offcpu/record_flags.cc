#include "offcpu/record_flags.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "bytes/duration.h"
#include "bytes/percent.h"
#include "classify/glob_match.h"
#include "offcpu/fetched_files.h"
#include "recorder/operands.h"
#include "unwind/unwind_order.h"

namespace offcpu {
namespace {

constexpr uint64_t kMaxSampleNs = 1'000'000'000;
constexpr int kMaxOnCpuHz = 1000;

// Nothing would be recorded of a kernel thread that is named, and nothing be said.
absl::Status CheckIsRecorded(pid_t id, const RecordFlags& flags) {
  if (flags.kernel_threads || !IsKernelThread(id)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(id, " is a kernel thread: record it with `--kernel-threads`"));
}

absl::Status SetSample(const RecordFlags& flags, RecordConfig* config) {
  const absl::StatusOr<uint64_t> budget = ParsePercent(flags.cpu_budget);
  if (!budget.ok()) return budget.status();
  config->cpu_budget_ppm = *budget;
  if (flags.sample == "auto") {
    config->adapts_sample = true;
    return absl::OkStatus();
  }
  const absl::StatusOr<uint64_t> sample = ParseDuration(flags.sample);
  if (!sample.ok()) return sample.status();
  if (*sample > kMaxSampleNs) return absl::InvalidArgumentError("--sample must be at most 1s");
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

// Sets which waits are recorded, and of which threads.
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
    return absl::InvalidArgumentError("--max-wait is shorter than --min-wait: no wait would be recorded");
  }
  config->min_wait_ns = *min_wait;
  config->max_wait_ns = *max_wait;
  if (absl::Status status = SetSample(flags, config); !status.ok()) return status;
  config->kernel_threads = flags.kernel_threads;
  return absl::OkStatus();
}

}  // namespace

std::vector<Flag> RecordFlagsOf(RecordFlags* values) {
  std::vector<Flag> flags = {
      {"-p,--pid", &values->pids, "Record this process", "PID"},
      {"-t,--tid", &values->tids, "Record this thread", "TID"},
      {"--cgroup", &values->cgroups, "Record the processes of this cgroup (v2) and those below it", "PATH"},
      {"--container", &values->containers, "Record this container, by its id or the first 8 digits of it", "ID"},
      {"--comm", &values->comms, "Record threads whose name matches; * and ? are wildcards", "GLOB"},
      {"--uid", &values->uids, "Record threads of this user, by number or name", "USER"},
      {"--kernel-threads", &values->kernel_threads, "Record the kernel's own threads too"},
      {"--min-wait", &values->min_wait, "Leave out shorter waits, such as 50us or 1ms", "TIME"},
      {"--max-wait", &values->max_wait, "Leave out longer waits", "TIME"},
      {"--state",
       &values->states,
       "Record only waits of this kind: sleeping (S), disk (D), stopped (T), preempted or throttled (R), yielded (Y)",
       "STATE",
       {.separator = ','}},
      {"--sample",
       &values->sample,
       "Record only a sample of shorter waits, which stands for all of them; 0 records every wait; auto does so while "
       "that stays within --cpu-budget",
       "TIME",
       {.shows_default = true}},
      {"--cpu-budget",
       &values->cpu_budget,
       "How much of all CPUs recording may cost: above that, short waits of the users who cost most are sampled; only "
       "with --sample auto",
       "PERCENT",
       {.shows_default = true}},
      {"--unwind",
       &values->unwind,
       "The sources of unwind rows for user stacks, first choice first",
       "SOURCES",
       {.shows_default = true}},
      {"--max-frames",
       &values->max_frames,
       "Keep this many frames of a user stack: of a deeper one, the innermost and the outermost",
       "FRAMES",
       {.min = kLeastMaxFrames, .max = kMostMaxFrames, .shows_default = true}},
      {"--ledger", &values->ledger,
       "Account for all the time of every thread: on a CPU, stolen, blocked, runnable, and lost"},
      {"--wakers", &values->wakers, "Record who ended each wait: a thread or an interrupt, with its stacks"},
      {"--oncpu",
       &values->oncpu_hz,
       "Also sample what runs, this many times a second on each CPU: the profile then has all wall-clock time",
       "HZ",
       {.min = 1, .max = kMaxOnCpuHz}},
  };
  AddOutputFlags("Show the stacks of waits for work and of threads that sleep throughout, or only count them",
                 &values->outputs, &flags);
  flags.push_back(DebuginfodFlag(&values->debuginfod));
  flags.push_back(SourceLinkFlag(&values->outputs));
  flags.push_back(PerThreadFlag(&values->outputs));
  flags.push_back(VerboseFlag(&values->outputs));
  AddOnlyFlag(&values->filter, &flags);
  flags.push_back(
      {"SECONDS", &values->seconds, "How long to record; by default until Ctrl-C, or until what is recorded ends"});
  return flags;
}

bool IsWholeHost(const RecordFlags& flags) {
  return flags.pids.empty() && flags.tids.empty() && flags.cgroups.empty() && flags.containers.empty() &&
         flags.comms.empty() && flags.uids.empty() && flags.command.empty();
}

std::string SelectionOf(const RecordFlags& flags) {
  std::vector<std::string> words;
  const auto add = [&words](const char* flag, const auto& values) {
    for (const auto& value : values) words.push_back(absl::StrCat(flag, " ", value));
  };
  add("--pid", flags.pids);
  add("--tid", flags.tids);
  add("--cgroup", flags.cgroups);
  add("--container", flags.containers);
  add("--comm", flags.comms);
  add("--uid", flags.uids);
  return absl::StrJoin(words, " ");
}

bool HasThreadCalled(const std::vector<std::string>& globs) {
  std::error_code error;
  for (const auto& process : std::filesystem::directory_iterator("/proc", error)) {
    std::error_code gone;
    for (std::filesystem::directory_iterator task(process.path() / "task", gone), end; !gone && task != end;
         task.increment(gone)) {
      std::ifstream file(task->path() / "comm");
      std::string comm;
      if (std::getline(file, comm) && MatchesAny(globs, comm)) return true;
    }
  }
  return false;
}

absl::StatusOr<RecordConfig> RecordConfigOf(const RecordFlags& flags) {
  RecordConfig config;
  FitRings(static_cast<uint32_t>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN))), config);
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
  config.max_frames = flags.max_frames;
  config.per_thread = flags.outputs.per_thread;
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
  if (length.ok() && *length == 0) return absl::InvalidArgumentError("SECONDS is 0: nothing would be recorded");
  return length;
}

}  // namespace offcpu
