// The JSON of the verbs is JSON, as another program says.
#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "tests/harness/cli.h"

namespace offcpu::integration {
namespace {

constexpr int kOk = 0;

class Verbs : public CliTest {
 protected:
  // Another program reads it.
  void ExpectJson(const std::string& path) {
    EXPECT_EQ(RunWords({"python3", "-m", "json.tool", path, "/dev/null"}), kOk) << path << ": " << errors_;
  }
  void ExpectJsonOutput(const std::vector<std::string>& words) {
    EXPECT_EQ(Run(words), kOk) << words[0] << ": " << errors_;
    std::ofstream(Path("output.json")) << output_;
    ExpectJson(Path("output.json"));
  }
};

TEST_F(Verbs, JsonIsJson) {
  if (RunWords({"sh", "-c", "command -v python3"}) != kOk) GTEST_SKIP() << "python3: not there";
  const std::unique_ptr<Target> target = StartedTarget({"waits", "--seconds", "20"});
  ASSERT_NE(target, nullptr);
  const std::string pid = std::to_string(target->pid());
  ExpectJsonOutput({"stacks", "--json", pid});
  ExpectJsonOutput({"top", "--json", "-n", "1", "--interval", "500ms", "-p", pid});
  ExpectJsonOutput({"doctor", "--json"});
  ExpectJsonOutput({"sframe", "--json", pid});
  EXPECT_EQ(Run({"record", "-p", pid, "-o", Path("out.json"), "0.5"}), kOk) << errors_;
  ExpectJson(Path("out.json"));
}

}  // namespace
}  // namespace offcpu::integration
