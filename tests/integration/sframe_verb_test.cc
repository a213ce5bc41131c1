// `offcpu sframe`: what it says of files agrees with what readelf counts; processes, errors and exit codes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/integration/harness.h"

namespace offcpu::integration {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int kOk = 0;
constexpr int kBadUsage = 2;

std::string ReadFile(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

class SFrameVerb : public testing::Test {
 protected:
  int Run(const std::vector<std::string>& words) {
    std::vector<std::string> all = {BinDirectory() + "/offcpu", "sframe"};
    all.insert(all.end(), words.begin(), words.end());
    const std::unique_ptr<Program> program = Program::Start(all, directory_.path() + "/stderr");
    output_.clear();
    const int code = program->Wait(&output_);
    errors_ = ReadFile(directory_.path() + "/stderr");
    return code;
  }
  // The number behind the key in the JSON of one object.
  uint64_t Value(const std::string& key) const {
    const size_t at = output_.find("\"" + key + "\":");
    EXPECT_NE(at, std::string::npos) << key << " in " << output_;
    return at == std::string::npos ? 0 : std::strtoull(output_.c_str() + at + key.size() + 3, nullptr, 10);
  }
  void ExpectAsReadelf(const std::string& path, const std::string& readelf) {
    const auto count = [&readelf](const std::string& name) {
      const size_t at = readelf.find(name);
      EXPECT_NE(at, std::string::npos) << readelf;
      return at == std::string::npos ? 0 : std::strtoull(readelf.c_str() + at + name.size(), nullptr, 10);
    };
    EXPECT_EQ(Run({"--json", path}), kOk) << errors_;
    EXPECT_THAT(output_, HasSubstr(R"("sframe":"V3")"));
    EXPECT_EQ(Value("functions"), count("Num FDEs: ")) << path;
    EXPECT_EQ(Value("rows"), count("Num FREs: ")) << path;
    EXPECT_EQ(Value("damaged_functions"), 0u) << path;
  }
  void ExpectError(const std::string& object, const std::string& part) {
    EXPECT_EQ(Run({object}), kBadUsage);
    EXPECT_THAT(errors_, HasSubstr(part));
    EXPECT_EQ(std::count(errors_.begin(), errors_.end(), '\n'), 1) << errors_;
    EXPECT_EQ(output_, "");
  }
  static std::string TargetPath(const std::string& name) { return BinDirectory() + "/targets/" + name; }

  TemporaryDirectory directory_;
  std::string output_;
  std::string errors_;
};

// readelf's own words are checked in beside the objects.
TEST_F(SFrameVerb, CountsAsReadelfDoes) {
  for (const char* name : {"default", "flexible", "signal", "plt_ibt", "plt_lazy", "plt_now"}) {
    const std::string path = std::string(OFFCPU_SOURCE_DIR "/tests/unwind/fixtures/sframe/") + name + ".elf";
    ExpectAsReadelf(path, ReadFile(path + ".readelf"));
  }
}

TEST_F(SFrameVerb, CountsLargeTablesAsReadelfDoes) {
  const std::string readelf = OFFCPU_SFRAME_TOOLCHAIN "/bin/readelf";
  if (!std::filesystem::exists(readelf)) GTEST_SKIP() << "SFrame toolchain: not there; see scripts/sframe-toolchain";
  for (const std::string& path :
       {TargetPath("raw_fixture"), TargetPath("raw_all"), std::string(OFFCPU_SFRAME_TOOLCHAIN "/libc/lib/libc.so.6")}) {
    if (!std::filesystem::exists(path)) continue;
    std::string text;
    EXPECT_EQ(Program::Start({readelf, "--sframe", path})->Wait(&text), 0);
    ExpectAsReadelf(path, text);
  }
}

TEST_F(SFrameVerb, DumpNamesEachFunction) {
  EXPECT_EQ(Run({"--dump", TargetPath("raw_fixture")}), kOk) << errors_;
  size_t functions = 0;
  std::istringstream lines(output_);
  for (std::string line; std::getline(lines, line);) functions += line.rfind("function ", 0) == 0 ? 1 : 0;
  EXPECT_EQ(Run({"--json", TargetPath("raw_fixture")}), kOk);
  EXPECT_EQ(functions, Value("functions"));
}

TEST_F(SFrameVerb, ObjectsOfAProcess) {
  const std::unique_ptr<Target> target = Target::Start({"raw_fixture"});
  ASSERT_NE(target, nullptr);
  EXPECT_EQ(Run({std::to_string(target->pid())}), kOk) << errors_;
  EXPECT_THAT(output_, ContainsRegex("\nV3 +70 .* no +" + TargetPath("raw_fixture") + "\n"));
  EXPECT_THAT(output_, ContainsRegex("\nnone .* yes +\\[vdso\\]\n"));
  EXPECT_EQ(Run({std::to_string(getpid())}), kOk) << errors_;
  EXPECT_THAT(output_, ContainsRegex("\nnone .* yes +[^\n]*/libc.so.6\n"));
}

TEST_F(SFrameVerb, ErrorsAreOneLine) {
  ExpectError("/no/such/file", "/no/such/file");
  ExpectError("/dev/zero", "not a file");
  ExpectError(directory_.path(), "not a file");
  ExpectError(OFFCPU_SOURCE_DIR "/README.md", "not an ELF file");
  ExpectError("4194304", "4194304");
  EXPECT_EQ(Run({"--json", "--dump", TargetPath("raw_fixture")}), kBadUsage);
  EXPECT_EQ(Run({}), kBadUsage);
  EXPECT_THAT(output_, Not(HasSubstr("V3")));
}

// Every damage there is costs no more than an answer.
TEST_F(SFrameVerb, DamagedFile) {
  const std::string good = ReadFile(TargetPath("raw_fixture"));
  const std::string path = directory_.path() + "/damaged";
  const size_t table = good.find("\xe2\xde\x03\x05");  // magic, version, flags
  ASSERT_NE(table, std::string::npos);
  for (size_t size : {size_t{0}, size_t{63}, size_t{64}, size_t{300}, table, table + 28, table + 1000}) {
    std::ofstream(path, std::ios::binary) << good.substr(0, size);
    const int code = Run({path});
    EXPECT_TRUE(code == kOk || code == kBadUsage) << size << " bytes: " << code << " " << errors_;
    EXPECT_THAT(output_, Not(HasSubstr("V3"))) << size;
  }
  for (size_t at : {3, 4, 8, 12, 16, 20, 24}) {
    std::string changed = good;
    changed.replace(table + at, 1, "\xff");
    std::ofstream(path, std::ios::binary) << changed;
    EXPECT_EQ(Run({path}), kOk) << at << " " << errors_;
  }
}

}  // namespace
}  // namespace offcpu::integration
