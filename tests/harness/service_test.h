// Tests of the service as it is run: offcpud with a configuration, asked by offcpu over its control socket.
#ifndef OFFCPU_TESTS_HARNESS_SERVICE_TEST_H_
#define OFFCPU_TESTS_HARNESS_SERVICE_TEST_H_

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/harness/cli.h"

namespace offcpu::integration {

class ServiceTest : public CliTest {
 protected:
  std::string Socket() const { return Path("control.sock"); }

  static std::string HttpSection(int port) { return "[http]\nlisten = \"127.0.0.1:" + std::to_string(port) + "\"\n"; }

  // `control`: further lines of that section.
  void WriteConfig(const std::string& more, const std::string& control = "") {
    std::ofstream(Path("offcpud.toml")) << "[control]\nsocket = \"" << Socket() << "\"\ngroup = \"\"\n"
                                        << control << more;
  }

  std::vector<std::string> Words(const std::vector<std::string>& flags = {}) const {
    std::vector<std::string> words = {BinDirectory() + "/offcpud", "--config", Path("offcpud.toml")};
    words.insert(words.end(), flags.begin(), flags.end());
    return words;
  }

  // Starts it, and returns when it records.
  void StartDaemon(const std::string& config, const std::string& control = "") {
    WriteConfig(config, control);
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

  std::unique_ptr<Program> daemon_;
};

}  // namespace offcpu::integration

#endif  // OFFCPU_TESTS_HARNESS_SERVICE_TEST_H_
