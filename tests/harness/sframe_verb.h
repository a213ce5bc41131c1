// Tests of `offcpu sframe`: its runs, and its counts beside those of readelf.
#ifndef OFFCPU_TESTS_HARNESS_SFRAME_VERB_H_
#define OFFCPU_TESTS_HARNESS_SFRAME_VERB_H_

#include <gmock/gmock.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "tests/harness/cli.h"

namespace offcpu::integration {

class SFrameVerbRuns : public CliTest {
 protected:
  int Run(std::vector<std::string> words) {
    words.insert(words.begin(), "sframe");
    return CliTest::Run(words);
  }
  // The number behind the key in the JSON of one object.
  uint64_t Value(const std::string& key) const { return NumberBehind("\"" + key + "\":", output_); }

  // `readelf`: what it says of the tables of the file.
  void ExpectAsReadelf(const std::string& path, const std::string& readelf) {
    EXPECT_EQ(Run({"--json", path}), 0) << errors_;
    EXPECT_THAT(output_, testing::HasSubstr(R"("sframe":"V3")"));
    EXPECT_EQ(Value("functions"), NumberBehind("Num FDEs: ", readelf)) << path;
    EXPECT_EQ(Value("rows"), NumberBehind("Num FREs: ", readelf)) << path;
    EXPECT_EQ(Value("damaged_functions"), 0u) << path;
  }

 private:
  static uint64_t NumberBehind(const std::string& name, const std::string& text) {
    const size_t at = text.find(name);
    EXPECT_NE(at, std::string::npos) << name << " in " << text;
    return at == std::string::npos ? 0 : std::strtoull(text.c_str() + at + name.size(), nullptr, 10);
  }
};

}  // namespace offcpu::integration

#endif  // OFFCPU_TESTS_HARNESS_SFRAME_VERB_H_
