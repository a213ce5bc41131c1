#include "profile/ledger.h"

#include "gtest/gtest.h"
#include "tests/profile/fake_ledger.h"

namespace offcpu {
namespace {

TEST(LedgerEntryTest, TheRestIsWhatNothingTells) {
  const FakeProfile fake = FakeWithLedger();
  EXPECT_EQ(fake.profile.ledger[0].lost_total_ns(), 9'000'000u);
  EXPECT_EQ(fake.profile.ledger[0].rest_ns(), 0);
  EXPECT_EQ(fake.profile.ledger[1].rest_ns(), -5);
}

}  // namespace
}  // namespace offcpu
