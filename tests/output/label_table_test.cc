#include "output/label_table.h"

#include <string>
#include <vector>

#include "fake_profile.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace offcpu {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

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
  std::vector<uint64_t> Kept(const std::vector<std::string>& filters) {
    NamedProfile profile = fake_.profile;
    std::vector<LabelFilter> parsed;
    for (const std::string& filter : filters) parsed.push_back(*ParseLabelFilter(filter));
    KeepRows(parsed, &profile);
    std::vector<uint64_t> times;
    for (const ProfileRow& row : profile.rows) times.push_back(row.total_ns());
    return times;
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

TEST_F(LabelTableTest, FiltersOfOneLabelAreOrAndOfSeveralAnd) {
  EXPECT_EQ(Kept({}), (std::vector<uint64_t>{4'000'000, 5'000'000, 1'000'000}));
  EXPECT_EQ(Kept({"process=serv*"}), (std::vector<uint64_t>{4'000'000}));
  EXPECT_EQ(Kept({"pid=10", "pid=11"}), (std::vector<uint64_t>{4'000'000, 5'000'000, 1'000'000}));
  EXPECT_EQ(Kept({"pid=11", "cgroup=/user*"}), (std::vector<uint64_t>{5'000'000}));
  EXPECT_EQ(Kept({"unit=web.service"}), (std::vector<uint64_t>{4'000'000}));
  EXPECT_EQ(Kept({"cgroup="}), (std::vector<uint64_t>{1'000'000})) << "that have none";
  EXPECT_EQ(Kept({"comm=nobody"}), (std::vector<uint64_t>{}));
}

TEST_F(LabelTableTest, MarksOfWaitsForWorkStayWithTheirRows) {
  fake_.Idle({"", "a pool", ""});
  KeepRows({*ParseLabelFilter("pid=11")}, &fake_.profile);
  ASSERT_THAT(fake_.profile.rows, SizeIs(2));
  EXPECT_THAT(IdleOf(fake_.profile), ::testing::ElementsAre("a pool", ""));
}

TEST(ParseRowLabelTest, AnErrorNamesThoseThereAre) {
  EXPECT_EQ(*ParseRowLabel("cgroup"), RowLabel::kControlGroup);
  EXPECT_THAT(
      std::string(ParseRowLabel("group").status().message()),
      HasSubstr("no label is called 'group': there are pid, process, container, image, tid, comm, cgroup, pod,"));
  EXPECT_THAT(std::string(ParseLabelFilter("lock").status().message()), HasSubstr("LABEL=PATTERN"));
}

}  // namespace
}  // namespace offcpu
