// The screen of offcpu top on terminals of two sizes, used by its keys.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "tests/deep/display.h"
#include "tests/harness/cli.h"
#include "tests/harness/terminal.h"

namespace offcpu::integration {
namespace {

// Lines and columns.
using Size = std::pair<unsigned short, unsigned short>;

class TopScreenTest : public CliTest, public ::testing::WithParamInterface<Size> {
 protected:
  void SetUp() override {
    target_ = StartedTarget({"waits", "--seconds", "120"});
    ASSERT_NE(target_, nullptr);
    const auto [lines, columns] = GetParam();
    // Where no service is.
    terminal_ = Terminal::Start({BinDirectory() + "/offcpu", "top", "--socket", Path("control.sock"), "--interval",
                                 "200ms", "-p", std::to_string(target_->pid())},
                                lines, columns);
    ASSERT_NE(terminal_, nullptr);
    Await("the first screen", [this] { return Shows("arrows select"); });
  }

  void NextScreen() { display_.Feed(terminal_->ReadUntil("\033[J")); }

  template <typename Condition>
  void Await(const std::string& what, Condition holds) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!holds()) {
      ASSERT_LT(std::chrono::steady_clock::now(), end) << what << " did not come, but\n"
                                                       << absl::StrJoin(display_.Lines(), "\n");
      NextScreen();
    }
  }
  // Types keys, and waits for a text.
  void Type(const std::string& keys, const std::string& text) {
    terminal_->Type(keys);
    Await(text, [&] { return Shows(text); });
  }

  bool Shows(const std::string& text) const {
    return absl::StrJoin(display_.Lines(), "\n").find(text) != std::string::npos;
  }
  std::string Selected() const { return absl::StrJoin(display_.SelectedLines(), "\n"); }
  // The table of stacks.
  std::vector<std::string> StackLines() const {
    const std::vector<std::string> lines = display_.Lines();
    const auto is = [](const std::string& part) {
      return [part](const std::string& line) { return line.find(part) != std::string::npos; };
    };
    const auto begin = std::find_if(lines.begin(), lines.end(), is("WHERE < ITS CALLERS"));
    const auto end = std::find_if(begin, lines.end(), is("stack of "));
    return begin == lines.end() ? std::vector<std::string>() : std::vector<std::string>(begin + 1, end);
  }

  Display display_{GetParam().first, GetParam().second};
  std::unique_ptr<Target> target_;
  std::unique_ptr<Terminal> terminal_;
};

TEST_P(TopScreenTest, TheScreenHasBarsSparklinesAndAWholeStack) {
  const std::string pid = std::to_string(target_->pid());
  Await("a bar", [this] { return Shows("█"); });
  Await("a sparkline of three refreshes", [this] {
    return std::regex_search(absl::StrJoin(display_.Lines(), "\n"), std::regex("(▁|▂|▃|▄|▅|▆|▇|█){3}(\n|$)"));
  });
  const std::vector<std::string> lines = display_.Lines();
  EXPECT_EQ(lines.size(), GetParam().first);
  EXPECT_TRUE(lines[0].starts_with("offcpu top  ")) << lines[0];
  EXPECT_TRUE(lines[4].starts_with("    PID PROCESS ")) << lines[4];
  EXPECT_TRUE(std::regex_search(lines[5], std::regex("^ *" + pid + " waits +[0-9.]+ "))) << lines[5];
  EXPECT_EQ(lines.back(), "? keys  arrows select  tab stacks  o b r c sort  / filter  space pause  q quit");
  EXPECT_EQ(lines[4].find("BLOCKED/s") != std::string::npos, GetParam().second == 200);
  EXPECT_THAT(lines, testing::Contains(testing::MatchesRegex("  .+ \\[kernel\\]")));
}

TEST_P(TopScreenTest, KeysSelectSortFilterPauseAndQuit) {
  const std::string pid = std::to_string(target_->pid());
  terminal_->Type("\033[B");
  Await("a selected process", [&] { return Selected().find(" " + pid + " waits ") != std::string::npos; });
  terminal_->Type("\t");
  Await("a selected stack", [this] { return display_.SelectedLines().size() == 2; });
  terminal_->Type("\033\033");  // to its processes, and to none
  Await("nothing selected", [this] { return Selected().empty(); });

  Type("r", "sorted by runnable");
  Type("c", "sorted by waits");
  Type("o", "sorted by off-CPU");

  Type("/W_nanosl", "filter /W_nanosl_");
  Await("only its stacks", [this] {
    const std::vector<std::string> stacks = StackLines();
    return !stacks.empty() && std::all_of(stacks.begin(), stacks.end(), [](const std::string& line) {
      return line.find(" w_nanosleep ") != std::string::npos;
    });
  });
  Type("\r", "filter /W_nanosl ");  // without a cursor
  Await("the stack", [&] { return Shows("stack of w_nanosleep (waits " + pid + ")"); });
  Await("all of its stack", [this] { return Shows("  wait_in_nanosleep"); });
  terminal_->Type("\033");
  Await("all stacks", [this] { return !Shows("filter /"); });

  Type("/" + std::string(190, 'x'), "xx..");
  EXPECT_EQ(display_.Lines()[3].size(), GetParam().second) << "the last column is used";
  terminal_->Type("\033");
  Await("all stacks", [this] { return !Shows("filter /"); });

  Type(" ", "paused");
  const std::vector<std::string> paused = display_.Lines();
  for (int refreshes = 0; refreshes < 5; ++refreshes) {
    NextScreen();
    EXPECT_EQ(display_.Lines(), paused);
  }
  terminal_->Type(" ");
  Await("what came meanwhile", [&] { return !Shows("paused") && display_.Lines()[1] != paused[1]; });

  terminal_->Type("q");
  int code = -1;
  EXPECT_THAT(terminal_->ReadToEnd(&code), testing::EndsWith("\033[?25h\033[?7h\033[?1049l"));
  EXPECT_EQ(code, 0);
  EXPECT_TRUE(terminal_->IsAsBefore());
}

INSTANTIATE_TEST_SUITE_P(Sizes, TopScreenTest, ::testing::Values(Size{24, 80}, Size{60, 200}));

}  // namespace
}  // namespace offcpu::integration
