#include "labels/sum_limits.h"

#include <cstdint>
#include <functional>
#include <vector>

#include "gtest/gtest.h"
#include "profile/profile_row.h"

namespace offcpu {
namespace {

using Change = std::function<void(NamedProfile&, uint64_t)>;

NamedProfile With(const Change& change, uint64_t amount) {
  NamedProfile profile;
  profile.rows.emplace_back();
  profile.stats.losses.emplace_back();
  profile.ledger.emplace_back();
  change(profile, amount);
  return profile;
}

// Each figure that sums are made of.
const std::vector<Change>& Changes() {
  static const std::vector<Change> changes = {
      [](NamedProfile& p, uint64_t n) { p.rows[0].blocked_ns = n; },
      [](NamedProfile& p, uint64_t n) { p.rows[0].runnable_ns = n; },
      [](NamedProfile& p, uint64_t n) { p.rows[0].cpu_ns = n; },
      [](NamedProfile& p, uint64_t n) { p.rows[0].count = n; },
      [](NamedProfile& p, uint64_t n) { p.rows[0].samples = n; },
      [](NamedProfile& p, uint64_t n) { p.stats.losses[0].ns = n; },
      [](NamedProfile& p, uint64_t n) { p.stats.losses[0].count = n; },
      [](NamedProfile& p, uint64_t n) { p.ledger[0].wall_ns = n; },
      [](NamedProfile& p, uint64_t n) { p.ledger[0].on_cpu_ns = n; },
      [](NamedProfile& p, uint64_t n) { p.ledger[0].stolen_ns = n; },
      [](NamedProfile& p, uint64_t n) { p.ledger[0].blocked_ns = n; },
      [](NamedProfile& p, uint64_t n) { p.ledger[0].runnable_ns = n; },
      [](NamedProfile& p, uint64_t n) { p.ledger[0].lost_ns[kLostTimeCount - 1] = n; },
      [](NamedProfile& p, uint64_t n) { p.stats.intervals = n; },
      [](NamedProfile& p, uint64_t n) { p.stats.walk_ends[1] = n; },
      [](NamedProfile& p, uint64_t n) { p.duration_ns = n; },
  };
  return changes;
}

TEST(SumLimitsTest, SumsMayBeAsLargeAsPprofHasThem) {
  for (size_t i = 0; i < Changes().size(); ++i) {
    EXPECT_TRUE(SumLimits().Add(With(Changes()[i], kMostSum))) << i;
    EXPECT_FALSE(SumLimits().Add(With(Changes()[i], kMostSum + 1))) << i;
    EXPECT_FALSE(SumLimits().Add(With(Changes()[i], UINT64_MAX))) << i;
  }
}

TEST(SumLimitsTest, SumsOfSeveralAreNoLarger) {
  for (size_t i = 0; i < Changes().size(); ++i) {
    SumLimits limits;
    EXPECT_TRUE(limits.Add(With(Changes()[i], kMostSum / 2))) << i;
    EXPECT_TRUE(limits.Add(With(Changes()[i], kMostSum - kMostSum / 2))) << i;
    EXPECT_TRUE(limits.Add(With(Changes()[i], 0))) << i;
    EXPECT_FALSE(limits.Add(With(Changes()[i], 1))) << i;
    EXPECT_FALSE(limits.Add(With(Changes()[i], 0))) << i << ": one that is too much stays so";
  }
}

TEST(SumLimitsTest, PartsOfOneWaitAreOneSum) {
  NamedProfile profile;
  profile.rows.resize(2);
  profile.rows[0].blocked_ns = profile.rows[1].runnable_ns = kMostSum / 2;
  EXPECT_TRUE(SumLimits().Add(profile));
  profile.rows[1].cpu_ns = 2;
  EXPECT_FALSE(SumLimits().Add(profile));
}

TEST(SumLimitsTest, ARecordingEndsAtATimeThatCanBeSaid) {
  NamedProfile profile;
  profile.start_unix_ns = kMostSum - 3;
  profile.duration_ns = 2;
  profile.stats.suspended_ns = 1;
  EXPECT_TRUE(SumLimits().Add(profile));
  profile.stats.suspended_ns = 2;
  EXPECT_FALSE(SumLimits().Add(profile));
}

}  // namespace
}  // namespace offcpu
