#include "tables/thread_stacks.h"

#include <span>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "bytes/units.h"
#include "bytes/utf8.h"
#include "classify/system_calls.h"
#include "classify/wait_cause.h"
#include "json/json_writer.h"
#include "json/stack_json.h"
#include "labels/stack_labels.h"

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

WaitCause CauseOf(const NamedProfile& profile, const ProfileRow& row) {
  return CauseOf(row.kind, row.syscall, profile.kernel_stacks[row.kernel_stack].frames);
}

// "" if the state says as much.
std::string WaitOf(const NamedProfile& profile, const ProfileRow& row) {
  const WaitCause cause = CauseOf(profile, row);
  const bool says_more = cause != WaitCause::kOther || row.syscall != kNoSystemCall;
  return says_more && cause != WaitCause::kPreempted ? WaitLabel(cause, row.syscall) : "";
}

// "#12  0x00007f0000001010  ": as wide for each frame of a stack.
std::string FrameHead(size_t number, uint64_t address) {
  return absl::StrFormat("  %-4s 0x%016x  ", absl::StrCat("#", number), address);
}

// Returns how many frames there were.
size_t WriteKernelFrames(const std::vector<NamedFrame>& frames, ByteSink sink) {
  if (frames.empty()) sink("  [unknown kernel stack]\n");
  for (size_t i = 0; i < frames.size(); ++i) {
    sink(absl::StrCat(FrameHead(i, frames[i].address), Printable(frames[i].name), "  [kernel]\n"));
  }
  return frames.size();
}

void WriteUserFrames(const NamedUserStack& stack, std::span<const uint64_t> pcs, size_t number, ByteSink sink) {
  for (size_t i = 0; i < stack.frames.size(); ++i) {
    const NamedFrame& frame = stack.frames[i];
    const std::string head =
        i < pcs.size() ? FrameHead(number + i, pcs[i]) : absl::StrFormat("  %-4s ", absl::StrCat("#", number + i));
    // Without a symbol the name is the module's and an offset already.
    const bool has_module = !frame.module_name.empty() && frame.named;
    const std::string module = has_module ? absl::StrCat("  ", Printable(frame.module_name)) : "";
    sink(absl::StrFormat("%s%s%s  (%s)\n", head, Printable(frame.name), module, Name(frame.source)));
  }
  const std::string end = EndLabel(stack);
  if (!end.empty()) sink(absl::StrCat("  ", end, "\n"));
}

void WriteThread(const NamedProfile& profile, const FramePcs& pcs, const ProfileRow& row, ByteSink sink) {
  std::string head = absl::StrFormat("\n%d %s  %s", row.tid, Printable(profile.comms[row.comm]), StateOf(profile, row));
  const std::string wait = WaitOf(profile, row);
  if (!IsRunning(profile, row) && !wait.empty()) absl::StrAppend(&head, "  ", wait);
  if (row.total_ns() != 0) absl::StrAppend(&head, "  off the CPU for ", FormatDuration(row.total_ns()));
  sink(absl::StrCat(head, "\n"));
  if (IsRunning(profile, row)) return;
  const size_t frames = WriteKernelFrames(profile.kernel_stacks[row.kernel_stack].frames, sink);
  WriteUserFrames(profile.user_stacks[row.user_stack], PcsOf(pcs, row.user_stack), frames, sink);
}

void WriteKernelJson(const NamedKernelStack& stack, JsonWriter& json) {
  json.Key("kernel");
  json.BeginArray();
  for (const NamedFrame& frame : stack.frames) {
    json.BeginObject();
    json.Field("name", frame.name);
    json.Key("address");
    json.Hex(frame.address);
    json.EndObject();
  }
  json.EndArray();
}

void WriteThreadJson(const NamedProfile& profile, const FramePcs& pcs, const ProfileRow& row, JsonWriter& json) {
  json.BeginObject();
  json.Key("tid");
  json.Signed(row.tid);
  json.Field("comm", profile.comms[row.comm]);
  json.Field("state", StateOf(profile, row));
  if (!IsRunning(profile, row)) {
    json.Field("cause", Name(CauseOf(profile, row)));
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
  for (const ProfileRow& row : profile.rows) WriteThread(profile, pcs, row, sink);
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
  for (const ProfileRow& row : profile.rows) WriteThreadJson(profile, pcs, row, json);
  json.EndArray();
  json.EndObject();
  sink("\n");
}

}  // namespace offcpu
