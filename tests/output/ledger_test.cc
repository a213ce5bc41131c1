#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "output/json_writer.h"
#include "output/ledger_json.h"
#include "output/ledger_table.h"
#include "output/pprof_ledger.h"
#include "tests/profile/fake_profile.h"

namespace offcpu {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

constexpr uint64_t kMs = 1'000'000;

// Two threads of a server, and a hog that has never waited.
FakeProfile Three() {
  FakeProfile fake;
  const uint32_t server = fake.Process(10, "server");
  const uint32_t hog = fake.Process(20, "hog");
  fake.profile.ledger = {
      {.process = server,
       .tid = 10,
       .comm = "main",
       .wall_ns = 100 * kMs,
       .on_cpu_ns = 10 * kMs,
       .stolen_ns = 1 * kMs,
       .blocked_ns = 50 * kMs,
       .runnable_ns = 30 * kMs,
       .lost_ns = {4 * kMs, 0, 5 * kMs}},
      {.process = server, .tid = 11, .comm = "worker", .wall_ns = 20 * kMs, .blocked_ns = 20 * kMs + 5},
      {.process = hog, .tid = 20, .comm = "hog", .wall_ns = 200 * kMs, .on_cpu_ns = 200 * kMs}};
  return fake;
}

std::string Table(const FakeProfile& fake, size_t limit = 20) {
  std::string text;
  WriteLedgerTable(fake.profile, limit, [&](std::string_view bytes) { text += bytes; });
  return text;
}

TEST(LedgerEntryTest, TheRestIsWhatNothingTells) {
  const FakeProfile fake = Three();
  EXPECT_EQ(fake.profile.ledger[0].lost_total_ns(), 9 * kMs);
  EXPECT_EQ(fake.profile.ledger[0].rest_ns(), 0);
  EXPECT_EQ(fake.profile.ledger[1].rest_ns(), -5);
}

TEST(LedgerTableTest, HasALineForEachProcess) {
  EXPECT_EQ(
      Table(Three()),
      "PROCESS               PID  THREADS       WALL    ON-CPU   BLOCKED  RUNNABLE    STOLEN      LOST      REST\n"
      "hog                    20        1     200 ms    200 ms      0 ns      0 ns      0 ns      0 ns      0 ns\n"
      "server                 10        2     120 ms   10.0 ms   70.0 ms   30.0 ms   1.00 ms   9.00 ms     -5 ns\n"
      "all                                    320 ms    210 ms   70.0 ms   30.0 ms   1.00 ms   9.00 ms     -5 ns\n"
      "  lost: interval ring full, 4.00 ms\n"
      "  lost: shorter than --min-wait, 5.00 ms\n");
}

TEST(LedgerTableTest, HasALineForEachThreadWhereThreadsAreToldApart) {
  FakeProfile fake = Three();
  fake.Row(0, fake.Comm("main"), fake.User({"main"}), fake.Kernel({"schedule"}), 50 * kMs);
  fake.profile.rows.back().tid = 10;
  EXPECT_EQ(
      Table(fake, 2),
      "THREAD                PID      TID       WALL    ON-CPU   BLOCKED  RUNNABLE    STOLEN      LOST      REST\n"
      "hog                    20       20     200 ms    200 ms      0 ns      0 ns      0 ns      0 ns      0 ns\n"
      "main                   10       10     100 ms   10.0 ms   50.0 ms   30.0 ms   1.00 ms   9.00 ms      0 ns\n"
      "not shown: 1\n"
      "all                                    320 ms    210 ms   70.0 ms   30.0 ms   1.00 ms   9.00 ms     -5 ns\n"
      "  lost: interval ring full, 4.00 ms\n"
      "  lost: shorter than --min-wait, 5.00 ms\n");
}

TEST(LedgerTableTest, IsEmptyWithoutALedger) { EXPECT_EQ(Table(FakeProfile()), ""); }

TEST(LedgerJsonTest, HasAnElementForEachThread) {
  FakeProfile fake = Three();
  fake.profile.ledger.erase(fake.profile.ledger.begin() + 1, fake.profile.ledger.end());
  std::string text;
  auto sink = [&](std::string_view bytes) { text += bytes; };
  JsonWriter json(sink);
  WriteLedgerJson(fake.profile, json);
  EXPECT_EQ(text, R"([{"process":"server","pid":10,"tid":10,"comm":"main","wall_ns":100000000,"on_cpu_ns":10000000,)"
                  R"("blocked_ns":50000000,"runnable_ns":30000000,"stolen_ns":1000000,)"
                  R"("lost_ns":{"interval ring full":4000000,"shorter than --min-wait":5000000},"rest_ns":0}])");
}

TEST(PprofLedgerTest, EntriesComeBack) {
  const FakeProfile fake = Three();
  const std::vector<std::string> texts = LedgerTexts(fake.profile);
  EXPECT_THAT(texts, ElementsAre("0 10 10 100000000 10000000 50000000 30000000 1000000 4000000 0 5000000 0 0 0 0 0 "
                                 "6 server main",
                                 "0 10 11 20000000 0 20000005 0 0 0 0 0 0 0 0 0 0 6 server worker",
                                 "1 20 20 200000000 200000000 0 0 0 0 0 0 0 0 0 0 0 3 hog hog"));
  ProfileFacts read;
  LedgerReader reader(read);
  for (const std::string& text : texts) EXPECT_TRUE(reader.Read(text)) << text;
  EXPECT_THAT(read.processes, SizeIs(2));
  EXPECT_EQ(LedgerTexts(read), texts);
}

TEST(PprofLedgerTest, NamesMayBeAnything) {
  FakeProfile fake;
  fake.profile.ledger = {{.process = fake.Process(10, " a 1\n\xff"), .tid = 1, .comm = " \x01"}, {.tid = 2}};
  ProfileFacts read;
  LedgerReader reader(read);
  for (const std::string& text : LedgerTexts(fake.profile)) EXPECT_TRUE(reader.Read(text)) << text;
  EXPECT_EQ(read.processes[0].name, " a 1?\xef\xbf\xbd");
  EXPECT_EQ(read.ledger[0].comm, " ?");
  EXPECT_EQ(read.ledger[1].comm, "");
}

TEST(PprofLedgerTest, DamageIsRefused) {
  const std::string good = LedgerTexts(Three().profile)[1];
  for (size_t length = 0; length + std::string(" worker").size() < good.size(); ++length) {
    ProfileFacts read;
    EXPECT_FALSE(LedgerReader(read).Read(good.substr(0, length))) << length;
  }
  ProfileFacts read;
  EXPECT_FALSE(LedgerReader(read).Read("0 4294967296" + good.substr(4))) << "no such pid";
  EXPECT_FALSE(LedgerReader(read).Read("x" + good));
  EXPECT_FALSE(LedgerReader(read).Read("0 10 11 20000000 0 20000005 0 0 0 0 0 0 0 0 0 0 600 server worker"));
}

TEST(PprofLedgerTest, EntriesAreCapped) {
  ProfileFacts read;
  LedgerReader reader(read);
  const std::string text = LedgerTexts(Three().profile)[0];
  for (size_t i = 0; i < kMaxLedgerEntries; ++i) ASSERT_TRUE(reader.Read(text));
  EXPECT_FALSE(reader.Read(text));
}

}  // namespace
}  // namespace offcpu
