// A frame in several functions, in every format: what was inlined is a function of the stack like any other.
#include <string>

#include "classify/idle_match.h"
#include "classify/idle_patterns.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "labels/profile_filter.h"
#include "perftools/profile.pb.h"
#include "pprof/pprof_reader.h"
#include "tests/output/written.h"
#include "tests/profile/frame_lines.h"
#include "tests/profile/recorded_profile.h"

namespace offcpu {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// A reader whose caller, loop, has next and in it fill inlined.
RecordedProfile WithInlined() {
  RecordedProfile one = RecordedProfile::OneReader();
  one.profile.user_stacks[0].frames[1].lines =
      Lines({{"fill", "buffer.h", 7}, {"next", "buffer.h", 21}, {"loop", "app.cc", 120}});
  return one;
}

TEST(InlinedTest, FoldedStacksHaveAFrameForEachFunction) {
  EXPECT_THAT(Written(OutputFormat::kFolded, WithInlined().profile, {}),
              HasSubstr("app+0x3006;loop;next;fill;read;-;"));
}

TEST(InlinedTest, SourcesAreThoseOfTheFrame) {
  EXPECT_THAT(Written(OutputFormat::kFolded, WithInlined().profile, {.frame_sources = true}),
              HasSubstr(";loop [eh_frame];next;fill;read [registers];"));
}

TEST(InlinedTest, JsonHasThePlaceOfEachFunction) {
  EXPECT_THAT(Written(OutputFormat::kJson, WithInlined().profile),
              HasSubstr(R"("name":"loop","file":"app.cc","line":120,"inlined":[)"
                        R"({"name":"fill","file":"buffer.h","line":7},{"name":"next","file":"buffer.h","line":21}],)"));
}

TEST(InlinedTest, PprofHasOneLocationOfSeveralLines) {
  const std::string bytes = Written(OutputFormat::kPprof, WithInlined().profile);
  const absl::StatusOr<NamedProfile> stored = ParsePprof(bytes);
  ASSERT_TRUE(stored.ok()) << stored.status();
  const NamedFrame& frame = stored->user_stacks[0].frames[1];
  ASSERT_EQ(frame.lines.size(), 3u);
  EXPECT_EQ(frame.lines[0], (FrameLine{"fill", "buffer.h", 7}));
  EXPECT_EQ(frame.lines[1], (FrameLine{"next", "buffer.h", 21}));
  EXPECT_EQ(frame.lines[2], (FrameLine{"loop", "app.cc", 120}));
  for (const OutputFormat format : {OutputFormat::kFolded, OutputFormat::kText, OutputFormat::kJson,
                                    OutputFormat::kPprof, OutputFormat::kHtml, OutputFormat::kOtlp}) {
    EXPECT_EQ(Written(format, *stored), Written(format, WithInlined().profile));
  }
}

// pipe_read has file_inode inlined.
RecordedProfile WithInlinedInKernel() {
  RecordedProfile one = RecordedProfile::OneReader();
  one.profile.kernel_stacks[0].frames[1].lines = Lines({{"file_inode", "fs.h", 1370}, {"pipe_read", "fs/pipe.c", 268}});
  return one;
}

// By their names, stacks compare with those of a kernel without debug information.
TEST(InlinedTest, WhereStacksAreNamesTheKernelsFunctionsAreThoseOfItsSymbols) {
  const NamedProfile profile = WithInlinedInKernel().profile;
  const NamedProfile plain = RecordedProfile::OneReader().profile;
  for (const bool places : {false, true}) {
    EXPECT_EQ(Written(OutputFormat::kFolded, profile, {.places = places}),
              Written(OutputFormat::kFolded, plain, {.places = places}));
    EXPECT_EQ(Written(OutputFormat::kText, profile, {.places = places}),
              Written(OutputFormat::kText, plain, {.places = places}));
  }
}

TEST(InlinedTest, JsonHasThePlacesOfTheKernelBesideItsFunctions) {
  EXPECT_THAT(Written(OutputFormat::kJson, WithInlinedInKernel().profile),
              HasSubstr(R"("kernel":["schedule","pipe_read"],"kernel_lines":[{},{"file":"fs/pipe.c","line":268,)"
                        R"("inlined":[{"name":"file_inode","file":"fs.h","line":1370}]}])"));
  EXPECT_THAT(Written(OutputFormat::kJson, WithInlined().profile), Not(HasSubstr("kernel_lines")));
}

TEST(InlinedTest, PprofHasThemInTheKernelToo) {
  const std::string bytes = Written(OutputFormat::kPprof, WithInlinedInKernel().profile);
  const absl::StatusOr<NamedProfile> stored = ParsePprof(bytes);
  ASSERT_TRUE(stored.ok()) << stored.status();
  const NamedFrame& frame = stored->kernel_stacks[0].frames[1];
  ASSERT_EQ(frame.lines.size(), 2u);
  EXPECT_EQ(frame.lines[0], (FrameLine{"file_inode", "fs.h", 1370}));
  EXPECT_EQ(frame.lines[1], (FrameLine{"pipe_read", "fs/pipe.c", 268}));
}

TEST(InlinedTest, PatternsAndFiltersSeeThem) {
  NamedProfile profile = WithInlined().profile;
  profile.rows[0].kind = WaitKind::kSleeping;
  IdlePatterns patterns;
  ASSERT_TRUE(AddIdlePatterns("[pool]\nsyscall = read\ncause = pipe\nstack = next; fill; read\n", "f", &patterns).ok());
  MarkIdle(patterns, &profile);
  EXPECT_EQ(profile.rows[0].idle, "") << "what a wait is depends on the debug information that there is";
  for (NamedFrame& frame : profile.user_stacks[0].frames) frame.kind = FrameKind::kGenerated;
  MarkIdle(patterns, &profile);
  EXPECT_EQ(profile.rows[0].idle, "pool");

  KeepRows({.focus = {*FramePattern::Parse("^fill$")}}, &profile);
  EXPECT_EQ(profile.rows.size(), 1u);
  KeepRows({.ignore = {*FramePattern::Parse("^next$")}}, &profile);
  EXPECT_TRUE(profile.rows.empty());
}

}  // namespace
}  // namespace offcpu
