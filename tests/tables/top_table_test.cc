#include "tables/top_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/profile/fake_profile.h"

namespace offcpu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class TopTableTest : public ::testing::Test {
 protected:
  TopTable Table(RowValue value = RowValue::kOffCpu, size_t limit = 20) {
    return MakeTopTable(fake_.profile, value, limit);
  }
  std::string Json() {
    std::string text;
    WriteTopJson(Table(), [&](std::string_view bytes) { text += bytes; });
    return text;
  }
  // Leaf first; those of the C library are said to be.
  uint32_t UserIn(const std::vector<std::pair<std::string_view, std::string_view>>& names_and_modules,
                  EndReason end = EndReason::kComplete) {
    std::vector<std::string_view> names;
    for (const auto& [name, module] : names_and_modules) names.push_back(name);
    const uint32_t index = fake_.User(names, end);
    std::vector<NamedFrame>& frames = fake_.profile.user_stacks[index].frames;
    for (size_t i = 0; i < names.size(); ++i) frames[i].module_name = names_and_modules[i].second;
    return index;
  }
  std::vector<std::string> FramesOf(uint32_t user) {
    fake_.profile.rows.clear();
    fake_.Row(process_, comm_, user, kernel_, 1);
    return Table().stacks.at(0).frames;
  }

  FakeProfile fake_;
  uint32_t process_ = fake_.Process(10, "server");
  uint32_t comm_ = fake_.Comm("worker");
  uint32_t kernel_ = fake_.Kernel({"__schedule", "schedule", "pipe_read", "ksys_read"});
};

TEST_F(TopTableTest, SumsOfProcessesTheMostFirst) {
  const uint32_t client = fake_.Process(11, "cli\nent");
  fake_.Process(12, "without a row");
  const uint32_t user = fake_.User({"read", "main"});
  fake_.Row(process_, comm_, user, kernel_, 1'000, 30);
  fake_.Row(client, comm_, user, kernel_, 2'000, 10);
  fake_.Row(process_, comm_, user, kernel_, 4'000, 50, WaitKind::kDisk);
  const TopTable table = Table();
  EXPECT_EQ(table.sums.count, 3u);
  EXPECT_EQ(table.sums.blocked_ns, 7'000u);
  EXPECT_EQ(table.sums.runnable_ns, 90u);
  EXPECT_EQ(table.all_processes, 2u);
  ASSERT_EQ(table.processes.size(), 2u);
  EXPECT_EQ(table.processes[0].pid, 10);
  EXPECT_EQ(table.processes[0].sums.blocked_ns, 5'000u);
  EXPECT_EQ(table.processes[0].sums.max_ns, 4'050u);
  EXPECT_EQ(table.processes[1].name, "cli?ent");
  EXPECT_EQ(Table(RowValue::kOffCpu, 1).processes.size(), 1u);
  EXPECT_EQ(Table(RowValue::kOffCpu, 1).all_processes, 2u);
  EXPECT_THAT(Table(RowValue::kOffCpu, 0).stacks, IsEmpty());
}

TEST_F(TopTableTest, ThreadsThatSleptThroughoutAreOnlyCounted) {
  const uint32_t user = fake_.User({"read", "main"});
  fake_.profile.duration_ns = 2'000'000'000;
  fake_.profile.stats.slept_throughout = 7;  // whom the recorder left out
  fake_.Row(process_, comm_, user, kernel_, 5'990'000'000, 0, WaitKind::kOpen);
  fake_.profile.rows.back().count = 3;
  fake_.Row(process_, comm_, user, kernel_, 1'900'000'000, 0, WaitKind::kOpen);
  fake_.Row(process_, comm_, user, kernel_, 2'000'000'000, 0, WaitKind::kSleeping);
  const TopTable table = Table();
  EXPECT_EQ(table.slept_throughout, 10u);
  EXPECT_EQ(table.sums.total_ns(), 3'900'000'000u);
  EXPECT_EQ(table.sums.count, 2u);
  const TopTable all = MakeTopTable(fake_.profile, RowValue::kOffCpu, 20, false);
  EXPECT_EQ(all.slept_throughout, 7u);
  EXPECT_EQ(all.sums.count, 5u);
}

TEST_F(TopTableTest, TheFirstIsTheFirstByTheValue) {
  const uint32_t hog = fake_.Process(11, "hog");
  const uint32_t user = fake_.User({"f"});
  fake_.Row(process_, comm_, user, kernel_, 5'000, 10);
  fake_.Row(hog, comm_, user, kernel_, 0, 1'000);
  fake_.Row(hog, comm_, user, kernel_, 0, 1'000);
  for (const RowValue value : {RowValue::kOffCpu, RowValue::kBlocked}) {
    EXPECT_EQ(Table(value).processes[0].pid, 10);
    EXPECT_EQ(Table(value).stacks[0].pid, 10);
  }
  for (const RowValue value : {RowValue::kRunnable, RowValue::kCount}) {
    EXPECT_EQ(Table(value).processes[0].pid, 11);
    EXPECT_EQ(Table(value).stacks[0].pid, 11);
  }
}

// Two addresses in one function, two ways through the kernel to one wait.
TEST_F(TopTableTest, WhatLooksTheSameIsOneStackOfTheKindThatItMostlyIs) {
  const uint32_t other_kernel = fake_.Kernel({"schedule", "pipe_read", "vfs_readv"});
  fake_.Row(process_, comm_, fake_.User({"read", "main"}), kernel_, 3'000, 0, WaitKind::kSleeping);
  fake_.Row(process_, comm_, fake_.User({"read", "main"}), other_kernel, 2'000, 0, WaitKind::kOpen);
  fake_.Row(process_, comm_, fake_.User({"read", "main"}), kernel_, 2'000, 0, WaitKind::kOpen);
  const TopTable table = Table();
  ASSERT_EQ(table.stacks.size(), 1u);
  EXPECT_EQ(table.stacks[0].sums.blocked_ns, 7'000u);
  EXPECT_EQ(table.stacks[0].kind, WaitKind::kOpen);
  EXPECT_EQ(table.stacks[0].waits_in, "pipe_read");
}

TEST_F(TopTableTest, WhatTellsStacksApart) {
  const uint32_t user = fake_.User({"read", "main"});
  fake_.Row(process_, comm_, user, kernel_, 1);
  fake_.Row(fake_.Process(11, "server"), comm_, user, kernel_, 1);
  fake_.Row(process_, fake_.Comm("other"), user, kernel_, 1);
  fake_.Row(process_, comm_, fake_.User({"read", "run"}), kernel_, 1);
  fake_.Row(process_, comm_, user, fake_.Kernel({"schedule", "futex_wait"}), 1);
  EXPECT_EQ(Table().stacks.size(), 5u);
}

TEST_F(TopTableTest, FramesOfTheCLibraryAtEitherEndAreLeftOut) {
  EXPECT_THAT(FramesOf(UserIn({{"__read", "libc.so.6"},
                               {"read", "libpthread.so.0"},
                               {"fill", "server"},
                               {"qsort", "libc.so.6"},
                               {"main", "server"},
                               {"__libc_start_call_main", "libc.so.6"},
                               {"__libc_start_main", "libc.so.6"},
                               {"server+0x1234", "server"}})),
              ElementsAre("fill", "qsort", "main"));
  EXPECT_THAT(
      FramesOf(UserIn(
          {{"nanosleep", "libc.so.6"}, {"Log", "server"}, {"start_thread", "libc.so.6"}, {"clone3", "libc.so.6"}})),
      ElementsAre("Log"));
  EXPECT_THAT(FramesOf(UserIn({{"main.run", "app"}, {"runtime.goexit", "app"}})),
              ElementsAre("main.run", "runtime.goexit"));
}

TEST_F(TopTableTest, AStackOfNothingElseKeepsThem) {
  EXPECT_THAT(FramesOf(UserIn({{"sigwait", "libc.so.6"}, {"start_thread", "libc.so.6"}})),
              ElementsAre("sigwait", "start_thread"));
}

TEST_F(TopTableTest, AStackThatIsNotWholeSaysSo) {
  EXPECT_THAT(FramesOf(UserIn({{"read", "libc.so.6"}, {"fill", "server"}, {"qsort", "libc.so.6"}, {"f", "server"}},
                              EndReason::kStackCopy)),
              ElementsAre("fill", "qsort", "f", "[truncated: stack copy]"))
      << "its last frame is not where the program begins";
  EXPECT_THAT(FramesOf(fake_.Missing(NoUserStack::kBudget)), ElementsAre("[no user stack: budget]"));
}

TEST_F(TopTableTest, WithoutAUserStackTheKernelsFramesAreShown) {
  fake_.Row(process_, comm_, fake_.Missing(NoUserStack::kKernelThread), kernel_, 2);
  fake_.Row(process_, comm_, fake_.User({}), fake_.Kernel({"__schedule", "schedule"}), 1);
  const TopTable table = Table();
  EXPECT_TRUE(table.stacks[0].is_kernel);
  EXPECT_THAT(table.stacks[0].frames, ElementsAre("pipe_read", "ksys_read"));
  EXPECT_TRUE(table.stacks[1].is_kernel);
  EXPECT_THAT(table.stacks[1].frames, ElementsAre("__schedule", "schedule"));
}

TEST_F(TopTableTest, TheOverflowRowIsOneToo) {
  fake_.OverflowRow(5);
  const TopTable table = Table();
  EXPECT_EQ(table.processes[0].name, "[other]");
  EXPECT_THAT(table.stacks[0].frames, ElementsAre("[other]"));
}

TEST_F(TopTableTest, Json) {
  fake_.profile.start_unix_ns = 5;
  fake_.profile.duration_ns = 1'000;
  fake_.profile.host = "here";
  fake_.profile.stats.slept_throughout = 3;
  fake_.profile.stats.losses = {{"less", 9, 1}, {"more", 1, 2}};
  fake_.Row(process_, comm_, fake_.User({"read \"a\"", "main"}), kernel_, 40, 2);
  EXPECT_EQ(
      Json(),
      R"({"start_unix_ns":5,"duration_ns":1000,"host":"here","count":1,"blocked_ns":40,"runnable_ns":2,"max_ns":42,)"
      R"("count_error":0,"ns_error":0,"blocked_error":0,"runnable_error":0,"draws":0,"unsampled_most_ns":0,)"
      R"("slept_throughout":3,"idle":[],"all_processes":1,)"
      R"("processes":[{"pid":10,"name":"server","count":1,"blocked_ns":40,"runnable_ns":2,"max_ns":42,)"
      R"("count_error":0,"ns_error":0,"blocked_error":0,"runnable_error":0,"draws":0}],"stacks":[{"pid":10,"process":"server","thread":"worker","kind":"sleeping",)"
      R"("cause":"pipe","wait":"pipe","count":1,"blocked_ns":40,"runnable_ns":2,"max_ns":42,"count_error":0,"ns_error":0,"blocked_error":0,"runnable_error":0,"draws":0,)"
      R"("kernel_frames":false,"frames":["read \"a\"","main"],"waits_in":"pipe_read"}],)"
      R"("drops":[{"reason":"more","count":1,"ns":2},{"reason":"less","count":9,"ns":1}]})"
      "\n");
  fake_.profile = NamedProfile();
  EXPECT_THAT(Json(), HasSubstr("\"processes\":[],\"stacks\":[],\"drops\":[]}\n"));
}

// Variances add up: 3 and 4 waits off, and 30 and 40 ns, are 5 and 50.
TEST_F(TopTableTest, JsonSaysHowFarOffASampleMayBe) {
  for (const double error : {3.0, 4.0}) {
    fake_.Row(process_, comm_, fake_.User({"read", "main"}), kernel_, 100);
    fake_.profile.rows.back().count_variance = error * error;
    fake_.profile.rows.back().ns_variance = 100 * error * error;
  }
  const std::string json = Json();
  size_t found = 0;  // of all, of the process, and of the stack, whose two rows look the same
  const std::string errors = "\"count_error\":5,\"ns_error\":50";
  for (size_t at = json.find(errors); at != std::string::npos; at = json.find(errors, at + 1)) ++found;
  EXPECT_EQ(found, 3u) << json;
}

}  // namespace
}  // namespace offcpu
