// Stacks of Python threads that wait are exactly those that Python itself tells: functions, files and lines, in order,
// each run of them in place of the native frame that runs it. OFFCPU_PYTHONS names the interpreters to try, separated
// by colons; without it, it is that of the system.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "recorder/process_stacks.h"
#include "symbolize/symbolizer.h"
#include "tests/harness/harness.h"

namespace offcpu::integration {
namespace {

using Functions = std::vector<std::string>;            // "recurse frames.py:17", leaf first
using FunctionsByThread = std::map<pid_t, Functions>;  // by tid

std::vector<std::string> Pythons() {
  const char* named = std::getenv("OFFCPU_PYTHONS");
  return absl::StrSplit(named != nullptr ? named : "/usr/bin/python3", ':', absl::SkipEmpty());
}

// What the program says itself.
FunctionsByThread Say(Program& python) {
  FunctionsByThread said;
  python.Write("say\n");
  for (std::string line; python.ReadLine(&line) && line != ".";) {
    const std::vector<std::string> words = absl::StrSplit(line, '\t');
    pid_t tid = 0;
    if (words.size() == 4 && absl::SimpleAtoi(words[0], &tid))
      said[tid].push_back(absl::StrCat(words[1], " ", words[2], ":", words[3]));
  }
  return said;
}

struct PythonStack {
  Functions functions;
  bool has_loop = false;        // a native frame of the evaluation loop is there, for which no function stands
  bool has_trampoline = false;  // of `-X perf`
  bool is_cut = false;
  bool is_complete = false;
  std::vector<FrameKind> kinds;
};

std::map<pid_t, PythonStack> ReadStacks(pid_t pid) {
  std::map<pid_t, PythonStack> stacks;
  absl::StatusOr<ProcessStacks> read = ReadProcessStacks(pid, UnwindOrder());
  EXPECT_TRUE(read.ok()) << read.status();
  if (!read.ok()) return stacks;
  for (const std::string_view missing : read->missing_functions) EXPECT_EQ(missing, "");
  const NamedProfile named = Symbolize(std::move(read->profile));
  for (const NamedRow& row : named.rows) {
    const NamedUserStack& user = named.user_stacks[row.user_stack];
    PythonStack& stack = stacks[row.tid];
    stack.is_cut = user.end == EndReason::kFrameLimit;
    stack.is_complete = user.end == EndReason::kComplete || user.end == EndReason::kFrameLimit;
    for (const NamedFrame& frame : user.frames) {
      stack.kinds.push_back(frame.kind);
      stack.has_trampoline |= frame.name().starts_with("py::");
      stack.has_loop |= frame.name().starts_with("_PyEval_EvalFrameDefault");
      if (frame.module_name != "[python]") continue;
      EXPECT_EQ(frame.kind, FrameKind::kInterpreted);
      const FrameLine& line = frame.lines.front();
      stack.functions.push_back(absl::StrCat(std::string(line.function), " ", std::string(line.file), ":", line.line));
    }
  }
  return stacks;
}

class PythonStacks : public testing::TestWithParam<std::string> {
 protected:
  // Its threads wait for ever, once what they say of themselves does not change.
  std::unique_ptr<Program> Start(std::vector<std::string> words, FunctionsByThread* said) {
    words.insert(words.begin(), GetParam());
    words.push_back(std::string(OFFCPU_RUNTIMES_DIR) + "/frames.py");
    std::unique_ptr<Program> python = Program::Start(words);
    *said = Say(*python);
    for (int i = 0; i < 600; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      FunctionsByThread again = Say(*python);
      // A thread is at this line before its sleep, too; those that are not there yet come from elsewhere.
      const bool is_same = again == *said && AreAllAsleep(python->pid());
      *said = std::move(again);
      if (is_same) break;
    }
    return python;
  }
  static bool AreAllAsleep(pid_t pid) {
    const absl::StatusOr<ProcessStacks> read = ReadProcessStacks(pid, UnwindOrder());
    return read.ok() && std::all_of(read->profile.rows.begin(), read->profile.rows.end(),
                                    [](const ProfileRow& row) { return row.kind == WaitKind::kSleeping; });
  }
  // The stacks between two tellings that are alike: threads wait for ever, once they do.
  static std::map<pid_t, PythonStack> ReadWhileStill(Program& python, FunctionsByThread* said) {
    for (int i = 0; i < 100; ++i) {
      std::map<pid_t, PythonStack> stacks = ReadStacks(python.pid());
      FunctionsByThread after = Say(python);
      if (after == *said) return stacks;
      *said = std::move(after);
    }
    ADD_FAILURE() << "the threads go on";
    return {};
  }
  // Returns how many threads are exactly as they say, the main one aside.
  static size_t Compare(const FunctionsByThread& said, const std::map<pid_t, PythonStack>& stacks, pid_t main) {
    size_t compared = 0;
    for (const auto& [tid, functions] : said) {
      const auto found = stacks.find(tid);
      EXPECT_NE(found, stacks.end()) << tid;
      if (found == stacks.end() || tid == main) continue;
      EXPECT_TRUE(found->second.is_complete) << tid;
      EXPECT_FALSE(found->second.has_loop) << tid;
      EXPECT_EQ(found->second.functions, functions) << tid;
      compared += found->second.functions == functions;
    }
    return compared;
  }
};
INSTANTIATE_TEST_SUITE_P(Of, PythonStacks, testing::ValuesIn(Pythons()), [](const auto& param) {
  std::string name = param.param;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); }, '_');
  return name;
});

TEST_P(PythonStacks, AreThoseThatPythonTells) {
  FunctionsByThread said;
  const std::unique_ptr<Program> python = Start({}, &said);
  ASSERT_NE(python, nullptr);
  ASSERT_EQ(said.size(), 47u) << "all threads, and the main one";
  const std::map<pid_t, PythonStack> stacks = ReadWhileStill(*python, &said);
  const size_t compared = Compare(said, stacks, python->pid());
  EXPECT_EQ(compared, 46u);
  std::printf("%s: %zu of 46 threads exactly as Python tells\n", GetParam().c_str(), compared);
  // It reads its input, as it did not when it told of itself.
  ASSERT_TRUE(stacks.contains(python->pid()));
  const Functions& main = stacks.find(python->pid())->second.functions;
  ASSERT_FALSE(main.empty());
  EXPECT_THAT(main.back(), testing::StartsWith("<module> "));
}

// From 3.12 on each function has a native frame of its own then, so deep stacks are cut.
TEST_P(PythonStacks, WithTrampolinesNothingIsSaidTwice) {
  FunctionsByThread said;
  const std::unique_ptr<Program> python = Start({"-X", "perf"}, &said);
  ASSERT_NE(python, nullptr);
  size_t cut = 0;
  for (const auto& [tid, stack] : ReadWhileStill(*python, &said)) {
    cut += stack.is_cut;
    if (stack.is_cut) continue;  // it may begin anew with a trampoline
    EXPECT_FALSE(stack.has_trampoline) << tid;
    EXPECT_FALSE(stack.has_loop) << tid;
    if (tid == python->pid()) continue;
    EXPECT_EQ(stack.functions, said[tid]) << tid;
  }
  EXPECT_LE(cut, 1u) << "one of them has more than 450 functions";
  std::filesystem::remove("/tmp/perf-" + std::to_string(python->pid()) + ".map");
}

// What C calls stands inside of the C functions that call it.
TEST_P(PythonStacks, NativeFramesStandBetweenTheFunctions) {
  FunctionsByThread said;
  const std::unique_ptr<Program> python = Start({}, &said);
  ASSERT_NE(python, nullptr);
  size_t with_both = 0;
  for (const auto& [tid, stack] : ReadStacks(python->pid())) {
    if (stack.functions.size() < 2 || tid == python->pid()) continue;
    EXPECT_EQ(stack.kinds.front(), FrameKind::kNative) << "the system call";
    EXPECT_EQ(stack.kinds.back(), FrameKind::kNative) << "the start of the thread";
    const auto first = std::find(stack.kinds.begin(), stack.kinds.end(), FrameKind::kInterpreted);
    const auto behind = std::find(first, stack.kinds.end(), FrameKind::kNative);
    with_both += std::find(behind, stack.kinds.end(), FrameKind::kInterpreted) != stack.kinds.end();
  }
  // At least those with sorted (2), max, a hash, generators (3), map, re.sub and asyncio (2).
  EXPECT_GE(with_both, 11u);
}

// What it forges costs its own functions: its native frames stay, as those of other threads do.
TEST_P(PythonStacks, AForgedInterpreterCostsItsOwnFunctions) {
  const std::unique_ptr<Program> python = Program::Start({GetParam(), std::string(OFFCPU_RUNTIMES_DIR) + "/forged.py"});
  std::string line;
  ASSERT_TRUE(python->ReadLine(&line));
  std::vector<pid_t> tids;
  for (const absl::string_view word : absl::StrSplit(line, ' '))
    ASSERT_TRUE(absl::SimpleAtoi(word, &tids.emplace_back()));
  ASSERT_EQ(tids.size(), 4u);
  const absl::StatusOr<ProcessStacks> read = ReadProcessStacks(python->pid(), UnwindOrder());
  ASSERT_TRUE(read.ok()) << read.status();
  std::map<pid_t, std::string_view> missing;
  for (size_t i = 0; i < read->profile.rows.size(); ++i) {
    const ProfileRow& row = read->profile.rows[i];
    missing[row.tid] = read->missing_functions[i];
    EXPECT_EQ(read->profile.user_stacks[row.user_stack].stack.end, EndReason::kComplete) << row.tid;
  }
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(missing[tids[i]], "[python: not read]") << i;
  EXPECT_EQ(missing[tids[3]], "");
}

}  // namespace
}  // namespace offcpu::integration
