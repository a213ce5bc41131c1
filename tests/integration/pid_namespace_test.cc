// offcpu in a pid namespace of its own, as in a container: it records the processes of that namespace, by the numbers
// that they have there, which the shell that starts them says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "tests/harness/cli.h"

namespace offcpu::integration {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Lt;
using ::testing::Not;

constexpr char kNapper[] = "while :; do sleep 0.02; done & echo $!; ";

int NumberIn(const std::string& text) {
  int number = 0;
  EXPECT_TRUE(absl::SimpleAtoi(text, &number)) << text;
  return number;
}

// The values of all "pid" in a profile in JSON.
std::set<int> PidsIn(const std::string& json) {
  constexpr std::string_view kKey = "\"pid\":";
  std::set<int> pids;
  for (size_t at = json.find(kKey); at != std::string::npos; at = json.find(kKey, at + 1)) {
    const size_t begin = at + kKey.size();
    pids.insert(NumberIn(json.substr(begin, json.find_first_of(",}", begin) - begin)));
  }
  return pids;
}

class PidNamespace : public CliTest {
 protected:
  // Runs a script below `levels` new namespaces, with offcpu as $0 and a file for the profile as $1.
  int RunInside(int levels, const std::string& script) {
    std::vector<std::string> words;
    for (int i = 0; i < levels; ++i) words.insert(words.end(), {"unshare", "--pid", "--fork", "--mount-proc"});
    words.insert(words.end(), {"sh", "-c", script, BinDirectory() + "/offcpu", Path("out.json")});
    return RunWords(words);
  }
  // What the script prints first and last.
  int FirstNumber() const { return NumberIn(output_.substr(0, output_.find('\n'))); }
  int LastNumber() const { return NumberIn(output_.substr(output_.rfind('\n', output_.size() - 2) + 1)); }
  std::set<int> Pids() const { return PidsIn(ReadFile(Path("out.json"))); }
};

TEST_F(PidNamespace, AllOfItIsRecordedAndNothingElse) {
  const std::unique_ptr<Target> outside = StartedTarget({"waits", "--seconds", "20"});
  ASSERT_NE(outside, nullptr);
  ASSERT_EQ(RunInside(1, std::string(kNapper) + "\"$0\" record -o \"$1\" 1; sh -c 'echo $$'"), 0) << errors_;
  EXPECT_THAT(Pids(), Contains(FirstNumber()));
  EXPECT_THAT(Pids(), Each(Lt(LastNumber())));
  EXPECT_THAT(ReadFile(Path("out.json")), Not(HasSubstr("\"waits\"")));
}

TEST_F(PidNamespace, ProcessesAreSelectedByTheirNumbersThere) {
  ASSERT_EQ(RunInside(1, std::string(kNapper) + "exec \"$0\" record -p $! -o \"$1\" 1"), 0) << errors_;
  EXPECT_EQ(Pids(), std::set<int>{FirstNumber()});
}

TEST_F(PidNamespace, NamespacesAreNested) {
  ASSERT_EQ(RunInside(2, std::string(kNapper) + "exec \"$0\" record -p $! --wakers --ledger -o \"$1\" 1"), 0)
      << errors_;
  EXPECT_THAT(Pids(), Contains(FirstNumber()));
}

// A container in a container: its processes have numbers here, too.
TEST_F(PidNamespace, ProcessesOfNamespacesBelowAreRecorded) {
  const std::string napper = "unshare --pid --fork --mount-proc sh -c 'while :; do sleep 0.02; done' inner & ";
  ASSERT_EQ(RunInside(1, napper + "exec \"$0\" record -o \"$1\" 1"), 0) << errors_;
  EXPECT_THAT(ReadFile(Path("out.json")), HasSubstr(R"("process":"sleep")"));
}

TEST_F(PidNamespace, StacksAreThoseOfTheProcessThere) {
  ASSERT_EQ(RunInside(1, "sleep 100 & exec \"$0\" stacks $!"), 0) << errors_;
  EXPECT_THAT(output_, HasSubstr(" sleep: 1 thread\n"));
  EXPECT_THAT(output_, HasSubstr("clock_nanosleep"));
}

// Selected by its name, and not to be seen.
TEST_F(PidNamespace, SelectedThreadsOutsideAreCounted) {
  const std::unique_ptr<Target> outside = StartedTarget({"waits", "--seconds", "20"});
  ASSERT_NE(outside, nullptr);
  ASSERT_EQ(RunInside(1, "\"$0\" record --comm 'w_*' -o \"$1\" 1"), 0) << errors_;
  EXPECT_THAT(Pids(), IsEmpty());
  EXPECT_THAT(output_ + errors_, HasSubstr("outside of the pid namespace"));
}

// There, another process may have the number that is meant.
TEST_F(PidNamespace, ItsOwnProcIsNeeded) {
  EXPECT_EQ(Run({"record", "0.1"}, {"unshare", "--pid", "--fork"}), 3);
  EXPECT_THAT(errors_, HasSubstr("mount this one's with `mount -t proc proc /proc`"));
}

TEST_F(PidNamespace, RootOfAUserNamespaceIsRefused) {
  EXPECT_NE(Run({"record", "0.1"}, {"unshare", "--user", "--map-root-user"}), 0);
  EXPECT_THAT(errors_, HasSubstr("root in this user namespace may not load BPF programs"));
}

}  // namespace
}  // namespace offcpu::integration
