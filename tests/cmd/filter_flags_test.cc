#include "offcpu/filter_flags.h"

#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace offcpu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// As --only has it.
std::vector<std::string> Labels(const FilterFlags& flags) {
  const absl::StatusOr<ProfileFilter> filter = FilterOf(flags);
  EXPECT_TRUE(filter.ok()) << filter.status();
  std::vector<std::string> texts;
  for (const LabelFilter& label : filter->labels)
    texts.push_back(std::string(InfoOf(label.label).name) + "=" + label.pattern);
  return texts;
}

std::string Error(const FilterFlags& flags) {
  const absl::Status status = FilterOf(flags).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  return std::string(status.message());
}

TEST(FilterFlagsTest, NoneIsEverything) {
  EXPECT_THAT(Labels({}), IsEmpty());
  EXPECT_TRUE(FilterOf({})->is_everything());
}

TEST(FilterFlagsTest, EachIsAShortFormOfALabel) {
  EXPECT_THAT(Labels({.pids = {7, 8}}), ElementsAre("pid=7", "pid=8"));
  EXPECT_THAT(Labels({.comms = {"nginx*"}}), ElementsAre("comm=nginx*"));
  EXPECT_THAT(Labels({.causes = {"block*"}}), ElementsAre("cause=block*"));
  EXPECT_THAT(Labels({.only = {"exe=/bin/a", "pid=1?"}}), ElementsAre("exe=/bin/a", "pid=1?"));
  EXPECT_THAT(Labels({.only = {"cause=block io"}}), ElementsAre("cause=block I/O")) << "as --cause has it";
}

TEST(FilterFlagsTest, AContainerByItsFirstDigits) {
  const std::string id(64, 'a');
  EXPECT_THAT(Labels({.containers = {"3f5c0b1e", "3f*1e", id}}),
              ElementsAre("container=3f5c0b1e*", "container=3f*1e", "container=" + id));
}

TEST(FilterFlagsTest, AUnitWithoutADotIsAService) {
  EXPECT_THAT(Labels({.units = {"nginx", "user.slice", "nginx*"}}),
              ElementsAre("unit=nginx.service", "unit=user.slice", "unit=nginx*"));
}

TEST(FilterFlagsTest, AControlGroupAndThoseBelowIt) {
  EXPECT_THAT(Labels({.cgroups = {"/system.slice"}}), ElementsAre("cgroup=/system.slice", "cgroup=/system.slice/*"));
  EXPECT_THAT(Labels({.cgroups = {"system.slice/"}}), ElementsAre("cgroup=/system.slice", "cgroup=/system.slice/*"));
  EXPECT_THAT(Labels({.cgroups = {"/sys/fs/cgroup/a/b"}}), ElementsAre("cgroup=/a/b", "cgroup=/a/b/*"));
  EXPECT_THAT(Labels({.cgroups = {"/"}}), ElementsAre("cgroup=/", "cgroup=/*"));
}

TEST(FilterFlagsTest, PatternsOfFrames) {
  const ProfileFilter filter = *FilterOf({.focus = {"^a", "b"}, .ignore = {"c"}});
  ASSERT_EQ(filter.focus.size(), 2u);
  ASSERT_EQ(filter.ignore.size(), 1u);
  EXPECT_TRUE(filter.focus[0].IsIn("ax"));
  EXPECT_FALSE(filter.focus[0].IsIn("xa"));
  EXPECT_TRUE(filter.focus[1].IsIn("xb"));
  EXPECT_TRUE(filter.ignore[0].IsIn("c"));
}

TEST(FilterFlagsTest, WhatNoRowCanHaveIsRefused) {
  EXPECT_THAT(Error({.causes = {"locks"}}),
              HasSubstr("no cause is called 'locks' (did you mean lock?); the causes are lock, sleep, block I/O"));
  EXPECT_THAT(Error({.only = {"lock"}}), HasSubstr("LABEL=PATTERN"));
  EXPECT_THAT(Error({.only = {"cause=loock"}}), HasSubstr("no cause is called 'loock' (did you mean lock?); "));
  EXPECT_THAT(Error({.causes = {"blockade"}}), HasSubstr("no cause is called 'blockade'; "));
  EXPECT_THAT(Error({.focus = {"("}}), HasSubstr("--focus: '(' is not a regular expression: "));
  EXPECT_THAT(Error({.ignore = {"["}}), HasSubstr("--ignore: '[' is not a regular expression: "));
}

}  // namespace
}  // namespace offcpu
