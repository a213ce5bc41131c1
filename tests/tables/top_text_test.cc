#include "tables/top_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tables/columns.h"
#include "tables/top_lines.h"
#include "tests/profile/fake_profile.h"
#include "tests/profile/sampled_profile.h"

namespace offcpu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr uint64_t kMs = 1'000'000;

class TopTextTest : public ::testing::Test {
 protected:
  TopTextTest() {
    fake_.profile.duration_ns = 2'000 * kMs;
    fake_.profile.host = "build7";
  }
  std::vector<std::string> Lines(RowValue value = RowValue::kOffCpu) {
    return TopText(MakeTopTable(fake_.profile, value, 100), "18:40:32", "offcpud", value);
  }
  std::string LastLine() { return Lines().back(); }
  // Where there is less room.
  std::string StackLine(size_t columns) {
    const TopTable table = MakeTopTable(fake_.profile, RowValue::kOffCpu, 100);
    return TopStackLine(table.stacks.back(), Rates(table.duration_ns), RowValue::kOffCpu, columns, HasErrors(table));
  }

  FakeProfile fake_;
  uint32_t kernel_ = fake_.Kernel({"__schedule", "schedule", "pipe_read", "ksys_read"});
};

TEST_F(TopTextTest, FiguresArePerSecond) {
  const uint32_t server = fake_.Process(1234, "server");
  const uint32_t worker = fake_.Comm("worker");
  fake_.Row(server, worker, fake_.User({"fill", "(anonymous namespace)::Loop", "main"}), kernel_, 3'000 * kMs,
            500 * kMs);
  fake_.Row(server, worker, fake_.Missing(NoUserStack::kBudget), fake_.Kernel({}), 0, 40 * kMs, WaitKind::kPreempted);
  const uint32_t flusher = fake_.Process(77, "kworker/u8:2");
  fake_.Row(flusher, fake_.Comm("kworker/u8:2"), fake_.Missing(NoUserStack::kKernelThread), kernel_, 20 * kMs);
  fake_.profile.stats.slept_throughout = 22;
  fake_.profile.stats.losses = {{"no user stack: budget", 1, 20 * kMs}, {"interval ring full", 2, 40 * kMs}};
  EXPECT_THAT(
      Lines(),
      ElementsAre("offcpu top  build7  18:40:32  2.00 s recorded by offcpud",
                  "per second: 1.78 s off the CPU, 1.51 s blocked, 270 ms runnable, 1.5 waits",
                  "2 processes; lost or without a stack 30.0 ms, most: interval ring full; 22 threads slept throughout",
                  "", "    PID PROCESS          OFF-CPU/s  BLOCKED/s RUNNABLE/s  WAITS/s   LONGEST",
                  "   1234 server              1.77 s     1.50 s     270 ms      1.0    3.50 s",
                  "     77 kworker/u8:2       10.0 ms    10.0 ms       0 ns      0.5   20.0 ms", "",
                  " OFF-CPU/s CAUSE            PID THREAD          WHERE < ITS CALLERS | WAITS IN",
                  "    1.75 s pipe            1234 worker          fill < Loop < main | pipe_read",
                  "   20.0 ms preempted       1234 worker          [no user stack: budget] | [unknown kernel stack]",
                  "   10.0 ms pipe              77 kworker/u8:2    [kernel] pipe_read < ksys_read"));
}

TEST_F(TopTextTest, StacksShowWhatTheyAreSortedBy) {
  fake_.Row(fake_.Process(1, "p"), fake_.Comm("t"), fake_.User({"f"}), kernel_, 800 * kMs, 4 * kMs);
  EXPECT_THAT(Lines(RowValue::kBlocked)[7], HasSubstr(" BLOCKED/s CAUSE"));
  EXPECT_THAT(Lines(RowValue::kBlocked)[8], HasSubstr("    400 ms pipe"));
  EXPECT_THAT(Lines(RowValue::kRunnable)[7], HasSubstr("RUNNABLE/s CAUSE"));
  EXPECT_THAT(Lines(RowValue::kRunnable)[8], HasSubstr("   2.00 ms pipe"));
  EXPECT_THAT(Lines(RowValue::kCount)[7], HasSubstr("   WAITS/s CAUSE"));
  EXPECT_THAT(Lines(RowValue::kCount)[8], HasSubstr("       0.5 pipe"));
}

TEST_F(TopTextTest, AnIntervalWithoutLengthHasNoRates) {
  fake_.profile.duration_ns = 0;
  fake_.Row(fake_.Process(1, "p"), fake_.Comm("t"), fake_.User({"f"}), kernel_, kMs);
  EXPECT_EQ(Lines()[1], "per second: 0 ns off the CPU, 0 ns blocked, 0 ns runnable, 0.0 waits");
}

TEST_F(TopTextTest, NothingWaited) {
  EXPECT_THAT(Lines(), ElementsAre("offcpu top  build7  18:40:32  2.00 s recorded by offcpud",
                                   "per second: 0 ns off the CPU, 0 ns blocked, 0 ns runnable, 0.0 waits",
                                   "0 processes; lost nothing", "",
                                   "    PID PROCESS          OFF-CPU/s  BLOCKED/s RUNNABLE/s  WAITS/s   LONGEST", "",
                                   " OFF-CPU/s CAUSE            PID THREAD          WHERE < ITS CALLERS | WAITS IN"));
}

// 48 columns come before a stack.
TEST_F(TopTextTest, CallersAreShownAsFarAsThereIsRoom) {
  fake_.Row(fake_.Process(1, "p"), fake_.Comm("t"),
            fake_.User({"ReadBlock", "Table::Lookup", "Handler::Serve", "Loop::Run", "main"}), kernel_, kMs);
  const std::string before = "    500 us pipe               1 t               ";
  EXPECT_EQ(StackLine(200), before + "ReadBlock < Table::Lookup < Handler::Serve < Loop::Run < main | pipe_read");
  EXPECT_EQ(StackLine(100), before + "ReadBlock < Table::Lookup < Handler::S.. | pipe_read");
  EXPECT_EQ(StackLine(90), before + "ReadBlock < Table::Lookup | pipe_read") << "no room for 8 columns more";
  EXPECT_EQ(StackLine(80), before + "ReadBlock < Table:.. | pipe_read");
  EXPECT_EQ(StackLine(80).size(), 80u);
}

TEST_F(TopTextTest, ProcessesOfOneProgramAreOneLine) {
  for (int32_t i = 0; i < 16; ++i)
    fake_.Row(fake_.Process(100 + i, "job-" + std::to_string(i)), fake_.Comm("w-" + std::to_string(i)),
              fake_.User({"f"}), kernel_, kMs);
  const TopTable table = MakeTopTable(fake_.profile, RowValue::kOffCpu, 100, true, RowsApart::kPrograms);
  const std::vector<std::string> lines = TopText(table, "18:40:32", "offcpud", RowValue::kOffCpu);
  EXPECT_THAT(lines, ElementsAre(testing::_, testing::_, "16 processes; lost nothing", "", testing::_,
                                 "    x16 job-*              8.00 ms    8.00 ms       0 ns      8.0   1.00 ms", "",
                                 testing::_, "   8.00 ms pipe             x16 w-*             f | pipe_read"));
}

TEST_F(TopTextTest, LongNamesAreCut) {
  const std::string name(300, 'n');
  const std::string path = "wait_" + name;
  fake_.Row(fake_.Process(1, name), fake_.Comm(name), fake_.User({name, name}), fake_.Kernel({path}), kMs);
  const std::string n58(58, 'n');
  EXPECT_EQ(LastLine().substr(48, 60 + 3 + 60 + 3 + 5), n58 + ".. < " + n58 + ".. | wait_");
  EXPECT_EQ(StackLine(80).size(), 80u);
  EXPECT_EQ(StackLine(80).substr(48), "nnnnnnnnnnnnn.. | wait_nnnnnnn..");
  EXPECT_EQ(StackLine(200).size(), 200u);
}

TEST_F(TopTextTest, AStackHasEightFrames) {
  fake_.Row(fake_.Process(1, "p"), fake_.Comm("t"), fake_.User({"a", "b", "c", "d", "e", "f", "g", "h", "i"}), kernel_,
            kMs);
  EXPECT_EQ(LastLine().substr(48), "a < b < c < d < e < f < g < h | pipe_read");
}

TEST_F(TopTextTest, NoNameControlsTheTerminal) {
  fake_.profile.host = "a\033[2Jb";
  fake_.profile.stats.losses = {{"c\033c", 1, 1}};
  // C1 as UTF-8 and as a byte, DEL, what is no UTF-8.
  fake_.Row(fake_.Process(1, "x\033]0;\007"),
            fake_.Comm("y\302\233"
                       "2Jz"),
            fake_.User({"f\23331m\177\n\377"}), kernel_, kMs);
  for (const std::string& line : Lines()) {
    for (const char c : line) EXPECT_TRUE(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) << line;
    EXPECT_EQ(line.find("\302\233"), std::string::npos) << line;
  }
  EXPECT_THAT(Lines()[0], HasSubstr("a?[2Jb"));
  EXPECT_THAT(LastLine(), HasSubstr(" y?2Jz           f\xef\xbf\xbd"
                                    "31m??\xef\xbf\xbd | pipe_read"));
}

TEST_F(TopTextTest, LinesAreCutBetweenCharacters) {
  EXPECT_EQ(ForScreen("a\u00e9\u20ac\U0001f600z", 2), "a\u00e9");
  EXPECT_EQ(ForScreen("a\u00e9\u20ac\U0001f600z", 4), "a\u00e9\u20ac\U0001f600");
  EXPECT_EQ(ForScreen("a\u00e9", 0), "");
  EXPECT_EQ(ForScreen("\xe2\x82", kNoLimit), "\xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_EQ(ForScreen("\u00a0", kNoLimit), "\u00a0") << "the first character that is none of control";
  // Names of other scripts leave the columns where they are.
  fake_.Row(fake_.Process(1, "\u00e9\u00e9"), fake_.Comm("t"), fake_.User({"f"}), kernel_, kMs);
  EXPECT_EQ(Lines()[5], "      1 \u00e9\u00e9                  500 us     500 us       0 ns      0.5   1.00 ms");
}

// What is above the threads' own time has its error beside it, and nothing is cut down.
TEST_F(TopTextTest, EstimatesHaveTheirErrors) {
  fake_ = SampledProfile();
  EXPECT_THAT(Lines(),
              ElementsAre("offcpu top    18:40:32  1.00 s recorded by offcpud",
                          "per second: 110 ms ±1 % off the CPU, 88.1 ms blocked, 22.0 ms runnable, 1206 ±5 % waits",
                          "2 processes; lost nothing; lines without ± lack at most 300 us", "",
                          "    PID PROCESS          OFF-CPU/s        ±  BLOCKED/s RUNNABLE/s  WAITS/s   LONGEST",
                          "     10 server             90.0 ms     ±2 %    68.0 ms    22.0 ms     1201   60.0 ms",
                          "     20 client             20.1 ms  ±0.4 %?    20.1 ms    40.0 us      5.0   20.0 ms", "",
                          " OFF-CPU/s        ± CAUSE            PID THREAD          WHERE < ITS CALLERS | WAITS IN",
                          "   60.0 ms          pipe              10 worker          read < main | pipe_read",
                          "   30.0 ms     ±5 % pipe              10 worker          sip < main | pipe_read",
                          "   20.0 ms          pipe              20 worker          poll < main | pipe_read",
                          "    100 us   ±87 %? pipe              20 worker          peek < main | pipe_read"));
}

}  // namespace
}  // namespace offcpu
