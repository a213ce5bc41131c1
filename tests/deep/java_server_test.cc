// A server as Debian ships it, Tomcat with its pool of connections, in which requests wait for each other: one command
// says which of its functions they wait in, and for whom.
#include <gtest/gtest.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "tests/harness/cli.h"
#include "tests/harness/java_homes.h"

namespace offcpu::integration {
namespace {

constexpr char kJars[] =
    "/usr/share/java/tomcat10-embed-core.jar:/usr/share/java/tomcat10-jdbc.jar:"
    "/usr/share/java/tomcat10-annotations-api.jar";

class JavaServer : public CliTest {
 protected:
  void SetUp() override {
    const std::vector<std::string> homes = JavaHomes();
    if (homes.empty()) GTEST_SKIP() << "default-jdk-headless is not installed";
    for (const std::string jar : {"embed-core", "jdbc"}) {
      if (!std::filesystem::exists("/usr/share/java/tomcat10-" + jar + ".jar"))
        GTEST_SKIP() << "libtomcat10-" << (jar == "jdbc" ? "java" : "embed-java") << " is not installed";
    }
    const std::string classes = Path("classes");
    ASSERT_EQ(RunWords({homes.front() + "/bin/javac", "-nowarn", "-Xlint:none", "-cp", kJars, "-d", classes,
                        OFFCPU_RUNTIMES_DIR "/Shop.java"}),
              0)
        << errors_;
    shop_ = Target::Start({homes.front() + "/bin/java", "-cp", classes + ":" + kJars, "Shop", Path("base")});
    ASSERT_NE(shop_, nullptr);
  }

  std::unique_ptr<Target> shop_;
};

// The time of stacks with all of these functions, in folded lines.
uint64_t TimeOf(const std::string& folded, const std::vector<std::string>& functions) {
  uint64_t us = 0;
  for (const std::string& line : std::vector<std::string>(absl::StrSplit(folded, '\n', absl::SkipEmpty()))) {
    const bool has_all = std::all_of(functions.begin(), functions.end(), [&](const std::string& function) {
      return line.find(";" + function + ";") != std::string::npos;
    });
    if (has_all) us += std::stoull(line.substr(line.rfind(' ') + 1));
  }
  return us;
}

// Two of six requests have the connections, and four wait for them; one has the monitor, and five wait for it. Where
// others do not let all of the clients run at once, fewer wait.
TEST_F(JavaServer, OneCommandShowsWhatItsRequestsWaitFor) {
  ASSERT_EQ(Run({"record", "-p", std::to_string(shop_->pid()), "-o", "-", "--format", "folded", "5"}), 0) << errors_;
  const std::string order = "Shop$Orders.doGet", stock = "Shop$Stock.doGet";
  const uint64_t query = TimeOf(output_, {order, "Shop$Orders.slowQuery"});
  const uint64_t pool = TimeOf(output_, {order, "org.apache.tomcat.jdbc.pool.ConnectionPool.borrowConnection"});
  const uint64_t report = TimeOf(output_, {stock, "Shop$Inventory.reserve", "Shop$Inventory.writeReport"});
  const uint64_t reserve = TimeOf(output_, {stock, "Shop$Inventory.reserve", "ObjectMonitor::enter"});
  std::printf("ms: %" PRIu64 " query, %" PRIu64 " pool, %" PRIu64 " report, %" PRIu64 " monitor\n", query / 1000,
              pool / 1000, report / 1000, reserve / 1000);
  EXPECT_GT(query, 0u) << output_;
  EXPECT_GT(pool, query) << output_;
  EXPECT_GT(report, 0u) << output_;
  EXPECT_GT(reserve, report) << output_;
}

// The same from one look, as jstack has it.
TEST_F(JavaServer, StacksShowWhatItsRequestsWaitFor) {
  ASSERT_EQ(Run({"stacks", std::to_string(shop_->pid())}), 0) << errors_;
  EXPECT_NE(output_.find("org.apache.tomcat.jdbc.pool.ConnectionPool.borrowConnection"), std::string::npos) << output_;
  EXPECT_NE(output_.find("Shop$Inventory.reserve"), std::string::npos) << output_;
}

}  // namespace
}  // namespace offcpu::integration
