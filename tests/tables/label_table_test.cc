#include "tables/label_table.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/labels/labelled_profile.h"

namespace offcpu {
namespace {

using ::testing::HasSubstr;

class LabelTableTest : public LabelledProfile {
 protected:
  std::string Table(RowLabel label, size_t limit = 10) {
    std::string text;
    WriteLabelTable(fake_.profile, label, RowValue::kOffCpu, true, limit,
                    [&](std::string_view piece) { text += piece; });
    return text;
  }
};

TEST_F(LabelTableTest, SumsByWhatTheLabelSays) {
  EXPECT_EQ(Table(RowLabel::kProcess),
            "  SHARE    OFF-CPU    BLOCKED   RUNNABLE  PROCESS\n"
            " 60.0 %    6.00 ms    6.00 ms       0 ns  client\n"
            " 40.0 %    4.00 ms    3.00 ms    1.00 ms  server\n");
}

TEST_F(LabelTableTest, NamesAreMadePrintableAndNoneIsSaid) {
  const std::string table = Table(RowLabel::kControlGroup);
  EXPECT_THAT(table, HasSubstr(" 50.0 %    5.00 ms    5.00 ms       0 ns  /user.slice/x"));
  EXPECT_EQ(table.find("x\ny"), std::string::npos);
  EXPECT_THAT(table, HasSubstr("  /system.slice/web.service\n"));
  EXPECT_THAT(table, HasSubstr(" 10.0 %    1.00 ms    1.00 ms       0 ns  [none]\n"));
}

TEST_F(LabelTableTest, WhatIsLeftOutIsCounted) { EXPECT_THAT(Table(RowLabel::kPid, 1), HasSubstr("not shown: 1\n")); }

TEST_F(LabelTableTest, UnitsComeFromControlGroups) {
  EXPECT_THAT(Table(RowLabel::kUnit), HasSubstr("  web.service\n"));
}

TEST_F(LabelTableTest, WaitsForWorkAreHiddenUnlessAskedFor) {
  fake_.Idle({"a pool", "", ""});
  EXPECT_THAT(Table(RowLabel::kProcess), HasSubstr(" 14.3 %    1.00 ms       0 ns    1.00 ms  server\n"));
  EXPECT_THAT(Table(RowLabel::kIdle), HasSubstr(" 40.0 %    4.00 ms    3.00 ms    1.00 ms  a pool\n"));
}

}  // namespace
}  // namespace offcpu
