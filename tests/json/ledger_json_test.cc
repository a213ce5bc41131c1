#include "json/ledger_json.h"

#include <string>
#include <string_view>

#include "gtest/gtest.h"
#include "tests/profile/fake_ledger.h"

namespace offcpu {
namespace {

TEST(LedgerJsonTest, HasAnElementForEachThread) {
  FakeProfile fake = FakeWithLedger();
  fake.profile.ledger.erase(fake.profile.ledger.begin() + 1, fake.profile.ledger.end());
  std::string text;
  auto sink = [&](std::string_view bytes) { text += bytes; };
  JsonWriter json(sink);
  WriteLedgerJson(fake.profile, json);
  EXPECT_EQ(text, R"([{"process":"server","pid":10,"tid":10,"comm":"main","wall_ns":100000000,"on_cpu_ns":10000000,)"
                  R"("blocked_ns":50000000,"runnable_ns":30000000,"stolen_ns":1000000,)"
                  R"("lost_ns":{"interval ring full":4000000,"shorter than --min-wait":5000000},"rest_ns":0}])");
}

}  // namespace
}  // namespace offcpu
