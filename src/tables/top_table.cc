#include "tables/top_table.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_join.h"
#include "bytes/utf8.h"
#include "json/json_writer.h"
#include "json/stats_json.h"
#include "labels/own_function.h"
#include "labels/row_error.h"
#include "labels/stack_labels.h"
#include "tables/keep_most.h"

namespace offcpu {
namespace {

// Without what calls main, or a thread's own function: it is the same for all. The outermost frame of a program calls
// the C library, that of a thread is in it.
std::span<const NamedFrame> WithoutStart(std::span<const NamedFrame> frames) {
  const size_t size = frames.size();
  if (size > 1 && IsCLibrary(frames[size - 2].module_name)) frames = frames.first(size - 1);
  while (!frames.empty() && IsCLibrary(frames.back().module_name)) frames = frames.first(frames.size() - 1);
  return frames;
}

std::vector<std::string> UserFrames(const NamedUserStack& stack) {
  const std::string end = EndLabel(stack);
  std::span<const NamedFrame> shown = end.empty() ? WithoutStart(stack.frames) : stack.frames;
  if (shown.empty()) shown = stack.frames;
  size_t below = FunctionsBelowShown(stack);
  std::vector<std::string> frames;
  for (const NamedFrame& frame : shown) {
    for (const FrameLine& line : frame.lines) {
      if (below == 0) frames.push_back(Printable(line.function));
      below -= std::min<size_t>(below, 1);
    }
  }
  if (!end.empty()) frames.push_back(end);
  return frames;
}

// From the one that waits_in names outwards.
std::vector<std::string> KernelFrames(std::vector<std::string> labels, const std::string& leaf) {
  std::reverse(labels.begin(), labels.end());
  labels.erase(labels.begin(), std::find(labels.begin(), labels.end(), leaf));
  return labels;
}

// Sums rows by what is shown of them.
class StackSums {
 public:
  StackSums(const NamedProfile& profile, RowsApart apart)
      : profile_(profile),
        has_programs_(apart == RowsApart::kPrograms),
        same_process_(SameProcesses(profile, apart)),
        same_comm_(SameComms(profile)),
        wait_causes_(profile) {
    for (const NamedUserStack& stack : profile.user_stacks) user_.push_back(UserFrames(stack));
    for (const NamedKernelStack& stack : profile.kernel_stacks) kernel_.push_back(KernelLabels(stack));
  }

  void Add(const NamedRow& row) {
    TopStack stack = Describe(row);
    auto [it, inserted] =
        index_.try_emplace({same_process_[row.process], has_programs_ ? same_comm_[row.comm] : row.comm,
                            absl::StrJoin(stack.frames, "\n"), stack.is_kernel, stack.waits_in},
                           stacks_.size());
    if (inserted) {
      stacks_.push_back(std::move(stack));
      names_.emplace_back();
      kinds_.emplace_back();
      causes_.emplace_back();
    }
    stacks_[it->second].sums.Add(row);
    if (has_programs_) AddNames(row, &stacks_[it->second], &names_[it->second]);
    kinds_[it->second][static_cast<size_t>(row.kind)] += row.total_ns();
    causes_[it->second][{Family(wait_causes_.Of(row)), wait_causes_.NameOf(row)}] += row.total_ns();
  }

  std::vector<TopStack> Take() {
    for (size_t i = 0; i < stacks_.size(); ++i) {
      const auto kind = std::max_element(kinds_[i].begin(), kinds_[i].end());
      stacks_[i].kind = static_cast<WaitKind>(kind - kinds_[i].begin());
      const auto is_less = [](const auto& a, const auto& b) { return a.second < b.second; };
      const auto [family, cause] = std::max_element(causes_[i].begin(), causes_[i].end(), is_less)->first;
      stacks_[i].cause = Printable(cause);
      stacks_[i].cause_family = family;
      if (!has_programs_) continue;
      stacks_[i].process = ProgramText(names_[i].processes);
      stacks_[i].thread = ThreadText(names_[i].threads);
    }
    return std::move(stacks_);
  }

 private:
  using Key = std::tuple<uint32_t, uint32_t, std::string, bool, std::string>;
  struct Names {
    std::set<std::string> processes;
    std::set<std::string> threads;
  };

  void AddNames(const ProfileRow& row, TopStack* stack, Names* names) const {
    const ProcessInfo& process = profile_.processes[row.process];
    stack->pids.insert(process.key.pid);
    names->processes.insert(process.name);
    names->threads.insert(profile_.comms[row.comm]);
  }

  TopStack Describe(const ProfileRow& row) const {
    const ProcessInfo& process = profile_.processes[row.process];
    TopStack stack = {.pid = process.key.pid,
                      .process = Printable(process.name),
                      .thread = Printable(profile_.comms[row.comm]),
                      .frames = user_[row.user_stack],
                      .waits_in = KernelLeaf(kernel_[row.kernel_stack])};
    stack.is_kernel =
        stack.frames.empty() || profile_.user_stacks[row.user_stack].missing == NoUserStack::kKernelThread;
    if (has_programs_) stack.program = ProgramOf(process);
    if (stack.is_kernel) stack.frames = KernelFrames(kernel_[row.kernel_stack], stack.waits_in);
    return stack;
  }

  const NamedProfile& profile_;
  const bool has_programs_;
  const std::vector<uint32_t> same_process_;
  const std::vector<uint32_t> same_comm_;
  std::vector<std::vector<std::string>> user_;
  std::vector<std::vector<std::string>> kernel_;
  absl::flat_hash_map<Key, size_t> index_;
  std::vector<TopStack> stacks_;
  std::vector<Names> names_;  // parallel to stacks_, if there are programs
  // Nanoseconds; parallel to stacks_.
  std::vector<std::array<uint64_t, kWaitKindCount>> kinds_;
  std::vector<std::map<std::pair<std::string_view, std::string_view>, uint64_t>> causes_;  // by family and cause
  WaitCauses wait_causes_;
};

std::vector<TopProcess> SumProcesses(const NamedProfile& profile, std::span<const NamedRow> rows, RowsApart apart) {
  const std::vector<uint32_t> same = SameProcesses(profile, apart);
  std::vector<std::set<std::string>> names(profile.processes.size());
  std::vector<TopProcess> processes;
  for (const ProcessInfo& process : profile.processes)
    processes.push_back({.pid = process.key.pid, .name = Printable(process.name), .sums = {}});
  for (const ProfileRow& row : rows) {
    if (row.kind == WaitKind::kRunning) continue;
    const ProcessInfo& process = profile.processes[row.process];
    TopProcess& sum = processes[same[row.process]];
    sum.sums.Add(row);
    if (apart != RowsApart::kPrograms) continue;
    sum.program = ProgramOf(process);
    sum.pids.insert(process.key.pid);
    std::set<std::string>& all = names[same[row.process]];
    all.insert(process.name);
    sum.name = ProgramText(all);
    sum.pid = *sum.pids.begin();
  }
  std::erase_if(processes,
                [](const TopProcess& process) { return process.sums.count == 0 && process.sums.total_ns() == 0; });
  return processes;
}

// Waits that go on and have lasted as long as the interval: of threads that did nothing in it. One in a hundred is for
// clocks that are read one after the other.
bool IsThroughout(const ProfileRow& row, uint64_t duration_ns) {
  return row.kind == WaitKind::kOpen && row.count != 0 && duration_ns != 0 &&
         row.total_ns() / row.count >= duration_ns - duration_ns / 100;
}

void WriteSums(const RowSums& sums, JsonWriter& json) {
  for (const RowValueInfo& info : RowValues(false)) {
    if (info.sum != nullptr) json.Field(info.key, sums.*info.sum);
  }
  json.Field("max_ns", sums.max_ns);
  WriteErrorsJson(sums, json);
}

void WritePid(int32_t pid, JsonWriter& json) {
  json.Key("pid");
  json.Signed(pid);
}

void WriteProcess(const TopProcess& process, JsonWriter& json) {
  json.BeginObject();
  WritePid(process.pid, json);
  json.Field("name", process.name);
  WriteSums(process.sums, json);
  json.EndObject();
}

void WriteStack(const TopStack& stack, JsonWriter& json) {
  json.BeginObject();
  WritePid(stack.pid, json);
  json.Field("process", stack.process);
  json.Field("thread", stack.thread);
  json.Field("kind", Name(stack.kind));
  json.Field("cause", stack.cause_family);
  json.Field("wait", stack.cause);
  WriteSums(stack.sums, json);
  json.Key("kernel_frames");
  json.Bool(stack.is_kernel);
  WriteArray("frames", stack.frames, json, [&](const std::string& frame) { json.String(frame); });
  json.Field("waits_in", stack.waits_in);
  json.EndObject();
}

}  // namespace

TopTable MakeTopTable(const NamedProfile& profile, RowValue value, size_t limit, bool hide_idle, RowsApart apart) {
  const ShownRows shown(profile, hide_idle);
  std::vector<NamedRow> rows(shown.rows().begin(), shown.rows().end());
  uint64_t slept_throughout = profile.stats.slept_throughout;
  if (hide_idle) {
    std::erase_if(rows, [&](const NamedRow& row) {
      const bool is_left_out = IsThroughout(row, profile.duration_ns);
      slept_throughout += is_left_out ? row.count : 0;
      return is_left_out;
    });
  }
  TopTable table = {.start_unix_ns = profile.start_unix_ns,
                    .duration_ns = profile.duration_ns,
                    .host = Printable(profile.host),
                    .sums = {},
                    .is_sample = IsSample(profile),
                    .unsampled_most_ns = UnsampledMostNs(profile.stats),
                    .slept_throughout = slept_throughout,
                    .idle = shown.is_less() ? shown.sums() : std::vector<IdleSum>(),
                    .losses = profile.stats.losses,
                    .processes = SumProcesses(profile, rows, apart)};
  StackSums stacks(profile, apart);
  for (const NamedRow& row : rows) {
    if (row.kind == WaitKind::kRunning) continue;
    table.sums.Add(row);
    stacks.Add(row);
  }
  table.stacks = stacks.Take();
  for (const TopProcess& process : table.processes) table.all_processes += std::max<size_t>(process.pids.size(), 1);
  const auto amount = [value](const auto& item) { return ValueOf(item.sums, value); };
  KeepMost(table.processes, limit, amount);
  KeepMost(table.stacks, limit, amount);
  KeepMost(table.losses, table.losses.size(), [](const Loss& loss) { return std::pair(loss.ns, loss.count); });
  return table;
}

void WriteTopJson(const TopTable& table, ByteSink sink) {
  JsonWriter json(sink);
  json.BeginObject();
  json.Field("start_unix_ns", table.start_unix_ns);
  json.Field("duration_ns", table.duration_ns);
  json.Field("host", table.host);
  WriteSums(table.sums, json);
  json.Field("unsampled_most_ns", table.unsampled_most_ns);
  json.Field("slept_throughout", table.slept_throughout);
  WriteIdleJson(table.idle, json);
  json.Field("all_processes", table.all_processes);
  WriteArray("processes", table.processes, json, [&](const TopProcess& process) { WriteProcess(process, json); });
  WriteArray("stacks", table.stacks, json, [&](const TopStack& stack) { WriteStack(stack, json); });
  WriteLossesJson(table.losses, json);
  json.EndObject();
  sink("\n");
}

}  // namespace offcpu
