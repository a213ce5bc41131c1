#include "output/format.h"

#include <string>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/profile/fake_profile.h"

namespace offcpu {
namespace {

using ::testing::HasSubstr;

TEST(FormatTest, TheSuffixNamesTheFormat) {
  EXPECT_EQ(FormatOf("a.folded").value(), OutputFormat::kFolded);
  EXPECT_EQ(FormatOf("/tmp/a.b/c.txt").value(), OutputFormat::kText);
  EXPECT_EQ(FormatOf("a.json.pb.gz").value(), OutputFormat::kPprof);
  EXPECT_EQ(FormatOf("a.txt.json").value(), OutputFormat::kJson);
  EXPECT_EQ(FormatOf("a.otlp").value(), OutputFormat::kOtlp);
  EXPECT_EQ(FormatOf("a.html").value(), OutputFormat::kHtml);
}

TEST(FormatTest, AnUnknownSuffixIsAnErrorThatNamesTheKnownOnes) {
  for (const char* path : {"a.svg", "a", "", "folded", "a.TXT", "a.json.gz", "a.pb", "a.gz", "a.htm"}) {
    absl::Status status = FormatOf(path).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << path;
    EXPECT_THAT(std::string(status.message()), HasSubstr(".folded, .pb.gz, .txt, .json, .otlp, .html"));
    EXPECT_THAT(std::string(status.message()), HasSubstr(path));
  }
}

TEST(FormatTest, EachFormatIsWritten) {
  FakeProfile fake;
  fake.Row(fake.Process(10, "server"), fake.Comm("worker"), fake.User({"main"}), fake.Kernel({"schedule"}), 1000);
  auto written = [&](OutputFormat format) {
    std::string text;
    WriteProfile(format, fake.profile, {}, [&](std::string_view bytes) { text += bytes; });
    return text;
  };
  EXPECT_EQ(written(OutputFormat::kFolded), "server;worker;main;-;schedule_[k] 1\n");
  std::string text = written(OutputFormat::kText);
  EXPECT_THAT(text, HasSubstr("PROCESS"));
  EXPECT_THAT(text, HasSubstr("\n\n#1  1.00 us"));
  EXPECT_THAT(text, HasSubstr("\n\nrecorded "));
  EXPECT_THAT(written(OutputFormat::kPprof), ::testing::StartsWith("\x1f\x8b"));
  EXPECT_THAT(written(OutputFormat::kJson), ::testing::StartsWith("{\"start_unix_ns\":0,"));
  EXPECT_THAT(written(OutputFormat::kHtml), ::testing::StartsWith("<!DOCTYPE html>\n"));
  EXPECT_THAT(written(OutputFormat::kOtlp), ::testing::StartsWith("\x0a"));  // a message, not compressed: its field 1
}

TEST(FormatTest, OptionsReachTheFormats) {
  FakeProfile fake;
  fake.Row(fake.Process(10, "server"), fake.Comm("worker"), fake.User({"main"}), fake.Kernel({"schedule"}), 1000);
  FormatOptions options = {.folded = {.nanoseconds = true}, .text_processes = 0, .text_stacks = 0};
  std::string text;
  auto sink = [&](std::string_view bytes) { text += bytes; };
  WriteProfile(OutputFormat::kFolded, fake.profile, options, sink);
  EXPECT_EQ(text, "server;worker;main;-;schedule_[k] 1000\n");
  text.clear();
  WriteProfile(OutputFormat::kText, fake.profile, options, sink);
  EXPECT_THAT(text, HasSubstr("not shown: 1"));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("#1")));
  text.clear();
  options.frame_sources = true;
  WriteProfile(OutputFormat::kFolded, fake.profile, options, sink);
  EXPECT_EQ(text, "server;worker;main [registers];-;schedule_[k] 1000\n");
}

}  // namespace
}  // namespace offcpu
