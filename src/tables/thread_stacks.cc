#include "tables/thread_stacks.h"

#include <algorithm>
#include <optional>
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
#include "labels/own_function.h"
#include "labels/stack_labels.h"
#include "tables/deadlocks.h"
#include "tables/row_groups.h"

namespace offcpu {
namespace {

ProcessInfo ProcessOf(const ProfileFacts& profile) {
  return profile.processes.empty() ? ProcessInfo() : profile.processes.front();
}

std::span<const uint64_t> PcsOf(const ThreadDetails& details, size_t index) {
  return index < details.pcs.size() ? std::span<const uint64_t>(details.pcs[index]) : std::span<const uint64_t>();
}

// `row`: of the profile.
int32_t LockOwnerOf(const NamedProfile& profile, const ThreadDetails& details, const NamedRow& row) {
  const auto index = static_cast<size_t>(&row - profile.rows.data());
  return index < details.lock_owners.size() ? details.lock_owners[index] : 0;
}

std::string_view MissingFunctionsOf(const NamedProfile& profile, const ThreadDetails& details, const NamedRow& row) {
  const auto index = static_cast<size_t>(&row - profile.rows.data());
  return index < details.missing_functions.size() ? details.missing_functions[index] : "";
}

std::vector<std::vector<int32_t>> DeadlocksOf(const NamedProfile& profile, const ThreadDetails& details) {
  std::vector<LockWait> waits;
  for (const NamedRow& row : profile.rows)
    waits.push_back({.tid = row.tid, .owner = LockOwnerOf(profile, details, row)});
  return FindDeadlocks(waits);
}

// "1234 worker"
std::string ThreadName(const NamedProfile& profile, int32_t tid) {
  const auto row = std::find_if(profile.rows.begin(), profile.rows.end(),
                                [tid](const NamedRow& candidate) { return candidate.tid == tid; });
  return row == profile.rows.end() ? absl::StrCat(tid) : absl::StrCat(tid, " ", Printable(profile.comms[row->comm]));
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

// "  #12  ", and "> #12  " for the program's own innermost function: as wide for each frame of a stack.
std::string FrameHead(size_t number, bool is_own) {
  return absl::StrFormat("%s%-4s ", is_own ? "> " : "  ", absl::StrCat("#", number));
}

// "  Inventory.java:88", without its folders; "" if it is not known.
std::string PlaceText(const FrameLine& line) {
  if (line.file.empty()) return "";
  const std::string_view name = line.file.substr(line.file.rfind('/') + 1);
  return line.line == 0 ? absl::StrCat("  ", Printable(name)) : absl::StrCat("  ", Printable(name), ":", line.line);
}

std::string InlinedText(const FrameLine& line, bool is_own) {
  return absl::StrFormat("%s     %s%s  (inlined)\n", is_own ? "> " : "  ", Printable(line.function), PlaceText(line));
}

// Returns how many frames there were.
size_t WriteKernelFrames(const std::vector<NamedFrame>& frames, ByteSink sink) {
  if (frames.empty()) sink("  [unknown kernel stack]\n");
  for (size_t i = 0; i < frames.size(); ++i) {
    const std::span<const FrameLine> lines = frames[i].lines;
    for (const FrameLine& line : lines.first(lines.size() - 1)) sink(InlinedText(line, false));
    sink(absl::StrFormat("%s%s%s%s  0x%016x\n", FrameHead(i, false), Printable(frames[i].name()),
                         PlaceText(lines.back()), i == 0 ? "  [kernel]" : "", frames[i].address));
  }
  return frames.size();
}

// The module stands where it is another one than that of the frame before. Without a symbol it is in the name.
void WriteUserFrames(const NamedUserStack& stack, std::span<const uint64_t> pcs, size_t number, ByteSink sink) {
  std::optional<size_t> below = FunctionsBelowOwn(stack);
  const auto is_own = [&below] { return below.has_value() && (*below)-- == 0; };
  std::string_view module;
  for (size_t i = 0; i < stack.frames.size(); ++i) {
    const NamedFrame& frame = stack.frames[i];
    if (frame.is_marker()) {
      is_own();  // it counts
      sink(absl::StrCat("  ", Printable(frame.name()), "\n"));
      continue;
    }
    const bool has_module = frame.named && !frame.module_name.empty() && frame.module_name != module;
    module = frame.module_name;
    for (const FrameLine& line : frame.lines.first(frame.lines.size() - 1)) sink(InlinedText(line, is_own()));
    sink(absl::StrCat(FrameHead(number + i, is_own()), Printable(frame.name()), PlaceText(frame.lines.back()),
                      has_module ? "  " : "", has_module ? Printable(module) : "",
                      i < pcs.size() && pcs[i] != 0 ? absl::StrFormat("  0x%016x", pcs[i]) : "", "  (",
                      std::string(Name(frame.source)), ")\n"));
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

std::vector<ThreadGroup> GroupThreads(const NamedProfile& profile, const ThreadDetails& details) {
  std::vector<ThreadGroup> groups;
  absl::flat_hash_map<std::string, size_t> index;
  for (const NamedRow& row : profile.rows) {
    const std::string& comm = profile.comms[row.comm];
    std::string key = absl::StrCat(WithoutDigits(comm), "\n", std::string(StateOf(profile, row)), "\n",
                                   WaitOf(profile, row), "\n", LockOwnerOf(profile, details, row), "\n",
                                   absl::StrJoin(KernelLabels(profile.kernel_stacks[row.kernel_stack]), "\n"), "\n-\n",
                                   absl::StrJoin(UserLabels(profile.user_stacks[row.user_stack]), "\n"), "\n",
                                   std::string(MissingFunctionsOf(profile, details, row)));
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

// "  mutex held by 1235 writer"
std::string HeldBy(const NamedProfile& profile, const ThreadDetails& details, const NamedRow& row) {
  const int32_t owner = LockOwnerOf(profile, details, row);
  if (owner == 0) return "";
  return absl::StrCat("  mutex held by ", owner == row.tid ? "itself" : ThreadName(profile, owner));
}

// "deadlock: 12 worker waits for a mutex of 13 logger, which waits for a mutex of 12 worker"
std::string DeadlockLine(const NamedProfile& profile, const std::vector<int32_t>& circle) {
  const std::string first = ThreadName(profile, circle.front());
  if (circle.size() == 1) return absl::StrCat("deadlock: ", first, " waits for a mutex that it holds itself\n");
  std::string line = absl::StrCat("deadlock: ", first);
  for (size_t i = 1; i <= circle.size(); ++i) {
    absl::StrAppend(&line, i == 1 ? " waits for a mutex of " : ", which waits for a mutex of ",
                    ThreadName(profile, circle[i % circle.size()]));
  }
  return line + "\n";
}

void WriteThreads(const NamedProfile& profile, const ThreadDetails& details, const ThreadGroup& group, ByteSink sink) {
  const NamedRow& row = *group.threads.front();
  const bool is_running = IsRunning(profile, row);
  const std::string wait = is_running ? "" : WaitOf(profile, row);
  sink(absl::StrCat("\n", WhichThreads(group), "  ", std::string(StateOf(profile, row)), wait.empty() ? "" : "  ", wait,
                    HowLong(group), HeldBy(profile, details, row), "\n"));
  if (group.threads.size() > 1) sink(absl::StrCat(TidsLine(group), "\n"));
  if (is_running) return;
  const size_t frames = WriteKernelFrames(profile.kernel_stacks[row.kernel_stack].frames, sink);
  WriteUserFrames(profile.user_stacks[row.user_stack], PcsOf(details, row.user_stack), frames, sink);
  const std::string_view missing = MissingFunctionsOf(profile, details, row);
  if (!missing.empty()) sink(absl::StrCat("  ", std::string(missing), "\n"));
}

void WriteKernelJson(const NamedKernelStack& stack, JsonWriter& json) {
  json.Key("kernel");
  json.BeginArray();
  for (const NamedFrame& frame : stack.frames) {
    json.BeginObject();
    json.Field("name", frame.name());
    WriteFrameLines(frame, json);
    json.Key("address");
    json.Hex(frame.address);
    json.EndObject();
  }
  json.EndArray();
}

void WriteThreadJson(const NamedProfile& profile, const ThreadDetails& details, const NamedRow& row, JsonWriter& json) {
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
  if (const int32_t owner = LockOwnerOf(profile, details, row); owner != 0) {
    json.Key("lock_owner");
    json.Signed(owner);
  }
  WriteKernelJson(profile.kernel_stacks[row.kernel_stack], json);
  WriteUserStackFields(profile.user_stacks[row.user_stack], PcsOf(details, row.user_stack), json);
  const std::string_view missing = MissingFunctionsOf(profile, details, row);
  if (!missing.empty()) json.Field("missing_functions", missing);
  json.EndObject();
}

void WriteDeadlocksJson(const std::vector<std::vector<int32_t>>& deadlocks, JsonWriter& json) {
  if (deadlocks.empty()) return;
  json.Key("deadlocks");
  json.BeginArray();
  for (const std::vector<int32_t>& circle : deadlocks) {
    json.BeginArray();
    for (const int32_t tid : circle) json.Signed(tid);
    json.EndArray();
  }
  json.EndArray();
}

}  // namespace

void WriteThreadStacks(const NamedProfile& profile, const ThreadDetails& details, ByteSink sink) {
  const ProcessInfo process = ProcessOf(profile);
  const size_t threads = profile.rows.size();
  sink(absl::StrFormat("%d %s: %d %s\n", process.key.pid, Printable(process.name), threads,
                       threads == 1 ? "thread" : "threads"));
  for (const std::vector<int32_t>& circle : DeadlocksOf(profile, details)) sink(DeadlockLine(profile, circle));
  for (const ThreadGroup& group : GroupThreads(profile, details)) WriteThreads(profile, details, group, sink);
}

void WriteThreadStacksJson(const NamedProfile& profile, const ThreadDetails& details, ByteSink sink) {
  const ProcessInfo process = ProcessOf(profile);
  JsonWriter json(sink);
  json.BeginObject();
  json.Key("pid");
  json.Signed(process.key.pid);
  json.Field("name", process.name);
  WriteDeadlocksJson(DeadlocksOf(profile, details), json);
  json.Key("threads");
  json.BeginArray();
  for (const NamedRow& row : profile.rows) WriteThreadJson(profile, details, row, json);
  json.EndArray();
  json.EndObject();
  sink("\n");
}

}  // namespace offcpu
