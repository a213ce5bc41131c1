// A browser before the HTTP server, driven by node.
#include <cstdlib>
#include <string>

#include "http_server_fixture.h"

namespace offcpu {
namespace {

TEST_F(HttpServerTest, ABrowserShowsTheLastHour) {
  const auto has = [](const std::string& name) { return system(("command -v " + name + " >/dev/null").c_str()) == 0; };
  if (!has("node") || !has("chromium")) GTEST_SKIP() << "needs node and chromium";
  const std::string test = OFFCPU_SOURCE_DIR "/tests/html/browser/live_test.mjs";
  const std::string address = "http://127.0.0.1:" + std::to_string(server_->port()) + "/";
  EXPECT_EQ(system(("node " + test + " " + address + " >&2").c_str()), 0);
}

}  // namespace
}  // namespace offcpu
