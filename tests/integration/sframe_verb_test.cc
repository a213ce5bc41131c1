// `offcpu sframe`: what it says of files agrees with what readelf counts; processes, errors and exit codes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include "tests/harness/cli.h"

namespace offcpu::integration {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::Not;

constexpr int kOk = 0;
constexpr int kSomeFailed = 1;
constexpr int kBadUsage = 2;

class SFrameVerb : public CliTest {
 protected:
  int Run(std::vector<std::string> words) {
    words.insert(words.begin(), "sframe");
    return CliTest::Run(words);
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
};

// The tables that are checked in; readelf's own words are beside them.
constexpr const char* kFixtures[] = {"default", "flexible", "signal", "plt_ibt", "plt_lazy", "plt_now"};

std::string FixturePath(const std::string& name) {
  return OFFCPU_SOURCE_DIR "/tests/unwind/fixtures/sframe/" + name + ".elf";
}

TEST_F(SFrameVerb, CountsAsReadelfDoes) {
  for (const char* name : kFixtures) ExpectAsReadelf(FixturePath(name), ReadFile(FixturePath(name) + ".readelf"));
}

TEST_F(SFrameVerb, CountsProgramsAsReadelfDoes) {
  for (const char* name : {"raw_all", "raw_mixed", "raw_sframe", "raw_sframe_pie", "raw_signal_sframe"}) {
    ExpectAsReadelf(TargetPath(name),
                    ReadFile(std::string(OFFCPU_SOURCE_DIR "/tests/targets/sframe_fixtures/") + name + ".readelf"));
  }
}

#ifdef OFFCPU_SFRAME_TOOLCHAIN
TEST_F(SFrameVerb, CountsLibcAsReadelfDoes) {
  const std::string readelf = OFFCPU_SFRAME_TOOLCHAIN "/bin/readelf";
  const std::string libc = OFFCPU_SFRAME_TOOLCHAIN "/libc/lib/libc.so.6";
  if (!std::filesystem::exists(libc)) GTEST_SKIP() << "no libc with SFrame (WITH_LIBC=1 scripts/sframe-toolchain)";
  ASSERT_EQ(RunWords({readelf, "--sframe", libc}), kOk) << errors_;
  ExpectAsReadelf(libc, std::string(output_));
}
#endif  // OFFCPU_SFRAME_TOOLCHAIN

// "NUMBER BEGIN SIZE" of each function, and "START" of each row, in hexadecimal without a prefix but for number and
// size.
std::vector<std::string> Lines(const std::string& text, const std::string& function, const std::string& row) {
  std::vector<std::string> found;
  std::istringstream lines(text);
  std::smatch match;
  for (std::string line; std::getline(lines, line);) {
    if (std::regex_search(line, match, std::regex(function))) {
      found.push_back(match.str(1) + " " + match.str(2) + " " + match.str(3));
    } else if (std::regex_search(line, match, std::regex(row))) {
      found.push_back(match.str(1));
    }
  }
  return found;
}

TEST_F(SFrameVerb, DumpsTheFunctionsAndRowsThatReadelfDoes) {
  for (const char* name : kFixtures) {
    EXPECT_EQ(Run({"--dump", FixturePath(name)}), kOk) << errors_;
    const auto dumped = Lines(output_, "^function ([0-9]+): 0x([0-9a-f]+), ([0-9]+) bytes", R"(^  \+?0x([0-9a-f]+) )");
    EXPECT_THAT(dumped, Not(IsEmpty())) << name;
    EXPECT_EQ(dumped,
              Lines(ReadFile(FixturePath(name) + ".readelf"),
                    R"(func idx \[([0-9]+)\]: pc = 0x([0-9a-f]+), size = ([0-9]+) bytes)", "^    0*([0-9a-f]+)  +[^ ]"))
        << name;
  }
}

TEST_F(SFrameVerb, ObjectsOfAProcess) {
  const std::unique_ptr<Target> target = Target::Start({"raw_sframe"});
  ASSERT_NE(target, nullptr);
  EXPECT_EQ(Run({std::to_string(target->pid())}), kOk) << errors_;
  EXPECT_THAT(output_, ContainsRegex("\nV3 +70 .* no +" + TargetPath("raw_sframe") + "\n"));
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
  EXPECT_EQ(Run({"--json", "--dump", TargetPath("raw_sframe")}), kBadUsage);
  EXPECT_EQ(Run({}), kBadUsage);
  EXPECT_THAT(output_, Not(HasSubstr("V3")));
}

TEST_F(SFrameVerb, ABadObjectDoesNotHideTheOthers) {
  std::ofstream(Path("libc.so")) << "/* GNU ld script */\nGROUP ( libc.so.6 )\n";
  const std::vector<std::string> objects = {Path("libc.so"), TargetPath("raw_sframe"), "/no/such/file",
                                            FixturePath("default")};
  EXPECT_EQ(Run(objects), kSomeFailed);
  EXPECT_THAT(errors_, MatchesRegex("offcpu: [^\n]*/libc.so: not an ELF file\noffcpu: /no/such/file: [^\n]*\n"));
  EXPECT_THAT(output_, ContainsRegex("\nV3 [^\n]*/raw_sframe\nV3 [^\n]*/default.elf\n$"));
  EXPECT_EQ(Run({Path("libc.so"), "/no/such/file"}), kBadUsage);
  EXPECT_EQ(output_, "");
  EXPECT_EQ(std::count(errors_.begin(), errors_.end(), '\n'), 2) << errors_;
}

// Every damage there is costs no more than an answer.
TEST_F(SFrameVerb, DamagedFile) {
  const std::string good = ReadFile(TargetPath("raw_sframe"));
  const std::string path = Path("damaged");
  const size_t table = good.find("\xe2\xde\x03\x05");  // magic, version, flags
  ASSERT_NE(table, std::string::npos);
  for (size_t size : {size_t{0}, size_t{63}, size_t{64}, size_t{300}, table, table + 28, table + 1000}) {
    std::ofstream(path, std::ios::binary) << good.substr(0, size);
    const int code = Run({path});
    EXPECT_TRUE(code == kOk || code == kBadUsage) << size << " bytes: " << code << " " << errors_;
    EXPECT_THAT(output_, Not(HasSubstr("V3"))) << size;
  }
  for (size_t at : {3, 4, 8, 16, 20, 24}) {  // flags, ABI, functions, bytes of rows, begins of functions and of rows
    std::string changed = good;
    changed.replace(table + at, 1, "\xff");
    std::ofstream(path, std::ios::binary) << changed;
    EXPECT_EQ(Run({path}), kOk) << at << " " << errors_;
    EXPECT_THAT(output_, HasSubstr("\ndamaged ")) << at;
  }
}

// Nothing is found by the number of rows that the header claims; those that are there are counted.
TEST_F(SFrameVerb, WrongNumberOfRows) {
  std::string bytes = ReadFile(TargetPath("raw_sframe"));
  EXPECT_EQ(Run({"--json", TargetPath("raw_sframe")}), kOk) << errors_;
  const uint64_t rows = Value("rows");
  const size_t table = bytes.find("\xe2\xde\x03\x05");  // magic, version, flags
  ASSERT_NE(table, std::string::npos);
  bytes.replace(table + 12, 1, "\xff");
  std::ofstream(Path("changed"), std::ios::binary) << bytes;
  EXPECT_EQ(Run({"--json", Path("changed")}), kOk) << errors_;
  EXPECT_EQ(Value("rows"), rows);
}

}  // namespace
}  // namespace offcpu::integration
