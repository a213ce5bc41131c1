// The service's HTTP as others reach it: with the configuration, the reloads and the log of the real program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>
#include <signal.h>

#include <memory>
#include <string>

#include "tests/daemon/certificates.h"
#include "tests/harness/service_test.h"

namespace offcpu::integration {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class Https : public ServiceTest {
 protected:
  std::string HttpSection() const {
    return "[http]\nlisten = \"0.0.0.0:" + std::to_string(port_) + "\"\ncertificate = \"" + files_.Path("server.pem") +
           "\"\nkey = \"" + files_.Path("server.key") + "\"\n";
  }

  // The status; 0: there was no answer.
  int Get(const std::string& path, const std::string& token) const {
    httplib::SSLClient client("127.0.0.1", port_);
    client.set_ca_cert_path(files_.Path("ca.pem").c_str());
    client.enable_server_certificate_verification(true);
    const httplib::Headers headers = {{"Authorization", "Bearer " + token}};
    const httplib::Result result = client.Get(path.c_str(), headers);
    return result ? result->status : 0;
  }

  const Certificates files_;
  const int port_ = FreePort();
};

TEST_F(Https, ATokenIsAskedForAndCanBeReplaced) {
  files_.Write("token", "the-first-token-of-this-service\n");
  StartDaemon(HttpSection() + "bearer_token_file = \"" + files_.Path("token") + "\"\n");
  AwaitLog("HTTPS at 0.0.0.0:");
  EXPECT_EQ(Get("/metrics", "the-first-token-of-this-service"), 200);
  EXPECT_EQ(Get("/metrics", "another-token"), 401);
  EXPECT_EQ(Get("/healthz", ""), 200);
  files_.Write("token", "the-second-token-of-this-service\n");
  daemon_->Signal(SIGHUP);
  AwaitLog("the new configuration is in effect");
  EXPECT_EQ(Get("/metrics", "the-first-token-of-this-service"), 401);
  EXPECT_EQ(Get("/metrics", "the-second-token-of-this-service"), 200);
  files_.Write("server.key", "no key\n");
  daemon_->Signal(SIGHUP);
  AwaitLog("error: the old configuration stays in effect: " + files_.Path("server.key") + ": cannot read the key");
  EXPECT_EQ(Get("/metrics", "the-second-token-of-this-service"), 200);
  EXPECT_THAT(ReadFile(Path("log")), Not(HasSubstr("<"))) << "no priorities without a journal";
  EXPECT_THAT(ReadFile(Path("log")), Not(HasSubstr("token-of-this-service")));
}

TEST_F(Https, WithoutATokenTheServiceDoesNotStart) {
  WriteConfig(HttpSection());
  EXPECT_EQ(RunWords(Words()), 78);
  EXPECT_THAT(errors_, HasSubstr("anyone who can connect sees every process"));
}

}  // namespace
}  // namespace offcpu::integration
