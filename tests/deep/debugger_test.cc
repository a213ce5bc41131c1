// The stacks of threads that wait are those of eu-stack.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <regex>
#include <string>
#include <vector>

#include "recorder/process_stacks.h"
#include "tests/harness/harness.h"

namespace offcpu::integration {
namespace {

std::unique_ptr<Target> Blocked(const std::vector<std::string>& options = {}) {
  std::vector<std::string> words = {"blocked"};
  words.insert(words.end(), options.begin(), options.end());
  return Target::Start(words);
}

// Program counters by thread, leaf first.
using Pcs = std::map<pid_t, std::vector<uint64_t>>;

Pcs EuStack(pid_t pid) {
  const auto program = Program::Start({"eu-stack", "-r", "-p", std::to_string(pid)});
  Pcs pcs;
  pid_t tid = 0;
  std::smatch match;
  for (std::string line; program->ReadLine(&line);) {
    if (std::regex_search(line, match, std::regex("^TID ([0-9]+):"))) tid = std::stoi(match[1]);
    if (std::regex_search(line, match, std::regex("^#[0-9]+ +0x([0-9a-f]+)"))) {
      pcs[tid].push_back(std::stoull(match[1], nullptr, 16));
    }
  }
  return pcs;
}

TEST(ProcessStacksTest, EqualThoseOfADebugger) {
  const std::unique_ptr<Target> target = Blocked({"--threads", "70"});  // more than are read at once
  ASSERT_NE(target, nullptr);
  const absl::StatusOr<ProcessStacks> stacks = ReadProcessStacks(target->pid(), UnwindOrder());
  ASSERT_TRUE(stacks.ok()) << stacks.status();
  Pcs got;
  for (const ProfileRow& row : stacks->profile.rows) {
    const UserStackEntry& entry = stacks->profile.user_stacks[row.user_stack];
    EXPECT_EQ(entry.missing, NoUserStack::kNone) << Name(entry.missing);
    EXPECT_EQ(entry.stack.end, EndReason::kComplete) << Name(entry.stack.end);
    got[row.tid] = stacks->pcs[row.user_stack];
  }
  EXPECT_EQ(got.size(), 74u);
  EXPECT_EQ(got, EuStack(target->pid()));
}

TEST(OffcpuStacks, PrintsWhatADebuggerPrints) {
  const std::unique_ptr<Target> target = Blocked();
  ASSERT_NE(target, nullptr);
  const auto json = Program::Start({BinDirectory() + "/offcpu", "stacks", "--json", std::to_string(target->pid())});
  std::string text;
  ASSERT_EQ(json->Wait(&text), 0);
  Pcs got;
  pid_t tid = 0;
  const std::regex pieces("\"tid\":([0-9]+)|\"pc\":\"0x([0-9a-f]+)\"");
  for (std::sregex_iterator piece(text.begin(), text.end(), pieces); piece != std::sregex_iterator(); ++piece) {
    if ((*piece)[1].matched) tid = std::stoi((*piece)[1]);
    if ((*piece)[2].matched) got[tid].push_back(std::stoull((*piece)[2], nullptr, 16));
  }
  EXPECT_EQ(got, EuStack(target->pid())) << text;

  const auto plain = Program::Start({BinDirectory() + "/offcpu", "stacks", std::to_string(target->pid())});
  ASSERT_EQ(plain->Wait(&text), 0);
  for (const char* function : {"first_wait", "condition_wait", "main"}) {
    EXPECT_THAT(text, testing::HasSubstr(std::string("  ") + function + "  blocked")) << function;
  }
}

}  // namespace
}  // namespace offcpu::integration
