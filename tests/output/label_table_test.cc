#include "output/label_table.h"

#include <string>

#include "fake_profile.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace offcpu {
namespace {

using ::testing::HasSubstr;

class LabelTableTest : public ::testing::Test {
 protected:
  LabelTableTest() {
    const uint32_t server = fake_.Process(10, "server");
    const uint32_t client = fake_.Process(11, "client");
    const uint32_t worker = fake_.Comm("worker");
    const uint32_t user = fake_.User({"read"});
    const uint32_t kernel = fake_.Kernel({"schedule"});
    fake_.Row(server, worker, user, kernel, 3'000'000, 1'000'000);
    fake_.Row(client, worker, user, kernel, 5'000'000);
    fake_.Row(client, worker, user, kernel, 1'000'000);
    fake_.profile.control_groups = {"/system.slice/web.service", "/user.slice/x\ny"};
    fake_.profile.rows[0].control_group = 1;
    fake_.profile.rows[1].control_group = 2;
  }

  std::string Table(RowLabel label, size_t limit = 10) {
    std::string text;
    WriteLabelTable(fake_.profile, label, RowValue::kOffCpu, true, limit,
                    [&](std::string_view piece) { text += piece; });
    return text;
  }
  FakeProfile fake_;
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
