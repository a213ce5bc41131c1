#include "tests/deep/comparison.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "process/memory.h"
#include "recorder/process_stacks.h"
#include "tests/harness/harness.h"

namespace offcpu::integration {
namespace {

using std::chrono::steady_clock;

using Pcs = std::vector<uint64_t>;

struct OurStack {
  Pcs pcs;
  bool complete = false;
  std::string end;  // why the walk ended and, unless it is whole, where

  bool operator==(const OurStack&) const = default;
};

OurStack OursOf(const ProcessStacks& read, const ProfileRow& row) {
  const UserStackEntry& entry = read.profile.user_stacks[row.user_stack];
  if (entry.missing != NoUserStack::kNone) return {.end = std::string(Name(entry.missing))};
  const bool complete = entry.stack.end == EndReason::kComplete;
  OurStack ours = {read.pcs[row.user_stack], complete, std::string(Name(entry.stack.end))};
  if (complete || entry.stack.frames.empty()) return ours;
  const CodeObject* code = entry.stack.frames.back().code;
  absl::StrAppend(&ours.end, " in ", code == nullptr ? "generated code" : code->path);
  return ours;
}

std::map<pid_t, OurStack> ByOffcpu(pid_t pid) {
  std::map<pid_t, OurStack> stacks;
  const absl::StatusOr<ProcessStacks> read = ReadProcessStacks(pid, UnwindOrder());
  EXPECT_TRUE(read.ok()) << read.status();
  if (!read.ok()) return stacks;
  for (const ProfileRow& row : read->profile.rows) stacks[row.tid] = OursOf(*read, row);
  return stacks;
}

// Reads a debugger's output: lines that begin with `thread` and the number of one, and below each a line "#0
// 0x00007f6db7d26f36 ..." for each frame.
std::map<pid_t, Pcs> Read(const std::string& output, std::string_view thread) {
  std::map<pid_t, Pcs> stacks;
  pid_t tid = 0;
  for (const std::string& line : std::vector<std::string>(absl::StrSplit(output, '\n'))) {
    if (const size_t at = line.find(thread); at != std::string::npos) tid = std::atoi(&line[at + thread.size()]);
    if (!line.starts_with('#')) continue;
    const size_t at = line.find("0x");
    uint64_t pc = 0;
    if (at == std::string::npos) continue;
    std::from_chars(&line[at + 2], &line[line.size()], pc, 16);
    stacks[tid].push_back(pc);
  }
  return stacks;
}

std::string OutputOf(const std::vector<std::string>& words) {
  const std::unique_ptr<Program> program = Program::Start(words, "/dev/null");
  std::string output;
  if (program != nullptr) program->Wait(&output);
  return output;
}

std::map<pid_t, Pcs> ByElfutils(pid_t pid) {
  return Read(OutputOf({"eu-stack", "-q", "-n", "600", "-p", std::to_string(pid)}), "TID ");
}

// Do the bytes before `pc` end in a call? E8 with four bytes of distance, or FF /2 in any of its lengths.
bool FollowsCall(const Memory& memory, uint64_t pc) {
  std::array<uint8_t, 8> code = {};
  if (!memory.Read(pc - code.size(), std::as_writable_bytes(std::span(code)))) return false;
  if (code[3] == 0xe8) return true;
  for (size_t length = 2; length <= 7; ++length) {
    const uint8_t* call = &code[code.size() - length];
    if (call[0] == 0xff && (call[1] >> 3 & 7) == 2) return true;
  }
  return false;
}

// What gdb takes for callers and nobody has called is what it has found at the end of its way.
std::map<pid_t, Pcs> ByGdb(pid_t pid) {
  std::map<pid_t, Pcs> stacks = Read(
      OutputOf({"gdb", "-batch", "-nx", "-p", std::to_string(pid), "-ex", "thread apply all bt -frame-info location"}),
      "(LWP ");
  const ProcessMemory memory(pid);
  for (auto& [tid, pcs] : stacks) {
    const auto end = std::find_if(pcs.begin() + 1, pcs.end(), [&](uint64_t pc) { return !FollowsCall(memory, pc); });
    pcs.erase(end, pcs.end());
  }
  return stacks;
}

std::string Hex(const Pcs& pcs) {
  return absl::StrJoin(pcs, " ", [](std::string* out, uint64_t pc) { absl::StrAppendFormat(out, "%x", pc); });
}

// For messages.
std::string Differences(const std::map<pid_t, OurStack>& before, const std::map<pid_t, OurStack>& after) {
  std::string text;
  for (const auto* side : {&before, &after}) {
    for (const auto& [tid, stack] : *side) {
      const auto& other = side == &before ? after : before;
      if (const auto found = other.find(tid); found != other.end() && found->second == stack) continue;
      absl::StrAppend(&text, side == &before ? "\n  before " : "\n  after ", tid, ": ", Hex(stack.pcs), " (", stack.end,
                      ")");
    }
  }
  return text;
}

// Compares the stacks of the threads of a stopped process.
class Comparison {
 public:
  Comparison(std::string name, pid_t pid, Reference by)
      : name_(std::move(name)), pid_(pid), by_(by), they_(by == Reference::kGdb ? "gdb" : "elfutils") {}

  Tally Run() {
    const std::map<pid_t, OurStack> before = ByOffcpu(pid_);
    const std::map<pid_t, Pcs> reference = by_ == Reference::kGdb ? ByGdb(pid_) : ByElfutils(pid_);
    EXPECT_TRUE(AwaitStopped(pid_)) << name_ << " goes on after " << they_;
    const std::map<pid_t, OurStack> ours = ByOffcpu(pid_);
    EXPECT_TRUE(before == ours) << name_ << " has not been stopped all the time" << Differences(before, ours);
    for (const pid_t tid : Threads(pid_)) {
      ++tally_.threads;
      const auto our_stack = ours.find(tid);
      const auto their_stack = reference.find(tid);
      Compare(tid, our_stack == ours.end() ? OurStack{.end = "not listed"} : our_stack->second,
              their_stack == reference.end() ? Pcs() : their_stack->second);
    }
    return tally_;
  }

 private:
  void Compare(pid_t tid, const OurStack& ours, const Pcs& reference) {
    if (ours.complete) ++tally_.complete;
    if (ours.pcs == reference && !reference.empty()) {
      ++tally_.identical;
      return;
    }
    const auto [our_end, their_end] =
        std::mismatch(ours.pcs.begin(), ours.pcs.end(), reference.begin(), reference.end());
    const ProcessMemory memory(pid_);
    const bool they_end = their_end == reference.end() && !reference.empty();
    const bool we_end = our_end == ours.pcs.end();
    const bool longer =
        they_end && std::all_of(our_end, ours.pcs.end(), [&](uint64_t pc) { return FollowsCall(memory, pc); });
    tally_.longer += longer ? 1 : 0;
    tally_.shorter += we_end && !ours.complete ? 1 : 0;
    tally_.wrong += ours.complete && !longer ? 1 : 0;
    const std::string reason = longer     ? they_ + " ends early"
                               : they_end ? they_ + " ends early, but these are no callers"
                               : we_end   ? "offcpu ends early"
                                          : "another caller";
    std::printf("  %s, thread %d: %s\n    offcpu: %s (%s)\n    %s: %s\n", name_.c_str(), tid, reason.c_str(),
                Hex(ours.pcs).c_str(), ours.end.c_str(), they_.c_str(), Hex(reference).c_str());
  }

  std::string name_;
  pid_t pid_;
  Reference by_;
  std::string they_;
  Tally tally_;
};

}  // namespace

void Tally::Add(const Tally& other) {
  threads += other.threads;
  identical += other.identical;
  longer += other.longer;
  shorter += other.shorter;
  complete += other.complete;
  wrong += other.wrong;
}

Tally CompareAll(const RealProgram& program, Reference reference) {
  unsetenv("DEBUGINFOD_URLS");  // of which elfutils would fetch what is not needed here
  Tally tally;
  const auto began = steady_clock::now();
  const RunningProgram running(program);
  if (!running.AwaitBlocked(program.threads) || !running.Stop(program.threads)) {
    ADD_FAILURE() << program.name << " does not come to wait: " << running.errors();
    return tally;
  }
  for (const pid_t pid : running.pids()) tally.Add(Comparison(program.name, pid, reference).Run());
  EXPECT_GE(tally.threads, program.threads) << program.name;
  std::printf("%s: %lu threads, %lu complete, %lu identical, %lu longer, %lu shorter (%.1f s)\n", program.name.c_str(),
              tally.threads, tally.complete, tally.identical, tally.longer, tally.shorter,
              std::chrono::duration<double>(steady_clock::now() - began).count());
  return tally;
}

}  // namespace offcpu::integration
