// Tests of the command line program: its runs, with what they print and leave.
#ifndef OFFCPU_TESTS_HARNESS_CLI_H_
#define OFFCPU_TESTS_HARNESS_CLI_H_

#include <gtest/gtest.h>
#include <sys/types.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include "tests/harness/harness.h"

namespace offcpu::integration {

inline std::string ReadFile(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// Waits until it has blocked SIGINT and started its threads: it records, or is about to.
inline void AwaitRecording(pid_t pid) {
  const std::string process = "/proc/" + std::to_string(pid);
  const auto threads = [&] {
    std::error_code error;
    return std::distance(std::filesystem::directory_iterator(process + "/task", error),
                         std::filesystem::directory_iterator());
  };
  for (int i = 0; i < 3000 && threads() < 2; ++i) usleep(10'000);
  EXPECT_GE(threads(), 2);
}

class CliTest : public testing::Test {
 protected:
  std::string Path(const std::string& name) const { return directory_.path() + "/" + name; }

  std::unique_ptr<Program> Start(const std::vector<std::string>& words) {
    return Program::Start(words, Path("stderr"));
  }

  // Runs a program to its end.
  int RunWords(const std::vector<std::string>& words) {
    const std::unique_ptr<Program> program = Start(words);
    output_.clear();
    const int code = program->Wait(&output_);
    errors_ = ReadFile(Path("stderr"));
    return code;
  }

  // Runs offcpu with the words, after the words of `before`.
  int Run(const std::vector<std::string>& words, std::vector<std::string> before = {}) {
    before.push_back(BinDirectory() + "/offcpu");
    before.insert(before.end(), words.begin(), words.end());
    return RunWords(before);
  }

  static std::unique_ptr<Target> StartedTarget(const std::vector<std::string>& words) {
    std::unique_ptr<Target> target = Target::Start(words);
    if (target != nullptr) target->Go();
    return target;
  }

  TemporaryDirectory directory_;
  std::string output_;
  std::string errors_;
};

}  // namespace offcpu::integration

#endif  // OFFCPU_TESTS_HARNESS_CLI_H_
