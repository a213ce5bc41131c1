#include <string>
#include <string_view>
#include <vector>

#include "classify/idle_patterns.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "otlp/otlp.h"
#include "output/frame_sources.h"
#include "pprof/pprof.h"
#include "pprof/pprof_reader.h"
#include "tables/top_table.h"
#include "tables/top_text.h"
#include "tests/classify/fake_idle.h"
#include "tests/output/written.h"
#include "tests/profile/fake_profile.h"

namespace offcpu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

// What each format does with waits for work.
class IdleTest : public ::testing::Test {
 protected:
  std::string Written(OutputFormat format, bool hide_idle = true, bool frame_sources = false) {
    FormatOptions options = {.folded = {.nanoseconds = true}, .frame_sources = frame_sources, .hide_idle = hide_idle};
    return offcpu::Written(format, fake_.profile, options);
  }

  FakeProfile fake_ = FakeWithIdle();
};

TEST_F(IdleTest, Tables) {
  const std::string text = Written(OutputFormat::kText);
  EXPECT_THAT(
      text,
      HasSubstr("server                 10       1    3.50 ms    2.00 ms    1.50 ms  poll         lock < work | "));
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

// A share is of the value that is shown, which need not be time off a CPU.
TEST_F(IdleTest, SharesAreNotSaidToBeOfTimeOffACpu) {
  const std::string text =
      offcpu::Written(OutputFormat::kText, fake_.profile, {.text_value = RowValue::kCount, .text_by = {}});
  EXPECT_THAT(text, HasSubstr("82.9 % waiting for work, hidden; the rest is 3.50 ms\n"));
  EXPECT_THAT(text, Not(HasSubstr("shares")));
}

TEST_F(IdleTest, WhoAsksForThemSeesThem) {
  const std::string text = offcpu::Written(OutputFormat::kText, fake_.profile, {.text_by = {.label = RowLabel::kIdle}});
  EXPECT_THAT(text, HasSubstr("9.00 ms    9.00 ms       0 ns  p: pool\n"));
  EXPECT_THAT(text, HasSubstr("\nwaiting for work, shown: 6 waits, 17.0 ms\n"));
  EXPECT_THAT(text, Not(HasSubstr("hidden")));
}

TEST_F(IdleTest, Folded) {
  EXPECT_EQ(Written(OutputFormat::kFolded),
            "server;worker;loop;epoll_wait;-;do_epoll_wait_[k];schedule_[k] 1000000\n"
            "server;worker;work;lock;-;do_epoll_wait_[k];schedule_[k] 2500000\n");
  EXPECT_EQ(Written(OutputFormat::kFolded, false),
            "pool;worker;pool;wait;-;do_epoll_wait_[k];schedule_[k] 9000000\n"
            "server;worker;loop;epoll_wait;-;do_epoll_wait_[k];schedule_[k] 6000000\n"
            "server;worker;other_loop;epoll_wait;-;do_epoll_wait_[k];schedule_[k] 3000000\n"
            "server;worker;work;lock;-;do_epoll_wait_[k];schedule_[k] 2500000\n");
  EXPECT_THAT(Written(OutputFormat::kFolded, true, true),
              testing::StartsWith("server;worker;loop [eh_frame];epoll_wait [registers];-;do_epoll_wait_[k];"
                                  "schedule_[k] 1000000\n"))
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

TEST_F(IdleTest, PprofKeepsWhatWaitsAre) {
  fake_.profile.rows[0].wait = "lock of mine";
  const absl::StatusOr<NamedProfile> stored = ParsePprof(Written(OutputFormat::kPprof));
  ASSERT_TRUE(stored.ok()) << stored.status();
  EXPECT_EQ(stored->rows[0].wait, "lock of mine");
  EXPECT_NE(stored->rows[1].wait, "") << "its cause";
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
  const std::vector<std::string> lines = TopText(table, "", "", RowValue::kOffCpu);
  EXPECT_EQ(lines[2], "1 processes; waiting for work 17.0 ms, hidden; lost nothing");
  std::string json;
  WriteTopJson(table, [&](std::string_view bytes) { json += bytes; });
  EXPECT_THAT(json, HasSubstr(R"("idle":[{"name":"p: pool","count":1,"blocked_ns":9000000},)"));

  const TopTable all = MakeTopTable(fake_.profile, RowValue::kOffCpu, 20, false);
  EXPECT_THAT(all.idle, IsEmpty());
  EXPECT_EQ(all.sums.total_ns(), 20'500'000u);
  EXPECT_THAT(all.stacks, SizeIs(4));
  EXPECT_EQ(TopText(all, "", "", RowValue::kOffCpu)[2], "2 processes; lost nothing");
}

}  // namespace
}  // namespace offcpu
