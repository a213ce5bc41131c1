#include "tables/top_screen.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "tables/columns.h"
#include "tests/profile/fake_profile.h"

namespace offcpu {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Le;
using ::testing::Not;

constexpr uint64_t kMs = 1'000'000;

class TopScreenTest : public ::testing::Test {
 protected:
  TopScreenTest() {
    fake_.profile.duration_ns = 2'000 * kMs;
    fake_.profile.host = "build7";
  }

  TopTable All() const { return MakeTopTable(fake_.profile, state_.value, kNoLimit); }
  std::vector<StyledLine> Drawn(size_t columns, size_t lines, bool has_blocks = false) const {
    return TopScreen(ShownOf(All(), state_), state_, history_,
                     {.time_of_day = "18:40:32",
                      .recorder = "offcpud",
                      .columns = columns,
                      .lines = lines,
                      .has_blocks = has_blocks});
  }
  // Without what is blank at the end of a line.
  static std::string TextOf(const StyledLine& line) {
    std::string text;
    for (const StyledPart& part : line.parts) text += part.text;
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
  }
  std::vector<std::string> Lines(size_t columns = 80, size_t lines = 24) const {
    std::vector<std::string> texts;
    for (const StyledLine& line : Drawn(columns, lines)) texts.push_back(TextOf(line));
    return texts;
  }
  std::vector<std::string> Selected(size_t columns = 80, size_t lines = 24) const {
    std::vector<std::string> texts;
    for (const StyledLine& line : Drawn(columns, lines))
      if (line.is_selected) texts.push_back(TextOf(line));
    return texts;
  }
  void Type(const std::string& typed) {
    for (const TopKey& key : TopKeys(typed)) Press(key, ShownOf(All(), state_), &state_);
  }
  void Servers() {
    const uint32_t server = fake_.Process(1234, "server");
    fake_.Row(server, fake_.Comm("worker"), fake_.User({"fill", "(anonymous namespace)::Loop", "main"}), pipe_,
              3'000 * kMs, 1'000 * kMs);
    fake_.Row(server, fake_.Comm("logger"), fake_.User({"flush", "main"}), pipe_, 100 * kMs);
    const uint32_t flusher = fake_.Process(77, "kworker/u8:2");
    fake_.Row(flusher, fake_.Comm("kworker/u8:2"), fake_.Missing(NoUserStack::kKernelThread), pipe_, 1'000 * kMs);
  }
  // Adds `stacks_each` stacks of each process.
  void Rows(size_t processes, size_t stacks_each) {
    for (size_t i = 0; i < processes; ++i) {
      const uint32_t process = fake_.Process(static_cast<int32_t>(100 + i), "p");
      for (size_t k = 0; k < stacks_each; ++k) {
        const uint32_t comm = fake_.Comm(std::string(1, static_cast<char>('a' + k)));
        fake_.Row(process, comm, fake_.User({"f"}), pipe_, kMs);
      }
    }
  }

  FakeProfile fake_;
  TopState state_;
  TopHistory history_;
  uint32_t pipe_ = fake_.Kernel({"__schedule", "schedule", "pipe_read", "ksys_read"});
};

// 53 columns are figures; a bar and a sparkline share the others.
TEST_F(TopScreenTest, AScreenOf80By24) {
  Servers();
  TopTable before = All();
  before.processes[0].sums.blocked_ns /= 2;
  before.processes[0].sums.runnable_ns /= 2;
  history_.Add(before);
  history_.Add(All());
  EXPECT_THAT(Lines(), ElementsAre("offcpu top  build7  18:40:32  2.00 s recorded by offcpud",
                                   "per second: 2.55 s off the CPU, 2.05 s blocked, 500 ms runnable, 1.5 waits",
                                   "2 processes; lost nothing",  //
                                   "sorted by off-CPU",
                                   "    PID PROCESS          OFF-CPU/s  WAITS/s   LONGEST off-CPU      before",
                                   "   1234 server              2.05 s      1.0    4.00 s #########///           -#",
                                   "     77 kworker/u8:2        500 ms      0.5    1.00 s ###                    ##",
                                   " OFF-CPU/s CAUSE            PID THREAD          WHERE < ITS CALLERS | WAITS IN",
                                   "    2.00 s pipe            1234 worker          fill < Loop | pipe_read",
                                   "    500 ms pipe              77 kworker/u8:2    [kernel] pipe_read < ksys_read",
                                   "   50.0 ms pipe            1234 logger          flush < main | pipe_read",
                                   "stack of worker (server 1234): sleeping, cause pipe, longest 4.00 s",  //
                                   "  pipe_read [kernel]",
                                   "  fill",  //
                                   "  Loop",  //
                                   "  main", "", "", "", "", "", "", "",
                                   "? keys  arrows select  tab stacks  o b r c sort  / filter  space pause  q quit"));
}

TEST_F(TopScreenTest, AWideScreenHasAllFigures) {
  Servers();
  const std::vector<std::string> lines = Lines(200, 60);
  EXPECT_EQ(lines.size(), 60u);
  EXPECT_EQ(lines[4], "    PID PROCESS          OFF-CPU/s  BLOCKED/s RUNNABLE/s  WAITS/s   LONGEST off-CPU" +
                          std::string(60 - 7, ' ') + " before");
  EXPECT_EQ(lines[5].substr(0, 90),
            "   1234 server              2.05 s     1.55 s     500 ms      1.0    4.00 s " + std::string(14, '#'));
}

TEST_F(TopScreenTest, ANarrowScreenHasTheTimeThatItIsSortedBy) {
  Servers();
  state_.value = RowValue::kRunnable;
  EXPECT_THAT(Lines()[4], HasSubstr(" RUNNABLE/s  WAITS/s "));
  EXPECT_THAT(Lines()[5], HasSubstr("   1234 server              500 ms "));
  EXPECT_EQ(Lines()[3], "sorted by runnable");
  state_.value = RowValue::kCount;
  EXPECT_THAT(Lines()[4], HasSubstr("  OFF-CPU/s  WAITS/s "));
  EXPECT_THAT(Lines(60)[5], Not(HasSubstr("#"))) << "no room for a picture";
}

TEST_F(TopScreenTest, WhatIsBlockedAndWhatIsRunnableHaveStylesOfTheirOwn) {
  Servers();
  const StyledLine line = Drawn(80, 24, true)[5];
  ASSERT_GE(line.parts.size(), 4u);
  EXPECT_EQ(line.parts[2].text, "█████████");
  EXPECT_EQ(line.parts[2].style, Style::kBlocked);
  EXPECT_EQ(line.parts[3].text, "▒▒▒");
  EXPECT_EQ(line.parts[3].style, Style::kRunnable);
  // What is selected is shown in reverse, but no picture is.
  for (size_t i = 1; i < line.parts.size(); ++i) EXPECT_NE(line.parts[i].style, Style::kPlain) << line.parts[i].text;
}

TEST_F(TopScreenTest, TheSelectedProcessHasItsStacks) {
  Servers();
  Type("jj");
  EXPECT_THAT(Selected(), ElementsAre(HasSubstr("  77 kworker/u8:2")));
  const std::vector<std::string> lines = Lines();
  EXPECT_THAT(lines[8], HasSubstr("[kernel] pipe_read < ksys_read"));
  EXPECT_EQ(lines[9], "stack of kworker/u8:2 77: sleeping, cause pipe, longest 1.00 s");
  EXPECT_EQ(lines[10], "  pipe_read [kernel]");
  EXPECT_EQ(lines[11], "  ksys_read [kernel]");
}

TEST_F(TopScreenTest, TheSelectedStackIsShownWhole) {
  Servers();
  Type("j\tj");
  EXPECT_THAT(Selected(), ElementsAre(HasSubstr(" server "), HasSubstr(" logger ")));
  EXPECT_THAT(Lines(), testing::Contains("stack of logger (server 1234): sleeping, cause pipe, longest 100 ms"));
  fake_.profile.rows[1].kind = WaitKind::kOpen;  // in the next refresh
  fake_.profile.rows[1].max_ns = 200 * kMs;
  EXPECT_THAT(Lines(), testing::Contains("stack of logger (server 1234): open, cause pipe, longest 200 ms"));
  fake_.profile.rows.erase(fake_.profile.rows.begin() + 1);
  EXPECT_THAT(Lines(), testing::Contains("stack of logger (server 1234): no wait in this interval"));
  EXPECT_THAT(Lines(), testing::Contains("  flush"));
}

TEST_F(TopScreenTest, TheFilterAndThePauseAreTold) {
  Servers();
  Type("/LOG");
  EXPECT_EQ(Lines()[3], "sorted by off-CPU  filter /LOG_  passed by 50.0 ms");
  Type("\r ");
  EXPECT_EQ(Lines()[3], "sorted by off-CPU  paused  filter /LOG  passed by 50.0 ms");
  EXPECT_THAT(Lines()[5], HasSubstr(" server             50.0 ms "));
}

TEST_F(TopScreenTest, AQuestionMarkShowsTheKeysUntilTheNextKey) {
  Servers();
  const std::vector<std::string> tables = Lines();
  Type("?");
  EXPECT_EQ(Lines()[0], "offcpu top: the keys");
  EXPECT_THAT(Lines(), testing::Contains(HasSubstr("q, Ctrl-C          quit")));
  for (const StyledLine& line : Drawn(80, 24)) EXPECT_LE(ColumnsOf(TextOf(line)), 80u);
  EXPECT_EQ(Lines(20, 5).size(), 5u);
  EXPECT_EQ(Press({.text = "q"}, All(), &state_), TopAction::kQuit);
  Type("j");
  EXPECT_EQ(Lines(), tables) << "and does nothing else";
}

TEST_F(TopScreenTest, WhatThereIsNoRoomForIsMarked) {
  fake_.Row(fake_.Process(1234567, "fifteen-letters"), fake_.Comm("fifteen-of-them"), fake_.User({"f"}), pipe_, kMs);
  fake_.profile.stats.losses = {{"interval ring full", 1, kMs}};
  const std::vector<std::string> lines = Lines();
  EXPECT_EQ(lines[8], "stack of fifteen-of-them (fifteen-letters 1234567): sleeping, cause pipe, long..");
  EXPECT_EQ(Lines(60)[2], "1 processes; lost or without a stack 500 us, most: interva..");
}

TEST_F(TopScreenTest, NothingWaited) {
  const std::vector<std::string> lines = Lines();
  EXPECT_EQ(lines[2], "0 processes; lost nothing");
  EXPECT_EQ(lines[6], "no stack");
  EXPECT_EQ(lines.size(), 24u);
  Type("jjj\tjj\033");
  EXPECT_EQ(Lines(), lines);
}

TEST_F(TopScreenTest, TheScreenIsFilledAndNoMore) {
  for (const size_t processes : {0, 1, 30}) {
    Rows(processes, 3);
    for (const size_t columns : {1, 9, 40, 53, 69, 80, 109, 110, 200}) {
      for (const size_t lines : {1, 3, 7, 8, 9, 12, 24, 60, 500}) {
        const std::vector<std::string> drawn = Lines(columns, lines);
        EXPECT_EQ(drawn.size(), lines);
        for (const std::string& line : drawn) EXPECT_LE(ColumnsOf(line), columns) << line;
      }
    }
  }
  EXPECT_EQ(Lines(80, 0).size(), 0u);
}

// 24 lines are 8 and 16, of which a third may be the stack's; it needs two.
TEST_F(TopScreenTest, BothTablesHaveTheirHalfOrWhatTheOtherLeaves) {
  const auto processes = [](const std::vector<std::string>& lines) {
    return std::find_if(lines.begin(), lines.end(), [](const std::string& line) { return line.starts_with(" OFF-"); }) -
           lines.begin() - 5;
  };
  Rows(30, 1);
  EXPECT_EQ(processes(Lines()), 7);
  fake_.profile.rows.resize(3);
  EXPECT_EQ(processes(Lines()), 3);
  fake_.profile.rows.clear();
  Rows(3, 20);
  EXPECT_EQ(processes(Lines()), 3);
}

TEST_F(TopScreenTest, TheSelectedRowIsAlwaysInSight) {
  Rows(60, 1);
  for (int i = 0; i < 60; ++i) {
    Type("j");
    EXPECT_THAT(Selected(), ElementsAre(HasSubstr(std::to_string(100 + i)))) << i;
  }
  Type("\033\t");
  for (int i = 0; i < 60; ++i) {
    EXPECT_THAT(Selected(), ElementsAre(HasSubstr(std::to_string(100 + i)))) << i;
    Type("j");
  }
  Type("\033[H");
  EXPECT_THAT(Selected(), ElementsAre(HasSubstr(" 100 ")));
}

TEST_F(TopScreenTest, ALongStackSaysHowMuchIsLeftOut) {
  std::vector<std::string> names;
  for (int i = 0; i < 40; ++i) names.push_back("f" + std::to_string(i));
  fake_.Row(fake_.Process(1, "p"), fake_.Comm("t"), fake_.User({names.begin(), names.end()}), pipe_, kMs);
  const std::vector<std::string> lines = Lines();
  // 16 lines, of which the tables take one each.
  EXPECT_EQ(lines[9], "  pipe_read [kernel]");
  EXPECT_EQ(lines[21], "  f11");
  EXPECT_EQ(lines[22], "  28 more");
}

TEST_F(TopScreenTest, NoNameControlsTheTerminal) {
  fake_.profile.host = "a\033[2Jb";
  fake_.profile.stats.losses = {{"c\033c", 1, 1}};
  const std::string templates = "std::map<" + std::string(4096, 'm') + ">";
  // C1 as UTF-8 and as a byte, DEL, a mark that turns text round, what is no UTF-8, and what no line has room for.
  fake_.Row(fake_.Process(1, "x\033]0;\007"),
            fake_.Comm("y\302\233"
                       "2Jz"),
            fake_.User({"f\23331m\177\n\377\u202e", templates}), pipe_, kMs);
  Type("j\t/\u00e9");
  state_.filter = "\033[2J";
  for (const bool has_filter : {true, false}) {
    if (!has_filter) state_.filter.clear();
    for (const StyledLine& line : Drawn(200, 60)) {
      const std::string text = TextOf(line);
      EXPECT_LE(ColumnsOf(text), 200u);
      for (const char c : text) EXPECT_TRUE(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) << text;
      EXPECT_THAT(text, Not(HasSubstr("\302\233")));
      EXPECT_THAT(text, Not(HasSubstr("\u202e")));
    }
  }
  EXPECT_THAT(Lines()[0], HasSubstr("a?[2Jb"));
  EXPECT_THAT(Lines(), testing::Contains("  f\xef\xbf\xbd"
                                         "31m??\xef\xbf\xbd?"));
  EXPECT_THAT(Lines(200, 60), testing::Contains(testing::MatchesRegex("  std::map<m+\\.\\.m+>")));
}

}  // namespace
}  // namespace offcpu
