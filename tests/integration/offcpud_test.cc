// The service as it is run: offcpud, asked by offcpu over its control socket.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/integration/cli.h"

namespace offcpu::integration {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr int kOk = 0;
constexpr int kFailed = 1;
constexpr int kBadUsage = 2;
constexpr int kBadServiceUsage = 64;
constexpr int kBadConfig = 78;

class Daemon : public CliTest {
 protected:
  std::string Socket() const { return Path("control.sock"); }

  void WriteConfig(const std::string& more) {
    std::ofstream(Path("offcpud.toml")) << "[control]\nsocket = \"" << Socket() << "\"\ngroup = \"\"\n" << more;
  }

  std::vector<std::string> Words(const std::vector<std::string>& flags = {}) const {
    std::vector<std::string> words = {BinDirectory() + "/offcpud", "--config", Path("offcpud.toml")};
    words.insert(words.end(), flags.begin(), flags.end());
    return words;
  }

  // Starts it, and returns when it records.
  void StartDaemon(const std::string& config) {
    WriteConfig(config);
    daemon_ = Program::Start(Words(), Path("log"));
    AwaitLog("recording; offcpud");
  }

  // Until a line of the log has the words; `times` of them.
  void AwaitLog(const std::string& words, size_t times = 1) const {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (CountInLog(words) < times) {
      ASSERT_LT(std::chrono::steady_clock::now(), end) << words << " did not come:\n" << ReadFile(Path("log"));
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }

  size_t CountInLog(const std::string& words) const {
    const std::string log = ReadFile(Path("log"));
    size_t count = 0;
    for (size_t at = log.find(words); at != std::string::npos; at = log.find(words, at + 1)) ++count;
    return count;
  }

  int Ask(std::vector<std::string> words) {
    words.insert(words.end(), {"--socket", Socket()});
    return Run(words);
  }

  // Nanoseconds below `function` in a folded file.
  static uint64_t Below(const std::string& file, const std::string& function) {
    std::istringstream lines(ReadFile(file));
    uint64_t sum = 0;
    for (std::string line; std::getline(lines, line);) {
      if (line.find(";" + function + ";") != std::string::npos) sum += std::stoull(line.substr(line.rfind(' ')));
    }
    return sum;
  }

  std::unique_ptr<Program> daemon_;
};

TEST_F(Daemon, ToldOfAProgramByItsStacksAndTimes) {
  StartDaemon("[record]\nsample = \"0\"\n");
  const std::unique_ptr<Target> target = Target::Start({"waits", "--seconds", "2"});
  ASSERT_NE(target, nullptr);
  target->Go();
  target->AwaitDone();
  ASSERT_EQ(Ask({"dump", "-p", std::to_string(target->pid()), "-o", Path("a.folded"), "--unit", "ns"}), kOk) << errors_;
  const Measure measured = target->Measured("w_nanosleep", "wait_in_nanosleep");
  const uint64_t got = Below(Path("a.folded"), "wait_in_nanosleep");
  EXPECT_TRUE(Within(got, measured.ns, 0.01)) << got << " ns, measured " << measured.ns;
  // Another process's are not there, and are if all is asked for.
  EXPECT_EQ(Ask({"dump", "--comm", "no-such-thread", "-o", Path("b.folded")}), kOk) << errors_;
  EXPECT_EQ(ReadFile(Path("b.folded")), "");
}

TEST_F(Daemon, ADumpHasWhatWasRecordedUpToNow) {
  StartDaemon("");
  for (int i = 1; i <= 3; ++i) {
    ASSERT_EQ(Ask({"dump", "-o", Path("a.pb.gz")}), kOk) << errors_;
    ASSERT_EQ(Ask({"status", "--json"}), kOk) << errors_;
    EXPECT_THAT(output_, HasSubstr("\"windows_ended\":0")) << "windows are as long as they were, whoever looks";
  }
  ASSERT_EQ(Run({"report", Path("a.pb.gz")}), kOk) << errors_;
  ASSERT_EQ(Ask({"dump", "--since", "1m"}), kOk) << errors_;
  EXPECT_THAT(output_, HasSubstr("recorded "));
}

TEST_F(Daemon, WindowsEndByThemselves) {
  StartDaemon("[windows]\nlength = \"1s\"\nkeep = 2\n");
  std::this_thread::sleep_for(std::chrono::seconds(5));
  ASSERT_EQ(Ask({"status", "--json"}), kOk) << errors_;
  EXPECT_THAT(output_, HasSubstr("\"windows\":2,"));
  std::smatch ended;
  ASSERT_TRUE(std::regex_search(output_, ended, std::regex("\"windows_ended\":([0-9]+)")));
  EXPECT_GE(std::stoi(ended[1]), 3);
  EXPECT_LE(std::stoi(ended[1]), 6);
}

TEST_F(Daemon, StatusIsForPeopleAndForScripts) {
  StartDaemon("");
  ASSERT_EQ(Ask({"dump", "-o", Path("a.folded")}), kOk) << errors_;
  ASSERT_EQ(Ask({"status"}), kOk) << errors_;
  EXPECT_THAT(output_, HasSubstr("windows       0 of 60, 60.0 s each"));
  ASSERT_EQ(Ask({"status", "--json"}), kOk) << errors_;
  std::ofstream(Path("status.json")) << output_;
  EXPECT_EQ(RunWords({"python3", "-m", "json.tool", Path("status.json"), "/dev/null"}), kOk) << errors_;
}

TEST_F(Daemon, ReloadsAndKeepsWhatItHasIfTheFileIsBad) {
  StartDaemon("");
  ASSERT_EQ(Ask({"dump", "-o", Path("a.folded")}), kOk) << errors_;
  WriteConfig("[windows]\nkeep = 7\n[record]\nkernel_threads = true\n");
  daemon_->Signal(SIGHUP);
  AwaitLog("the new configuration is in force");
  ASSERT_EQ(Ask({"status", "--json"}), kOk) << errors_;
  EXPECT_THAT(output_, HasSubstr("\"windows_limit\":7,"));
  EXPECT_THAT(output_, HasSubstr("\"windows\":1,")) << "what was recorded before is kept";
  WriteConfig("[windows]\nkeep = 8\nkept = 9\n");
  daemon_->Signal(SIGHUP);
  AwaitLog("nothing is called 'windows.kept'");
  ASSERT_EQ(Ask({"status", "--json"}), kOk) << errors_;
  EXPECT_THAT(output_, HasSubstr("\"windows_limit\":7,"));
}

TEST_F(Daemon, EndsWithASignalAndLeavesNothingBehind) {
  StartDaemon("");
  daemon_->Signal(SIGTERM);
  EXPECT_EQ(daemon_->Wait(), kOk) << ReadFile(Path("log"));
  EXPECT_EQ(Ask({"status"}), kFailed);
  EXPECT_THAT(errors_, HasSubstr("is the service running?"));
}

TEST_F(Daemon, AKilledOneIsReplaced) {
  StartDaemon("");
  daemon_->Signal(SIGKILL);
  daemon_->Wait();
  StartDaemon("");
  EXPECT_EQ(Ask({"status"}), kOk) << errors_;
}

TEST_F(Daemon, TwoDoNotListenAtOnePlace) {
  StartDaemon("");
  EXPECT_NE(RunWords(Words()), kOk);
  EXPECT_THAT(errors_, HasSubstr("another service listens there"));
  EXPECT_EQ(Ask({"status"}), kOk) << errors_;
}

TEST_F(Daemon, NeverShowsItself) {
  StartDaemon("[record]\nsample = \"0\"\nidle = true\n");
  ASSERT_EQ(Ask({"dump", "-o", Path("a.folded")}), kOk) << errors_;
  EXPECT_NE(ReadFile(Path("a.folded")), "");
  EXPECT_THAT(ReadFile(Path("a.folded")), Not(HasSubstr("offcpud;")));
}

TEST_F(Daemon, ChecksAndPrintsItsConfiguration) {
  WriteConfig("[windows]\nkeep = 7\n");
  EXPECT_EQ(RunWords(Words({"--check-config"})), kOk) << errors_;
  ASSERT_EQ(RunWords(Words({"--print-config"})), kOk) << errors_;
  EXPECT_THAT(output_, HasSubstr("keep = 7\n"));
  EXPECT_THAT(output_, HasSubstr("length = \"1m\"\n"));
  WriteConfig("[windows]\nkeep = 0\n");
  for (const std::vector<std::string>& flags : {std::vector<std::string>{"--check-config"}, {"--print-config"}, {}}) {
    EXPECT_EQ(RunWords(Words(flags)), kBadConfig);
    EXPECT_THAT(errors_, HasSubstr("offcpud.toml:5:8: keep is from 1 to 10000"));
  }
  EXPECT_EQ(RunWords({BinDirectory() + "/offcpud", "--no-such-flag"}), kBadServiceUsage);
  EXPECT_EQ(RunWords({BinDirectory() + "/offcpud", "--config", Path("none"), "--check-config"}), kBadConfig);
}

TEST_F(Daemon, WrongUsageOfTheVerbsIsToldBeforeTheServiceIsAsked) {
  EXPECT_EQ(Ask({"dump", "--since", "5"}), kBadUsage);
  EXPECT_EQ(Ask({"dump", "--since", "1m", "--until", "2m"}), kBadUsage);
  EXPECT_EQ(Ask({"dump", "-o", "a.xyz"}), kBadUsage);
}

}  // namespace
}  // namespace offcpu::integration
