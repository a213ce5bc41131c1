#include "json/coverage_json.h"

#include <string>
#include <string_view>

#include "gtest/gtest.h"
#include "tests/labels/fake_coverage.h"

namespace offcpu {
namespace {

TEST(CoverageJsonTest, HasAnElementForEachModule) {
  FakeProfile fake = FakeWithCoverage();
  fake.profile.rows.resize(1);
  std::string text;
  auto sink = [&](std::string_view bytes) { text += bytes; };
  JsonWriter json(sink);
  WriteCoverageJson(fake.profile, json);
  EXPECT_EQ(text, R"([{"path":"/usr/bin/node","build_id":"","frames":{},"walk_ends":{"no row":7}},)"
                  R"({"path":"/usr/lib/libc.so.6","build_id":"","frames":{"sframe":7},"walk_ends":{}}])");
}

}  // namespace
}  // namespace offcpu
