// The command line program: its files, messages and exit codes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/integration/harness.h"

namespace offcpu {
namespace {

using ::testing::HasSubstr;

constexpr int kOk = 0;
constexpr int kFailed = 1;
constexpr int kBadUsage = 2;
constexpr int kNoSupport = 3;
constexpr int kNotExecutable = 126;
constexpr int kNotFound = 127;

std::string ReadFile(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

class Cli : public testing::Test {
 protected:
  std::string Path(const std::string& name) const { return directory_.path() + "/" + name; }

  std::unique_ptr<Program> Start(const std::vector<std::string>& words) {
    return Program::Start(words, Path("stderr"));
  }

  // Runs offcpu with the words, after the words of `before`.
  int Run(const std::vector<std::string>& words, std::vector<std::string> before = {}) {
    before.push_back(BinDirectory() + "/offcpu");
    before.insert(before.end(), words.begin(), words.end());
    const std::unique_ptr<Program> program = Start(before);
    output_.clear();
    const int code = program->Wait(&output_);
    errors_ = ReadFile(Path("stderr"));
    return code;
  }

  void ExpectOneLineError(const std::string& part) {
    EXPECT_THAT(errors_, HasSubstr(part));
    EXPECT_EQ(std::count(errors_.begin(), errors_.end(), '\n'), 1) << errors_;
    EXPECT_FALSE(std::filesystem::exists(Path("out.folded")));
  }

  TemporaryDirectory directory_;
  std::string output_;
  std::string errors_;
};

TEST_F(Cli, RecordsAProcessForSeconds) {
  const std::unique_ptr<Target> target = Target::Start({"deep", "--seconds", "20"});
  ASSERT_NE(target, nullptr);
  const std::string pid = std::to_string(target->pid());
  EXPECT_EQ(Run({"record", "-p", pid, "-o", Path("out.folded"), "1"}), kOk) << errors_;
  EXPECT_TRUE(std::filesystem::exists(Path("out.folded")));
}

TEST_F(Cli, FollowsTheChildrenOfACommand) {
  EXPECT_EQ(Run({"record", "-o", Path("out.folded"), "--", "sh", "-c", "sleep 0.3; sleep 0.3; true"}), kOk) << errors_;
  const std::string folded = ReadFile(Path("out.folded"));
  EXPECT_THAT(folded, ::testing::ContainsRegex("(^|\n)sleep;.*nanosleep.* [56][0-9][0-9][0-9][0-9][0-9]\n"));
}

TEST_F(Cli, WritesWhatThereIsOnInterrupt) {
  const std::unique_ptr<Target> target = Target::Start({"waits", "--seconds", "20"});
  ASSERT_NE(target, nullptr);
  const std::unique_ptr<Program> program =
      Start({BinDirectory() + "/offcpu", "record", "-p", std::to_string(target->pid()), "-o", Path("out.folded")});
  sleep(2);
  program->Signal(SIGINT);
  EXPECT_EQ(program->Wait(), kOk) << ReadFile(Path("stderr"));
  EXPECT_TRUE(std::filesystem::exists(Path("out.folded")));
}

TEST_F(Cli, NoSuchProcess) {
  EXPECT_EQ(Run({"record", "-p", "4194304", "-o", Path("out.folded"), "1"}), kBadUsage);
  ExpectOneLineError("4194304");
}

TEST_F(Cli, UnknownOption) {
  EXPECT_EQ(Run({"record", "--no-such-option"}), kBadUsage);
  EXPECT_THAT(errors_, HasSubstr("--no-such-option"));
}

TEST_F(Cli, UnknownFormat) {
  EXPECT_EQ(Run({"record", "-o", Path("out.nonsense"), "1"}), kBadUsage);
  ExpectOneLineError("out.nonsense");
}

TEST_F(Cli, NoPermissionNamesTheCapability) {
  EXPECT_EQ(Run({"record", "-o", "/tmp/offcpu-never-written.folded", "1"},
                {"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"}),
            kNoSupport);
  ExpectOneLineError("CAP_BPF");
  EXPECT_FALSE(std::filesystem::exists("/tmp/offcpu-never-written.folded"));
}

TEST_F(Cli, KernelWithoutBtf) {
  EXPECT_EQ(Run({"record", "-o", Path("out.folded"), "1"},
                {"unshare", "-m", "sh", "-c", R"(mount --bind /dev/null /sys/kernel/btf/vmlinux && exec "$0" "$@")"}),
            kNoSupport);
  ExpectOneLineError("BTF");
}

TEST_F(Cli, OutputThatCannotBeWritten) {
  EXPECT_EQ(Run({"record", "-o", Path("no/such/directory/out.folded"), "1"}), kBadUsage);
  ExpectOneLineError("no/such/directory");
}

TEST_F(Cli, FullDiskLeavesNoHalfFile) {
  const std::string mount = "mount -t tmpfs -o size=4k,nr_inodes=8 none " + directory_.path() +
                            R"(/full && "$0" "$@"; code=$?; ls ")" + directory_.path() + R"(/full"; exit $code)";
  ASSERT_EQ(mkdir(Path("full").c_str(), 0755), 0);
  const std::unique_ptr<Target> target = Target::Start({"deep", "--seconds", "20"});
  ASSERT_NE(target, nullptr);
  target->Go();
  EXPECT_EQ(Run({"record", "-p", std::to_string(target->pid()), "-o", Path("full/out.folded"), "1"},
                {"unshare", "-m", "sh", "-c", mount}),
            kFailed);
  EXPECT_THAT(errors_, HasSubstr("out.folded"));
  EXPECT_EQ(output_.find("out.folded"), std::string::npos) << output_;
}

TEST_F(Cli, CommandThatIsNotThere) {
  EXPECT_EQ(Run({"record", "-o", Path("out.folded"), "--", "/no/such/command"}), kNotFound);
  ExpectOneLineError("/no/such/command");
}

TEST_F(Cli, CommandThatCannotBeExecuted) {
  std::ofstream(Path("text")) << "no program\n";
  EXPECT_EQ(Run({"record", "-o", Path("out.folded"), "--", Path("text")}), kNotExecutable);
  ExpectOneLineError(Path("text"));
}

}  // namespace
}  // namespace offcpu
