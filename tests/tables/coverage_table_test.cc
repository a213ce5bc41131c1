#include "tables/coverage_table.h"

#include <string>

#include "gtest/gtest.h"
#include "tests/labels/fake_coverage.h"
#include "tests/profile/fake_profile.h"

namespace offcpu {
namespace {

class CoverageTableTest : public ::testing::Test {
 protected:
  std::string Table(bool all, size_t limit = 10) {
    std::string text;
    WriteCoverageTable(fake_.profile, all, limit, [&](std::string_view bytes) { text += bytes; });
    return text;
  }

  FakeProfile fake_ = FakeWithCoverage();
};

TEST_F(CoverageTableTest, NamesTheModulesInWhichWalksEndEarly) {
  EXPECT_EQ(Table(false),
            "     SFRAME    EH_FRAME DEBUG_FRAME          FP  MODULE                          WALKS ENDED EARLY\n"
            "          0           0           0           0  /usr/bin/node                   no row 7\n"
            "          0           0           0           0  [code without a file]           bad cfa 2\n");
}

TEST_F(CoverageTableTest, NamesTheOthersToo) {
  EXPECT_EQ(Table(true),
            "     SFRAME    EH_FRAME DEBUG_FRAME          FP  MODULE                          WALKS ENDED EARLY\n"
            "          0           0           0           0  /usr/bin/node                   no row 7\n"
            "          0           0           0           0  [code without a file]           bad cfa 2\n"
            "          9           0           0           0  /usr/lib/libc.so.6\n"
            "          0           0           0           1  /usr/lib/libs?.so\n");
  EXPECT_EQ(Table(true, 1),
            "     SFRAME    EH_FRAME DEBUG_FRAME          FP  MODULE                          WALKS ENDED EARLY\n"
            "          0           0           0           0  /usr/bin/node                   no row 7\n"
            "not shown: 3\n");
}

TEST_F(CoverageTableTest, IsNotThereWhereAllIsWell) {
  fake_.profile.rows.erase(fake_.profile.rows.begin(), fake_.profile.rows.begin() + 2);
  EXPECT_EQ(Table(false), "");
}

}  // namespace
}  // namespace offcpu
