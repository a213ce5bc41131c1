#include "profile/losses.h"

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "losses_page.h"

namespace offcpu {
namespace {

using ::testing::EndsWith;

TEST(LossesTest, NamesAreDistinct) {
  const std::vector<std::string> names = AllLossNames();
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
  EXPECT_GT(names.size(), kLossIdCount + 20);
}

TEST(LossesTest, TextsAreSentences) {
  for (const LossInfo& info : kLosses) {
    EXPECT_THAT(std::string(info.meaning), EndsWith(".")) << info.name;
    EXPECT_TRUE(info.advice.empty() || info.advice.ends_with('.')) << info.name;
  }
}

TEST(LossesTest, EachTermOfTheLedgerHasOneAndItTakesTime) {
  std::multiset<size_t> terms;
  for (const LossInfo& info : kLosses) {
    if (!info.ledger.has_value()) continue;
    terms.insert(static_cast<size_t>(*info.ledger));
    EXPECT_TRUE(info.takes_time) << info.name;
    EXPECT_EQ(Name(*info.ledger), info.name);
  }
  ASSERT_EQ(terms.size(), kLostTimeCount);
  for (size_t i = 0; i < kLostTimeCount; ++i) EXPECT_EQ(terms.count(i), 1u) << i;
}

TEST(LossesTest, HasTheNameOfItsEntry) {
  const Loss loss = LossOf(LossId::kIntervalRingFull, 2, 3);
  EXPECT_EQ(loss.reason, "interval ring full");
  EXPECT_EQ(loss.count, 2u);
  EXPECT_EQ(loss.ns, 3u);
  EXPECT_EQ(LossName(NoUserStack::kBudget, false), "no user stack: budget");
  EXPECT_EQ(LossName(NoUserStack::kBudget, true), "no user stack of the waker: budget");
}

// OFFCPU_WRITE_DOCS=1 writes it anew.
TEST(LossesTest, TheManPageSaysWhatTheCatalogueSays) {
  const std::string path = OFFCPU_SOURCE_DIR "/docs/offcpu-losses.7";
  if (std::getenv("OFFCPU_WRITE_DOCS") != nullptr) std::ofstream(path) << LossesPage();
  std::stringstream page;
  page << std::ifstream(path).rdbuf();
  EXPECT_EQ(page.str(), LossesPage()) << "OFFCPU_WRITE_DOCS=1 build/bin/profile_test --gtest_filter='LossesTest.*'";
}

}  // namespace
}  // namespace offcpu
