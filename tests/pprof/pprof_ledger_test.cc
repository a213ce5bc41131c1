#include "pprof/pprof_ledger.h"

#include <cstddef>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/profile/fake_ledger.h"
#include "tests/profile/fake_profile.h"

namespace offcpu {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

TEST(PprofLedgerTest, EntriesComeBack) {
  const FakeProfile fake = FakeWithLedger();
  const std::vector<std::string> texts = LedgerTexts(fake.profile);
  EXPECT_THAT(texts, ElementsAre("0 10 10 100000000 10000000 50000000 30000000 1000000 4000000 0 5000000 0 0 0 0 0 "
                                 "6 server main",
                                 "0 10 11 20000000 0 20000005 0 0 0 0 0 0 0 0 0 0 6 server worker",
                                 "1 20 20 200000000 200000000 0 0 0 0 0 0 0 0 0 0 0 3 hog hog"));
  ProfileFacts read;
  LedgerReader reader(read);
  for (const std::string& text : texts) EXPECT_TRUE(reader.Read(text)) << text;
  EXPECT_THAT(read.processes, SizeIs(2));
  EXPECT_EQ(LedgerTexts(read), texts);
}

TEST(PprofLedgerTest, NamesMayBeAnything) {
  FakeProfile fake;
  fake.profile.ledger = {{.process = fake.Process(10, " a 1\n\xff"), .tid = 1, .comm = " \x01"}, {.tid = 2}};
  ProfileFacts read;
  LedgerReader reader(read);
  for (const std::string& text : LedgerTexts(fake.profile)) EXPECT_TRUE(reader.Read(text)) << text;
  EXPECT_EQ(read.processes[0].name, " a 1?\xef\xbf\xbd");
  EXPECT_EQ(read.ledger[0].comm, " ?");
  EXPECT_EQ(read.ledger[1].comm, "");
}

TEST(PprofLedgerTest, DamageIsRefused) {
  const std::string good = LedgerTexts(FakeWithLedger().profile)[1];
  for (size_t length = 0; length + std::string(" worker").size() < good.size(); ++length) {
    ProfileFacts read;
    EXPECT_FALSE(LedgerReader(read).Read(good.substr(0, length))) << length;
  }
  ProfileFacts read;
  EXPECT_FALSE(LedgerReader(read).Read("0 4294967296" + good.substr(4))) << "no such pid";
  EXPECT_FALSE(LedgerReader(read).Read("x" + good));
  EXPECT_FALSE(LedgerReader(read).Read("0 10 11 20000000 0 20000005 0 0 0 0 0 0 0 0 0 0 600 server worker"));
}

TEST(PprofLedgerTest, EntriesAreCapped) {
  ProfileFacts read;
  LedgerReader reader(read);
  const std::string text = LedgerTexts(FakeWithLedger().profile)[0];
  for (size_t i = 0; i < kMaxLedgerEntries; ++i) ASSERT_TRUE(reader.Read(text));
  EXPECT_FALSE(reader.Read(text));
}

}  // namespace
}  // namespace offcpu
