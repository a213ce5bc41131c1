#include "labels/profile_filter.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/profile/fake_profile.h"

namespace offcpu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<FramePattern> Patterns(const std::vector<std::string>& texts) {
  std::vector<FramePattern> patterns;
  for (const std::string& text : texts) patterns.push_back(*FramePattern::Parse(text));
  return patterns;
}

// 1 ms in a lock, 2 ms in a read of the same server, 4 ms without a user stack, 8 ms that ran.
class ProfileFilterTest : public ::testing::Test {
 protected:
  ProfileFilterTest() {
    const uint32_t server = fake_.Process(10, "server");
    const uint32_t client = fake_.Process(11, "client");
    const uint32_t worker = fake_.Comm("worker");
    const uint32_t futex = fake_.Kernel({"schedule", "futex_wait"});
    const uint32_t read = fake_.Kernel({"schedule", "vfs_read"});
    const uint32_t none = fake_.Kernel({});
    fake_.profile.kernel_stacks[none].user_mode = true;
    fake_.Row(server, worker, fake_.User({"lock", "std::map<int, Lock>::find", "main"}), futex, 1'000'000);
    fake_.Row(server, worker, fake_.User({"read", "main"}, EndReason::kNoRow), read, 2'000'000);
    fake_.Row(client, worker, fake_.Missing(NoUserStack::kBudget), read, 4'000'000);
    fake_.Row(client, worker, fake_.User({"spin"}), none, 8'000'000, 0, WaitKind::kRunning);
  }

  // In milliseconds.
  std::vector<uint64_t> Kept(const ProfileFilter& filter) {
    NamedProfile profile = fake_.profile;
    KeepRows(filter, &profile);
    std::vector<uint64_t> times;
    for (const ProfileRow& row : profile.rows) times.push_back(row.total_ns() / 1'000'000);
    return times;
  }
  std::vector<uint64_t> Focused(const std::vector<std::string>& texts) { return Kept({.focus = Patterns(texts)}); }
  std::vector<uint64_t> WithoutIgnored(const std::vector<std::string>& texts) {
    return Kept({.ignore = Patterns(texts)});
  }

  FakeProfile fake_;
};

TEST_F(ProfileFilterTest, WithoutAnythingItIsEverything) {
  EXPECT_TRUE(ProfileFilter().is_everything());
  EXPECT_THAT(Kept({}), ElementsAre(1, 2, 4, 8));
}

TEST_F(ProfileFilterTest, FocusFindsAFrameOfEitherStack) {
  EXPECT_THAT(Focused({"^main$"}), ElementsAre(1, 2));
  EXPECT_THAT(Focused({"futex"}), ElementsAre(1));
  EXPECT_THAT(Focused({"^vfs_"}), ElementsAre(2, 4));
  EXPECT_THAT(Focused({"map<.*>::find"}), ElementsAre(1));
  EXPECT_THAT(Focused({"Main"}), IsEmpty()) << "case counts";
  EXPECT_THAT(Focused({"(?i)MAIN"}), ElementsAre(1, 2)) << "unless it is said not to";
  EXPECT_THAT(Focused({"spin", "futex"}), ElementsAre(1, 8)) << "one of them is enough";
  EXPECT_THAT(Focused({""}), ElementsAre(1, 2, 4, 8)) << "is in every name";
}

TEST_F(ProfileFilterTest, IgnoreLeavesOutWhatItFinds) {
  EXPECT_THAT(WithoutIgnored({"futex"}), ElementsAre(2, 4, 8));
  EXPECT_THAT(WithoutIgnored({"futex", "spin"}), ElementsAre(2, 4));
  EXPECT_THAT(Kept({.focus = Patterns({"main"}), .ignore = Patterns({"read"})}), ElementsAre(1));
}

TEST_F(ProfileFilterTest, WordsForWhatIsMissingAreFrames) {
  EXPECT_THAT(Focused({R"(^\[no user stack: budget)"}), ElementsAre(4));
  EXPECT_THAT(WithoutIgnored({R"(^\[truncated)"}), ElementsAre(1, 4, 8));
}

TEST_F(ProfileFilterTest, LabelsAndFramesNarrowEachOtherDown) {
  const ProfileFilter filter = {.labels = {*ParseLabelFilter("process=server")}, .focus = Patterns({"vfs_read"})};
  EXPECT_FALSE(filter.is_everything());
  EXPECT_THAT(Kept(filter), ElementsAre(2));
}

TEST(FramePatternTest, WhatIsNoneSaysWhy) {
  for (const std::string text : {"(", "a**", "[", R"(\1)", "(?=a)", "\xff", "a{1001}"}) {
    const absl::StatusOr<FramePattern> pattern = FramePattern::Parse(text);
    ASSERT_FALSE(pattern.ok()) << text;
    EXPECT_EQ(pattern.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(pattern.status().message()), HasSubstr("is not a regular expression: "));
  }
}

// An expression and a name that a backtracking engine takes longer for than the world has lasted.
TEST(FramePatternTest, NoExpressionTakesForever) {
  const FramePattern pattern = *FramePattern::Parse("^(a+)+(a*)*(a|aa)+$");
  EXPECT_FALSE(pattern.IsIn(std::string(kMaxDemangledBytes, 'a') + "b"));
}

}  // namespace
}  // namespace offcpu
