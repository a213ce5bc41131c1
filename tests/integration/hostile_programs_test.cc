// A process that cannot be read stops nothing: others are recorded as ever, its own time is kept, and the trouble has a
// name among the losses. One with a hostile name breaks no format.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "tests/harness/cli.h"

namespace offcpu::integration {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct HostileProgram {
  std::string name;
  std::vector<std::string> words;
  std::string loss;  // a part of its name
};

void PrintTo(const HostileProgram& program, std::ostream* out) { *out << program.name; }

class HostilePrograms : public testing::TestWithParam<HostileProgram> {};

TEST_P(HostilePrograms, StopNothing) {
  const std::unique_ptr<Target> target = Target::Start(GetParam().words);
  ASSERT_NE(target, nullptr);
  const Recording recording = Record(Unthrottled({target->pid(), target->Detail("normal")}), *target);
  const auto is_normal = [](const StackRow& row) { return row.complete() && row.Has("normal_wait"); };
  EXPECT_GT(recording.Sum(is_normal).count, 0u) << recording.LossesText();
  const Measure kept = recording.Sum([](const StackRow& row) {
    return row.comm == "hostile_thread" && row.row->kind != WaitKind::kOpen && row.HasInKernel("hrtimer_nanosleep");
  });
  EXPECT_GE(kept.ns, target->Measured("hostile_thread", "hostile_wait").ns / 2) << recording.LossesText();
  const std::vector<Loss>& losses = recording.profile.stats.losses;
  EXPECT_TRUE(std::any_of(losses.begin(), losses.end(), [](const Loss& loss) {
    return loss.count > 0 && loss.reason.find(GetParam().loss) != std::string::npos;
  })) << recording.LossesText();
}

INSTANTIATE_TEST_SUITE_P(Of, HostilePrograms,
                         testing::Values(HostileProgram{"fault", {"hostile", "uffd", "--seconds", "1"}, "stuck"},
                                         HostileProgram{
                                             "truncated", {"hostile", "truncated", "--seconds", "1"}, "unreadable"}),
                         [](const testing::TestParamInfo<HostileProgram>& program) { return program.param.name; });

class HostileNames : public CliTest {};

TEST_F(HostileNames, BreakNoFormat) {
  std::filesystem::create_directory(Path("d"));
  std::filesystem::path program = Path("d");
  program /= "x;\n<\"\\";
  std::filesystem::copy_file("/bin/sleep", program);
  std::vector<std::string> words = {"record", "--time-unit", "ns"};
  for (const char* suffix : {"pb.gz", "folded", "txt", "json", "html", "otlp"})
    words.insert(words.end(), {"-o", Path(std::string("out.") + suffix)});
  words.insert(words.end(), {"--", program.string(), "0.2"});
  ASSERT_EQ(Run(words), 0) << errors_;
  EXPECT_THAT(output_, Not(HasSubstr("x;\n<"))) << "a name is one line";
  std::istringstream lines(ReadFile(Path("out.folded")));
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    EXPECT_NE(line.rfind(' '), std::string::npos) << line;
    EXPECT_THAT(line, HasSubstr(";-;")) << "a stack of the kernel";
  }
  EXPECT_GT(count, 0);
  const std::string json = ReadFile(Path("out.json"));
  EXPECT_TRUE(std::none_of(json.begin(), json.end(), [](unsigned char c) { return c < ' ' && c != '\n'; }));
  EXPECT_THAT(json, HasSubstr(R"(x;\u000a<\"\\)"));
  EXPECT_THAT(ReadFile(Path("out.html")), Not(HasSubstr("<\"\\")));
  ASSERT_EQ(Run({"report", Path("out.pb.gz"), "--time-unit", "ns", "-o", Path("again.folded")}), 0) << errors_;
  EXPECT_EQ(ReadFile(Path("again.folded")), ReadFile(Path("out.folded")));
}

}  // namespace
}  // namespace offcpu::integration
