#include "tables/label_table.h"

#include <sstream>
#include <string>

#include "classify/idle.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/labels/labelled_profile.h"
#include "tests/profile/sampled_profile.h"

namespace offcpu {
namespace {

using ::testing::HasSubstr;

class LabelTableTest : public LabelledProfile {
 protected:
  std::string Table(RowLabel label, size_t limit = 10) {
    std::string text;
    WriteLabelTable(fake_.profile, ShownRows(fake_.profile, true).rows(), {.label = label}, {.limit = limit},
                    [&](std::string_view piece) { text += piece; });
    return text;
  }
  std::string TableBy(const std::string& name, size_t columns) {
    std::string text;
    WriteLabelTable(fake_.profile, fake_.profile.rows, ParseTableBy(name).value(), {.columns = columns},
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

TEST_F(LabelTableTest, ThreadsWhoseNamesDifferInNumbersAreOne) {
  for (size_t i = 0; i < fake_.profile.comms.size(); ++i) fake_.profile.comms[i] = "pool-" + std::to_string(i + 10);
  EXPECT_EQ(TableBy("thread", kNoLimit),
            "  SHARE    OFF-CPU    BLOCKED   RUNNABLE  THREAD\n"
            "100.0 %    10.0 ms    9.00 ms    1.00 ms  pool-*\n");
}

TEST_F(LabelTableTest, LinesFitTheTerminal) {
  fake_.profile.processes[0].container = std::string(60, 'a') + std::string(60, 'b');
  const std::string table = TableBy("container", 80);
  EXPECT_THAT(table, HasSubstr("aaa..bbb")) << table;
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;
}

TEST_F(LabelTableTest, WhatATableCanBeBy) {
  EXPECT_EQ(ParseTableBy("process")->apart, RowsApart::kProcesses);
  EXPECT_EQ(ParseTableBy("process")->label, std::nullopt) << "each with its pid, not each name";
  EXPECT_EQ(ParseTableBy("command")->apart, RowsApart::kPrograms);
  EXPECT_EQ(ParseTableBy("command")->label, std::nullopt);
  EXPECT_EQ(ParseTableBy("syscall")->label, RowLabel::kSystemCall);
  const absl::Status unknown = ParseTableBy("group").status();
  EXPECT_EQ(unknown.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(unknown.message()),
              HasSubstr("no label is called 'group' (did you mean cgroup?); the labels are pid, process,"));
  EXPECT_THAT(std::string(unknown.message()), testing::EndsWith(", idle, command, thread"));
}

TEST_F(LabelTableTest, WaitsForWorkMayBeHidden) {
  fake_.Idle({"a pool", "", ""});
  EXPECT_THAT(Table(RowLabel::kProcess), HasSubstr(" 14.3 %    1.00 ms       0 ns    1.00 ms  server\n"));
  EXPECT_THAT(TableBy("idle", kNoLimit), HasSubstr(" 40.0 %    4.00 ms    3.00 ms    1.00 ms  a pool\n"));
}

TEST(TableByTest, CausesAreThemselvesAndNotTheirFamilies) {
  const absl::StatusOr<TableBy> by = ParseTableBy("cause");
  ASSERT_TRUE(by.ok()) << by.status();
  EXPECT_EQ(by->label, RowLabel::kWait);
  EXPECT_EQ(LabelsName(*by), "cause");
}

TEST_F(LabelTableTest, SumsHaveTheirErrors) {
  fake_ = SampledProfile();
  EXPECT_EQ(Table(RowLabel::kProcess),
            "  SHARE    OFF-CPU        ±    BLOCKED   RUNNABLE  PROCESS\n"
            " 81.7 %    90.0 ms     ±2 %    68.0 ms    22.0 ms  server\n"
            " 18.3 %    20.1 ms  ±0.4 %?    20.1 ms    40.0 us  client\n");
  EXPECT_EQ(Table(RowLabel::kCause),
            "  SHARE    OFF-CPU        ±    BLOCKED   RUNNABLE  CAUSE\n"
            "100.0 %     110 ms     ±1 %    88.1 ms    22.0 ms  pipe\n");
  fake_.profile.rows.resize(2);
  EXPECT_EQ(Table(RowLabel::kCause),
            "  SHARE    OFF-CPU    BLOCKED   RUNNABLE  CAUSE\n"
            "100.0 %    80.0 ms    70.0 ms    10.0 ms  pipe\n");
}

}  // namespace
}  // namespace offcpu
