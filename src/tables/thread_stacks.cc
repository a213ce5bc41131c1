#include "tables/thread_stacks.h"

#include <algorithm>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "bytes/name_numbers.h"
#include "bytes/units.h"
#include "bytes/utf8.h"
#include "classify/system_calls.h"
#include "classify/wait_cause.h"
#include "json/json_writer.h"
#include "json/stack_json.h"
#include "labels/stack_labels.h"
#include "tables/row_groups.h"

namespace offcpu {
namespace {

ProcessInfo ProcessOf(const ProfileFacts& profile) {
  return profile.processes.empty() ? ProcessInfo() : profile.processes.front();
}

std::span<const uint64_t> PcsOf(const FramePcs& pcs, size_t index) {
  return index < pcs.size() ? std::span<const uint64_t>(pcs[index]) : std::span<const uint64_t>();
}

bool IsRunning(const NamedProfile& profile, const ProfileRow& row) {
  return profile.user_stacks[row.user_stack].missing == NoUserStack::kOnCpu;
}

std::string_view StateOf(const NamedProfile& profile, const ProfileRow& row) {
  return IsRunning(profile, row) ? "running" : Name(row.kind);
}

// "" if the state says as much.
std::string WaitOf(const NamedProfile& profile, const NamedRow& row) {
  WaitCauses causes(profile);
  const WaitCause cause = causes.Of(row);
  const bool says_more = cause != WaitCause::kOther || row.syscall != kNoSystemCall;
  return says_more && cause != WaitCause::kPreempted ? WaitLabel(causes.NameOf(row), row.syscall) : "";
}

// "#12  0x00007f0000001010  ": as wide for each frame of a stack.
std::string FrameHead(size_t number, uint64_t address) {
  return absl::StrFormat("  %-4s 0x%016x  ", absl::StrCat("#", number), address);
}

// Returns how many frames there were.
size_t WriteKernelFrames(const std::vector<NamedFrame>& frames, ByteSink sink) {
  if (frames.empty()) sink("  [unknown kernel stack]\n");
  for (size_t i = 0; i < frames.size(); ++i) {
    sink(absl::StrCat(FrameHead(i, frames[i].address), Printable(frames[i].name()), "  [kernel]\n"));
  }
  return frames.size();
}

void WriteUserFrames(const NamedUserStack& stack, std::span<const uint64_t> pcs, size_t number, ByteSink sink) {
  for (size_t i = 0; i < stack.frames.size(); ++i) {
    const NamedFrame& frame = stack.frames[i];
    if (frame.is_marker()) {
      sink(absl::StrCat("  ", Printable(frame.name()), "\n"));
      continue;
    }
    const std::string head =
        i < pcs.size() ? FrameHead(number + i, pcs[i]) : absl::StrFormat("  %-4s ", absl::StrCat("#", number + i));
    // Without a symbol the name is the module's and an offset already.
    const bool has_module = !frame.module_name.empty() && frame.named;
    const std::string module = has_module ? absl::StrCat("  ", Printable(frame.module_name)) : "";
    for (const FrameLine& line : frame.lines.first(frame.lines.size() - 1))
      sink(absl::StrFormat("%s%s%s  (inlined)\n", std::string(head.size(), ' '), Printable(line.function), module));
    sink(absl::StrFormat("%s%s%s  (%s)\n", head, Printable(frame.name()), module, Name(frame.source)));
  }
  const std::string end = EndLabel(stack);
  if (!end.empty()) sink(absl::StrCat("  ", end, "\n"));
}

// Threads in one state, at one stack of functions; the numbers in their names aside. What is at other addresses in the
// same functions is as the first of them has it.
struct ThreadGroup {
  std::vector<const NamedRow*> threads;
  std::set<std::string> comms;
};

std::vector<ThreadGroup> GroupThreads(const NamedProfile& profile) {
  std::vector<ThreadGroup> groups;
  absl::flat_hash_map<std::string, size_t> index;
  for (const NamedRow& row : profile.rows) {
    const std::string& comm = profile.comms[row.comm];
    std::string key =
        absl::StrCat(WithoutDigits(comm), "\n", std::string(StateOf(profile, row)), "\n", WaitOf(profile, row), "\n",
                     absl::StrJoin(KernelLabels(profile.kernel_stacks[row.kernel_stack]), "\n"), "\n-\n",
                     absl::StrJoin(UserLabels(profile.user_stacks[row.user_stack]), "\n"));
    const auto [it, inserted] = index.try_emplace(std::move(key), groups.size());
    if (inserted) groups.emplace_back();
    groups[it->second].threads.push_back(&row);
    groups[it->second].comms.insert(comm);
  }
  return groups;
}

// "11 worker", or "3 threads worker-*".
std::string WhichThreads(const ThreadGroup& group) {
  const std::string& first = *group.comms.begin();
  const std::string name = Printable(group.comms.size() == 1 ? first : WithoutDigits(first));
  if (group.threads.size() == 1) return absl::StrCat(group.threads.front()->tid, " ", name);
  return absl::StrCat(group.threads.size(), " threads ", name);
}

// "  off the CPU for 12.3 s", of several "1.20 s to 12.3 s"; "" if it is not known.
std::string HowLong(const ThreadGroup& group) {
  const auto is_shorter = [](const NamedRow* a, const NamedRow* b) { return a->total_ns() < b->total_ns(); };
  const auto [least, most] = std::minmax_element(group.threads.begin(), group.threads.end(), is_shorter);
  if ((*most)->total_ns() == 0) return "";
  const std::string shortest = FormatDuration((*least)->total_ns());
  const std::string longest = FormatDuration((*most)->total_ns());
  return absl::StrCat("  off the CPU for ", shortest == longest ? "" : absl::StrCat(shortest, " to "), longest);
}

std::string TidsLine(const ThreadGroup& group) {
  constexpr size_t kMostTids = 10;
  std::string line = "  tids";
  for (size_t i = 0; i < std::min(kMostTids, group.threads.size()); ++i)
    absl::StrAppend(&line, " ", group.threads[i]->tid);
  if (group.threads.size() > kMostTids) absl::StrAppend(&line, " and ", group.threads.size() - kMostTids, " more");
  return line;
}

void WriteThreads(const NamedProfile& profile, const FramePcs& pcs, const ThreadGroup& group, ByteSink sink) {
  const NamedRow& row = *group.threads.front();
  const bool is_running = IsRunning(profile, row);
  const std::string wait = is_running ? "" : WaitOf(profile, row);
  sink(absl::StrCat("\n", WhichThreads(group), "  ", std::string(StateOf(profile, row)), wait.empty() ? "" : "  ", wait,
                    HowLong(group), "\n"));
  if (group.threads.size() > 1) sink(absl::StrCat(TidsLine(group), "\n"));
  if (is_running) return;
  const size_t frames = WriteKernelFrames(profile.kernel_stacks[row.kernel_stack].frames, sink);
  WriteUserFrames(profile.user_stacks[row.user_stack], PcsOf(pcs, row.user_stack), frames, sink);
}

void WriteKernelJson(const NamedKernelStack& stack, JsonWriter& json) {
  json.Key("kernel");
  json.BeginArray();
  for (const NamedFrame& frame : stack.frames) {
    json.BeginObject();
    json.Field("name", frame.name());
    json.Key("address");
    json.Hex(frame.address);
    json.EndObject();
  }
  json.EndArray();
}

void WriteThreadJson(const NamedProfile& profile, const FramePcs& pcs, const NamedRow& row, JsonWriter& json) {
  json.BeginObject();
  json.Key("tid");
  json.Signed(row.tid);
  json.Field("comm", profile.comms[row.comm]);
  json.Field("state", StateOf(profile, row));
  if (!IsRunning(profile, row)) {
    WaitCauses causes(profile);
    json.Field("cause", Family(causes.Of(row)));
    json.Field("wait", causes.NameOf(row));
    if (row.syscall != kNoSystemCall) json.Field("syscall", SystemCallName(row.syscall));
  }
  if (row.total_ns() != 0) json.Field("off_cpu_ns", row.total_ns());
  WriteKernelJson(profile.kernel_stacks[row.kernel_stack], json);
  WriteUserStackFields(profile.user_stacks[row.user_stack], PcsOf(pcs, row.user_stack), json);
  json.EndObject();
}

}  // namespace

void WriteThreadStacks(const NamedProfile& profile, const FramePcs& pcs, ByteSink sink) {
  const ProcessInfo process = ProcessOf(profile);
  const size_t threads = profile.rows.size();
  sink(absl::StrFormat("%d %s: %d %s\n", process.key.pid, Printable(process.name), threads,
                       threads == 1 ? "thread" : "threads"));
  for (const ThreadGroup& group : GroupThreads(profile)) WriteThreads(profile, pcs, group, sink);
}

void WriteThreadStacksJson(const NamedProfile& profile, const FramePcs& pcs, ByteSink sink) {
  const ProcessInfo process = ProcessOf(profile);
  JsonWriter json(sink);
  json.BeginObject();
  json.Key("pid");
  json.Signed(process.key.pid);
  json.Field("name", process.name);
  json.Key("threads");
  json.BeginArray();
  for (const NamedRow& row : profile.rows) WriteThreadJson(profile, pcs, row, json);
  json.EndArray();
  json.EndObject();
  sink("\n");
}

}  // namespace offcpu
