#include "classify/idle.h"

#include <cstdint>
#include <span>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/classify/fake_idle.h"

namespace offcpu {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(IdleTest, SumsByPattern) {
  FakeProfile fake = FakeWithIdle();
  EXPECT_THAT(SumIdle(fake.profile),
              ElementsAre(IdleSum{"p: pool", 1, 9'000'000, 9'000'000}, IdleSum{"s: loop", 5, 8'000'000, 8'000'000}));
  EXPECT_EQ(TotalOf(SumIdle(fake.profile)), (IdleSum{"", 6, 17'000'000, 17'000'000}));
  for (NamedRow& row : fake.profile.rows) {
    if (row.idle == "p: pool") row.kind = WaitKind::kOpen;
  }
  EXPECT_THAT(SumIdle(fake.profile),
              ElementsAre(IdleSum{"p: pool", 1, 9'000'000, 0}, IdleSum{"s: loop", 5, 8'000'000, 8'000'000}));
  fake.Idle({});
  EXPECT_THAT(SumIdle(fake.profile), IsEmpty());
}

TEST(IdleTest, WhatIsHiddenAndWhatIsLeftAddUp) {
  const FakeProfile fake = FakeWithIdle();
  const auto sums_of = [](std::span<const NamedRow> rows) {
    IdleSum sums;
    uint64_t runnable_ns = 0;
    for (const ProfileRow& row : rows) {
      sums.count += row.count;
      sums.blocked_ns += row.blocked_ns;
      runnable_ns += row.runnable_ns;
    }
    return std::pair(sums, runnable_ns);
  };
  const IdleSum hidden = TotalOf(SumIdle(fake.profile));
  const ShownRows shown(fake.profile, true);
  const std::span<const NamedRow> rest = shown.rows();
  const auto [left, left_runnable_ns] = sums_of(rest);
  const auto [all, all_runnable_ns] = sums_of(fake.profile.rows);
  EXPECT_EQ(hidden.count + left.count, all.count);
  EXPECT_EQ(hidden.blocked_ns + left.blocked_ns, all.blocked_ns);
  EXPECT_EQ(left_runnable_ns, all_runnable_ns) << "who has work and no CPU does not wait for work";
  ASSERT_THAT(rest, SizeIs(2));
  EXPECT_EQ(rest[0].runnable_ns, 1'000'000u);
  EXPECT_EQ(rest[0].max_ns, 0u) << "the longest wait is one that is hidden";
  EXPECT_EQ(rest[1].total_ns(), 2'500'000u);
  EXPECT_TRUE(shown.is_less());
}

TEST(IdleTest, WithoutWaitsForWorkNothingIsLeftOut) {
  FakeProfile fake = FakeWithIdle();
  const ShownRows all(fake.profile, false);
  EXPECT_FALSE(all.is_less());
  EXPECT_EQ(all.rows().data(), fake.profile.rows.data());
  EXPECT_THAT(all.sums(), SizeIs(2));
  fake.Idle({});
  const ShownRows none(fake.profile, true);
  EXPECT_FALSE(none.is_less());
  EXPECT_EQ(none.rows().data(), fake.profile.rows.data());
}

}  // namespace
}  // namespace offcpu
