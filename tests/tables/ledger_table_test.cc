#include "tables/ledger_table.h"

#include <cstddef>
#include <string>
#include <string_view>

#include "gtest/gtest.h"
#include "tests/profile/fake_ledger.h"
#include "tests/profile/fake_profile.h"

namespace offcpu {
namespace {

std::string Table(const FakeProfile& fake, size_t limit = 20) {
  std::string text;
  WriteLedgerTable(fake.profile, limit, [&](std::string_view bytes) { text += bytes; });
  return text;
}

TEST(LedgerTableTest, HasALineForEachProcess) {
  EXPECT_EQ(
      Table(FakeWithLedger()),
      "PROCESS               PID  THREADS       WALL    ON-CPU   BLOCKED  RUNNABLE    STOLEN      LOST      REST\n"
      "hog                    20        1     200 ms    200 ms      0 ns      0 ns      0 ns      0 ns      0 ns\n"
      "server                 10        2     120 ms   10.0 ms   70.0 ms   30.0 ms   1.00 ms   9.00 ms     -5 ns\n"
      "all                                    320 ms    210 ms   70.0 ms   30.0 ms   1.00 ms   9.00 ms     -5 ns\n"
      "  lost: interval ring full, 4.00 ms\n"
      "  lost: shorter than --min-wait, 5.00 ms\n");
}

TEST(LedgerTableTest, HasALineForEachThreadWhereThreadsAreToldApart) {
  FakeProfile fake = FakeWithLedger();
  fake.Row(0, fake.Comm("main"), fake.User({"main"}), fake.Kernel({"schedule"}), 50'000'000);
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

}  // namespace
}  // namespace offcpu
