#include "output/diff.h"

#include <cstdint>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "output/diff_files.h"
#include "output/diff_tables.h"
#include "tests/profile/fake_profile.h"

namespace offcpu {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr uint64_t kMs = 1'000'000;
constexpr uint64_t kSecond = 1000 * kMs;

MATCHER_P3(LineIs, name, before, after, "") { return arg.name == name && arg.before == before && arg.after == after; }

// Two seconds before, four after: what had the same time in a second has twice as much after. Pids and the order of
// everything differ.
class DiffTest : public ::testing::Test {
 protected:
  DiffTest() {
    before_.profile.duration_ns = 2 * kSecond;
    before_.profile.start_unix_ns = 1000;
    const uint32_t old_server = before_.Process(10, "server");
    const uint32_t old_worker = before_.Comm("worker");
    const uint32_t old_kernel = before_.Kernel({"schedule"});
    before_.Row(old_server, old_worker, before_.User({"lock", "main"}), old_kernel, 200 * kMs);
    before_.Row(old_server, old_worker, before_.User({"read", "main"}), old_kernel, 600 * kMs);
    before_.Row(old_server, old_worker, before_.User({"gone", "main"}), old_kernel, 100 * kMs, 100 * kMs);

    after_.profile.duration_ns = 4 * kSecond;
    const uint32_t client = after_.Process(21, "client");
    const uint32_t server = after_.Process(20, "server");
    const uint32_t worker = after_.Comm("worker");
    const uint32_t kernel = after_.Kernel({"schedule"});
    after_.Row(client, worker, after_.User({"new", "main"}), kernel, 40 * kMs);
    after_.Row(server, worker, after_.User({"read", "main"}), kernel, 1200 * kMs);
    after_.Row(server, worker, after_.User({"lock", "main"}), kernel, 2000 * kMs);
  }

  ProfileDiff Diff(const DiffOptions& options = {}) { return DiffOf(before_.profile, after_.profile, options); }
  std::string Tables(const ProfileDiff& diff, size_t lines = 20, size_t stacks = 10) {
    std::string text;
    WriteDiffTables(diff, lines, stacks, [&](std::string_view piece) { text += piece; });
    return text;
  }
  std::string Folded(const ProfileDiff& diff, bool nanoseconds = false) {
    std::string text;
    WriteDiffFolded(diff, nanoseconds, [&](std::string_view piece) { text += piece; });
    return text;
  }

  FakeProfile before_;
  FakeProfile after_;
};

TEST_F(DiffTest, ByNamesWhatChangedMostFirst) {
  const ProfileDiff diff = Diff();
  EXPECT_THAT(diff.stacks, ElementsAre(LineIs("server;worker;main;lock;-;schedule_[k]", 200 * kMs, 2000 * kMs),
                                       LineIs("server;worker;main;gone;-;schedule_[k]", 200 * kMs, 0u),
                                       LineIs("client;worker;main;new;-;schedule_[k]", 0u, 40 * kMs),
                                       LineIs("server;worker;main;read;-;schedule_[k]", 600 * kMs, 1200 * kMs)));
  EXPECT_THAT(diff.labels, ElementsAre(LineIs("server", 1000 * kMs, 3200 * kMs), LineIs("client", 0u, 40 * kMs)));
  EXPECT_EQ(diff.before.total, 1000 * kMs);
  EXPECT_EQ(diff.after.total, 3240 * kMs);
}

TEST_F(DiffTest, ChangesAreOfASecond) {
  const ProfileDiff diff = Diff();
  EXPECT_DOUBLE_EQ(diff.Change(diff.stacks[0]), 400e6);   // 2000 ms in 4 s, 200 ms in 2 s
  EXPECT_DOUBLE_EQ(diff.Change(diff.stacks[1]), -100e6);  // none, 200 ms in 2 s
  EXPECT_DOUBLE_EQ(diff.Change(diff.stacks[3]), 0);       // the same
}

TEST_F(DiffTest, OfAnotherValueByAnotherLabel) {
  const ProfileDiff counts = Diff({.value = RowValue::kCount, .by = {.label = RowLabel::kComm}});
  EXPECT_THAT(counts.labels, ElementsAre(LineIs("worker", 3u, 3u)));
  const ProfileDiff runnable = Diff({.value = RowValue::kRunnable});
  EXPECT_THAT(runnable.stacks, ElementsAre(LineIs("server;worker;main;gone;-;schedule_[k]", 100 * kMs, 0u)));
}

TEST_F(DiffTest, ThreadsOfAPoolAreOne) {
  before_.Row(0, before_.Comm("pool-1"), before_.User({"take", "main"}), before_.Kernel({"schedule"}), 20 * kMs);
  after_.Row(1, after_.Comm("pool-2"), after_.User({"take", "main"}), after_.Kernel({"schedule"}), 80 * kMs);
  const ProfileDiff diff = Diff({.by = ParseTableBy("thread").value()});
  EXPECT_THAT(diff.stacks, Contains(LineIs("server;pool-*;main;take;-;schedule_[k]", 20 * kMs, 80 * kMs)));
  EXPECT_THAT(diff.labels, ElementsAre(LineIs("worker", 1000 * kMs, 3240 * kMs), LineIs("pool-*", 20 * kMs, 80 * kMs)));
  EXPECT_THAT(Tables(diff), HasSubstr("AFTER  THREAD\n"));
}

TEST_F(DiffTest, ProgramsThatDifferInANumberAreOne) {
  before_.Row(before_.Process(11, "kworker/0:1"), 0, 0, 0, 20 * kMs);
  after_.Row(after_.Process(22, "kworker/1:2"), 0, 0, 0, 80 * kMs);
  before_.Row(before_.Process(12, "python2"), 0, 0, 0, 2 * kMs);
  after_.Row(after_.Process(23, "python3"), 0, 0, 0, 8 * kMs);
  EXPECT_THAT(Diff().labels, AllOf(Contains(LineIs("kworker/*:*", 20 * kMs, 80 * kMs)),
                                   Contains(LineIs("python2", 2 * kMs, 0u)), Contains(LineIs("python3", 0u, 8 * kMs))));
  EXPECT_THAT(Folded(Diff()), HasSubstr("kworker/*:*;worker;main;"));
}

TEST_F(DiffTest, WakersOfAPoolAreOne) {
  for (FakeProfile* fake : {&before_, &after_}) {
    const uint32_t waker = fake->Comm(fake == &before_ ? "pool-1" : "pool-2");
    fake->profile.wakers = {{{.process = 0, .comm = waker, .kernel_stack = 0, .user_stack = 0}}};
    fake->profile.rows[0].waker = 1;
  }
  EXPECT_THAT(Folded(Diff()), HasSubstr(";pool-*;"));
  EXPECT_THAT(Folded(Diff()), Not(HasSubstr("pool-1")));
}

TEST_F(DiffTest, ByPatternNothingIsHidden) {
  before_.Idle({"", "a pool", ""});
  after_.Idle({"", "a pool", ""});
  const ProfileDiff diff = Diff({.by = {.label = RowLabel::kIdle}});
  EXPECT_THAT(diff.labels, Contains(LineIs("a pool", 600 * kMs, 1200 * kMs)));
  EXPECT_EQ(diff.before.hidden_ns, 0u);
}

TEST_F(DiffTest, WaitsForWorkAreHiddenAndToldOf) {
  before_.Idle({"", "a pool", ""});
  after_.Idle({"", "a pool", ""});
  const ProfileDiff diff = Diff();
  EXPECT_EQ(diff.before.hidden_ns, 600 * kMs);
  EXPECT_EQ(diff.after.hidden_ns, 1200 * kMs);
  EXPECT_EQ(diff.before.total, 400 * kMs);
  EXPECT_THAT(Tables(diff), Not(HasSubstr("read")));
  EXPECT_THAT(Tables(diff), HasSubstr("hidden   waits for work, 300 ms a second before, 300 ms after; --idle=show"));
  EXPECT_EQ(Diff({.hide_idle = false}).before.total, 1000 * kMs);
}

TEST_F(DiffTest, TablesHaveSignsAndShares) {
  const std::string text = Tables(Diff());
  EXPECT_THAT(text, HasSubstr("before   500 ms a second (off_cpu), recorded for 2.00 s\n"
                              "after    810 ms a second, recorded for 4.00 s\n"
                              "change   +310 ms a second, +62.0 %\n"));
  EXPECT_THAT(text, HasSubstr("     CHANGE     SHARE     BEFORE      AFTER  PROGRAM\n"
                              "    +300 ms   +60.0 %     500 ms     800 ms  server\n"
                              "   +10.0 ms    +2.0 %       0 ns    10.0 ms  client\n"));
  EXPECT_THAT(
      text,
      HasSubstr(
          "\ngrew, stacks\n"
          "#1  +400 ms a second, +80.0 %  before 100 ms, after 500 ms\n"
          "        server\n        worker\n        main\n        lock\n        -- kernel --\n        schedule_[k]\n"
          "#2  +10.0 ms a second, +2.0 %  before 0 ns, after 10.0 ms\n"));
  EXPECT_THAT(text, HasSubstr("\nshrank, stacks\n#1  -100 ms a second, -20.0 %  before 100 ms, after 0 ns\n"));
  EXPECT_THAT(text, Not(HasSubstr("        read\n"))) << "which did neither";
  EXPECT_THAT(Tables(Diff(), 1, 1), HasSubstr("server\nnot shown: 1\n"));
  EXPECT_THAT(Tables(Diff(), 1, 1), Not(HasSubstr("#2")));
}

TEST_F(DiffTest, OfNothingBefore) {
  before_.profile.rows.clear();
  EXPECT_THAT(Tables(Diff()), HasSubstr("change   +810 ms a second, new\n"));
  after_.profile.rows.clear();
  EXPECT_THAT(Diff().stacks, IsEmpty());
  EXPECT_THAT(Tables(Diff()), HasSubstr("change   +0 ns a second"));
}

TEST_F(DiffTest, CountsHaveNoUnit) {
  EXPECT_THAT(Tables(Diff({.value = RowValue::kCount})), HasSubstr("before   1.5 a second (count)"));
}

// Sorted, and scaled to the four seconds of the later one.
TEST_F(DiffTest, FoldedHasTwoColumns) {
  EXPECT_EQ(Folded(Diff()),
            "client;worker;main;new;-;schedule_[k] 0 40000\n"
            "server;worker;main;gone;-;schedule_[k] 400000 0\n"
            "server;worker;main;lock;-;schedule_[k] 400000 2000000\n"
            "server;worker;main;read;-;schedule_[k] 1200000 1200000\n");
  EXPECT_THAT(Folded(Diff(), true), HasSubstr("client;worker;main;new;-;schedule_[k] 0 40000000\n"));
  EXPECT_EQ(Folded(Diff({.value = RowValue::kCount})),
            "client;worker;main;new;-;schedule_[k] 0 1\n"
            "server;worker;main;gone;-;schedule_[k] 2 0\n"
            "server;worker;main;lock;-;schedule_[k] 2 1\n"
            "server;worker;main;read;-;schedule_[k] 2 1\n");
}

TEST_F(DiffTest, JsonHasWhatWasRecorded) {
  std::string text;
  WriteDiffJson(Diff(), [&](std::string_view piece) { text += piece; });
  EXPECT_EQ(text, R"({"value":"off_cpu",)"
                  R"("before":{"start_unix_ns":1000,"duration_ns":2000000000,"total":1000000000,"hidden_ns":0},)"
                  R"("after":{"start_unix_ns":0,"duration_ns":4000000000,"total":3240000000,"hidden_ns":0},)"
                  R"("by":"process","labels":[)"
                  R"({"name":"server","before":1000000000,"after":3200000000},)"
                  R"({"name":"client","before":0,"after":40000000}],"stacks":[)"
                  R"({"frames":["server","worker","main","lock","-","schedule_[k]"],)"
                  R"("before":200000000,"after":2000000000},)"
                  R"({"frames":["server","worker","main","gone","-","schedule_[k]"],)"
                  R"("before":200000000,"after":0},)"
                  R"({"frames":["client","worker","main","new","-","schedule_[k]"],)"
                  R"("before":0,"after":40000000},)"
                  R"({"frames":["server","worker","main","read","-","schedule_[k]"],)"
                  R"("before":600000000,"after":1200000000}]})"
                  "\n");
}

// 60 ms in two seconds and 80 ms in four are 30 and 20 ms in a second; the root of the sum of their squares is 36.1 ms.
TEST_F(DiffTest, AChangeHasTheErrorsOfBothSides) {
  EXPECT_THAT(Tables(Diff()), Not(HasSubstr("±"))) << "all is exact";
  const double of_before = 60e6;
  const double of_after = 80e6;
  before_.profile.rows[1].ns_variance = of_before * of_before;
  after_.profile.rows[1].ns_variance = of_after * of_after;
  const std::string tables = Tables(Diff());
  EXPECT_THAT(tables, HasSubstr("before   500 ms ±30.0 ms a second (off_cpu), recorded for 2.00 s\n"
                                "after    810 ms ±20.0 ms a second, recorded for 4.00 s\n"
                                "change   +310 ms ±36.1 ms a second, +62.0 %\n"));
  EXPECT_THAT(tables, HasSubstr("\n     CHANGE         ±     SHARE     BEFORE      AFTER  PROGRAM\n"
                                "    +300 ms  ±36.1 ms   +60.0 %     500 ms     800 ms  server\n"
                                "   +10.0 ms              +2.0 %       0 ns    10.0 ms  client\n"));
  EXPECT_THAT(tables, HasSubstr("#1  +400 ms a second, +80.0 %"));
  std::string json;
  WriteDiffJson(Diff(), [&](std::string_view piece) { json += piece; });
  EXPECT_THAT(json, HasSubstr(R"("total":1000000000,"total_error":60000000,)"));
  EXPECT_THAT(json, HasSubstr(R"("name":"server","before":1000000000,"after":3200000000,"before_error":60000000,)"
                              R"("after_error":80000000})"));
  EXPECT_THAT(json, HasSubstr(R"("name":"client","before":0,"after":40000000})"));
}

TEST_F(DiffTest, AStackThatChangedHasItsError) {
  after_.profile.rows[2].ns_variance = 4e16;  // 200 ms in four seconds
  EXPECT_THAT(Tables(Diff()), HasSubstr("#1  +400 ms ±50.0 ms a second, +80.0 %  before 100 ms, after 500 ms\n"));
}

// A recording of a nanosecond before and one of 146 years after.
TEST_F(DiffTest, WhatIsScaledEndsAtWhatASumMayBe) {
  before_.profile.duration_ns = 1;
  after_.profile.duration_ns = uint64_t{1} << 62;
  EXPECT_THAT(Folded(Diff(), true),
              HasSubstr("server;worker;main;lock;-;schedule_[k] 9223372036854775807 2000000000\n"));
  before_.profile.rows[0].blocked_ns = uint64_t{1} << 62;
  EXPECT_THAT(Tables(Diff()), HasSubstr("9223372037 s"));
}

}  // namespace
}  // namespace offcpu
