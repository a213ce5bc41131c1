#include <string>

#include "gtest/gtest.h"
#include "json/json_writer.h"
#include "json/profile_json.h"
#include "json/stats_json.h"
#include "tests/profile/fake_profile.h"
#include "tests/profile/sampled_profile.h"

namespace offcpu {
namespace {

template <typename Write>
std::string Json(Write write) {
  std::string text;
  auto sink = [&](std::string_view bytes) { text += bytes; };
  JsonWriter json(sink);
  write(json);
  return text;
}

std::string Quoted(std::string_view value) {
  return Json([&](JsonWriter& json) { json.String(value); });
}

TEST(JsonWriterTest, CommasStandBetweenValuesOnly) {
  EXPECT_EQ(Json([](JsonWriter& json) {
              json.BeginObject();
              json.Field("a", 1);
              json.Key("b");
              json.BeginArray();
              json.Number(18446744073709551615u);
              json.Signed(-1);
              json.Bool(true);
              json.Bool(false);
              json.Hex(0xffffffff81000000);
              json.BeginArray();
              json.EndArray();
              json.BeginObject();
              json.EndObject();
              json.EndArray();
              json.Field("c", "d");
              json.EndObject();
            }),
            R"({"a":1,"b":[18446744073709551615,-1,true,false,"0xffffffff81000000",[],{}],"c":"d"})");
}

TEST(JsonWriterTest, EscapesWhatMustBe) {
  EXPECT_EQ(Quoted("plain"), R"("plain")");
  EXPECT_EQ(Quoted("a\"b\\c"), R"("a\"b\\c")");
  EXPECT_EQ(Quoted(std::string_view("\0\n\t\x1f\x7f", 5)), R"("\u0000\u000a\u0009\u001f\u007f")");
}

TEST(JsonWriterTest, EscapesWhatIsNotToBeShown) {
  EXPECT_EQ(Quoted("\xc2\x9b"
                   "31m"),
            R"("\u009b31m")");                                 // CSI, as ESC [
  EXPECT_EQ(Quoted("\xc2\x85"), R"("\u0085")");                // next line
  EXPECT_EQ(Quoted("\xe2\x80\xae"), R"("\u202e")");            // right-to-left override
  EXPECT_EQ(Quoted("\xf3\xa0\x80\x81"), R"("\udb40\udc01")");  // a tag, which takes two in UTF-16
}

TEST(JsonWriterTest, KeepsValidUtf8) {
  for (const char* text : {"\xc2\xa0", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xef\xbf\xbf", "\xf0\x90\x80\x80",
                           "\xf4\x8f\xbf\xbf", "a\xc3\xa9z"}) {
    EXPECT_EQ(Quoted(text), "\"" + std::string(text) + "\"");
  }
}

TEST(JsonWriterTest, ReplacesEachByteThatIsNotUtf8) {
  const std::string bad = "\xef\xbf\xbd";
  struct Case {
    std::string text;
    int replaced;
  };
  // Lone continuation, overlong forms, a surrogate, beyond U+10FFFF, sequences that are cut.
  for (const Case& c : {Case{"\x80", 1},
                        {"\xc0\x80", 2},
                        {"\xc1\xbf", 2},
                        {"\xe0\x9f\xbf", 3},
                        {"\xed\xa0\x80", 3},
                        {"\xf0\x8f\xbf\xbf", 4},
                        {"\xf4\x90\x80\x80", 4},
                        {"\xf5", 1},
                        {"\xff", 1},
                        {"\xc3", 1},
                        {"\xe2\x82", 2},
                        {"\xf0\x9f\x98", 3}}) {
    std::string want;
    for (int i = 0; i < c.replaced; ++i) want += bad;
    EXPECT_EQ(Quoted(c.text), "\"" + want + "\"");
    EXPECT_EQ(Quoted(c.text + "a"), "\"" + want + "a\"");
  }
}

TEST(StatsJsonTest, HasTheFieldsByTheirNames) {
  ProfileStats stats;
  stats.intervals = 1;
  stats.cookies = 2;
  stats.captures = 3;
  stats.capture_ns = 21;
  stats.capture_longest_ns = 22;
  stats.kernel_stacks = 4;
  stats.live_stacks = 13;
  stats.walked_at_switch = 23;
  stats.summed_at_switch = 30;
  stats.proven_walks = 24;
  stats.walk_misses = {31, 32, 33, 34};
  stats.told_rows = 35;
  stats.told_stacks = 36;
  stats.walks = 5;
  stats.processes = 6;
  stats.walk_ends[static_cast<size_t>(EndReason::kStackCopy)] = 7;
  stats.frames_by_source[static_cast<size_t>(FrameSource::kSFrame)] = 8;
  stats.complete_walks_by_source[static_cast<size_t>(FrameSource::kEhFrame)] = 9;
  stats.slept_throughout = 10;
  stats.sample_ns = 14;
  stats.sample_most_ns = 23;
  stats.not_sampled = 15;
  stats.oncpu_period_ns = 16;
  stats.oncpu_samples = 17;
  stats.suspended_ns = 18;
  stats.clock_forward_ns = 19;
  stats.clock_back_ns = 20;
  stats.own_programs_ns = 24;
  stats.own_process_ns = 25;
  stats.own_memory_bytes = 26;
  stats.host_cpu_ns = 27;
  stats.cpu_budget_ppm = 28;
  stats.losses = {{"ring \"full\"", 11, 12}};
  std::string text = Json([&](JsonWriter& json) { WriteStatsJson(stats, json); });
  EXPECT_TRUE(text.starts_with(
      R"({"intervals":1,"cookies":2,"captures":3,"capture_ns":21,"capture_longest_ns":22,"kernel_stacks":4,"walked_at_switch":23,"summed_at_switch":30,"proven_walks":24,"walk_misses":{"new stack":31,"new code":32,"no row":33,"no memory":34},"told_rows":35,"told_stacks":36,"live_stacks":13,"walks":5,"processes":6,"walk_ends":{"complete":0,"stack copy":7,)"))
      << text;
  EXPECT_NE(
      text.find(
          R"("frames_by_source":{"registers":0,"sframe":8,"eh_frame":0,"fp":0,"trampoline":0,"debug_frame":0,"runtime":0})"),
      std::string::npos)
      << text;
  EXPECT_TRUE(text.ends_with(
      R"("complete_walks_by_source":{"registers":0,"sframe":0,"eh_frame":9,"fp":0,"trampoline":0,"debug_frame":0,"runtime":0},"sample_ns":14,"sample_most_ns":23,"not_drawn":15,"slept_throughout":10,"oncpu_period_ns":16,"oncpu_samples":17,"suspended_ns":18,"clock_forward_ns":19,"clock_back_ns":20,"own_programs_ns":24,"own_process_ns":25,"own_memory_bytes":26,"host_cpu_ns":27,"cpu_budget_ppm":28,"drops":[{"reason":"ring \"full\"","count":11,"ns":12}]})"))
      << text;
}

std::string ProfileJson(const FakeProfile& fake) {
  std::string text;
  WriteProfileJson(fake.profile, [&](std::string_view bytes) { text += bytes; });
  return text;
}

TEST(ProfileJsonTest, AStackHasItsRowAndBothHalves) {
  FakeProfile fake;
  fake.profile.start_unix_ns = 1;
  fake.profile.duration_ns = 2;
  fake.profile.host = "h";
  fake.Row(fake.Process(10, "server"), fake.Comm("worker"), fake.User({"read", "main"}, EndReason::kStackCopy),
           fake.Kernel({"schedule", "pipe_read"}), 100, 11, WaitKind::kDisk);
  fake.profile.rows[0].syscall = 0;
  EXPECT_TRUE(ProfileJson(fake).starts_with(
      R"({"start_unix_ns":1,"duration_ns":2,"total_ns":111,"host":"h","stacks":[{"pid":10,"process":"server","comm":"worker",)"
      R"("kind":"disk","cause":"pipe","wait":"pipe","syscall":"read","count":1,"blocked_ns":100,"runnable_ns":11,"max_ns":111,"user":[)"
      R"({"name":"read","module":"libx.so","address":"0x10","source":"registers"},)"
      R"({"name":"main","module":"libx.so","address":"0x11","source":"eh_frame"}],"user_end":"stack copy",)"
      R"("kernel":["schedule","pipe_read"]}],)"
      R"("idle":[],"modules":[{"path":"","build_id":"","frames":{"eh_frame":1},"walk_ends":{"stack copy":1}}],"stats":{"intervals":0,)"))
      << ProfileJson(fake);
  EXPECT_TRUE(ProfileJson(fake).ends_with("}\n"));
}

TEST(ProfileJsonTest, WhatIsMissingHasItsReason) {
  FakeProfile fake;
  fake.Row(fake.Process(10, "server"), fake.Comm("worker"), fake.Missing(NoUserStack::kExec), fake.Kernel({}), 1);
  fake.OverflowRow(2);
  std::string text = ProfileJson(fake);
  EXPECT_NE(text.find(R"("user":[],"no_user_stack":"exec","kernel":["[unknown kernel stack]"]})"), std::string::npos);
  EXPECT_NE(text.find(R"("user":[],"no_user_stack":"other","kernel":["[other]"]})"), std::string::npos);
}

TEST(ProfileJsonTest, AnEmptyProfileIsStillAnObject) {
  EXPECT_TRUE(ProfileJson({}).starts_with(
      R"({"start_unix_ns":0,"duration_ns":0,"total_ns":0,"host":"","stacks":[],"idle":[],"modules":[],"stats":{)"));
}

TEST(ProfileJsonTest, WakersAreAMemberOfTheirRows) {
  FakeProfile fake;
  fake.Row(fake.Process(10, "server"), fake.Comm("worker"), fake.User({"read"}), fake.Kernel({"schedule"}), 5);
  const Waker thread = {.process = fake.Process(11, "client"),
                        .comm = fake.Comm("waker"),
                        .kernel_stack = fake.Kernel({"wake", "pipe_write"}),
                        .user_stack = fake.User({"write"})};
  fake.profile.wakers = {{thread, {.interrupt = true, .kernel_stack = fake.Kernel({"timer"})}}};
  std::string text;
  const auto write = [&] {
    text.clear();
    WriteProfileJson(fake.profile, [&](std::string_view bytes) { text += bytes; });
  };
  write();
  EXPECT_EQ(text.find("wakers"), std::string::npos);
  fake.profile.rows[0].waker = 1;
  write();
  EXPECT_NE(text.find(R"("kernel":["schedule"],"wakers":[{"pid":11,"process":"client","comm":"waker","user":[{)"
                      R"("name":"write","module":"libx.so","address":"0x10","source":"registers"}],)"
                      R"("user_end":"complete","kernel":["wake","pipe_write"]},)"
                      R"({"interrupt":true,"kernel":["timer"]}]})"),
            std::string::npos)
      << text;
}

// The rows have errors, and so have the sum of all of them and what is hidden.
TEST(ProfileJsonTest, ASampleHasItsErrors) {
  FakeProfile fake = SampledProfile();
  fake.Idle({"", "", "pool: worker", ""});
  const std::string text = ProfileJson(fake);
  for (const char* part :
       {R"("total_ns":110100000,"total_ns_error":1502498,"unsampled_most_ns":300000,)",
        R"("max_ns":60000000,"count_error":0,"ns_error":0,"blocked_error":0,"runnable_error":0,"draws":0,)",
        R"("max_ns":25000,"count_error":60,"ns_error":1500000,"blocked_error":900000,"runnable_error":600000,)"
        R"("draws":300,)",
        R"("count_error":3,"ns_error":86603,"blocked_error":51962,"runnable_error":34641,"draws":1,)",
        R"("idle":[{"name":"pool: worker","count":1200,"blocked_ns":18000000,"blocked_error":900000}])"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  fake.profile.stats = {};
  fake.profile.rows.resize(2);
  EXPECT_EQ(ProfileJson(fake).find("_error"), std::string::npos) << "every wait was recorded";
}

}  // namespace
}  // namespace offcpu
