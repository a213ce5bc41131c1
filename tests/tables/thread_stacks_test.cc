#include "tables/thread_stacks.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/profile/fake_profile.h"

namespace offcpu {
namespace {

class ThreadStacksTest : public ::testing::Test {
 protected:
  ThreadStacksTest() : process_(fake_.Process(10, "server")) {}

  void Thread(int32_t tid, const std::string& comm, uint32_t user, uint32_t kernel, uint64_t off_ns,
              WaitKind state = WaitKind::kSleeping) {
    fake_.Row(process_, fake_.Comm(comm), user, kernel, off_ns, 0, state);
    fake_.profile.rows.back().tid = tid;
  }
  std::string Text(const ThreadDetails& details = {}) {
    std::string text;
    WriteThreadStacks(fake_.profile, details, [&](std::string_view bytes) { text += bytes; });
    return text;
  }
  std::string Json(const ThreadDetails& details = {}) {
    std::string text;
    WriteThreadStacksJson(fake_.profile, details, [&](std::string_view bytes) { text += bytes; });
    return text;
  }

  FakeProfile fake_;
  uint32_t process_;
};

TEST_F(ThreadStacksTest, AWaitingThreadHasItsKernelFramesAboveItsUserFrames) {
  Thread(11, "worker", fake_.User({"read", "main"}), fake_.Kernel({"schedule", "pipe_read"}), 12'340'000'000);
  fake_.profile.rows[0].syscall = 0;
  EXPECT_EQ(Text({.pcs = {{0x7f0000001010, 0x401011}}}),
            "10 server: 1 thread\n"
            "\n"
            "11 worker  sleeping  pipe in read  off the CPU for 12.3 s\n"
            "  #0   schedule  [kernel]  0x0000000000000020\n"
            "  #1   pipe_read  0x0000000000000020\n"
            "> #2   read  libx.so  0x00007f0000001010  (registers)\n"
            "  #3   main  0x0000000000401011  (eh_frame)\n");
  EXPECT_EQ(
      Json({.pcs = {{0x7f0000001010, 0x401011}}}),
      R"({"pid":10,"name":"server","threads":[{"tid":11,"comm":"worker","state":"sleeping",)"
      R"("cause":"pipe","wait":"pipe","syscall":"read","off_cpu_ns":12340000000,"kernel":[{"name":"schedule","address":"0x20"},)"
      R"({"name":"pipe_read","address":"0x20"}],"user":[)"
      R"({"pc":"0x7f0000001010","name":"read","module":"libx.so","address":"0x10","source":"registers"},)"
      R"({"pc":"0x401011","name":"main","module":"libx.so","address":"0x11","source":"eh_frame"}],)"
      R"("user_end":"complete"}]})"
      "\n");
}

TEST_F(ThreadStacksTest, FramesThatWereLeftOutHaveNoAddress) {
  const uint32_t user = fake_.User({"read", "[7 frames left out]", "main"}, EndReason::kFrameLimit);
  fake_.profile.user_stacks[user].frames[1].kind = FrameKind::kMarker;
  Thread(11, "deep", user, fake_.Kernel({"schedule"}), 0);
  EXPECT_THAT(Text({.pcs = {{0x401010, 0, 0x401030}}}),
              testing::EndsWith("> #1   read  libx.so  0x0000000000401010  (registers)\n"
                                "  [7 frames left out]\n"
                                "  #3   main  0x0000000000401030  (eh_frame)\n"
                                "  [truncated: frame limit]\n"));
}

TEST_F(ThreadStacksTest, FunctionsOfAnInterpreterHaveNoAddressInTheProcess) {
  const uint32_t user = fake_.User({"read", "Shop.order", "main"});
  NamedFrame& function = fake_.profile.user_stacks[user].frames[1];
  const FrameLine line = {.function = "Shop.order", .file = "/srv/shop.py", .line = 42};
  function.lines = {&line, 1};
  function.module_name = "[python]";
  function.kind = FrameKind::kInterpreted;
  function.source = FrameSource::kRuntime;
  Thread(11, "shop", user, fake_.Kernel({"schedule"}), 0);
  EXPECT_THAT(Text({.pcs = {{0x401010, 0, 0x401030}}}),
              testing::EndsWith("> #1   read  libx.so  0x0000000000401010  (registers)\n"
                                "  #2   Shop.order  shop.py:42  [python]  (runtime)\n"
                                "  #3   main  libx.so  0x0000000000401030  (eh_frame)\n"));
  EXPECT_THAT(Json({.pcs = {{0x401010, 0, 0x401030}}}),
              testing::HasSubstr(R"("source":"registers"},{"name":"Shop.order","file":"/srv/shop.py","line":42,)"
                                 R"("module":"[python]","address":)"));
}

TEST_F(ThreadStacksTest, WhyFunctionsAreMissingStandsBelowTheStack) {
  for (const int32_t tid : {11, 12, 13}) Thread(tid, "shop", fake_.User({"main"}), fake_.Kernel({"schedule"}), 0);
  const ThreadDetails details = {.missing_functions = {"", "[python: not read]", "[python: not read]"}};
  EXPECT_EQ(Text(details),
            "10 server: 3 threads\n"
            "\n"
            "11 shop  sleeping\n"
            "  #0   schedule  [kernel]  0x0000000000000020\n"
            "> #1   main  libx.so  (registers)\n"
            "\n"
            "2 threads shop  sleeping\n"
            "  tids 12 13\n"
            "  #0   schedule  [kernel]  0x0000000000000020\n"
            "> #1   main  libx.so  (registers)\n"
            "  [python: not read]\n");
  EXPECT_THAT(Json(details), testing::HasSubstr(R"("user_end":"complete"},{"tid":12)"));
  EXPECT_THAT(Json(details), testing::EndsWith(R"("user_end":"complete","missing_functions":"[python: not read]"}]})"
                                               "\n"));
}

TEST_F(ThreadStacksTest, ThreadsThatWaitAlikeAreOneEntry) {
  const uint32_t kernel = fake_.Kernel({"schedule", "futex_wait"});
  const uint32_t lock = fake_.User({"lock", "run"});
  for (int32_t i = 0; i < 12; ++i) {
    Thread(100 + i, "pool-" + std::to_string(i), i % 2 == 0 ? lock : fake_.User({"lock", "run"}), kernel,
           1'000'000'000 * static_cast<uint64_t>(i + 1));
  }
  Thread(200, "pool-99", lock, kernel, 5, WaitKind::kDisk);
  Thread(201, "main", lock, kernel, 0);
  Thread(202, "busy1", fake_.Missing(NoUserStack::kOnCpu), fake_.Kernel({}), 0, WaitKind::kOther);
  Thread(203, "busy2", fake_.Missing(NoUserStack::kOnCpu), fake_.Kernel({}), 0, WaitKind::kOther);
  const std::string stack =
      "  #0   schedule  [kernel]  0x0000000000000020\n"
      "  #1   futex_wait  0x0000000000000020\n"
      "> #2   lock  libx.so  (registers)\n"
      "  #3   run  (eh_frame)\n";
  EXPECT_EQ(Text(),
            "10 server: 16 threads\n"
            "\n"
            "12 threads pool-*  sleeping  futex  off the CPU for 1.00 s to 12.0 s\n"
            "  tids 100 101 102 103 104 105 106 107 108 109 and 2 more\n" +
                stack +
                "\n"
                "200 pool-99  disk  futex  off the CPU for 5 ns\n" +
                stack +
                "\n"
                "201 main  sleeping  futex\n" +
                stack +
                "\n"
                "2 threads busy*  running\n"
                "  tids 202 203\n");
  const std::string json = Json();
  EXPECT_NE(json.find("{\"tid\":101,\"comm\":\"pool-1\""), std::string::npos) << "scripts get each of them";
}

TEST_F(ThreadStacksTest, WhatIsMissingHasItsReason) {
  const uint32_t none = fake_.Kernel({});
  Thread(10, "server", fake_.User({"read"}, EndReason::kStackCopy), none, 0, WaitKind::kDisk);
  Thread(11, "quick", fake_.Missing(NoUserStack::kStale), fake_.Kernel({"schedule"}), 999, WaitKind::kPreempted);
  EXPECT_EQ(Text(),
            "10 server: 2 threads\n"
            "\n"
            "10 server  disk\n"
            "  [unknown kernel stack]\n"
            "> #0   read  libx.so  (registers)\n"
            "  [truncated: stack copy]\n"
            "\n"
            "11 quick  preempted  off the CPU for 999 ns\n"
            "  #0   schedule  [kernel]  0x0000000000000020\n"
            "  [no user stack: stale]\n");
  EXPECT_EQ(
      Json(),
      R"({"pid":10,"name":"server","threads":[{"tid":10,"comm":"server","state":"disk","cause":"other","wait":"other","kernel":[],"user":[)"
      R"({"name":"read","module":"libx.so","address":"0x10","source":"registers"}],"user_end":"stack copy"},)"
      R"({"tid":11,"comm":"quick","state":"preempted","cause":"preempted","wait":"preempted","off_cpu_ns":999,)"
      R"("kernel":[{"name":"schedule","address":"0x20"}],"user":[],"no_user_stack":"stale"}]})"
      "\n");
}

TEST_F(ThreadStacksTest, AModuleIsNamedWhereItIsAnother) {
  const uint32_t user = fake_.User({"read", "fill", "main", "start"});
  fake_.profile.user_stacks[user].frames[0].module_name = "libc.so.6";
  fake_.profile.user_stacks[user].frames[3].module_name = "libc.so.6";
  Thread(11, "worker", user, fake_.Kernel({"schedule"}), 0);
  EXPECT_THAT(Text(), testing::EndsWith("  #1   read  libc.so.6  (registers)\n"
                                        "> #2   fill  libx.so  (eh_frame)\n"
                                        "  #3   main  (eh_frame)\n"
                                        "  #4   start  libc.so.6  (eh_frame)\n"));
}

TEST_F(ThreadStacksTest, AThreadSaysWhoHoldsItsMutex) {
  const uint32_t kernel = fake_.Kernel({"futex_wait"});
  const uint32_t user = fake_.User({"lock"});
  for (int32_t tid = 11; tid <= 14; ++tid) Thread(tid, tid == 14 ? "idle" : "worker", user, kernel, 2'000'000'000);
  const std::string stack =
      "  #0   futex_wait  [kernel]  0x0000000000000020\n"
      "> #1   lock  libx.so  (registers)\n";
  EXPECT_EQ(Text({.lock_owners = {13, 13, 99, 0}}),
            "10 server: 4 threads\n"
            "\n"
            "2 threads worker  sleeping  futex  off the CPU for 2.00 s  mutex held by 13 worker\n"
            "  tids 11 12\n" +
                stack +
                "\n"
                "13 worker  sleeping  futex  off the CPU for 2.00 s  mutex held by 99\n" +
                stack +
                "\n"
                "14 idle  sleeping  futex  off the CPU for 2.00 s\n" +
                stack);
  const std::string json = Json({.lock_owners = {13, 13, 99, 0}});
  EXPECT_THAT(json, testing::HasSubstr(R"({"tid":11,"comm":"worker","state":"sleeping","cause":"lock","wait":"futex",)"
                                       R"("off_cpu_ns":2000000000,"lock_owner":13,"kernel":)"));
  EXPECT_THAT(json, testing::Not(testing::HasSubstr("deadlocks")));
}

TEST_F(ThreadStacksTest, ADeadlockIsNamed) {
  const uint32_t user = fake_.User({"lock"});
  for (int32_t tid = 11; tid <= 13; ++tid)
    Thread(tid, tid == 12 ? "logger" : "worker", user, fake_.Kernel({"futex_wait"}), 0);
  EXPECT_THAT(Text({.lock_owners = {12, 11, 13}}),
              testing::StartsWith("10 server: 3 threads\ndeadlock: 11 worker waits for a mutex of 12 logger, which "
                                  "waits for a mutex of 11 worker\ndeadlock: 13 worker waits for a mutex that it holds "
                                  "itself\n\n11 worker  sleeping  futex  mutex held by 12 logger\n"));
  EXPECT_THAT(Json({.lock_owners = {12, 11, 13}}),
              testing::StartsWith(R"({"pid":10,"name":"server","deadlocks":[[11,12],[13]],"threads":[)"));
}

TEST_F(ThreadStacksTest, ARunningThreadHasNoStacks) {
  Thread(11, "busy", fake_.Missing(NoUserStack::kOnCpu), fake_.Kernel({}), 0, WaitKind::kOther);
  EXPECT_EQ(Text(),
            "10 server: 1 thread\n"
            "\n"
            "11 busy  running\n");
  EXPECT_EQ(Json(), R"({"pid":10,"name":"server","threads":[{"tid":11,"comm":"busy","state":"running","kernel":[],)"
                    R"("user":[],"no_user_stack":"on CPU"}]})"
                    "\n");
}

TEST_F(ThreadStacksTest, NumbersOfTwoDigitsStayInTheColumn) {
  Thread(11, "deep", fake_.User({"leaf"}), fake_.Kernel(std::vector<std::string_view>(10, "k")), 0);
  fake_.profile.user_stacks[0].frames[0].module_name = "";  // JIT code
  EXPECT_TRUE(Text({.pcs = {{0x10}}})
                  .ends_with("  #9   k  0x0000000000000020\n"
                             "> #10  leaf  0x0000000000000010  (registers)\n"))
      << Text({.pcs = {{0x10}}});
}

TEST_F(ThreadStacksTest, KernelFramesHaveTheirPlaces) {
  Thread(11, "reader", fake_.User({"read"}), fake_.Kernel({"schedule", "pipe_read"}), 0);
  fake_.profile.kernel_stacks[0].frames[1].lines =
      Lines({{"file_inode", "include/fs.h", 1370}, {"pipe_read", "fs/pipe.c", 268}});
  EXPECT_THAT(Text(), testing::HasSubstr("  #0   schedule  [kernel]  0x0000000000000020\n"
                                         "       file_inode  fs.h:1370  (inlined)\n"
                                         "  #1   pipe_read  pipe.c:268  0x0000000000000020\n"));
  EXPECT_THAT(Json(),
              testing::HasSubstr(R"({"name":"pipe_read","file":"fs/pipe.c","line":268,"inlined":[)"
                                 R"({"name":"file_inode","file":"include/fs.h","line":1370}],"address":"0x20"})"));
}

TEST_F(ThreadStacksTest, AFrameWithoutASymbolNamesItsModuleOnce) {
  Thread(11, "stripped", fake_.User({"libx.so+0x10"}), fake_.Kernel({}), 0);
  fake_.profile.user_stacks[0].frames[0].named = false;
  EXPECT_TRUE(Text().ends_with("> #0   libx.so+0x10  (registers)\n")) << Text();
}

TEST_F(ThreadStacksTest, NamesOfTheTargetCannotMoveTheCursor) {
  Thread(11, "a\nb", fake_.User({"c\x1b[2J"}), fake_.Kernel({"schedule"}), 0);
  EXPECT_EQ(Text(),
            "10 server: 1 thread\n"
            "\n"
            "11 a?b  sleeping\n"
            "  #0   schedule  [kernel]  0x0000000000000020\n"
            "> #1   c?[2J  libx.so  (registers)\n");
}

TEST_F(ThreadStacksTest, AProcessWithoutThreads) {
  EXPECT_EQ(Text(), "10 server: 0 threads\n");
  EXPECT_EQ(Json(), "{\"pid\":10,\"name\":\"server\",\"threads\":[]}\n");
}

}  // namespace
}  // namespace offcpu
