#include "output/folded.h"

#include <cstdint>
#include <random>
#include <sstream>
#include <string>

#include "gtest/gtest.h"
#include "tests/profile/fake_profile.h"

namespace offcpu {
namespace {

class FoldedTest : public ::testing::Test {
 protected:
  std::string Fold(const FoldedOptions& options = {}) {
    std::string text;
    WriteFolded(fake_.profile, fake_.profile.rows, options, [&](std::string_view bytes) { text += bytes; });
    return text;
  }

  FakeProfile fake_;
  uint32_t process_ = fake_.Process(10, "server");
  uint32_t comm_ = fake_.Comm("worker");
};

TEST_F(FoldedTest, OneLineFromTheThreadToTheKernelLeaf) {
  fake_.Row(process_, comm_, fake_.User({"read", "loop", "main"}), fake_.Kernel({"schedule", "pipe_read"}), 5'000'000,
            1'000);
  EXPECT_EQ(Fold(), "server;worker;main;loop;read;-;pipe_read_[k];schedule_[k] 5001\n");
}

TEST_F(FoldedTest, WhoWokeIsMetAtTheLeafFromTheOtherSide) {
  const uint32_t user = fake_.User({"read", "main"});
  const uint32_t kernel = fake_.Kernel({"schedule", "pipe_read"});
  const uint32_t none = fake_.Missing(NoUserStack::kKernelThread);
  const Waker thread = {.process = fake_.Process(11, "client"),
                        .comm = fake_.Comm("waker"),
                        .kernel_stack = fake_.Kernel({"wake_up", "pipe_write"}),
                        .user_stack = fake_.User({"write", "reply"}, EndReason::kStackCopy)};
  const Waker timer = {.interrupt = true, .kernel_stack = fake_.Kernel({"wake_up", "timer"}), .user_stack = none};
  fake_.profile.wakers = {{thread, timer}, {timer}, {}};
  for (uint32_t waker = 0; waker <= 3; ++waker) {
    fake_.Row(process_, comm_, user, kernel, 1'000'000 * (waker + 1));
    fake_.profile.rows.back().waker = waker;
  }
  const std::string wait = "server;worker;main;read;-;pipe_read_[k];schedule_[k]";
  const std::string by_timer = ";--;wake_up_[k];timer_[k];-;[interrupt]";
  EXPECT_EQ(Fold(), wait + " 1000\n" +                 //
                        wait + ";--;[other] 4000\n" +  //
                        wait + ";--;wake_up_[k];pipe_write_[k];-;write;reply;[truncated: stack copy];waker;client" +
                        by_timer + " 2000\n" +  //
                        wait + by_timer + " 3000\n");
  EXPECT_NE(Fold({.per_process = true}).find("[truncated: stack copy];waker;client-11;--;"), std::string::npos);
}

// A line is what a reader splits at the last blank, and its frames at ';'.
TEST_F(FoldedTest, NamesDoNotSteerATerminal) {
  const uint32_t comm = fake_.Comm(
      "\x9b"
      "31m");  // CSI of a terminal without UTF-8: no character
  fake_.Row(process_, comm,
            fake_.User({"a\xc2\x9b"
                        "b",
                        "c\xe2\x80\xae"
                        "d;e\n"}),
            fake_.Kernel({"x\xc2\x85"}), 1'000'000);
  EXPECT_EQ(Fold(),
            "server;\xef\xbf\xbd"
            "31m;c?d:e?;a?b;-;x?_[k] 1000\n");
}

TEST_F(FoldedTest, AnyValueCanBeShown) {
  uint32_t kernel = fake_.Kernel({"schedule"});
  fake_.Row(process_, comm_, fake_.User({"read"}), kernel, 5'000'000, 1'000);
  fake_.Row(process_, comm_, fake_.User({"spin"}), kernel, 0, 2'000);
  EXPECT_EQ(Fold({.value = RowValue::kBlocked}), "server;worker;read;-;schedule_[k] 5000\n");
  EXPECT_EQ(Fold({.value = RowValue::kRunnable, .nanoseconds = true}),
            "server;worker;read;-;schedule_[k] 1000\nserver;worker;spin;-;schedule_[k] 2000\n");
  EXPECT_EQ(Fold({.value = RowValue::kCount}),
            "server;worker;read;-;schedule_[k] 1\nserver;worker;spin;-;schedule_[k] 1\n");
}

TEST_F(FoldedTest, WhatRunsIsInTheWallClockView) {
  const uint32_t user_mode = fake_.Kernel({});
  fake_.profile.kernel_stacks[user_mode].user_mode = true;
  fake_.Row(process_, comm_, fake_.User({"read", "main"}), fake_.Kernel({"schedule", "pipe_read"}), 5'000'000);
  fake_.Row(process_, comm_, fake_.User({"work", "main"}), user_mode, 0);
  const auto make_sample = [](ProfileRow& row, uint64_t samples) {
    row.kind = WaitKind::kRunning;
    row.count = 0;
    row.samples = samples;
    row.cpu_ns = samples * 10'000'000;
  };
  make_sample(fake_.profile.rows.back(), 2);
  fake_.Row(process_, comm_, fake_.User({"read", "main"}), fake_.Kernel({"copy_to_user", "pipe_read"}), 0);
  make_sample(fake_.profile.rows.back(), 1);
  EXPECT_EQ(Fold({.value = RowValue::kWall}),
            "server;worker;main;read;-;pipe_read_[k];copy_to_user_[k] 10000\n"
            "server;worker;main;read;-;pipe_read_[k];schedule_[k] 5000\n"
            "server;worker;main;work 20000\n");
  EXPECT_EQ(Fold({.value = RowValue::kSamples}),
            "server;worker;main;read;-;pipe_read_[k];copy_to_user_[k] 1\n"
            "server;worker;main;work 2\n");
  EXPECT_EQ(Fold(), "server;worker;main;read;-;pipe_read_[k];schedule_[k] 5000\n") << "no waits, and no lines of none";
  EXPECT_EQ(DefaultValue(fake_.profile), RowValue::kOffCpu);
  fake_.profile.stats.oncpu_period_ns = 10'000'000;
  EXPECT_EQ(DefaultValue(fake_.profile), RowValue::kWall);
}

TEST_F(FoldedTest, WhatIsMissingIsNamedWhereItWouldBe) {
  uint32_t kernel = fake_.Kernel({"schedule"});
  fake_.Row(process_, comm_, fake_.User({"read", "loop"}, EndReason::kStackCopy), kernel, 1000);
  fake_.Row(process_, comm_, fake_.User({}, EndReason::kNotMapped), kernel, 2000);
  fake_.Row(process_, comm_, fake_.User({"wait", "made"}, EndReason::kGuessedEnd), kernel, 5000);
  fake_.Row(process_, comm_, fake_.Missing(NoUserStack::kRingFull), fake_.Kernel({}), 3000);
  fake_.OverflowRow(4000);
  EXPECT_EQ(Fold(),
            "[other];[other];[other];-;[other] 4\n"
            "server;worker;[guessed end];made;wait;-;schedule_[k] 5\n"
            "server;worker;[no user stack: ring full];-;[unknown kernel stack] 3\n"
            "server;worker;[truncated: " +
                std::string(Name(EndReason::kNotMapped)) +
                "];-;schedule_[k] 2\n"
                "server;worker;[truncated: stack copy];loop;read;-;schedule_[k] 1\n");
}

// Names of C++ come without them already.
TEST_F(FoldedTest, WhatCompilersHaveSplitOffIsOneFunction) {
  fake_.Row(process_, comm_, fake_.User({"read", "serve.part.0", "main"}), fake_.Kernel({"schedule"}), 1000);
  fake_.Row(process_, comm_, fake_.User({"read", "serve.isra.0.cold", "main"}), fake_.Kernel({"schedule"}), 2000);
  fake_.Row(process_, comm_, fake_.User({"read", "main"}), fake_.Kernel({"schedule", "wq_sleep.constprop.0"}), 4000);
  EXPECT_EQ(Fold(),
            "server;worker;main;read;-;wq_sleep_[k];schedule_[k] 4\n"
            "server;worker;main;serve;read;-;schedule_[k] 3\n");
}

TEST_F(FoldedTest, StacksOfTheSameNamesAreOneLine) {
  uint32_t other_process = fake_.Process(11, "client");
  uint32_t a = fake_.User({"read", "main"});
  uint32_t b = fake_.User({"read", "main"});  // other addresses
  uint32_t kernel = fake_.Kernel({"schedule"});
  fake_.Row(process_, comm_, a, kernel, 1000);
  fake_.Row(process_, comm_, a, kernel, 2000, 0, WaitKind::kDisk);
  fake_.Row(process_, comm_, b, kernel, 4000);
  fake_.Row(other_process, comm_, a, fake_.Kernel({"schedule"}), 8000);
  EXPECT_EQ(Fold(),
            "client;worker;main;read;-;schedule_[k] 8\n"
            "server;worker;main;read;-;schedule_[k] 7\n");
  fake_.Row(fake_.Process(12, "server"), comm_, a, kernel, 16000);
  EXPECT_EQ(Fold(),
            "client;worker;main;read;-;schedule_[k] 8\n"
            "server;worker;main;read;-;schedule_[k] 23\n")
      << "sixteen backends of one server are one";
  EXPECT_EQ(Fold({.nanoseconds = false, .per_process = true}),
            "client-11;worker;main;read;-;schedule_[k] 8\n"
            "server-10;worker;main;read;-;schedule_[k] 7\n"
            "server-12;worker;main;read;-;schedule_[k] 16\n");
}

TEST_F(FoldedTest, LinesAreSortedWhateverTheOrderOfTheRows) {
  uint32_t other = fake_.Comm("accept");
  uint32_t main = fake_.User({"main"});
  uint32_t loop = fake_.User({"loop"});
  uint32_t kernel = fake_.Kernel({"schedule"});
  fake_.Row(process_, comm_, main, kernel, 1000);
  fake_.Row(process_, comm_, loop, kernel, 2000);
  fake_.Row(process_, other, main, kernel, 3000);
  EXPECT_EQ(Fold(),
            "server;accept;main;-;schedule_[k] 3\n"
            "server;worker;loop;-;schedule_[k] 2\n"
            "server;worker;main;-;schedule_[k] 1\n");
}

TEST_F(FoldedTest, NamesCannotBreakTheLine) {
  uint32_t comm = fake_.Comm("a;b\nc");
  fake_.Row(process_, comm, fake_.User({"operator;\x7f", "x\t\x01"}), fake_.Kernel({"k;\n"}), 1000);
  fake_.Row(process_, fake_.Comm(""), fake_.Missing(NoUserStack::kLost), fake_.Kernel({"k"}), 1000);
  fake_.profile.processes[process_].name = "s;\r";
  EXPECT_EQ(Fold({.nanoseconds = true, .per_process = true}),
            "s:?-10;[no name];[no user stack: lost];-;k_[k] 1000\n"
            "s:?-10;a:b?c;x??;operator:?;-;k:?_[k] 1000\n");
}

TEST_F(FoldedTest, MicrosecondsAreRoundedHalfUp) {
  uint32_t kernel = fake_.Kernel({"k"});
  fake_.Row(process_, fake_.Comm("a"), fake_.User({"f"}), kernel, 499);
  fake_.Row(process_, fake_.Comm("b"), fake_.User({"f"}), kernel, 500);
  fake_.Row(process_, fake_.Comm("c"), fake_.User({"f"}), kernel, 1499);
  fake_.Row(process_, fake_.Comm("d"), fake_.User({"f"}), kernel, 1500);
  fake_.Row(process_, fake_.Comm("e"), fake_.User({"f"}), kernel, UINT64_MAX);
  EXPECT_EQ(Fold(),
            "server;a;f;-;k_[k] 0\n"
            "server;b;f;-;k_[k] 1\n"
            "server;c;f;-;k_[k] 1\n"
            "server;d;f;-;k_[k] 2\n"
            "server;e;f;-;k_[k] 18446744073709552\n");
}

TEST_F(FoldedTest, TheLinesAddUpToTheTotal) {
  std::mt19937_64 random(1);
  uint32_t users[] = {fake_.User({"a"}), fake_.User({"b"}), fake_.Missing(NoUserStack::kBudget)};
  uint32_t kernel = fake_.Kernel({"k"});
  uint64_t total_ns = 0;
  for (int i = 0; i < 200; ++i) {
    uint64_t blocked_ns = random() % 1'000'000;
    uint64_t runnable_ns = random() % 1000;
    fake_.Row(process_, fake_.Comm(std::to_string(i % 40)), users[random() % 3], kernel, blocked_ns, runnable_ns);
    total_ns += blocked_ns + runnable_ns;
  }
  auto sum = [](const std::string& text, uint64_t* lines) {
    std::istringstream stream(text);
    std::string line;
    uint64_t total = 0;
    for (*lines = 0; std::getline(stream, line); ++*lines) total += std::stoull(line.substr(line.rfind(' ')));
    return total;
  };
  uint64_t lines = 0;
  EXPECT_EQ(sum(Fold({.nanoseconds = true}), &lines), total_ns);
  uint64_t total_us = sum(Fold(), &lines);
  EXPECT_NEAR(static_cast<double>(total_us) * 1000, static_cast<double>(total_ns), static_cast<double>(lines) * 500);
}

TEST_F(FoldedTest, AnEmptyProfileIsAnEmptyText) { EXPECT_EQ(Fold(), ""); }

}  // namespace
}  // namespace offcpu
