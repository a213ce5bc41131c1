// `offcpu sframe`: what it says of files agrees with what readelf counts; processes, errors and exit codes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <regex>
#include <sstream>

#include "tests/harness/sframe_verb.h"

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

class SFrameVerb : public SFrameVerbRuns {
 protected:
  void ExpectError(const std::string& object, const std::string& part) {
    EXPECT_EQ(Run({object}), kBadUsage);
    EXPECT_THAT(errors_, HasSubstr(part));
    EXPECT_EQ(std::count(errors_.begin(), errors_.end(), '\n'), 1) << errors_;
    EXPECT_EQ(output_, "");
  }
};

std::string FixturePath(const std::string& name) {
  return OFFCPU_SOURCE_DIR "/tests/unwind/fixtures/sframe/" + name + ".elf";
}
std::string ProgramPath(const std::string& name) { return OFFCPU_SOURCE_DIR "/tests/targets/sframe_fixtures/" + name; }
std::string TargetPath(const std::string& name) { return BinDirectory() + "/targets/" + name; }

// What is checked in with tables; what readelf says of them is beside each.
std::vector<std::string> WithTables() {
  std::vector<std::string> paths;
  for (const char* name : {"default", "flexible", "signal", "plt_ibt", "plt_lazy", "plt_now", "cpp"})
    paths.push_back(FixturePath(name));
  for (const char* name :
       {"raw_all", "raw_mixed", "raw_sframe", "raw_sframe_pie", "raw_signal_sframe", "stepped_sframe"})
    paths.push_back(ProgramPath(name));
  return paths;
}

TEST_F(SFrameVerb, CountsAsReadelfDoes) {
  for (const std::string& path : WithTables()) ExpectAsReadelf(path, ReadFile(path + ".readelf"));
}

// "NUMBER BEGIN SIZE" of each function, and "START" of each row, in hexadecimal without a prefix but for number and
// size.
std::vector<std::string> Lines(const std::string& text, const std::regex& function, const std::regex& row) {
  std::vector<std::string> found;
  std::istringstream lines(text);
  std::smatch match;
  for (std::string line; std::getline(lines, line);) {
    if (std::regex_search(line, match, function)) {
      found.push_back(match.str(1) + " " + match.str(2) + " " + match.str(3));
    } else if (std::regex_search(line, match, row)) {
      found.push_back(match.str(1));
    }
  }
  return found;
}

TEST_F(SFrameVerb, DumpsTheFunctionsAndRowsThatReadelfDoes) {
  const std::regex function("^function ([0-9]+): 0x([0-9a-f]+), ([0-9]+) bytes");
  const std::regex row(R"(^  \+?0x([0-9a-f]+) )");
  const std::regex readelf_function(R"(^ *func idx \[([0-9]+)\]: pc = 0x([0-9a-f]+), size = ([0-9]+) bytes)");
  const std::regex readelf_row("^    0*([0-9a-f]+)  +[^ ]");
  for (const std::string& path : WithTables()) {
    EXPECT_EQ(Run({"--dump", path}), kOk) << errors_;
    const auto dumped = Lines(output_, function, row);
    EXPECT_THAT(dumped, Not(IsEmpty())) << path;
    EXPECT_EQ(dumped, Lines(ReadFile(path + ".readelf"), readelf_function, readelf_row)) << path;
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
    EXPECT_THAT(output_, Not(HasSubstr("\nV3"))) << size;
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
