// The live page of the service's HTTP, as a browser shows it.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <memory>
#include <string>

#include "tests/daemon/certificates.h"
#include "tests/harness/service_test.h"

namespace offcpu::integration {
namespace {

class Https : public ServiceTest {
 protected:
  std::string HttpSection() const {
    return "[http]\nlisten = \"0.0.0.0:" + std::to_string(port_) + "\"\ncertificate = \"" + files_.Path("server.pem") +
           "\"\nkey = \"" + files_.Path("server.key") + "\"\n";
  }

  // What a browser makes of it, after some seconds with waits.
  void ExpectAPage(const std::string& address, const std::string& token) {
    const std::unique_ptr<Target> target = StartedTarget({"waits", "--seconds", "3"});
    ASSERT_NE(target, nullptr);
    target->AwaitDone();
    EXPECT_EQ(RunWords({"env", "NODE_EXTRA_CA_CERTS=" + files_.Path("ca.pem"), "node",
                        OFFCPU_SOURCE_DIR "/tests/html/browser/live_test.mjs",
                        address + ":" + std::to_string(port_) + "/", token, "two-spans"}),
              0)
        << output_ << errors_;
  }
  static bool HasBrowser() { return system("command -v node >/dev/null && command -v chromium >/dev/null") == 0; }

  const Certificates files_;
  const int port_ = FreePort();
};

TEST_F(Https, ABrowserShowsTheLivePageToWhoHasTheToken) {
  if (!HasBrowser()) GTEST_SKIP() << "needs node and chromium";
  files_.Write("token", "the-token-of-this-service\n");
  StartDaemon(HttpSection() + "bearer_token_file = \"" + files_.Path("token") + "\"\n");
  AwaitLog("HTTPS at 0.0.0.0:");
  ExpectAPage("https://127.0.0.1", "the-token-of-this-service");
}

TEST_F(Https, OnLoopbackABrowserShowsTheLivePage) {
  if (!HasBrowser()) GTEST_SKIP() << "needs node and chromium";
  StartDaemon("[http]\nlisten = \"127.0.0.1:" + std::to_string(port_) + "\"\n");
  AwaitLog("HTTP at 127.0.0.1:");
  ExpectAPage("http://127.0.0.1", "");
}

}  // namespace
}  // namespace offcpu::integration
