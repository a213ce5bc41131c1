#include "tables/table.h"

#include <string>

#include "gtest/gtest.h"
#include "tables/summary.h"
#include "tests/profile/fake_profile.h"

namespace offcpu {
namespace {

class TableTest : public ::testing::Test {
 protected:
  std::string Processes(size_t limit = 20, RowValue value = RowValue::kOffCpu) {
    std::string text;
    WriteProcessTable(fake_.profile, value, limit, [&](std::string_view bytes) { text += bytes; });
    return text;
  }
  std::string Stacks(size_t limit = 20, RowValue value = RowValue::kOffCpu) {
    std::string text;
    WriteStackTable(fake_.profile, value, limit, [&](std::string_view bytes) { text += bytes; });
    return text;
  }
  std::string Summary() {
    std::string text;
    WriteSummary(fake_.profile, [&](std::string_view bytes) { text += bytes; });
    return text;
  }

  FakeProfile fake_;
};

TEST_F(TableTest, AStackSaysWhoEndedMostOfItsWaits) {
  const uint32_t process = fake_.Process(10, "server");
  const uint32_t comm = fake_.Comm("worker");
  const uint32_t user = fake_.User({"read", "main"});
  const uint32_t kernel = fake_.Kernel({"schedule", "pipe_read"});
  const WakerLink thread = {.process = fake_.Process(11, "client"),
                            .comm = fake_.Comm("waker"),
                            .kernel_stack = fake_.Kernel({"try_to_wake_up", "__wake_up", "pipe_write", "ksys_write"}),
                            .user_stack = fake_.User({"write", "reply", "loop", "main"})};
  const WakerLink timer = {.interrupt = true,
                           .kernel_stack = fake_.Kernel({"try_to_wake_up", "hrtimer_wakeup", "hrtimer_interrupt"}),
                           .user_stack = fake_.Missing(NoUserStack::kKernelThread)};
  fake_.profile.wakers = {{timer}, {thread, timer}, {}, {thread}};
  for (uint32_t waker = 0; waker <= 4; ++waker) {
    fake_.Row(process, comm, user, kernel, 1'000'000 * (waker + 1), 0, WaitKind::kSleeping);
    fake_.profile.rows.back().waker = waker;
  }
  fake_.Row(process, comm, user, kernel, 7'000'000, 0, WaitKind::kDisk);
  fake_.profile.rows.back().waker = 1;
  const std::string text = Stacks();
  const size_t wakers = text.find("        woken, ");
  ASSERT_NE(wakers, std::string::npos) << text;
  EXPECT_EQ(text.substr(wakers),
            "        woken, 9.00 ms, by [interrupt] | hrtimer_interrupt\n"
            "        woken, 5.00 ms, by waker (11): write < reply < loop | pipe_write\n"
            "        woken, 4.00 ms, by others\n"
            "        woken in other ways: 1\n"
            "\n");
  EXPECT_NE(Stacks(20, RowValue::kCount).find("by [interrupt]"), std::string::npos);
  fake_.profile.wakers = {{thread, timer}, {}, {}, {}};
  EXPECT_NE(Stacks().find("by waker (11): write < reply < loop | pipe_write\n"
                          "          woken by [interrupt] | hrtimer_interrupt\n"),
            std::string::npos);
}

TEST_F(TableTest, ProcessesAreSortedByTime) {
  uint32_t kernel = fake_.Kernel({"__schedule", "schedule", "pipe_read", "ksys_read"});
  uint32_t client = fake_.Process(11, "client");
  uint32_t server = fake_.Process(10, "server");
  fake_.Process(12, "idle");  // no row: not shown
  uint32_t a = fake_.Comm("a");
  uint32_t b = fake_.Comm("b");
  fake_.Row(client, a, fake_.Missing(NoUserStack::kLost), kernel, 1'000'000);
  fake_.Row(server, a, fake_.User({"poll", "main"}), kernel, 1'000'000);
  fake_.Row(server, b, fake_.User({"read", "fill", "loop", "main"}), kernel, 2'000'000, 500'000);
  EXPECT_EQ(Processes(),
            "PROCESS               PID   NAMES    OFF-CPU    BLOCKED   RUNNABLE  COSTLIEST STACK\n"
            "server                 10       2    3.50 ms    3.00 ms     500 us  read < fill < loop | pipe_read\n"
            "client                 11       1    1.00 ms    1.00 ms       0 ns  [no user stack: lost] | pipe_read\n");
  EXPECT_EQ(Processes(1),
            "PROCESS               PID   NAMES    OFF-CPU    BLOCKED   RUNNABLE  COSTLIEST STACK\n"
            "server                 10       2    3.50 ms    3.00 ms     500 us  read < fill < loop | pipe_read\n"
            "not shown: 1\n");
}

TEST_F(TableTest, AnyValueCanBeSortedBy) {
  uint32_t kernel = fake_.Kernel({"schedule"});
  uint32_t sleeper = fake_.Process(10, "sleeper");
  uint32_t hog = fake_.Process(11, "hog");
  uint32_t comm = fake_.Comm("c");
  fake_.Row(sleeper, comm, fake_.User({"sleep"}), kernel, 3'000'000, 1'000'000);
  fake_.Row(hog, comm, fake_.User({"spin"}), kernel, 0, 3'000'000);
  EXPECT_LT(Processes(20, RowValue::kBlocked).find("sleeper"), Processes(20, RowValue::kBlocked).find("hog"));
  EXPECT_LT(Processes(20, RowValue::kRunnable).find("hog"), Processes(20, RowValue::kRunnable).find("sleeper"));
  EXPECT_TRUE(Stacks(1, RowValue::kBlocked).starts_with("#1  3.00 ms, 100.0 %  count 1, average 4.00 ms"));
  EXPECT_TRUE(Stacks(1, RowValue::kRunnable).starts_with("#1  3.00 ms, 75.0 %  count 1, average 3.00 ms"));
  EXPECT_TRUE(Stacks(1, RowValue::kCount).starts_with("#1  1 times, 50.0 %"));
}

TEST_F(TableTest, WhatRunsHasAColumnAndNoKernelStackInUserMode) {
  const uint32_t user_mode = fake_.Kernel({});
  fake_.profile.kernel_stacks[user_mode].user_mode = true;
  const uint32_t process = fake_.Process(10, "server");
  const uint32_t comm = fake_.Comm("worker");
  fake_.Row(process, comm, fake_.User({"read", "main"}), fake_.Kernel({"schedule", "pipe_read"}), 5'000'000);
  fake_.Row(process, comm, fake_.User({"work", "main"}), user_mode, 0);
  ProfileRow& row = fake_.profile.rows.back();
  row.kind = WaitKind::kRunning;
  row.count = 0;
  row.samples = 2;
  row.cpu_ns = 20'000'000;
  fake_.profile.stats.oncpu_period_ns = 10'000'000;
  fake_.profile.stats.oncpu_samples = 2;
  EXPECT_EQ(Processes(20, RowValue::kWall),
            "PROCESS               PID   NAMES    OFF-CPU    BLOCKED   RUNNABLE     ON-CPU  COSTLIEST STACK\n"
            "server                 10       1    5.00 ms    5.00 ms       0 ns    20.0 ms  work < main\n");
  EXPECT_TRUE(Stacks(1, RowValue::kWall)
                  .starts_with("#1  20.0 ms, 80.0 %  2 samples  server (10), thread worker: on a CPU\n"
                               "        main\n"
                               "        work\n"
                               "\n"))
      << Stacks(1, RowValue::kWall);
  EXPECT_NE(Summary().find("on a CPU      2 samples that stand for 20.0 ms\n"), std::string::npos);
}

TEST_F(TableTest, AKernelStackOfNothingButTheSchedulerShowsItsLeaf) {
  fake_.Row(fake_.Process(10, "s"), fake_.Comm("s"), fake_.User({}), fake_.Kernel({"__schedule", "schedule"}), 1);
  EXPECT_NE(Processes().find(" | __schedule\n"), std::string::npos);
}

TEST_F(TableTest, StacksAreSortedByTimeWithTheKindsAddedUp) {
  uint32_t process = fake_.Process(10, "server");
  uint32_t comm = fake_.Comm("worker\n");
  uint32_t kernel = fake_.Kernel({"schedule", "pipe_read"});
  uint32_t read = fake_.User({"read", "main"});
  fake_.Row(process, comm, fake_.Missing(NoUserStack::kBudget), fake_.Kernel({}), 1'000'000);
  fake_.Row(process, comm, read, kernel, 2'000'000);
  fake_.Row(process, comm, read, kernel, 500'000, 500'000, WaitKind::kDisk);
  fake_.profile.rows[1].syscall = 0;
  fake_.profile.rows[2].syscall = 1;
  EXPECT_EQ(
      Stacks(),
      "#1  3.00 ms, 75.0 %  count 2, average 1.50 ms, longest 2.00 ms  server (10), thread worker?: pipe in read\n"
      "        main\n"
      "        read\n"
      "        -- kernel --\n"
      "        pipe_read\n"
      "        schedule\n"
      "\n"
      "#2  1.00 ms, 25.0 %  count 1, average 1.00 ms, longest 1.00 ms  server (10), thread worker?: other\n"
      "        [no user stack: budget]\n"
      "        -- kernel --\n"
      "        [unknown kernel stack]\n"
      "\n");
  EXPECT_EQ(Stacks(1).find("#2"), std::string::npos);
  EXPECT_EQ(Stacks(0), "");
}

// A wait for work that is hidden leaves its time for a CPU, which is that of no wait that is shown.
TEST_F(TableTest, TimeThatIsLeftOfHiddenWaitsIsApart) {
  const uint32_t process = fake_.Process(10, "server");
  const uint32_t comm = fake_.Comm("worker");
  const uint32_t kernel = fake_.Kernel({"schedule", "futex_wait"});
  const uint32_t wait = fake_.User({"wait", "main"});
  fake_.Row(process, comm, wait, kernel, 0, 9'000'000);
  fake_.profile.rows.back().count = fake_.profile.rows.back().max_ns = 0;
  fake_.Row(process, comm, wait, kernel, 0, 1'000'000, WaitKind::kPreempted);
  const uint32_t waker = fake_.User({"post", "main"});
  fake_.profile.wakers = {{{.process = process, .comm = comm, .kernel_stack = kernel, .user_stack = waker}}};
  fake_.profile.rows.back().waker = 1;
  const std::string stacks = Stacks();
  const size_t counted = stacks.find("#2  1.00 ms, 10.0 %  count 1, average 1.00 ms, longest 1.00 ms  server (10)");
  EXPECT_TRUE(stacks.starts_with("#1  9.00 ms, 90.0 %  for a CPU, woken to work  server (10)")) << stacks;
  ASSERT_NE(counted, std::string::npos) << stacks;
  EXPECT_GT(stacks.find("woken, 1.00 ms, by worker (10): post"), counted) << "not of the other";
}

TEST_F(TableTest, TheSummaryCountsWalksAndLosses) {
  ProfileStats& stats = fake_.profile.stats;
  fake_.profile.duration_ns = 10'000'000'000;
  stats.intervals = 5000;
  stats.processes = 3;
  stats.slept_throughout = 7;
  stats.cookies = 800;
  stats.captures = 790;
  stats.walks = 1000;
  stats.walk_ends[static_cast<size_t>(EndReason::kComplete)] = 980;
  stats.walk_ends[static_cast<size_t>(EndReason::kStackCopy)] = 20;
  stats.complete_walks_by_source[static_cast<size_t>(FrameSource::kEhFrame)] = 900;
  stats.complete_walks_by_source[static_cast<size_t>(FrameSource::kSFrame)] = 50;
  stats.drops = {{"no user stack: budget", 12, 1'200'000}, {"row table full", 3, 0}};
  EXPECT_EQ(Summary(),
            "recorded      10.0 s: 5000 intervals of 3 processes, 0 rows\n"
            "stacks        0 user, 0 kernel; 790 captures for 800 stays\n"
            "asleep        7 threads slept through the whole recording\n"
            "user walks    1000, complete 98.0 % (sframe 5.0 %, eh_frame 90.0 %, mixed 3.0 %)\n"
            "  truncated   window 2.0 %\n"
            "lost or without a stack\n"
            "  no user stack: budget                        12  1.20 ms\n"
            "  row table full                                3  \n");
}

TEST_F(TableTest, AnEmptyRecordingLostNothing) {
  EXPECT_EQ(Summary(),
            "recorded      0 ns: 0 intervals of 0 processes, 0 rows\n"
            "stacks        0 user, 0 kernel; 0 captures for 0 stays\n"
            "user walks    0, complete 0.0 %\n"
            "lost          nothing\n");
  EXPECT_EQ(Stacks(), "");
}

}  // namespace
}  // namespace offcpu
