#include "output/idle.h"

#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "classify/idle_patterns.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "output/format.h"
#include "output/frame_sources.h"
#include "output/otlp.h"
#include "output/pprof.h"
#include "output/pprof_reader.h"
#include "output/top_screen.h"
#include "output/top_table.h"
#include "tests/profile/fake_profile.h"

namespace offcpu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

// Two waits for work by one pattern, of which one has waited for a CPU too, one by another, and one for a lock.
class IdleTest : public ::testing::Test {
 protected:
  IdleTest() {
    const uint32_t server = fake_.Process(10, "server");
    const uint32_t pool = fake_.Process(11, "pool");
    const uint32_t comm = fake_.Comm("worker");
    const uint32_t kernel = fake_.Kernel({"schedule", "do_epoll_wait"});
    fake_.Row(server, comm, fake_.User({"epoll_wait", "loop"}), kernel, 5'000'000, 1'000'000);
    fake_.Row(server, comm, fake_.User({"lock", "work"}), kernel, 2'000'000, 500'000);
    fake_.Row(pool, comm, fake_.User({"wait", "pool"}), kernel, 9'000'000);
    fake_.Row(server, comm, fake_.User({"epoll_wait", "other_loop"}), kernel, 3'000'000);
    fake_.profile.rows[3].count = 4;
    fake_.profile.duration_ns = 1'000'000'000;
    fake_.Idle({"s: loop", "", "p: pool", "s: loop"});
  }

  std::string Written(OutputFormat format, bool hide_idle = true, bool frame_sources = false) {
    FormatOptions options = {.folded = {.nanoseconds = true}, .frame_sources = frame_sources, .hide_idle = hide_idle};
    std::string text;
    WriteProfile(format, fake_.profile, options, [&](std::string_view bytes) { text += bytes; });
    return text;
  }

  FakeProfile fake_;
};

TEST_F(IdleTest, SumsByPattern) {
  EXPECT_THAT(SumIdle(fake_.profile), ElementsAre(IdleSum{"p: pool", 1, 9'000'000}, IdleSum{"s: loop", 5, 8'000'000}));
  EXPECT_EQ(TotalOf(SumIdle(fake_.profile)), (IdleSum{"", 6, 17'000'000}));
  fake_.Idle({});
  EXPECT_THAT(SumIdle(fake_.profile), IsEmpty());
}

TEST_F(IdleTest, WhatIsHiddenAndWhatIsLeftAddUp) {
  const auto sums_of = [](const NamedProfile& profile) {
    IdleSum sums;
    uint64_t runnable_ns = 0;
    for (const ProfileRow& row : profile.rows) {
      sums.count += row.count;
      sums.blocked_ns += row.blocked_ns;
      runnable_ns += row.runnable_ns;
    }
    return std::pair(sums, runnable_ns);
  };
  const IdleSum hidden = TotalOf(SumIdle(fake_.profile));
  const NamedProfile rest = WithoutIdle(fake_.profile);
  const auto [left, left_runnable_ns] = sums_of(rest);
  const auto [all, all_runnable_ns] = sums_of(fake_.profile);
  EXPECT_EQ(hidden.count + left.count, all.count);
  EXPECT_EQ(hidden.blocked_ns + left.blocked_ns, all.blocked_ns);
  EXPECT_EQ(left_runnable_ns, all_runnable_ns) << "who has work and no CPU does not wait for work";
  ASSERT_THAT(rest.rows, SizeIs(2));
  EXPECT_EQ(rest.rows[0].runnable_ns, 1'000'000u);
  EXPECT_EQ(rest.rows[0].max_ns, 0u) << "the longest wait is one that is hidden";
  EXPECT_EQ(rest.rows[1].total_ns(), 2'500'000u);
  EXPECT_EQ(rest.user_stacks.size(), fake_.profile.user_stacks.size());
}

TEST_F(IdleTest, Tables) {
  const std::string text = Written(OutputFormat::kText);
  EXPECT_THAT(text, HasSubstr("server                 10       1    3.50 ms    2.00 ms    1.50 ms  lock < work | "));
  EXPECT_THAT(text, Not(HasSubstr("pool                   11"))) << "nothing of it is left";
  EXPECT_THAT(text, HasSubstr("\nwaiting for work: 6 waits, 17.0 ms, hidden; --idle=show shows them\n\n#1  2.50 ms, "));
  EXPECT_THAT(text, HasSubstr("#2  1.00 ms, 28.6 %  for a CPU, woken to work  server (10), thread worker: "));
  EXPECT_THAT(text, Not(HasSubstr("#3")));
  EXPECT_THAT(text, HasSubstr("\nwaiting for work, hidden: 6 waits, 17.0 ms\n"
                              "  p: pool                                                   1  9.00 ms\n"
                              "  s: loop                                                   5  8.00 ms\n"));
}

TEST_F(IdleTest, TablesThatShowThem) {
  const std::string text = Written(OutputFormat::kText, false);
  EXPECT_THAT(text, HasSubstr("pool                   11"));
  EXPECT_THAT(text, HasSubstr("#4"));
  EXPECT_THAT(text, Not(HasSubstr("--idle=show")));
  EXPECT_THAT(text, HasSubstr("\nwaiting for work, shown: 6 waits, 17.0 ms\n")) << "they are counted all the same";
  fake_.Idle({"", "", "", ""});
  EXPECT_THAT(Written(OutputFormat::kText), Not(HasSubstr("waiting for work")));
}

TEST_F(IdleTest, Folded) {
  EXPECT_EQ(Written(OutputFormat::kFolded),
            "worker;loop;epoll_wait;-;do_epoll_wait;schedule 1000000\n"
            "worker;work;lock;-;do_epoll_wait;schedule 2500000\n");
  EXPECT_EQ(Written(OutputFormat::kFolded, false),
            "worker;loop;epoll_wait;-;do_epoll_wait;schedule 6000000\n"
            "worker;other_loop;epoll_wait;-;do_epoll_wait;schedule 3000000\n"
            "worker;pool;wait;-;do_epoll_wait;schedule 9000000\n"
            "worker;work;lock;-;do_epoll_wait;schedule 2500000\n");
  EXPECT_THAT(Written(OutputFormat::kFolded, true, true),
              testing::StartsWith("worker;loop [eh_frame];epoll_wait [registers];-;do_epoll_wait;schedule 1000000\n"))
      << "how frames were found does not matter";
}

TEST_F(IdleTest, JsonHasAllWithThePattern) {
  const std::string text = Written(OutputFormat::kJson);
  EXPECT_THAT(text, HasSubstr(R"("total_ns":20500000)"));
  EXPECT_THAT(text, HasSubstr(R"("idle":"s: loop","count":1,"blocked_ns":5000000,"runnable_ns":1000000,)"));
  EXPECT_THAT(text, HasSubstr(R"("idle":[{"name":"p: pool","count":1,"blocked_ns":9000000},)"
                              R"({"name":"s: loop","count":5,"blocked_ns":8000000}])"));
  EXPECT_EQ(text, Written(OutputFormat::kJson, false)) << "what is hidden from readers is not from scripts";
}

TEST_F(IdleTest, PprofKeepsEveryRow) {
  const std::string bytes = Written(OutputFormat::kPprof);
  EXPECT_EQ(bytes, Written(OutputFormat::kPprof, false));
  const absl::StatusOr<NamedProfile> stored = ParsePprof(bytes);
  ASSERT_TRUE(stored.ok()) << stored.status();
  EXPECT_THAT(stored->rows, SizeIs(4));
  EXPECT_THAT(IdleOf(*stored), ElementsAre("s: loop", "", "p: pool", "s: loop"));
  fake_.Idle({});
  EXPECT_LT(Written(OutputFormat::kPprof).size(), bytes.size()) << "the label";
}

// Patterns by which nothing waits for work are not the same as none.
TEST_F(IdleTest, PprofSaysWhetherItIsToldAtAll) {
  fake_.Idle({"", "", "", ""});
  absl::StatusOr<NamedProfile> stored = ParsePprof(Written(OutputFormat::kPprof));
  ASSERT_TRUE(stored.ok()) << stored.status();
  EXPECT_THAT(IdleOf(*stored), ElementsAre("", "", "", ""));
  fake_.Idle({});
  stored = ParsePprof(Written(OutputFormat::kPprof));
  ASSERT_TRUE(stored.ok()) << stored.status();
  EXPECT_THAT(IdleOf(*stored), IsEmpty());
}

TEST_F(IdleTest, AFileHasNoMorePatternsThanThereCanBe) {
  const NamedRow row = fake_.profile.rows[0];
  fake_.profile.rows.assign(kMaxIdlePatterns + 2, row);
  std::vector<std::string> names;
  for (size_t i = 0; i <= kMaxIdlePatterns; ++i) names.push_back("p" + std::to_string(i));
  std::vector<std::string_view> idle(names.begin(), names.end());
  idle.push_back(names[0]);
  fake_.Idle(idle);
  const absl::StatusOr<NamedProfile> stored = ParsePprof(Written(OutputFormat::kPprof));
  ASSERT_TRUE(stored.ok()) << stored.status();
  const std::vector<std::string_view> read = IdleOf(*stored);
  ASSERT_THAT(read, SizeIs(kMaxIdlePatterns + 2));
  EXPECT_EQ(read[kMaxIdlePatterns - 1], names[kMaxIdlePatterns - 1]);
  EXPECT_EQ(read[kMaxIdlePatterns], "");
  EXPECT_EQ(read[kMaxIdlePatterns + 1], "p0") << "one that is known already";
}

TEST_F(IdleTest, OtlpHasAnAttribute) {
  EXPECT_THAT(Written(OutputFormat::kOtlp), HasSubstr("offcpu.idle"));
  EXPECT_THAT(Written(OutputFormat::kOtlp), HasSubstr("s: loop"));
  fake_.Idle({"", "", "", ""});
  EXPECT_THAT(Written(OutputFormat::kOtlp), Not(HasSubstr("offcpu.idle")));
}

TEST_F(IdleTest, Top) {
  const TopTable table = MakeTopTable(fake_.profile, RowValue::kOffCpu, 20);
  EXPECT_THAT(table.idle, SizeIs(2));
  EXPECT_EQ(table.sums.total_ns(), 3'500'000u);
  EXPECT_EQ(table.sums.count, 1u);
  EXPECT_THAT(table.processes, SizeIs(1));
  EXPECT_THAT(table.stacks, SizeIs(2));
  const std::vector<std::string> lines = TopScreen(table, {});
  EXPECT_EQ(lines[2], "1 processes; waiting for work 17.0 ms, hidden; lost nothing");
  std::string json;
  WriteTopJson(table, [&](std::string_view bytes) { json += bytes; });
  EXPECT_THAT(json, HasSubstr(R"("idle":[{"name":"p: pool","count":1,"blocked_ns":9000000},)"));

  const TopTable all = MakeTopTable(fake_.profile, RowValue::kOffCpu, 20, false);
  EXPECT_THAT(all.idle, IsEmpty());
  EXPECT_EQ(all.sums.total_ns(), 20'500'000u);
  EXPECT_THAT(all.stacks, SizeIs(4));
  EXPECT_EQ(TopScreen(all, {})[2], "2 processes; lost nothing");
}

}  // namespace
}  // namespace offcpu
