#include "html/page_data.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "profile/time_buckets.h"
#include "tests/classify/fake_idle.h"
#include "tests/html/json_value.h"
#include "tests/html/page_reader.h"
#include "tests/profile/fake_profile.h"
#include "tests/profile/recorded_profile.h"
#include "tests/profile/sampled_profile.h"

namespace offcpu {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

PageReader Read(const NamedProfile& profile, const PageOptions& options = {}) {
  return PageReader(PageData(profile, options));
}

// The classes of frames as the page numbers them: 0 user, 1 kernel, 2 interpreted, 3 missing, 4 waker, 5 thread.
TEST(PageDataTest, AStackGoesFromTheOutermostFrameToTheKernelsLeaf) {
  FakeProfile fake;
  fake.Row(fake.Process(10, "server"), fake.Comm("worker"), fake.User({"read", "main"}),
           fake.Kernel({"schedule", "pipe_read"}), 5'000, 1'000);
  const PageReader page = Read(fake.profile);
  ASSERT_EQ(page.rows(), 1u);
  EXPECT_EQ(page.Stack(0), "main:0;read:0;pipe_read:1;schedule:1");
  EXPECT_EQ(page.Waker(0), "");
  EXPECT_EQ(page.Label(0, "process"), "server");
  EXPECT_EQ(page.Label(0, "pid"), "10");
  EXPECT_EQ(page.Label(0, "comm"), "worker");
  EXPECT_EQ(page.Label(0, "cause"), "pipe");
  EXPECT_EQ(page.Label(0, "unit"), "");
  EXPECT_EQ(page.Column("sum.blocked"), std::vector<uint64_t>{5'000});
  EXPECT_EQ(page.Column("sum.runnable"), std::vector<uint64_t>{1'000});
  EXPECT_EQ(page.strings()[page.Column("frame.module")[0]], "libx.so");
}

TEST(PageDataTest, LongNamesAreCut) {
  constexpr char kMark[] = "\xe2\x80\xa6";  // U+2026, 3 bytes
  const std::string most(4096, 'a');
  const std::string character = "\xf0\x9f\xa6\x80";  // 4 bytes
  FakeProfile fake;
  const std::vector<std::string> names = {most, most + "b", std::string(4092, 'c') + character + character,
                                          std::string(4089, 'd') + character + character, std::string(49'000, 'e')};
  for (const std::string& name : names) {
    fake.Row(fake.Process(10, "server"), fake.Comm(name), fake.User({name}), fake.Kernel({}), 1);
  }
  const PageReader page = Read(fake.profile);
  const auto stack = [&page](size_t row) { return page.Stack(row).substr(0, page.Stack(row).find(":0")); };
  EXPECT_EQ(stack(0), most);
  EXPECT_EQ(stack(1), std::string(4093, 'a') + kMark);
  EXPECT_EQ(stack(2), std::string(4092, 'c') + kMark) << "not into a character";
  EXPECT_EQ(stack(3), std::string(4089, 'd') + character + kMark) << "of 4096 bytes";
  EXPECT_EQ(stack(4), std::string(4093, 'e') + kMark);
  EXPECT_EQ(page.Label(4, "comm"), std::string(4093, 'e') + kMark);
  for (const std::string& text : page.strings()) EXPECT_LE(text.size(), 4096u);
}

// They look the same, and are one then.
TEST(PageDataTest, NamesThatAreCutAlikeAreOne) {
  FakeProfile fake;
  const uint32_t process = fake.Process(10, "server");
  const std::string prefix(5000, 'a');
  const std::vector<std::string> names = {prefix + "one", prefix + "two"};
  const uint32_t comm = fake.Comm("worker");
  for (const std::string& name : names) fake.Row(process, comm, fake.User({name}), fake.Kernel({}), 1);
  const PageReader page = Read(fake.profile);
  ASSERT_EQ(page.rows(), 1u);
  EXPECT_EQ(page.Column("sum.blocked"), std::vector<uint64_t>{2});
}

TEST(PageDataTest, WhatIsMissingIsToldApart) {
  FakeProfile fake;
  const uint32_t process = fake.Process(10, "server");
  const uint32_t comm = fake.Comm("worker");
  fake.Row(process, comm, fake.User({"read"}, EndReason::kStackCopy), fake.Kernel({}), 1);
  fake.Row(process, comm, fake.Missing(NoUserStack::kRingFull), fake.Kernel({"schedule"}), 1);
  fake.OverflowRow(1);
  const PageReader page = Read(fake.profile);
  EXPECT_EQ(page.Stack(0), "[truncated: stack copy]:3;read:0;[unknown kernel stack]:3");
  EXPECT_EQ(page.Stack(1), "[no user stack: ring full]:3;schedule:1");
  EXPECT_EQ(page.Stack(2), "[other]:3;[other]:3");
}

TEST(PageDataTest, InterpretedFunctionsAreToldApart) {
  FakeProfile fake;
  const uint32_t user = fake.User({"py::f:/srv/a.py", "JS:*h /srv/a.js:1", "py::in_a_library"});
  std::vector<NamedFrame>& frames = fake.profile.user_stacks[user].frames;
  frames[0].kind = FrameKind::kInterpreted;
  frames[1].kind = FrameKind::kGenerated;
  fake.Row(fake.Process(10, "server"), fake.Comm("worker"), user, fake.Kernel({"schedule"}), 1);
  EXPECT_EQ(Read(fake.profile).Stack(0), "py::in_a_library:0;JS:*h /srv/a.js:1:0;py::f:/srv/a.py:2;schedule:1");
}

// The places of a row's stack from the leaf on: "file:line from its function's first line".
std::vector<std::string> PlacesOf(const PageReader& page, size_t row) {
  std::vector<std::string> places;
  for (uint64_t step = page.Column("row.step")[row]; step != 0; step -= page.Column("step.up")[step]) {
    const uint64_t place = page.Column("step.place")[step];
    places.push_back(page.strings()[page.Column("place.file")[place]] + ":" +
                     std::to_string(page.Column("place.line")[place]) + " from " +
                     std::to_string(page.Column("place.start")[place]));
  }
  return places;
}

TEST(PageDataTest, StacksHaveTheirPlaces) {
  FakeProfile fake;
  const uint32_t process = fake.Process(10, "server");
  const uint32_t comm = fake.Comm("worker");
  for (const uint32_t line : {30u, 31u, 30u}) {
    const uint32_t user = fake.User({"read", "main", "_start"});
    fake.profile.user_stacks[user].frames[1].lines =
        Lines({{.function = "loop", .file = "/src/loop.h", .line = 7, .start_line = 5},
               {.function = "main", .file = "/src/main.cc", .line = line, .start_line = 20}});
    fake.Row(process, comm, user, fake.Kernel({"schedule"}), 1);
  }
  const PageReader page = Read(fake.profile);
  ASSERT_EQ(page.rows(), 2u) << "the same places are the same stack";
  EXPECT_EQ(page.Stack(0), "_start:0;main:0;loop:0;read:0;schedule:1");
  EXPECT_EQ(page.Column("row.stack")[1], page.Column("row.stack")[0]) << "its names are";
  EXPECT_EQ(page.Column("node.inlined"), (std::vector<uint64_t>{0, 0, 0, 1, 0, 0}));
  const std::vector<std::string> first = {":0 from 0", ":0 from 0", "/src/loop.h:7 from 5", "/src/main.cc:30 from 20"};
  EXPECT_EQ(PlacesOf(page, 0), first);
  EXPECT_EQ(PlacesOf(page, 1).back(), "/src/main.cc:31 from 20");
}

TEST(PageDataTest, InlinedIsWhatWasInlinedInAllStacks) {
  FakeProfile fake;
  for (const bool inlined : {true, false}) {
    const uint32_t user = fake.User({"main"});
    fake.profile.user_stacks[user].frames[0].lines = Lines({{"lock"}, {"main"}});
    fake.Row(fake.Process(10, "server"), fake.Comm("worker"), inlined ? user : fake.User({"lock", "main"}),
             fake.Kernel({"schedule"}), 1);
    const PageReader page = Read(fake.profile);
    EXPECT_EQ(page.Column("node.inlined"), (std::vector<uint64_t>{0, 0, inlined ? 1u : 0u, 0})) << inlined;
  }
}

TEST(PageDataTest, WhatIsComparedHasNoPlaces) {
  FakeProfile fake;
  const uint32_t user = fake.User({"main"});
  fake.profile.user_stacks[user].frames[0].lines =
      Lines({{.function = "main", .file = "/src/main.cc", .line = 30, .start_line = 20}});
  fake.Row(fake.Process(10, "server"), fake.Comm("worker"), user, fake.Kernel({"schedule"}), 1);
  const PageReader page(PageDataOfBoth(fake.profile, fake.profile, {}));
  EXPECT_EQ(page.Column("place.file").size(), 1u);
  EXPECT_EQ(page.rows(), 1u);
}

TEST(PageDataTest, LinksToSourcesAreThoseOfTheOptions) {
  const PageReader page =
      Read(FakeProfile().profile, {.source_links = {{.prefix = "/src", .url = "https://example.org/%f"}}});
  const JsonValue& link = page.Field("source_links").list.at(0);
  EXPECT_EQ(link.fields.at("prefix").text, "/src");
  EXPECT_EQ(link.fields.at("url").text, "https://example.org/%f");
}

TEST(PageDataTest, FunctionsOfPerfMapsAreOneInAllProcesses) {
  FakeProfile fake;
  for (const int32_t pid : {10, 11}) {
    const uint32_t user = fake.User({"JS:*h /srv/a.js:1"});
    NamedFrame& frame = fake.profile.user_stacks[user].frames[0];
    const std::string path = "/tmp/perf-" + std::to_string(pid) + ".map";
    fake.profile.code.push_back(std::make_shared<CodeObject>(CodeKind::kPerfMap, path));
    frame.code = fake.profile.code.back().get();
    frame.module_name = "perf.map";
    fake.Row(fake.Process(pid, "server"), fake.Comm("worker"), user, fake.Kernel({"schedule"}), 1);
  }
  const PageReader page = Read(fake.profile);
  ASSERT_EQ(page.rows(), 2u);
  EXPECT_EQ(page.Column("row.stack")[0], page.Column("row.stack")[1]);
  EXPECT_THAT(page.strings(), Contains("perf map"));
}

TEST(PageDataTest, WhoWokeIsTheWayBackFromThere) {
  FakeProfile fake;
  const Waker thread = {.process = fake.Process(11, "client"),
                        .comm = fake.Comm("waker"),
                        .kernel_stack = fake.Kernel({"wake_up", "pipe_write"}),
                        .user_stack = fake.User({"write", "reply"})};
  const Waker timer = {.interrupt = true,
                       .kernel_stack = fake.Kernel({"wake_up", "timer"}),
                       .user_stack = fake.Missing(NoUserStack::kKernelThread)};
  fake.profile.wakers = {{thread, timer}, {}};
  for (const uint32_t waker : {1, 2}) {
    fake.Row(0, 0, 0, 0, 1);
    fake.profile.rows.back().waker = waker;
  }
  const PageReader page = Read(fake.profile);
  EXPECT_EQ(page.Waker(0),
            "woken by:4;wake_up:1;pipe_write:1;write:0;reply:0;waker:5;client-11:5;woken by:4;wake_up:1;timer:1;"
            "[interrupt]:5");
  EXPECT_EQ(page.Waker(1), "woken by:4;[other]:3");
}

TEST(PageDataTest, RowsThatLookTheSameAreOne) {
  FakeProfile fake;
  const uint32_t process = fake.Process(10, "server");
  const uint32_t comm = fake.Comm("worker");
  fake.Row(process, comm, fake.User({"read", "main"}), fake.Kernel({"schedule"}), 1'000, 1);
  fake.Row(process, comm, fake.User({"read", "main"}), fake.Kernel({"schedule"}), 2'000, 2);  // other addresses
  fake.Row(process, fake.Comm("other"), fake.User({"read", "main"}), fake.Kernel({"schedule"}), 4'000);
  fake.profile.rows[1].max_ns = 1'999;
  const PageReader page = Read(fake.profile);
  ASSERT_EQ(page.rows(), 2u);
  EXPECT_EQ(page.Column("row.stack")[0], page.Column("row.stack")[1]);
  EXPECT_EQ(page.Column("sum.blocked"), (std::vector<uint64_t>{3'000, 4'000}));
  EXPECT_EQ(page.Column("sum.count"), (std::vector<uint64_t>{2, 1}));
  EXPECT_EQ(page.Column("sum.max"), (std::vector<uint64_t>{1'999, 4'000}));
}

TEST(PageDataTest, SumsAreTheProfilesHoweverFewStacksAreKept) {
  for (const RecordedProfile& all : {RecordedProfile::All(), RecordedProfile::WithSamples()}) {
    for (const size_t max_stacks : {size_t{0}, size_t{1}, all.profile.rows.size() - 1, all.profile.rows.size()}) {
      const PageReader page = Read(all.profile, {.max_stacks = max_stacks});
      for (const RowValueInfo& info : kRowValues) {
        if (info.sum == nullptr) continue;
        EXPECT_EQ(page.Sum(std::string(info.name)), Total(all.profile.rows, info.value)) << info.name;
      }
      EXPECT_EQ(page.Field("pruned").number(), all.profile.rows.size() - max_stacks);
    }
  }
}

TEST(PageDataTest, TheLongestRowsKeepTheirStacks) {
  FakeProfile fake;
  const uint32_t process = fake.Process(10, "server");
  const uint32_t kernel = fake.Kernel({"schedule"});
  fake.Row(process, fake.Comm("a"), fake.User({"short"}), kernel, 10);
  fake.Row(process, fake.Comm("b"), fake.User({"long"}), kernel, 0, 30);
  fake.Row(process, fake.Comm("c"), fake.User({"middle"}), kernel, 20);
  const PageReader page = Read(fake.profile, {.max_stacks = 2});
  EXPECT_EQ(page.Stack(0), "[pruned]:3");
  EXPECT_EQ(page.Label(0, "comm"), "a");
  EXPECT_EQ(page.Stack(1), "long:0;schedule:1");
  EXPECT_EQ(page.Stack(2), "middle:0;schedule:1");
}

TEST(PageDataTest, FiguresAreExactToTheLastBit) {
  FakeProfile fake;
  fake.Row(fake.Process(10, "server"), fake.Comm("worker"), fake.User({"a"}), fake.Kernel({"k"}), UINT64_MAX - 1, 1);
  EXPECT_EQ(Read(fake.profile).Column("sum.blocked"), std::vector<uint64_t>{UINT64_MAX - 1});
}

TEST(PageDataTest, WaitsForWorkAreThereAndMarked) {
  const FakeProfile fake = FakeWithIdle();
  const PageReader page = Read(fake.profile, {.value = RowValue::kBlocked, .hide_idle = false});
  EXPECT_EQ(page.Sum("blocked"), 19'000'000u);
  EXPECT_EQ(page.Label(0, "idle"), "s: loop");
  EXPECT_EQ(page.Label(1, "idle"), "");
  EXPECT_EQ(page.Field("hide_idle").text, "false");
  EXPECT_EQ(page.Field("value").text, "blocked");
  EXPECT_EQ(Read(fake.profile).Field("hide_idle").text, "true");
}

TEST(PageDataTest, NamesAreTextWhateverIsInThem) {
  const std::string long_name = "Map<" + std::string(4000, 'x') + ">::find(int const&)";
  FakeProfile fake;
  const uint32_t user = fake.User({"</script><script>alert(1)", "a\x1b[31m\xff", "b\xe2\x80\xae", long_name});
  fake.Row(fake.Process(10, "<!--"), fake.Comm("\"'&\x01"), user, fake.Kernel({"schedule"}), 1);
  const PageReader page = Read(fake.profile);
  EXPECT_EQ(page.Stack(0), long_name + ":0;b?:0;a?[31m\xef\xbf\xbd:0;</script><script>alert(1):0;schedule:1");
  EXPECT_EQ(page.Label(0, "process"), "<!--");
  EXPECT_EQ(page.Label(0, "comm"), "\"'&?");
}

TEST(PageDataTest, TheRecordingIsTold) {
  const RecordedProfile all = RecordedProfile::WithSamples();
  const PageReader page = Read(all.profile);
  EXPECT_EQ(page.Field("host").text, "web1");
  EXPECT_EQ(page.Field("start_unix_ns").text, "1790000000123456789");
  EXPECT_EQ(page.Field("duration_ns").text, "5000000001");
  EXPECT_EQ(page.Field("samples").text, "true");
  EXPECT_THAT(page.Field("summary").text, ::testing::HasSubstr("recorded      5.00 s"));
}

// Two recordings, of which the second has other pids and another order.
class PageDataOfBothTest : public ::testing::Test {
 protected:
  PageDataOfBothTest() {
    before_.profile.duration_ns = 2'000;
    before_.profile.start_unix_ns = 1'000;
    before_.profile.host = "web0";
    const uint32_t server = before_.Process(10, "server");
    const uint32_t worker = before_.Comm("worker");
    const uint32_t kernel = before_.Kernel({"schedule"});
    before_.Row(server, worker, before_.User({"lock", "main"}), kernel, 200, 5);
    before_.Row(server, worker, before_.User({"gone", "main"}), kernel, 30);

    after_.profile.duration_ns = 4'000;
    after_.profile.host = "web1";
    const uint32_t client = after_.Process(21, "client");
    const uint32_t same = after_.Process(20, "server");
    const uint32_t thread = after_.Comm("worker");
    const uint32_t schedule = after_.Kernel({"schedule"});
    after_.Row(client, thread, after_.User({"new", "main"}), schedule, 7);
    after_.Row(same, thread, after_.User({"lock", "main"}), schedule, 900, 1);
  }

  PageReader Read(const PageOptions& options = {}) const {
    return PageReader(PageDataOfBoth(before_.profile, after_.profile, options));
  }
  // A text for each row: its program and stack, what it had before, and what it has after.
  static std::vector<std::string> Rows(const PageReader& page, const std::string& value = "blocked") {
    std::vector<std::string> rows;
    for (size_t i = 0; i < page.rows(); ++i) {
      rows.push_back(page.Label(i, "process") + " " + page.Stack(i) + " " +
                     std::to_string(page.Column("before." + value)[i]) + " " +
                     std::to_string(page.Column("sum." + value)[i]));
    }
    return rows;
  }

  FakeProfile before_;
  FakeProfile after_;
};

TEST_F(PageDataOfBothTest, RowsOfBothAreOneByTheirNames) {
  const PageReader page = Read();
  EXPECT_THAT(Rows(page),
              UnorderedElementsAre("server main:0;lock:0;schedule:1 200 900", "server main:0;gone:0;schedule:1 30 0",
                                   "client main:0;new:0;schedule:1 0 7"));
  EXPECT_THAT(Rows(page, "runnable"), Contains("server main:0;lock:0;schedule:1 5 1"));
  EXPECT_THAT(Rows(page, "count"), Contains("server main:0;lock:0;schedule:1 1 1"));
  for (size_t row = 0; row < page.rows(); ++row) EXPECT_EQ(page.Label(row, "pid"), "");
}

TEST_F(PageDataOfBothTest, BothRecordingsAreTold) {
  before_.profile.stats.oncpu_period_ns = 1;
  const PageReader page = Read({.value = RowValue::kBlocked, .hide_idle = false});
  EXPECT_EQ(page.Field("host").text, "web1");
  EXPECT_EQ(page.Field("duration_ns").text, "4000");
  EXPECT_EQ(page.Field("value").text, "blocked");
  EXPECT_EQ(page.Field("hide_idle").text, "false");
  EXPECT_EQ(page.Field("samples").text, "false") << "the second has none";
  const auto& before = page.Field("before").fields;
  EXPECT_EQ(before.at("host").text, "web0");
  EXPECT_EQ(before.at("start_unix_ns").text, "1000");
  EXPECT_EQ(before.at("duration_ns").text, "2000");
  EXPECT_THAT(before.at("summary").text, ::testing::HasSubstr("recorded"));
  after_.profile.stats.oncpu_period_ns = 1;
  EXPECT_EQ(Read().Field("samples").text, "true");
}

TEST_F(PageDataOfBothTest, WakersAreToldByNames) {
  for (FakeProfile* fake : {&before_, &after_}) {
    const uint32_t process = fake == &before_ ? 0 : 1;  // of the program "server" in either
    fake->profile.wakers = {{{.process = process, .comm = 0, .kernel_stack = 0, .user_stack = 0}}};
    fake->Row(process, 0, fake->User({"read", "main"}), 0, 50);
    fake->profile.rows.back().waker = 1;
    fake->profile.wakers[0][0].user_stack = fake->profile.rows.back().user_stack;
  }
  const PageReader page = Read();
  EXPECT_THAT(Rows(page), Contains("server main:0;read:0;schedule:1 50 50"));
  const std::vector<std::string> rows = Rows(page);
  const auto row = std::find(rows.begin(), rows.end(), "server main:0;read:0;schedule:1 50 50") - rows.begin();
  EXPECT_EQ(page.Waker(static_cast<size_t>(row)), "woken by:4;schedule:1;read:0;main:0;worker:5;server:5");
}

// `gone` had 30 in 2000 ns, `new` has 7 in 4000: what has less of it in a second loses its stack.
TEST_F(PageDataOfBothTest, AStackIsKeptInBothOrInNeither) {
  after_.Row(1, 0, after_.User({"gone", "main"}), 0, 1);
  const PageReader page = Read({.max_stacks = 2});
  EXPECT_THAT(Rows(page), UnorderedElementsAre("server main:0;lock:0;schedule:1 200 900",
                                               "server main:0;gone:0;schedule:1 30 1", "client [pruned]:3 0 7"));
  EXPECT_EQ(page.Field("pruned").number(), 1u);
}

TEST_F(PageDataOfBothTest, SumsAreThoseOfTheProfilesHoweverFewStacksAreKept) {
  const RecordedProfile all = RecordedProfile::WithSamples();
  for (size_t max_stacks = 0; max_stacks <= 2 * all.profile.rows.size(); ++max_stacks) {
    const PageReader page(PageDataOfBoth(all.profile, all.profile, {.max_stacks = max_stacks}));
    for (const RowValueInfo& info : kRowValues) {
      if (info.sum == nullptr) continue;
      const std::string name(info.name);
      EXPECT_EQ(page.Sum(name), Total(all.profile.rows, info.value)) << name;
      EXPECT_EQ(page.Column("before." + name), page.Column("sum." + name));
    }
  }
}

TEST_F(PageDataOfBothTest, NothingComparedIsNothingOfBefore) {
  EXPECT_EQ(PageReader(PageData(after_.profile, {})).columns().count("before.blocked"), 0u);
  EXPECT_EQ(PageReader(PageData(after_.profile, {})).fields().count("before"), 0u);
  EXPECT_EQ(PageReader(PageDataOfBoth({}, {}, {})).rows(), 0u);
}

TEST(PageDataTest, AnEmptyProfileHasOnlyTheRoot) {
  const PageReader page = Read({});
  EXPECT_EQ(page.rows(), 0u);
  EXPECT_EQ(page.Column("node.up"), std::vector<uint64_t>{0});
}

// A slice of 300 ns in column 0 and of 5'700 ns in column 3.
std::string SomeTimes() {
  TimeBuckets buckets;
  buckets.Add({.number = 0, .blocked_ns = 300});
  buckets.Add({.number = 3, .blocked_ns = 4'700, .runnable_ns = 1'000, .count = 1});
  return PackTimes(buckets, 0, 0);
}

TEST(PageDataTest, TimesAreThoseOfTheRows) {
  FakeProfile fake;
  const uint32_t kernel = fake.Kernel({"schedule", "pipe_read"});
  const uint32_t server = fake.Process(10, "server");
  fake.Row(server, fake.Comm("worker"), fake.User({"read", "main"}), kernel, 5'000, 1'000);
  fake.Row(server, fake.Comm("other"), fake.User({"read", "main"}), kernel, 7);
  fake.profile.times = {.bucket_ns = 2'000'000'000, .begin_ns = -5};
  fake.profile.rows[0].times = SomeTimes();
  const PageReader page = Read(fake.profile);
  EXPECT_EQ(page.Field("times").fields.at("column_ns").number(), 2'000'000'000u);
  EXPECT_EQ(page.Field("times").fields.at("begin_ns").text, "-5");
  EXPECT_EQ(page.Column("time.slices"), (std::vector<uint64_t>{2, 0}));
  EXPECT_EQ(page.Column("time.column"), (std::vector<uint64_t>{0, 3}));
  EXPECT_EQ(page.Column("time.blocked"), (std::vector<uint64_t>{300, 4'700}));
  EXPECT_EQ(page.Column("time.runnable"), (std::vector<uint64_t>{0, 1'000}));
  EXPECT_EQ(page.Column("time.count"), (std::vector<uint64_t>{0, 1}));
}

// Those that lose their stacks are one row, and so are their times.
TEST(PageDataTest, RowsThatAreOneHaveTheTimesOfBoth) {
  FakeProfile fake;
  const uint32_t kernel = fake.Kernel({"schedule", "pipe_read"});
  const uint32_t server = fake.Process(10, "server");
  const uint32_t worker = fake.Comm("worker");
  fake.Row(server, worker, fake.User({"read", "main"}), kernel, 5'000, 1'000);
  fake.Row(server, worker, fake.User({"write", "main"}), kernel, 5'000, 1'000);
  fake.profile.times = {.bucket_ns = 1'000'000'000};
  for (NamedRow& row : fake.profile.rows) row.times = SomeTimes();
  const PageReader page = Read(fake.profile, {.max_stacks = 0});
  ASSERT_EQ(page.rows(), 1u);
  EXPECT_EQ(page.Column("time.column"), (std::vector<uint64_t>{0, 3}));
  EXPECT_EQ(page.Column("time.blocked"), (std::vector<uint64_t>{600, 9'400}));
}

TEST(PageDataTest, WithoutTimesThereAreNoColumnsOfThem) {
  FakeProfile fake;
  fake.Row(fake.Process(10, "server"), fake.Comm("worker"), fake.User({"main"}), fake.Kernel({"schedule"}), 5);
  const PageReader page = Read(fake.profile);
  EXPECT_FALSE(page.fields().contains("times"));
  EXPECT_FALSE(page.columns().contains("time.slices"));
}

TEST(PageDataTest, EstimatesHaveTheirErrors) {
  NamedProfile profile = SampledProfile().profile;
  const PageReader page = Read(profile);
  EXPECT_EQ(page.Column("error.count"), (std::vector<uint64_t>{0, 0, 60, 3}));
  EXPECT_EQ(page.Column("error.time"), (std::vector<uint64_t>{0, 0, 1'500'000, 86'603}));
  EXPECT_EQ(page.Column("error.blocked"), (std::vector<uint64_t>{0, 0, 900'000, 51'962}));
  EXPECT_EQ(page.Column("error.runnable"), (std::vector<uint64_t>{0, 0, 600'000, 34'641}));
  EXPECT_EQ(page.Column("error.draws"), (std::vector<uint64_t>{0, 0, 300, 1}));
  EXPECT_THAT(PageData(profile, {}), HasSubstr(R"("unsampled_ns":300000)"));
  const std::string both = PageDataOfBoth(profile, profile, {});
  EXPECT_EQ(PageReader(both).Column("before_error.time"), page.Column("error.time"));
  profile.rows.resize(2);
  EXPECT_THAT(PageData(profile, {}), Not(HasSubstr("error.time")));
}

}  // namespace
}  // namespace offcpu
