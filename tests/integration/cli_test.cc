// The command line program: its files, messages and exit codes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/harness/cli.h"
#include "tests/harness/harness.h"

namespace offcpu::integration {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

constexpr int kOk = 0;
constexpr int kFailed = 1;
constexpr int kBadUsage = 2;
constexpr int kNoSupport = 3;
constexpr int kNotExecutable = 126;
constexpr int kNotFound = 127;

class Cli : public CliTest {
 protected:
  void ExpectOneLineError(const std::string& part) {
    EXPECT_THAT(errors_, HasSubstr(part));
    EXPECT_EQ(std::count(errors_.begin(), errors_.end(), '\n'), 1) << errors_;
    EXPECT_FALSE(std::filesystem::exists(Path("out.folded")));
  }
};

TEST_F(Cli, RecordsAProcessForSeconds) {
  const std::unique_ptr<Target> target = StartedTarget({"deep", "--seconds", "20"});
  ASSERT_NE(target, nullptr);
  EXPECT_EQ(Run({"record", "-p", std::to_string(target->pid()), "-o", Path("out.folded"), "1"}), kOk) << errors_;
  EXPECT_THAT(output_, HasSubstr("deep_sleep"));
  const std::string folded = ReadFile(Path("out.folded"));
  EXPECT_THAT(folded,
              ContainsRegex("(^|\n)deep;deep;_start;.*;main;.*;deep_01;.*;deep_60;deep_sleep;.*;-;.* [0-9]+\n"));
  EXPECT_THAT(folded, ContainsRegex("(^|\n)deep;deep_thread;.*;deep_01;.*;deep_60;deep_sleep;.*;-;.* [0-9]+\n"));
}

// A pattern for waits of a target: what people read leaves them out and says so, what programs read has them all.
TEST_F(Cli, HidesWaitsForWork) {
  std::ofstream(Path("mine.conf")) << "[mine: nanosleep]\n"
                                      "thread  = w_nanosleep\n"
                                      "syscall = nanosleep | clock_nanosleep\n"
                                      "stack   = wait_in_nanosleep; nanosleep; ...\n";
  const std::unique_ptr<Target> target = StartedTarget({"waits", "--seconds", "20"});
  ASSERT_NE(target, nullptr);
  const std::string pid = std::to_string(target->pid());
  const std::vector<std::string> with = {"--idle-patterns", Path("mine.conf")};
  std::vector<std::string> words = {
      "record",          "-p",    pid,     "-o", Path("out.folded"), "-o", Path("out.json"), "-o",
      Path("out.pb.gz"), with[0], with[1], "1"};
  ASSERT_EQ(Run(words), kOk) << errors_;
  EXPECT_THAT(output_, HasSubstr("\nwaiting for work: "));
  EXPECT_THAT(output_, HasSubstr(", hidden; --idle=show shows them\n"));
  EXPECT_THAT(output_, HasSubstr("\n  mine: nanosleep  "));
  // Time for a CPU behind such a wait may be left.
  EXPECT_THAT(ReadFile(Path("out.json")), HasSubstr("\"idle\":\"mine: nanosleep\""));
  const auto lines_ns = [this](const std::vector<std::string>& report) {
    EXPECT_EQ(Run(report), kOk) << errors_;
    uint64_t ns = 0;
    std::istringstream lines(ReadFile(Path("report.folded")));
    for (std::string line; std::getline(lines, line);) {
      if (line.find("wait_in_nanosleep") != std::string::npos) ns += std::stoull(line.substr(line.rfind(' ')));
    }
    return ns;
  };
  const std::vector<std::string> report = {"report", Path("out.pb.gz"),    "--time-unit=ns", "--value=blocked",
                                           "-o",     Path("report.folded")};
  const auto and_then = [&report](const std::vector<std::string>& more) {
    std::vector<std::string> all = report;
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  const uint64_t all_ns = lines_ns(and_then({"--idle=show"}));
  EXPECT_GT(all_ns, 0u);
  EXPECT_EQ(lines_ns(and_then(with)), 0u);
  EXPECT_EQ(lines_ns(report), 0u) << "the file says so";
  std::ofstream(Path("other.conf")) << "[mine: nanosleep]\noff\n";
  EXPECT_EQ(lines_ns(and_then({with[0], Path("other.conf")})), all_ns) << "it is told again";
}

TEST_F(Cli, ValuesOfSamplesNeedSamples) {
  EXPECT_EQ(Run({"record", "--value", "cpu", "-o", Path("out.folded"), "1"}), kBadUsage);
  ExpectOneLineError("--value cpu needs samples of what runs: record with `--oncpu HZ`");
  ASSERT_EQ(Run({"record", "-o", Path("out.pb.gz"), "--", "sleep", "0.1"}), kOk) << errors_;
  EXPECT_EQ(Run({"report", Path("out.pb.gz"), "--value", "samples", "-o", Path("out.folded")}), kBadUsage);
  ExpectOneLineError("--value samples needs samples of what runs");
  EXPECT_EQ(Run({"report", Path("out.pb.gz"), "--value", "wall", "-o", Path("out.folded")}), kOk) << errors_;
}

TEST_F(Cli, SaysWhatRecordingHasCost) {
  ASSERT_EQ(Run({"record", "--cpu-budget", "0.5%", "-o", Path("out.json"), "--", "sleep", "0.1"}), kOk) << errors_;
  EXPECT_THAT(output_, ContainsRegex("\ncost +[0-9.]+ % of the host \\(budget 0.5%\\): BPF programs "));
  EXPECT_THAT(ReadFile(Path("out.json")), HasSubstr("\"cpu_budget_ppm\":5000,"));
  ASSERT_EQ(Run({"record", "--sample", "0", "--", "sleep", "0.1"}), kOk) << errors_;
  EXPECT_THAT(output_, HasSubstr(" % of the host (no budget, the sample is fixed): BPF programs "));
  EXPECT_EQ(Run({"record", "--cpu-budget", "0%", "1"}), kBadUsage);
  ExpectOneLineError("'0%' is not a percentage");
}

TEST_F(Cli, PatternsThatAreWrong) {
  std::ofstream(Path("wrong.conf")) << "[mine]\nstack = *\n";
  EXPECT_EQ(Run({"record", "--idle-patterns", Path("wrong.conf"), "-o", Path("out.folded"), "1"}), kBadUsage);
  ExpectOneLineError("wrong.conf:2: '*' stands for any function: name it");
  EXPECT_EQ(Run({"report", "--idle-patterns", Path("none.conf"), Path("none.pb.gz")}), kBadUsage);
  ExpectOneLineError("none.conf");
}

TEST_F(Cli, FollowsTheChildrenOfACommand) {
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(Run({"record", "-o", Path("out.folded"), "--", "sh", "-c", "sleep 0.3; sleep 0.3; true"}), kOk) << errors_;
  const auto took = std::chrono::steady_clock::now() - begin;
  const std::string folded = ReadFile(Path("out.folded"));
  std::istringstream lines(folded);
  int64_t slept_us = 0;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("sleep;sleep;") || line.find("nanosleep") == std::string::npos) continue;
    slept_us += std::stoll(line.substr(line.rfind(' ')));
  }
  EXPECT_GE(slept_us, 599'000) << "not both of them, less what rounding has taken\n" << folded;
  EXPECT_LE(slept_us, std::chrono::duration_cast<std::chrono::microseconds>(took).count()) << folded;
}

// It ends before it can be looked at, but for its name all is known of it.
TEST_F(Cli, CommandsThatLiveForMillisecondsHaveNames) {
  ASSERT_EQ(Run({"record", "--sample", "0", "-o", Path("out.json"), "--", "sh", "-c", "cat /dev/null"}), kOk)
      << errors_;
  const std::string json = ReadFile(Path("out.json"));
  EXPECT_THAT(json, HasSubstr("\"process\":\"sh\","));
  EXPECT_THAT(json, Not(HasSubstr("\"process\":\"\"")));
  ASSERT_EQ(Run({"record", "--ledger", "--", "true"}), kOk) << errors_;
  EXPECT_THAT(output_, ContainsRegex("PROCESS[^\n]*\ntrue "));
}

TEST_F(Cli, WritesWhatThereIsOnInterrupt) {
  const std::unique_ptr<Target> target = StartedTarget({"waits", "--seconds", "20"});
  ASSERT_NE(target, nullptr);
  const std::string pid = std::to_string(target->pid());
  const std::unique_ptr<Program> program =
      Start({BinDirectory() + "/offcpu", "record", "-p", pid, "-o", Path("out.folded")});
  AwaitRecording(program->pid());
  sleep(1);  // of recording
  program->Signal(SIGINT);
  EXPECT_EQ(program->Wait(), kOk) << ReadFile(Path("stderr"));
  EXPECT_THAT(ReadFile(Path("out.folded")), HasSubstr("wait_in_nanosleep"));
}

TEST_F(Cli, WritesWhatThereIsThoughItIsToldTwice) {
  const std::unique_ptr<Target> target = StartedTarget({"waits", "--seconds", "20"});
  ASSERT_NE(target, nullptr);
  const std::unique_ptr<Program> program =
      Start({BinDirectory() + "/offcpu", "record", "-p", std::to_string(target->pid()), "-o", Path("out.folded")});
  AwaitRecording(program->pid());
  for (int i = 0; i < 2; ++i) {
    program->Signal(SIGTERM);
    usleep(30'000);  // the recording ends meanwhile, and its result is being written
  }
  EXPECT_EQ(program->Wait(), kOk) << ReadFile(Path("stderr"));
  EXPECT_NE(ReadFile(Path("out.folded")), "");
}

TEST_F(Cli, NoSuchProcess) {
  EXPECT_EQ(Run({"record", "-p", "4194304", "-o", Path("out.folded"), "1"}), kBadUsage);
  ExpectOneLineError("4194304");
}

// A misspelled name is noticed at once, and not after the minute that was recorded.
TEST_F(Cli, ANameThatNoThreadHasIsNoticed) {
  ASSERT_EQ(Run({"record", "--comm", "nosuch*", "0.2"}), kOk) << errors_;
  EXPECT_EQ(errors_, "offcpu: no thread is called nosuch* so far\noffcpu: no thread is called nosuch*\n");
  EXPECT_THAT(output_, HasSubstr("\nselection     no thread is called nosuch*\n"));
}

// They are left out unless asked for, so one that is named would be a recording of nothing.
TEST_F(Cli, AKernelThreadMustBeAskedForTwice) {
  const std::string kthreadd = "2";
  if (ReadFile("/proc/2/comm") != "kthreadd\n") GTEST_SKIP() << "no kernel thread is in this pid namespace";
  for (const char* option : {"-p", "-t"}) {
    EXPECT_EQ(Run({"record", option, kthreadd, "-o", Path("out.folded"), "1"}), kBadUsage);
    ExpectOneLineError("2 is a kernel thread: record it with `--kernel-threads`");
  }
  for (const char* option : {"-p", "-t"}) {
    EXPECT_EQ(Run({"record", option, kthreadd, "--kernel-threads", "-o", Path("out.folded"), "0.2"}), kOk) << errors_;
    EXPECT_THAT(ReadFile(Path("out.folded")), ContainsRegex("^kthreadd;kthreadd;.*;kthreadd_\\[k\\].* [0-9]+\n"));
  }
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
  const std::unique_ptr<Target> target = StartedTarget({"deep", "--seconds", "20"});
  ASSERT_NE(target, nullptr);
  EXPECT_EQ(Run({"record", "-p", std::to_string(target->pid()), "-o", Path("full/out.json"), "1"},
                {"unshare", "-m", "sh", "-c", mount}),
            kFailed);
  EXPECT_THAT(errors_, HasSubstr("out.json"));
  EXPECT_EQ(output_.find("out.json"), std::string::npos) << output_;
}

TEST_F(Cli, AFileThatCannotBeWrittenTakesNoOtherWithIt) {
  std::filesystem::create_symlink("/dev/full", Path("full.folded"));
  EXPECT_EQ(Run({"record", "-o", Path("full.folded"), "-o", Path("out.folded"), "--", "sleep", "0.1"}), kFailed);
  EXPECT_THAT(errors_, HasSubstr("full.folded"));
  EXPECT_THAT(ReadFile(Path("out.folded")), HasSubstr("sleep"));
  EXPECT_THAT(output_, HasSubstr("\nrecorded "));
  EXPECT_THAT(output_, HasSubstr("\nwritten       " + Path("out.folded") + "\n")) << "and not the other";
}

TEST_F(Cli, NamesEachFileThatCannotBeWritten) {
  std::filesystem::create_symlink("/dev/full", Path("full.folded"));
  std::filesystem::create_symlink("/dev/full", Path("full.json"));
  EXPECT_EQ(Run({"record", "-o", Path("full.folded"), "-o", Path("full.json"), "--", "sleep", "0.1"}), kFailed);
  EXPECT_THAT(errors_, HasSubstr("full.folded"));
  EXPECT_THAT(errors_, HasSubstr("full.json"));
  EXPECT_EQ(Run({"record", "-o", "/no/such/a.folded", "-o", "/no/such/b.json", "1"}), kBadUsage);
  ExpectOneLineError("/no/such/a.folded");
  EXPECT_THAT(errors_, HasSubstr("/no/such/b.json"));
}

// As `perf stat` does, and a shell.
TEST_F(Cli, PassesTheExitStatusOfACommandOn) {
  EXPECT_EQ(Run({"record", "-o", Path("out.folded"), "--", "sh", "-c", "exit 7"}), 7) << errors_;
  EXPECT_EQ(Run({"record", "-o", Path("out.folded"), "--", "sh", "-c", "sleep 0.1; kill -9 $$"}), 128 + 9) << errors_;
  EXPECT_THAT(ReadFile(Path("out.folded")), HasSubstr("sh;"));
}

TEST_F(Cli, SaysThatItWaitsForACommandThatGoesOn) {
  const std::string goes_on = "until grep -q 'waiting for sh' " + Path("stderr") + "; do sleep 0.1; done; exit 5";
  EXPECT_EQ(Run({"record", "0.2", "--", "sh", "-c", goes_on}), 5) << errors_;
  EXPECT_THAT(errors_, ContainsRegex("offcpu: the recording has ended; waiting for sh \\([0-9]+\\); Ctrl-C ends it"));
}

// As flamegraph.pl reads it. What is said besides goes to the standard error.
TEST_F(Cli, WritesFoldedStacksToTheStandardOutput) {
  ASSERT_EQ(Run({"record", "-o", "-", "--format", "folded", "--", "sleep", "0.1"}), kOk) << errors_;
  EXPECT_THAT(output_, ContainsRegex("(^|\n)sleep;sleep;[^\n]*clock_nanosleep[^\n]* [0-9]+\n"));
  std::istringstream lines(output_);
  for (std::string line; std::getline(lines, line);) EXPECT_THAT(line, ContainsRegex("^[^;]+;.* [0-9]+$"));
}

TEST_F(Cli, AStandardOutputThatTakesNothingIsAnError) {
  for (const std::string& to : {">/dev/full", ">&-"}) {
    const std::vector<std::vector<std::string>> verbs = {
        {"doctor"}, {"record", "--comm", "nosuch*", "0.2"}, {"record", "-o", "-", "--format", "txt", "0.2"}};
    for (const std::vector<std::string>& words : verbs) {
      EXPECT_EQ(Run(words, {"sh", "-c", "exec \"$0\" \"$@\" " + to}), kFailed) << words[0] << to;
      EXPECT_THAT(errors_, HasSubstr("offcpu: cannot write ")) << words[0] << to;
      EXPECT_THAT(errors_, HasSubstr("standard output: ")) << words[0] << to;
    }
  }
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
}  // namespace offcpu::integration
