#include "profile/lost_stacks.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fake_profile.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "profile/time_buckets.h"

namespace offcpu {
namespace {

using ::testing::SizeIs;

class LostStacksTest : public ::testing::Test {
 protected:
  // Adds a row with this kernel stack, which is lost if it has no frames.
  void Row(uint32_t kernel, uint64_t blocked_ns) { fake_.Row(process_, comm_, user_, kernel, blocked_ns); }

  FakeProfile fake_;
  std::vector<NamedRow>& rows_ = fake_.profile.rows;
  const uint32_t process_ = fake_.Process(10, "server");
  const uint32_t comm_ = fake_.Comm("worker");
  const uint32_t user_ = fake_.User({"main"});
  const uint32_t known_ = fake_.Kernel({"futex_wait_queue"});
  const uint32_t lost_ = fake_.Kernel({});
  const uint32_t other_ = fake_.Kernel({});
};

TEST_F(LostStacksTest, RowsThatDifferInNothingElseAreOne) {
  Row(known_, 1);
  Row(lost_, 20);
  Row(other_, 300);
  Row(fake_.Kernel({}), 4000);
  rows_[2].count_variance = 9;
  JoinLostStacks(fake_.profile);
  ASSERT_THAT(rows_, SizeIs(2));
  EXPECT_EQ(rows_[0].kernel_stack, known_);
  EXPECT_EQ(rows_[0].blocked_ns, 1u);
  EXPECT_EQ(rows_[1].kernel_stack, lost_);
  EXPECT_EQ(rows_[1].blocked_ns, 4320u);
  EXPECT_EQ(rows_[1].count, 3u);
  EXPECT_EQ(rows_[1].max_ns, 4000u);
  EXPECT_EQ(rows_[1].count_variance, 9);
}

TEST_F(LostStacksTest, OtherRowsStayApart) {
  Row(lost_, 1);
  Row(other_, 20);
  Row(lost_, 300);
  rows_[1].kind = WaitKind::kDisk;
  rows_[2].tid = 7;
  fake_.profile.kernel_stacks.push_back({.overflow = true});
  Row(static_cast<uint32_t>(fake_.profile.kernel_stacks.size() - 1), 4000);
  fake_.profile.kernel_stacks.push_back({.user_mode = true});
  Row(static_cast<uint32_t>(fake_.profile.kernel_stacks.size() - 1), 50000);
  JoinLostStacks(fake_.profile);
  EXPECT_THAT(rows_, SizeIs(5));
}

// By process first, then by thread.
TEST_F(LostStacksTest, RowsAreSorted) {
  Row(other_, 1);
  rows_[0].tid = 1;
  Row(lost_, 20);
  rows_[1].tid = 2;
  Row(other_, 300);
  rows_[2].tid = 2;
  const uint32_t second = fake_.Process(11, "server");
  fake_.Row(second, comm_, user_, other_, 4000);
  JoinLostStacks(fake_.profile);
  ASSERT_THAT(rows_, SizeIs(3));
  EXPECT_EQ(rows_[0].blocked_ns, 1u);
  EXPECT_EQ(rows_[1].blocked_ns, 320u);
  EXPECT_EQ(rows_[2].blocked_ns, 4000u);
}

std::string Times(uint32_t first, uint32_t second) {
  TimeBuckets buckets;
  for (const uint32_t number : {first, second}) buckets.Add({.number = number, .blocked_ns = 100 + number, .count = 1});
  return PackTimes(buckets, 0, 0);
}

TEST_F(LostStacksTest, TimesAreAddedByTheirBuckets) {
  Row(lost_, 203);
  Row(other_, 208);
  rows_[0].times = Times(1, 2);
  rows_[1].times = Times(2, 6);
  JoinLostStacks(fake_.profile);
  ASSERT_THAT(rows_, SizeIs(1));
  const std::optional<std::vector<TimeBucket>> buckets = UnpackTimes(rows_[0].times);
  ASSERT_TRUE(buckets.has_value());
  ASSERT_THAT(*buckets, SizeIs(3));
  const std::vector<TimeBucket> wanted = {{.number = 1, .blocked_ns = 101, .count = 1},
                                          {.number = 2, .blocked_ns = 204, .count = 2},
                                          {.number = 6, .blocked_ns = 106, .count = 1}};
  for (size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_EQ((*buckets)[i].number, wanted[i].number);
    EXPECT_EQ((*buckets)[i].blocked_ns, wanted[i].blocked_ns);
    EXPECT_EQ((*buckets)[i].count, wanted[i].count);
  }
}

TEST_F(LostStacksTest, TimesOfAPartAreNotTold) {
  Row(lost_, 203);
  Row(other_, 208);
  rows_[1].times = Times(2, 6);
  JoinLostStacks(fake_.profile);
  ASSERT_THAT(rows_, SizeIs(1));
  EXPECT_EQ(rows_[0].times, "");
}

TEST_F(LostStacksTest, WakersThatDifferInNothingElseAreOne) {
  const auto chain = [this](uint32_t kernel) {
    fake_.profile.wakers.push_back({{.process = process_, .comm = comm_, .kernel_stack = kernel, .user_stack = user_}});
  };
  for (const uint32_t kernel : {other_, known_, lost_}) chain(kernel);
  fake_.profile.wakers.emplace_back();  // stands for all others
  for (uint32_t waker = 0; waker <= 4; ++waker) {
    Row(known_, uint64_t{1} << waker);
    rows_.back().waker = waker;
  }
  JoinLostStacks(fake_.profile);
  ASSERT_THAT(fake_.profile.wakers, SizeIs(3));
  ASSERT_THAT(rows_, SizeIs(4));
  const uint64_t wanted_ns[] = {1, 2 + 8, 4, 16};
  for (uint32_t i = 0; i < 4; ++i) {
    EXPECT_EQ(rows_[i].waker, i);
    EXPECT_EQ(rows_[i].blocked_ns, wanted_ns[i]);
  }
  EXPECT_EQ(fake_.profile.wakers[0][0].kernel_stack, lost_);
  EXPECT_EQ(fake_.profile.wakers[1][0].kernel_stack, known_);
  EXPECT_TRUE(fake_.profile.wakers[2].empty());
}

}  // namespace
}  // namespace offcpu
