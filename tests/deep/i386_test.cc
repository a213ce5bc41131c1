// Programs of 32 bits are recorded like others: their stacks are those that they know themselves, on every kind of
// stack, and their system calls have names.
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <vector>

#include "classify/system_calls.h"
#include "recorder/process_stacks.h"
#include "symbolize/symbolizer.h"
#include "tests/harness/deep_chain.h"
#include "tests/harness/harness.h"

namespace offcpu::integration {
namespace {

// The hypervisors of some guests cannot serve programs of 32 bits.
bool KernelRuns(const std::string& path) {
  std::string program = path;
  char* const words[] = {program.data(), nullptr};
  pid_t pid = -1;
  const int error = posix_spawn(&pid, program.c_str(), nullptr, nullptr, words, environ);
  if (error != 0) return error != ENOEXEC;
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
  return true;
}

class I386 : public testing::Test {
 protected:
  void SetUp() override {
    const std::string target = BinDirectory() + "/targets/deep_32";
    if (!std::filesystem::exists(target)) GTEST_SKIP() << "g++-multilib: not there when this was built";
    if (!KernelRuns(target)) GTEST_SKIP() << "this kernel runs no programs of 32 bits";
  }
};

TEST_F(I386, StacksAreWhole) {
  const std::unique_ptr<Target> target = Target::Start({"deep_32", "--seconds", "1"});
  ASSERT_NE(target, nullptr);
  const Recording recording = Record(Unthrottled({target->pid()}), *target);
  for (const std::string thread : {"main", "deep_thread"}) {
    const std::vector<std::string> expected = PrintedChain(*target, thread);
    ASSERT_GT(expected.size(), 61u) << "the target's own unwinder did not get through";
    const auto sleeps = [&thread](const StackRow& row) {
      return row.Has("deep_sleep") && (row.comm == "deep_thread") == (thread == "deep_thread");
    };
    for (const StackRow& row : recording.Rows(sleeps)) {
      // The kernel builds the functions of this vDSO without tables. Who is preempted in one, while it reads the clock,
      // is walked by frame pointer there, and may end as a guess.
      const bool is_guess = row.user->end == EndReason::kGuessedEnd && row.Has("__clock_gettime64");
      EXPECT_TRUE(row.complete() || is_guess) << row.Text();
      EXPECT_EQ(FramesBeyondSleep(row.user->frames), expected) << row.Text();
      if (row.row->kind != WaitKind::kSleeping || !row.Has("nanosleep")) continue;  // it waits for its start there, too
      EXPECT_EQ(SystemCallName(row.row->syscall), "clock_nanosleep") << row.Text();
    }
    const Measure measured = target->Measured(thread, "deep_sleep");
    EXPECT_TRUE(Within(recording.Sum(sleeps).ns, measured.ns, 0.02, target->stolen_ns())) << recording.LossesText();
  }
}

// Each thread as it waits for the end of the test.
TEST_F(I386, StacksThatAreReadAreWhole) {
  const std::unique_ptr<Target> target = Target::Start({"deep_32"});
  ASSERT_NE(target, nullptr);
  absl::StatusOr<ProcessStacks> stacks = ReadProcessStacks(target->pid(), UnwindOrder());
  ASSERT_TRUE(stacks.ok()) << stacks.status();
  const NamedProfile named = Symbolize(std::move(stacks->profile));
  ASSERT_EQ(named.user_stacks.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    const NamedUserStack& stack = named.user_stacks[i];
    EXPECT_EQ(stack.end, EndReason::kComplete) << Name(stack.end);
    EXPECT_EQ(FramesBeyondSleep(stack.frames), PrintedChain(*target, i == 0 ? "main" : "deep_thread"));
  }
}

class I386FarStacks : public I386, public testing::WithParamInterface<std::vector<std::string>> {};
INSTANTIATE_TEST_SUITE_P(Places, I386FarStacks,
                         testing::Values(std::vector<std::string>{"large", "1048576"},
                                         std::vector<std::string>{"handler"},
                                         std::vector<std::string>{"handler_in_handler"}),
                         [](const auto& words) { return words.param.front(); });

TEST_P(I386FarStacks, AreWhole) {
  std::vector<std::string> words = {"far_stacks_32", "--seconds", "3"};
  words.insert(words.end(), GetParam().begin(), GetParam().end());
  const std::unique_ptr<Target> target = Target::Start(words);
  ASSERT_NE(target, nullptr);
  const Recording recording = Record(Unthrottled({target->pid()}), *target);
  const std::vector<std::string> chain = {"outer_3", "outer_2", "outer_1", "inner_3", "inner_2", "inner_1"};
  const auto is_whole = [&chain](const StackRow& row) { return row.complete() && row.Calls(chain); };
  for (const StackRow& row : recording.Rows([](const StackRow& r) { return r.complete() && r.Has("inner_1"); })) {
    EXPECT_TRUE(row.Calls(chain)) << row.Text();
  }
  // By then the walker has told which pieces it needs, on a busy machine too.
  constexpr uint64_t kSoonNs = 1'000'000'000;
  const Measure measured = target->Measured("far", "inner_1");
  EXPECT_GT(recording.Sum(is_whole).ns + kSoonNs, measured.ns * 99 / 100) << recording.LossesText();
}

}  // namespace
}  // namespace offcpu::integration
