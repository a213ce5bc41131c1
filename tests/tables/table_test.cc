#include "tables/table.h"

#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "tables/summary.h"
#include "tests/profile/fake_profile.h"
#include "tests/profile/sampled_profile.h"

namespace offcpu {
namespace {

class TableTest : public ::testing::Test {
 protected:
  std::string Processes(const TableOptions& options) {
    std::string text;
    WriteProcessTable(fake_.profile, fake_.profile.rows, options, [&](std::string_view bytes) { text += bytes; });
    return text;
  }
  std::string Processes(size_t limit = 20, RowValue value = RowValue::kOffCpu) {
    return Processes({.value = value, .limit = limit});
  }
  std::string Stacks(const TableOptions& options) {
    std::string text;
    WriteStackTable(fake_.profile, fake_.profile.rows, options, [&](std::string_view bytes) { text += bytes; });
    return text;
  }
  std::string Stacks(size_t limit = 20, RowValue value = RowValue::kOffCpu) {
    return Stacks({.value = value, .limit = limit});
  }
  std::string Summary(bool hide_idle = true) {
    std::string text;
    WriteSummary(fake_.profile, hide_idle, [&](std::string_view bytes) { text += bytes; });
    return text;
  }
  // Sixteen processes of one program, each with addresses of its own, and one of another program.
  void AddBackends() {
    const uint32_t comm = fake_.Comm("postgres");
    for (int32_t i = 0; i < 16; ++i) {
      const uint32_t process = fake_.Process(100 + i, "postgres");
      fake_.profile.processes[process].executable = "/usr/lib/postgresql/15/bin/postgres";
      fake_.Row(process, comm, fake_.User({"semop", "LWLockAcquire", "main"}),
                fake_.Kernel({"schedule", "do_semtimedop"}), 1'000'000);
    }
    fake_.Row(fake_.Process(200, "psql"), fake_.Comm("psql"), fake_.User({"semop", "LWLockAcquire", "main"}),
              fake_.Kernel({"schedule", "do_semtimedop"}), 4'000'000);
  }

  FakeProfile fake_;
};

TEST_F(TableTest, SixteenBackendsAreOneRow) {
  AddBackends();
  EXPECT_EQ(Processes(),
            "PROCESS               PID   NAMES    OFF-CPU    BLOCKED   RUNNABLE  CAUSE        COSTLIEST STACK\n"
            "postgres         16 procs       1    16.0 ms    16.0 ms       0 ns  semaphore    semop < LWLockAcquire < "
            "main | do_semtimedop\n"
            "psql                  200       1    4.00 ms    4.00 ms       0 ns  semaphore    semop < LWLockAcquire < "
            "main | do_semtimedop\n");
  EXPECT_EQ(Stacks(),
            "#1  16.0 ms, 80.0 %  count 16, average 1.00 ms, longest 1.00 ms  postgres (16 processes), "
            "thread postgres: semaphore\n"
            "        main\n"
            "        LWLockAcquire\n"
            "      > semop\n"
            "        -- kernel --\n"
            "        do_semtimedop\n"
            "        schedule\n"
            "\n"
            "#2  4.00 ms, 20.0 %  count 1, average 4.00 ms, longest 4.00 ms  psql (200), thread psql: semaphore\n"
            "        main\n"
            "        LWLockAcquire\n"
            "      > semop\n"
            "        -- kernel --\n"
            "        do_semtimedop\n"
            "        schedule\n"
            "\n");
}

TEST_F(TableTest, ProcessesAreKeptApartIfThatIsAskedFor) {
  AddBackends();
  const std::string processes = Processes({.apart = RowsApart::kProcesses});
  EXPECT_TRUE(processes.find("psql                  200") < processes.find("postgres              100")) << processes;
  EXPECT_NE(processes.find("\npostgres              115"), std::string::npos) << processes;
  const std::string stacks = Stacks({.apart = RowsApart::kProcesses});
  EXPECT_NE(stacks.find("#17  1.00 ms, 5.0 %  count 1, average 1.00 ms, longest 1.00 ms  postgres (115), thread"),
            std::string::npos)
      << stacks;
}

// Two programs of one name are two; names that differ in a number are one program.
TEST_F(TableTest, AProgramIsItsNameAndItsFile) {
  AddBackends();
  for (uint32_t i = 0; i < 4; ++i) fake_.profile.processes[i].executable = "/opt/postgres";
  EXPECT_NE(Processes().find("postgres         12 procs"), std::string::npos) << Processes();
  EXPECT_NE(Processes().find("postgres          4 procs"), std::string::npos) << Processes();
  for (uint32_t i = 4; i < 16; ++i) fake_.profile.processes[i].name = "backend-" + std::to_string(i);
  EXPECT_NE(Processes().find("backend-*        12 procs"), std::string::npos) << Processes();
  for (uint32_t i = 4; i < 16; ++i) fake_.profile.processes[i].name = i < 8 ? "python2" : "python3";
  EXPECT_NE(Processes().find("python3           8 procs"), std::string::npos) << "its name";
}

TEST_F(TableTest, ThreadsOfAPoolAreOneRow) {
  const uint32_t process = fake_.Process(10, "server");
  const uint32_t user = fake_.User({"wait", "run"});
  const uint32_t kernel = fake_.Kernel({"schedule", "futex_wait"});
  for (int32_t i = 0; i < 3; ++i)
    fake_.Row(process, fake_.Comm("pool-" + std::to_string(i + 9)), user, kernel, 1'000'000);
  fake_.Row(process, fake_.Comm("main"), user, kernel, 1'000'000);
  EXPECT_NE(Stacks().find("#1  3.00 ms, 75.0 %  count 3, average 1.00 ms, longest 1.00 ms  server (10), threads "
                          "pool-*: futex\n"),
            std::string::npos)
      << Stacks();
  EXPECT_NE(Processes().find("server                 10       2 "), std::string::npos) << Processes();
  for (size_t i = 0; i < 4; ++i) fake_.profile.rows[i].tid = 11 + static_cast<int32_t>(i);
  EXPECT_NE(Stacks().find("server (10), 3 threads pool-*: futex\n"), std::string::npos) << Stacks();
  EXPECT_NE(Stacks().find("server (10), thread main (14): futex\n"), std::string::npos) << Stacks();
  EXPECT_TRUE(Processes().starts_with("PROCESS               PID THREADS "));
  EXPECT_NE(Processes().find("server                 10       4 "), std::string::npos) << Processes();
  const std::string apart = Stacks({.apart = RowsApart::kThreads});
  EXPECT_NE(apart.find("#4 "), std::string::npos) << apart;
  EXPECT_NE(apart.find("server (10), thread pool-10 (12): futex\n"), std::string::npos) << apart;
}

TEST_F(TableTest, LinesFitTheTerminalAndStacksAreFoldedInTheMiddle) {
  AddBackends();
  const std::string longest = "app::vector<" + std::string(90, 'x') + ">::push_back";
  std::vector<std::string> names = {longest};
  for (int i = 1; i < 60; ++i) names.push_back("f" + std::to_string(i));
  fake_.profile.stats.oncpu_period_ns = 1;
  fake_.Row(fake_.Process(300, std::string(15, 'n')), fake_.Comm(std::string(15, 't')),
            fake_.User(std::vector<std::string_view>(names.begin(), names.end())),
            fake_.Kernel({"schedule", "a_long_name_of_a_function_of_the_kernel"}), 50'000'000);
  for (const size_t columns : {80u, 100u, 132u}) {
    std::istringstream lines(Processes({.columns = columns}) + Stacks({.columns = columns}));
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), columns) << line;
  }
  const std::string stacks = Stacks({.limit = 1, .columns = 80});
  EXPECT_NE(stacks.find("        f59\n        f58\n        f57\n"
                        "        ... 48 more ...\n"
                        "        f8\n"),
            std::string::npos)
      << stacks;
  EXPECT_NE(stacks.find("        f1\n      > app::vector<xxx"), std::string::npos) << stacks;
  EXPECT_NE(stacks.find("xx>::push_back\n        -- kernel, 1 of system call entry and scheduler left out --\n"),
            std::string::npos)
      << stacks;
  EXPECT_EQ(Stacks({.limit = 1}).find("more ..."), std::string::npos) << "a file has all of it";
  EXPECT_NE(Stacks({.limit = 1}).find(longest), std::string::npos);
}

// As with 13 functions of a library between the program and its wait, and with none.
TEST_F(TableTest, ATerminalShowsTheProgramsOwnFunctionAndItsCallers) {
  std::vector<std::string> names;
  for (int i = 0; i < 60; ++i) names.push_back((i < 13 ? "std::f" : "f") + std::to_string(i));
  fake_.Row(fake_.Process(1, "server"), fake_.Comm("server"),
            fake_.User(std::vector<std::string_view>(names.begin(), names.end())),
            fake_.Kernel({"__schedule", "schedule", "futex_wait", "do_syscall_64", "entry_SYSCALL_64_after_hwframe"}),
            1'000'000);
  const std::string shown = Stacks({.columns = 80});
  EXPECT_NE(
      shown.find("        f57\n        ... 41 more ...\n        f15\n        f14\n      > f13\n        std::f12\n"),
      std::string::npos)
      << shown;
  EXPECT_NE(shown.find("        std::f0\n"
                       "        -- kernel, 4 of system call entry and scheduler left out --\n"
                       "        futex_wait\n\n"),
            std::string::npos)
      << shown;
  EXPECT_NE(Stacks().find("        std::f0\n        -- kernel --\n        entry_SYSCALL_64_after_hwframe\n"),
            std::string::npos)
      << "a file has all of it";
  EXPECT_NE(Processes().find("  f13 < f14 < f15 | futex_wait\n"), std::string::npos) << Processes();
}

// The end of what is printed is what stays on a screen.
TEST_F(TableTest, OnATerminalTheCostliestStackComesLast) {
  AddBackends();
  const std::string shown = Stacks({.columns = 80});
  EXPECT_LT(shown.find("#2  4.00 ms"), shown.find("#1  16.0 ms")) << shown;
  EXPECT_LT(Stacks().find("#1  16.0 ms"), Stacks().find("#2  4.00 ms")) << "a file is read from its beginning";
}

// The stack of a wait that goes on lacks what it has called of the scheduler.
TEST_F(TableTest, AnOpenWaitIsInTheRowOfThoseThatEndedAtItsPlace) {
  const uint32_t process = fake_.Process(10, "server");
  const uint32_t comm = fake_.Comm("worker");
  const uint32_t user = fake_.User({"nanosleep", "main"});
  fake_.Row(process, comm, user, fake_.Kernel({"__schedule", "schedule", "do_nanosleep", "hrtimer_nanosleep"}),
            3'000'000);
  const uint32_t open = fake_.Kernel({"hrtimer_nanosleep"});
  fake_.Row(process, comm, user, open, 1'000'000, 0, WaitKind::kOpen);
  EXPECT_TRUE(Stacks().starts_with("#1  4.00 ms, 100.0 %  count 2, ")) << Stacks();
  EXPECT_EQ(Stacks().find("#2"), std::string::npos) << Stacks();
  // Where it may be of two, or is somewhere else, it stays apart.
  fake_.Row(process, comm, user, fake_.Kernel({"__schedule", "schedule", "mutex_lock", "hrtimer_nanosleep"}), 500'000);
  EXPECT_NE(Stacks().find("#3"), std::string::npos) << Stacks();
  fake_.profile.rows.pop_back();
  fake_.profile.rows[1].user_stack = fake_.User({"usleep", "main"});
  EXPECT_NE(Stacks().find("#2"), std::string::npos) << Stacks();
}

TEST_F(TableTest, ManyProcessesThatWakeAlikeAreOneWaker) {
  AddBackends();
  const uint32_t user = fake_.User({"semop", "LWLockRelease", "main"});
  const uint32_t kernel = fake_.Kernel({"try_to_wake_up", "do_semtimedop"});
  for (uint32_t i = 0; i < 16; ++i) {
    fake_.profile.wakers.push_back({{.process = i, .comm = 0, .kernel_stack = kernel, .user_stack = user}});
    fake_.profile.rows[i].waker = i + 1;
  }
  EXPECT_NE(Stacks().find("        woken, 16.0 ms, by postgres: semop < LWLockRelease < main | do_semtimedop\n\n"),
            std::string::npos)
      << Stacks();
}

// As nginx before a slow server: the little that is not hidden is no answer to where requests wait.
TEST_F(TableTest, TheSummarySaysHowMuchIsHiddenAndWhere) {
  const uint32_t process = fake_.Process(10, "nginx");
  const uint32_t comm = fake_.Comm("nginx");
  const uint32_t kernel = fake_.Kernel({"schedule", "do_epoll_wait"});
  fake_.Row(process, comm, fake_.User({"epoll_wait"}), kernel, 980'000'000, 10'000'000);
  fake_.Row(process, comm, fake_.User({"write"}), kernel, 10'000'000);
  fake_.Idle({"nginx: event loop", ""});
  EXPECT_NE(Summary().find("\noff a CPU     1.00 s: 98.0 % waiting for work, hidden; the rest is 20.0 ms\n"
                           "  woken at    nginx: event loop, 980 ms: may include waits for other servers\n"
                           "with stacks"),
            std::string::npos)
      << Summary();
  EXPECT_EQ(Summary(false).find("\noff a CPU "), std::string::npos) << "nothing is hidden";
  fake_.profile.rows[1].blocked_ns = 980'000'000;
  EXPECT_NE(Summary().find(": 49.7 % waiting for work, hidden; "), std::string::npos) << Summary();
  EXPECT_EQ(Summary().find("woken at"), std::string::npos);
  fake_.Idle({"", ""});
  EXPECT_EQ(Summary().find("\noff a CPU "), std::string::npos);
}

// The master of a server only waits for signals, for longer than its workers wait for requests.
TEST_F(TableTest, TheSummaryTakesNoWaitThatNeverEndedForWhereRequestsWait) {
  const uint32_t process = fake_.Process(10, "nginx");
  const uint32_t comm = fake_.Comm("nginx");
  const uint32_t kernel = fake_.Kernel({"schedule"});
  fake_.Row(process, comm, fake_.User({"sigsuspend"}), kernel, 1'000'000'000, 0, WaitKind::kOpen);
  fake_.Row(process, comm, fake_.User({"epoll_wait"}), kernel, 970'000'000);
  fake_.Row(process, comm, fake_.User({"epoll_wait"}), kernel, 20'000'000, 0, WaitKind::kOpen);
  fake_.Idle({"nginx: master", "nginx: event loop", "nginx: event loop"});
  EXPECT_NE(Summary().find("\n  woken at    nginx: event loop, 990 ms: may include waits for other servers\n"),
            std::string::npos)
      << Summary();
  fake_.profile.rows[1].kind = WaitKind::kOpen;
  EXPECT_NE(Summary().find("\n  most at     nginx: master, 1.00 s: may include waits for other servers\n"),
            std::string::npos)
      << Summary();
}

TEST_F(TableTest, AStackSaysWhoEndedMostOfItsWaits) {
  const uint32_t process = fake_.Process(10, "server");
  const uint32_t comm = fake_.Comm("worker");
  const uint32_t user = fake_.User({"read", "main"});
  const uint32_t kernel = fake_.Kernel({"schedule", "pipe_read"});
  const Waker thread = {.process = fake_.Process(11, "client"),
                        .comm = fake_.Comm("waker"),
                        .kernel_stack = fake_.Kernel({"try_to_wake_up", "__wake_up", "pipe_write", "ksys_write"}),
                        .user_stack = fake_.User({"write", "reply", "loop", "main"})};
  const Waker timer = {.interrupt = true,
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
            "PROCESS               PID   NAMES    OFF-CPU    BLOCKED   RUNNABLE  CAUSE        COSTLIEST STACK\n"
            "server                 10       2    3.50 ms    3.00 ms     500 us  pipe         read < fill < loop | "
            "pipe_read\n"
            "client                 11       1    1.00 ms    1.00 ms       0 ns  pipe         [no user stack: lost] | "
            "pipe_read\n");
  EXPECT_EQ(Processes(1),
            "PROCESS               PID   NAMES    OFF-CPU    BLOCKED   RUNNABLE  CAUSE        COSTLIEST STACK\n"
            "server                 10       2    3.50 ms    3.00 ms     500 us  pipe         read < fill < loop | "
            "pipe_read\n"
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
  EXPECT_EQ(
      Processes(20, RowValue::kWall),
      "PROCESS               PID   NAMES    OFF-CPU    BLOCKED   RUNNABLE     ON-CPU  CAUSE        COSTLIEST STACK\n"
      "server                 10       1    5.00 ms    5.00 ms       0 ns    20.0 ms  on a CPU     work < main\n");
  EXPECT_TRUE(Stacks(1, RowValue::kWall)
                  .starts_with("#1  20.0 ms, 80.0 %  2 samples  server (10), thread worker: on a CPU\n"
                               "        main\n"
                               "      > work\n"
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
      "      > read\n"
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
  stats.losses = {{"no user stack: budget", 12, 1'200'000}, {"row table full", 3, 0}};
  EXPECT_EQ(Summary(),
            "recorded      10.0 s: 5000 intervals of 3 processes, 0 rows\n"
            "stacks        0 user, 0 kernel; 790 captures for 800 kernel entries\n"
            "accuracy      every wait recorded\n"
            "asleep        7 threads slept through the whole recording\n"
            "user walks    1000, complete 98.0 % (sframe 5.0 %, eh_frame 90.0 %, mixed 3.0 %)\n"
            "  truncated   stack copy 2.0 %\n"
            "lost or without a stack\n"
            "  no user stack: budget                        12  1.20 ms\n"
            "  row table full                                3  \n");
}

// For a terminal: the counters and what only lacks a stack are left to --verbose.
TEST_F(TableTest, TheShortSummarySaysWhetherTimeIsMissing) {
  const auto summary = [this] {
    std::string text;
    WriteShortSummary(fake_.profile, true, [&](std::string_view bytes) { text += bytes; });
    return text;
  };
  ProfileStats& stats = fake_.profile.stats;
  fake_.profile.duration_ns = 10'000'000'000;
  stats.intervals = 50;
  stats.processes = 1;
  stats.cookies = stats.captures = stats.walks = 40;
  const std::string head =
      "recorded      10.0 s: 50 intervals of 1 process, 0 rows\n"
      "accuracy      every wait recorded\n";
  EXPECT_EQ(summary(), head + "lost          nothing\n");
  stats.losses = {{"no user stack: budget", 12, 1'200'000}, {"module file unreadable", 1, 0}};
  EXPECT_EQ(summary(), head + "lost          no time\n");
  stats.losses.push_back({"interval ring full", 3, 0});
  stats.losses.push_back({"interval ring busy", 2, 5'000'000});
  EXPECT_EQ(summary(), head +
                           "lost          interval ring full: 3\n"
                           "lost          interval ring busy: 2, 5.00 ms\n");
  const uint32_t process = fake_.Process(10, "server");
  fake_.Row(process, fake_.Comm("a"), fake_.Missing(NoUserStack::kBudget), fake_.Kernel({"schedule"}), 400);
  fake_.Row(process, fake_.Comm("a"), fake_.Missing(NoUserStack::kExec), fake_.Kernel({"schedule"}), 100);
  fake_.Row(process, fake_.Comm("a"), fake_.User({"main"}), fake_.Kernel({"schedule"}), 500);
  EXPECT_NE(summary().find("with stacks   50.0 % of the time off a CPU has its whole user stack\n"
                           "  40.0 % no user stack: budget: "),
            std::string::npos)
      << summary();
  EXPECT_EQ(summary().find("exec"), std::string::npos) << "only the largest gap";
}

TEST_F(TableTest, TheSummaryCountsGuessedEndsApart) {
  ProfileStats& stats = fake_.profile.stats;
  stats.walks = 1000;
  stats.walk_ends[static_cast<size_t>(EndReason::kComplete)] = 700;
  stats.walk_ends[static_cast<size_t>(EndReason::kGuessedEnd)] = 250;
  stats.walk_ends[static_cast<size_t>(EndReason::kNoRow)] = 50;
  EXPECT_NE(
      Summary().find("user walks    1000, complete 70.0 % (mixed 70.0 %)\n  guessed end 25.0 %, perhaps complete: "
                     "nothing proves that the outermost frame has no caller\n  truncated   no row 5.0 %\n"),
      std::string::npos)
      << Summary();
}

TEST_F(TableTest, TheSummarySaysWhatWasWalkedAtSwitches) {
  ProfileStats& stats = fake_.profile.stats;
  EXPECT_EQ(Summary().find("at switches"), std::string::npos);
  stats.walked_at_switch = 70;
  stats.summed_at_switch = 60;
  stats.proven_walks = 3;
  stats.walk_misses = {2, 0, 1, 0};
  stats.told_rows = 30;
  stats.told_stacks = 4;
  EXPECT_NE(Summary().find("  at switches 70 waits walked, without captures; 60 summed there; 3 proven\n"
                           "  missed      2 new stack, 1 no row\n"
                           "  known       30 unwind rows and 4 user stacks in the kernel\n"),
            std::string::npos)
      << Summary();
}

TEST_F(TableTest, TheSummarySaysWhatRecordingHasCost) {
  ProfileStats& stats = fake_.profile.stats;
  stats.capture_ns = 22'000'000;
  EXPECT_EQ(Summary().find("cost "), std::string::npos) << "of files that do not tell";
  stats.own_programs_ns = 12'000'000;
  stats.own_process_ns = 50'000'000;
  stats.own_memory_bytes = 3u << 19;
  stats.host_cpu_ns = 10'000'000'000;  // 84 ms are 0.84 % of it
  stats.cpu_budget_ppm = 5'000;
  const std::string parts = "BPF programs 12.0 ms, captures 22.0 ms, recorder 50.0 ms; 1.5 MiB\n";
  EXPECT_NE(Summary().find("\ncost          0.84 % of the host (budget 0.5%): " + parts + "accuracy"),
            std::string::npos)
      << Summary();
  stats.cpu_budget_ppm = 0;
  EXPECT_NE(Summary().find("\ncost          0.84 % of the host (no budget, the sample is fixed): " + parts),
            std::string::npos)
      << Summary();
}

TEST_F(TableTest, AnEmptyRecordingLostNothing) {
  EXPECT_EQ(Summary(),
            "recorded      0 ns: 0 intervals of 0 processes, 0 rows\n"
            "stacks        0 user, 0 kernel; 0 captures for 0 kernel entries\n"
            "accuracy      every wait recorded\n"
            "user walks    0, complete 0.0 %\n"
            "lost          nothing\n");
  EXPECT_EQ(Stacks(), "");
}

// A row without an error is as it is in a table of exact ones, with a blank.
TEST_F(TableTest, EstimatesHaveTheirErrors) {
  fake_ = SampledProfile();
  EXPECT_EQ(
      Processes(),
      "PROCESS               PID   NAMES    OFF-CPU        ±    BLOCKED   RUNNABLE  CAUSE        COSTLIEST STACK\n"
      "server                 10       1    90.0 ms     ±2 %    68.0 ms    22.0 ms  pipe         read < main | "
      "pipe_read\n"
      "client                 20       1    20.1 ms  ±0.4 %?    20.1 ms    40.0 us  pipe         poll < main | "
      "pipe_read\n");
  fake_.profile.rows.pop_back();
  EXPECT_NE(Processes().find(
                "client                 20       1    20.0 ms             20.0 ms       0 ns  pipe         poll"),
            std::string::npos)
      << Processes();
  fake_.profile.rows.pop_back();
  EXPECT_NE(Processes().find("client                 20       1    20.0 ms    20.0 ms       0 ns  pipe         poll"),
            std::string::npos)
      << "nothing in the table is an estimate: " << Processes();
}

TEST_F(TableTest, StacksAndTheirWakersHaveTheirErrors) {
  fake_ = SampledProfile();
  fake_.profile.wakers = {{{.interrupt = true, .kernel_stack = fake_.Kernel({"wake", "timer"})}}};
  for (NamedRow& row : fake_.profile.rows) row.waker = 1;
  const std::string stacks = Stacks();
  for (const char* line : {"#1  60.0 ms, 54.5 %  count 1, average 60.0 ms, longest 60.0 ms  server (10)",
                           "#2  30.0 ms ±5 %, 27.2 %  count 1200 ±5 %, average 25.0 us, longest 25.0 us  server (10)",
                           "#3  20.0 ms, 18.2 %  count 1, average 20.0 ms, longest 20.0 ms  client (20)",
                           "#4  100 us ±87 %?, 0.1 %  count 4 ±87 %?, average 25.0 us, longest 25.0 us  client (20)",
                           "        woken, 60.0 ms, by ", "        woken, 30.0 ms ±5 %, by "})
    EXPECT_NE(stacks.find(line), std::string::npos) << line << stacks;
  EXPECT_NE(Stacks(20, RowValue::kCount).find("#1  1200 times ±5 %, "), std::string::npos) << "of what is shown";
}

TEST_F(TableTest, TheSummarySaysHowAccurateTheTimesAre) {
  fake_ = SampledProfile();
  EXPECT_NE(Summary().find("\naccuracy      waits below 100 us sampled; times of rows above 1 % within ±5 % "
                           "(standard error)\nuser walks"),
            std::string::npos)
      << Summary();
  // Stacks of a few sampled waits each, of which none has 1 % of the time, and a program that has.
  const uint32_t many = fake_.Process(30, "many");
  for (int i = 0; i < 4; ++i) {
    fake_.Row(many, 0, fake_.User({i % 2 == 0 ? "a" : "b", i < 2 ? "c" : "d"}), 0, 0);
    static_cast<RowSums&>(fake_.profile.rows.back()) = SampledWaits(3);
  }
  EXPECT_NE(Summary().find("times of rows above 1 % within ±25 % (standard error)\n"), std::string::npos) << Summary();
  fake_.profile.rows.resize(4);
  fake_.Idle({"", "", "pool: worker", ""});
  EXPECT_NE(
      Summary().find("\noff a CPU     110 ms ±1 %: 16.3 % waiting for work, hidden; the rest is 92.1 ms ±0.7 %\n"),
      std::string::npos)
      << Summary();
}

}  // namespace
}  // namespace offcpu
