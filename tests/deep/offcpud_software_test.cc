// What the service says, as other programs read it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>

#include <fstream>
#include <memory>
#include <string>

#include "tests/harness/service_test.h"

namespace offcpu::integration {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

constexpr int kOk = 0;

class Daemon : public ServiceTest {};

TEST_F(Daemon, StatusIsForPeopleAndForScripts) {
  StartDaemon("");
  ASSERT_EQ(Ask({"dump", "-o", Path("a.folded")}), kOk) << errors_;
  ASSERT_EQ(Ask({"status"}), kOk) << errors_;
  EXPECT_THAT(output_, HasSubstr("windows       0 of 60, 60.0 s each"));
  EXPECT_THAT(output_, ContainsRegex(" % of the host \\(budget .*1%.*\\): BPF programs "));
  ASSERT_EQ(Ask({"status", "--json"}), kOk) << errors_;
  std::ofstream(Path("status.json")) << output_;
  EXPECT_EQ(RunWords({"python3", "-m", "json.tool", Path("status.json"), "/dev/null"}), kOk) << errors_;
}

TEST_F(Daemon, GoToolPprofTakesItsProfiles) {
  if (RunWords({"sh", "-c", "go tool -n pprof"}) != 0) GTEST_SKIP() << "needs `go tool pprof` (package golang-go)";
  const int port = FreePort();
  StartDaemon(HttpSection(port) + "[record]\nsample = \"0\"\n");
  AwaitLog("HTTP at");
  const std::unique_ptr<Target> target = Target::Start({"waits", "--seconds", "60"});
  ASSERT_NE(target, nullptr);
  target->Go();
  const std::string url = "http://127.0.0.1:" + std::to_string(port) + "/debug/pprof/";
  for (const std::string profile : {"offcpu?seconds=2", "offcpu", "block"}) {
    ASSERT_EQ(RunWords({"env", "HOME=" + directory_.path(), "PPROF_TMPDIR=" + directory_.path(), "go", "tool", "pprof",
                        "-top", "-cum", "-nodefraction=0", "-nodecount=1000000", url + profile}),
              kOk)
        << errors_;
    EXPECT_THAT(output_, HasSubstr("Type: off_cpu")) << profile;
    EXPECT_THAT(output_, HasSubstr("wait_in_nanosleep")) << profile;
  }
}

TEST_F(Daemon, PromtoolFindsNothingWrongWithItsMetrics) {
  if (RunWords({"sh", "-c", "command -v promtool"}) != 0) GTEST_SKIP() << "needs promtool (package prometheus)";
  const int port = FreePort();
  StartDaemon(HttpSection(port));
  AwaitLog("HTTP at");
  ASSERT_EQ(Ask({"dump", "-o", Path("a.folded")}), kOk) << errors_;
  const httplib::Result metrics = httplib::Client("127.0.0.1", port).Get("/metrics");
  ASSERT_TRUE(metrics);
  EXPECT_THAT(metrics->body, HasSubstr("offcpud_off_cpu_seconds_total{"));
  EXPECT_THAT(metrics->body, HasSubstr("offcpud_on_cpu_seconds_total "));
  std::ofstream(Path("metrics")) << metrics->body;
  EXPECT_EQ(RunWords({"sh", "-c", "promtool check metrics <" + Path("metrics") + " 2>&1"}), kOk) << output_;
  EXPECT_EQ(output_, "");
}

}  // namespace
}  // namespace offcpu::integration
