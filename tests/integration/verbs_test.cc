// What several verbs have in common: the processes that they refuse, and that their JSON is JSON.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "tests/harness/cli.h"

namespace offcpu::integration {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

constexpr int kOk = 0;
constexpr int kBadUsage = 2;

class Verbs : public CliTest {
 protected:
  void ExpectRefused(const std::vector<std::string>& words, const std::string& part) {
    EXPECT_EQ(Run(words), kBadUsage) << words[0];
    EXPECT_THAT(errors_, HasSubstr(part)) << words[0];
    EXPECT_EQ(std::count(errors_.begin(), errors_.end(), '\n'), 1) << errors_;
    EXPECT_EQ(output_, "") << words[0];
  }
};

TEST_F(Verbs, AProcessThatOnlyWaitsToBeReaped) {
  const std::unique_ptr<Program> program = Program::Start({"true"});
  siginfo_t info;
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(program->pid()), &info, WEXITED | WNOWAIT), 0);
  const std::string pid = std::to_string(program->pid());
  ExpectRefused({"stacks", pid}, "process " + pid + " has ended");
  ExpectRefused({"sframe", pid}, "process " + pid + " has ended");
  ExpectRefused({"record", "-p", pid, "1"}, "process " + pid + " has ended");
  ExpectRefused({"record", "-t", pid, "1"}, "thread " + pid + " has ended");
}

// What programs in the kernel read is not shifted, and the recording would have waits that never were.
TEST_F(Verbs, ATimeNamespaceOfItsOwn) {
  const int code =
      RunWords({"unshare", "--time", "--monotonic", "100000", BinDirectory() + "/offcpu", "record", "0.1"});
  EXPECT_EQ(code, 3) << errors_;
  EXPECT_THAT(errors_, HasSubstr("this process is in a time namespace: monotonic is 100000 s off the kernel's"));
  EXPECT_EQ(std::count(errors_.begin(), errors_.end(), '\n'), 1) << errors_;
}

// Its first thread looks like one that waits to be reaped.
TEST_F(Verbs, AProcessWithoutItsFirstThread) {
  const std::unique_ptr<Target> target = Target::Start({"unusual", "leaderless"});
  ASSERT_NE(target, nullptr);
  const std::string pid = std::to_string(target->pid());
  EXPECT_EQ(Run({"stacks", pid}), kOk) << errors_;
  EXPECT_THAT(output_, HasSubstr("start_thread")) << "of the other thread";
  EXPECT_EQ(Run({"record", "-p", pid, "-o", Path("out.json"), "0.5"}), kOk) << errors_;
  EXPECT_THAT(ReadFile(Path("out.json")), ContainsRegex("\"duration_ns\":([5-9][0-9]{8}|[0-9]{10})")) << "to its end";
  ExpectRefused({"record", "-t", pid, "1"}, "thread " + pid + " has ended");
}

TEST_F(Verbs, KernelThreads) {
  const std::string kthreadd = "2";  // in the first pid namespace, where alone recordings are possible
  ExpectRefused({"stacks", kthreadd}, "2 is a kernel thread");
  ExpectRefused({"sframe", kthreadd}, "2 is a kernel thread");
}

TEST_F(Verbs, StacksPrintsThoseOfThreadsThatWait) {
  const std::unique_ptr<Target> target = Target::Start({"blocked"});
  ASSERT_NE(target, nullptr);
  const std::string pid = std::to_string(target->pid());
  ASSERT_EQ(Run({"stacks", pid}), kOk) << errors_;
  for (const char* function : {"first_wait", "condition_wait", "main"}) {
    EXPECT_THAT(output_, HasSubstr(std::string("  ") + function + "  blocked")) << function;
  }
  ASSERT_EQ(Run({"stacks", "--json", pid}), kOk) << errors_;
  EXPECT_THAT(output_, HasSubstr("\"comm\":\"waiter\""));
}

// Without a terminal these are blocks of text.
TEST_F(Verbs, TopPrintsWhereThreadsWait) {
  const std::unique_ptr<Target> target = StartedTarget({"waits", "--seconds", "60"});
  ASSERT_NE(target, nullptr);
  const std::string pid = std::to_string(target->pid());
  const std::vector<std::string> words = {"top", "--socket", Path("none.sock"), "--interval", "500ms", "-n", "2",
                                          "-p",  pid};
  ASSERT_EQ(Run(words), kOk) << errors_;
  EXPECT_THAT(output_, testing::StartsWith("offcpu top  "));
  EXPECT_THAT(output_, HasSubstr(" recorded by itself\n"));
  EXPECT_THAT(output_, ContainsRegex("\n *" + pid + " waits +[0-9.]+ s "));
  std::vector<std::string> json = words;
  json.emplace_back("--json");
  ASSERT_EQ(Run(json), kOk) << errors_;
  EXPECT_EQ(std::count(output_.begin(), output_.end(), '\n'), 2) << output_;
  EXPECT_THAT(output_, HasSubstr("\"thread\":\"w_nanosleep\""));
}

}  // namespace
}  // namespace offcpu::integration
