// The commands of README for a service that is slow, pasted into a shell as they are, but for shorter recordings.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "tests/harness/cli.h"

namespace offcpu::integration {
namespace {

using ::testing::HasSubstr;

constexpr char kReadme[] = OFFCPU_SOURCE_DIR "/README.md";

// Lines of code blocks that begin with the word, and the command of the recipe's second step.
std::vector<std::string> Commands(const std::string& word) {
  std::istringstream lines(ReadFile(kReadme));
  std::vector<std::string> commands;
  bool is_code = false;
  const std::regex in_text("`(" + word + " record [^`]*)`");
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (line.starts_with("```")) is_code = !is_code;
    if (is_code && line.starts_with(word + " ")) commands.push_back(line);
    if (!is_code && std::regex_search(line, match, in_text)) commands.push_back(match[1]);
  }
  return commands;
}

class Readme : public CliTest {
 protected:
  // Runs a line of README with the variables that README sets before it.
  int Paste(const std::string& line) {
    const std::string set = "cd " + directory_.path() + "; PATH=" + BinDirectory() + ":$PATH NAME=offcpu-demo\n";
    return RunWords({"bash", "-c", set + line});
  }
};

TEST_F(Readme, WhatIsTypedForAServiceThatIsSlowCanBePasted) {
  const std::unique_ptr<Program> demo = Program::Start({BinDirectory() + "/offcpu-demo"}, Path("demo"));
  const std::regex seconds(" 10( |$)");
  const std::regex others("docker|ssh\\.service");  // that a host may not have
  size_t run = 0;
  for (const std::string& command : Commands("offcpu")) {
    if (std::regex_search(command, others)) continue;
    ++run;
    EXPECT_EQ(Paste(std::regex_replace(command, seconds, " 1$1")), 0) << command << "\n" << errors_;
  }
  EXPECT_EQ(run, 8u);
  for (const char* file : {"waits.html", "diff.html"}) EXPECT_THAT(ReadFile(Path(file)), HasSubstr("</html>")) << file;
  EXPECT_EQ(Paste("offcpu report before.pb.gz"), 0) << errors_;
  EXPECT_THAT(output_, HasSubstr("WriteLog")) << "what README's stack shows";
  EXPECT_EQ(Paste("offcpu sframe \"$(pgrep -n \"$NAME\")\""), 0) << errors_;
}

// In namespaces of its own, where no other service answers.
TEST_F(Readme, WhatIsAskedOfTheServiceCanBePasted) {
  std::string asked;
  for (const std::string& command : Commands("build/bin/offcpu")) asked += command + " >>out || exit 1\n";
  ASSERT_THAT(asked, HasSubstr("build/bin/offcpu status"));
  const std::string script = "mount -t tmpfs none /run && mkdir build && ln -s " + BinDirectory() +
                             " build/bin || exit 1\n"
                             "build/bin/offcpud 2>log &\n"
                             "trap 'kill %1; wait' EXIT\n"
                             "until grep recording log; do kill -0 %1 || exit 1; sleep 0.1; done\n" +
                             asked;
  EXPECT_EQ(RunWords({"unshare", "-m", "bash", "-c", "cd " + directory_.path() + "; " + script}), 0)
      << errors_ << ReadFile(Path("log"));
  EXPECT_THAT(ReadFile(Path("waits.html")), HasSubstr("</html>"));
}

}  // namespace
}  // namespace offcpu::integration
