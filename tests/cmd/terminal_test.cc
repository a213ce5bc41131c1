// What `offcpu report` prints on a terminal of 80 columns, and elsewhere. Nothing is recorded.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "output/format.h"
#include "tests/harness/terminal.h"
#include "tests/profile/fake_profile.h"

namespace offcpu {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

class TerminalTest : public ::testing::Test {
 protected:
  // Sixteen backends of one server in a pod at one deep stack of long names, and most of their time hidden.
  TerminalTest() {
    std::filesystem::create_directory(directory_);
    FakeProfile fake;
    const uint32_t comm = fake.Comm("postgres");
    const uint32_t kernel = fake.Kernel({"schedule", "do_semtimedop"});
    std::vector<std::string_view> names;
    for (const std::string& name : names_) names.push_back(name);
    for (int32_t i = 0; i < 16; ++i) {
      const uint32_t process = fake.Process(1000 + i, "postgres");
      fake.profile.processes[process].container = kContainer;
      fake.profile.processes[process].executable = "/opt/" + std::string(60, 'x') + "/bin/postgres";
      fake.Row(process, comm, fake.User(names), kernel, 1'000'000);
      fake.Row(process, comm, fake.User({"epoll_wait", "WaitEventSetWait"}), kernel, 900'000'000);
    }
    fake.profile.control_groups = {std::string("/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod") +
                                   "1b2c3d4e_0000_4111_8222_333344445555.slice/cri-containerd-" + kContainer +
                                   ".scope"};
    for (NamedRow& row : fake.profile.rows) row.control_group = 1;
    std::vector<std::string_view> idle;
    for (int i = 0; i < 16; ++i)
      idle.insert(idle.end(), {"", "postgres: backend waits for the next command of a client"});
    fake.Idle(idle);
    fake.profile.duration_ns = 1'000'000'000;
    std::ofstream file(path_, std::ios::binary);
    WriteProfile(OutputFormat::kPprof, fake.profile, {}, [&](std::string_view piece) { file << piece; });
  }
  ~TerminalTest() override { std::filesystem::remove_all(directory_); }

  static std::vector<std::string> Lines(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) {
      if (line.ends_with('\r')) line.pop_back();  // the terminal's
      lines.push_back(line);
    }
    return lines;
  }
  std::string OnTerminal(std::vector<std::string> words) const {
    words.insert(words.begin(), {OFFCPU_BIN_DIR "/offcpu", "report", path_});
    const auto terminal = integration::Terminal::Start(words);
    int code = -1;
    const std::string text = terminal == nullptr ? "" : terminal->ReadToEnd(&code);
    EXPECT_EQ(code, 0) << text;
    return text;
  }

  static constexpr char kContainer[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
  const std::string directory_ = std::filesystem::temp_directory_path() / ("terminal_test-" + std::to_string(getpid()));
  const std::string path_ = directory_ + "/a.pb.gz";
  std::vector<std::string> names_ = [] {
    std::vector<std::string> names = {"semop"};
    for (int i = 0; i < 40; ++i)
      names.push_back("namespace_of_" + std::string(80, 'x') + "::Function" + std::to_string(i));
    return names;
  }();
};

TEST_F(TerminalTest, LinesFitAndSixteenBackendsAreOneRow) {
  const std::string text = OnTerminal({});
  size_t rows = 0;
  for (const std::string& line : Lines(text)) {
    EXPECT_LE(line.size(), 80u) << line;
    rows += line.starts_with("postgres ") ? 1 : 0;
  }
  EXPECT_EQ(rows, 1u) << text;
  EXPECT_THAT(text, HasSubstr("postgres         16 procs    16.0 ms       0 ns  semaphore    semop < "));
  EXPECT_THAT(text, HasSubstr("\r\n    postgres (16 processes), thread postgres: semaphore\r\n"))
      << "below its figures";
  EXPECT_THAT(text, HasSubstr("... 29 more ..."));
  EXPECT_THAT(text, HasSubstr("xx::Function0\r\n        semop\r\n"));
  EXPECT_THAT(text, HasSubstr("99.9 % waiting for work, hidden"));
}

TEST_F(TerminalTest, ByEveryKindOfTable) {
  for (const char* by : {"process", "command", "thread", "cause", "syscall", "container", "unit", "cgroup", "pod",
                         "exe", "pid", "image", "tid", "comm", "kind", "idle"}) {
    SCOPED_TRACE(by);
    const std::string text = OnTerminal({"--by", by, "--idle=show", "--verbose"});
    for (const std::string& line : Lines(text)) EXPECT_LE(line.size(), 80u) << line;
    EXPECT_THAT(text, Not(HasSubstr("not shown"))) << text;
  }
  // Long names keep their ends: what is cut can be copied, since a container is found by the beginning of its id.
  EXPECT_THAT(OnTerminal({"--by", "container"}), HasSubstr("  0123456789abcdef01..ef0123456789abcdef\r\n"));
  EXPECT_THAT(OnTerminal({"--by", "cgroup"}), HasSubstr("  /kubepods.slice/ku..456789abcdef.scope\r\n"));
  EXPECT_THAT(OnTerminal({"--by", "pod"}), HasSubstr("  1b2c3d4e-0000-4111-8222-333344445555\r\n"));
  EXPECT_THAT(OnTerminal({"--by", "process", "--verbose"}), HasSubstr("\npostgres             1015 "));
  EXPECT_THAT(OnTerminal({"--by", "thread"}), HasSubstr("  THREAD\r\n100.0 %"));
}

// What stays on the screen is the end.
TEST_F(TerminalTest, EndsWithAShortSummaryUnlessAllIsAskedFor) {
  EXPECT_THAT(OnTerminal({}),
              EndsWith("lost          nothing\r\n"
                       "more          --verbose: all counters, and which unwind tables are missing\r\n"));
  EXPECT_THAT(OnTerminal({}), Not(HasSubstr("user walks")));
  const std::string all = OnTerminal({"--verbose"});
  EXPECT_THAT(all, HasSubstr("\r\nuser walks "));
  EXPECT_THAT(all, Not(HasSubstr("\r\nmore  ")));
}

TEST_F(TerminalTest, ElsewhereNothingIsCut) {
  const std::string command = OFFCPU_BIN_DIR "/offcpu report " + path_;
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  ASSERT_NE(pipe, nullptr);
  std::string text;
  std::array<char, 4096> piece;
  for (size_t n = 0; (n = fread(piece.data(), 1, piece.size(), pipe.get())) > 0;) text.append(piece.data(), n);
  for (const std::string& name : names_) EXPECT_THAT(text, HasSubstr("        " + name + "\n"));
  EXPECT_THAT(text, HasSubstr("longest 1.00 ms  postgres (16 processes), thread postgres: semaphore\n"));
}

}  // namespace
}  // namespace offcpu
