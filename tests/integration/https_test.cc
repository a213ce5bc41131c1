// The service's HTTP as others reach it: with the configuration, the reloads and the log of the real program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>
#include <signal.h>

#include <chrono>
#include <fstream>
#include <string>
#include <thread>

#include "tests/daemon/certificates.h"
#include "tests/integration/cli.h"

namespace offcpu::integration {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class Https : public CliTest {
 protected:
  void StartService() {
    std::ofstream(Path("offcpud.toml")) << "[control]\nsocket = \"" << Path("control.sock") << "\"\ngroup = \"\"\n"
                                        << "[http]\nlisten = \"0.0.0.0:" << port_ << "\"\ncertificate = \""
                                        << files_.Path("server.pem") << "\"\nkey = \"" << files_.Path("server.key")
                                        << "\"\nbearer_token_file = \"" << files_.Path("token") << "\"\n";
    service_ = Program::Start({BinDirectory() + "/offcpud", "--config", Path("offcpud.toml")}, Path("log"));
    AwaitLog("HTTPS at 0.0.0.0:");
  }

  void AwaitLog(const std::string& words) const {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (ReadFile(Path("log")).find(words) == std::string::npos) {
      ASSERT_LT(std::chrono::steady_clock::now(), end) << words << " did not come:\n" << ReadFile(Path("log"));
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
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
  std::unique_ptr<Program> service_;
};

TEST_F(Https, ATokenIsAskedForAndCanBeReplaced) {
  files_.Write("token", "the-first-token-of-this-service\n");
  StartService();
  EXPECT_EQ(Get("/metrics", "the-first-token-of-this-service"), 200);
  EXPECT_EQ(Get("/metrics", "another-token"), 401);
  EXPECT_EQ(Get("/healthz", ""), 200);
  files_.Write("token", "the-second-token-of-this-service\n");
  service_->Signal(SIGHUP);
  AwaitLog("the new configuration is in force");
  EXPECT_EQ(Get("/metrics", "the-first-token-of-this-service"), 401);
  EXPECT_EQ(Get("/metrics", "the-second-token-of-this-service"), 200);
  files_.Write("server.key", "no key\n");
  service_->Signal(SIGHUP);
  AwaitLog("error: the old configuration stays in force: " + files_.Path("server.key") + ": no key");
  EXPECT_EQ(Get("/metrics", "the-second-token-of-this-service"), 200);
  EXPECT_THAT(ReadFile(Path("log")), Not(HasSubstr("<"))) << "no priorities without a journal";
  EXPECT_THAT(ReadFile(Path("log")), Not(HasSubstr("token-of-this-service")));
}

TEST_F(Https, WithoutATokenTheServiceDoesNotStart) {
  std::ofstream(Path("offcpud.toml")) << "[http]\nlisten = \"0.0.0.0:" << port_ << "\"\ncertificate = \""
                                      << files_.Path("server.pem") << "\"\nkey = \"" << files_.Path("server.key")
                                      << "\"\n";
  EXPECT_EQ(RunWords({BinDirectory() + "/offcpud", "--config", Path("offcpud.toml")}), 78);
  EXPECT_THAT(errors_, HasSubstr("whoever reaches it sees every process"));
}

}  // namespace
}  // namespace offcpu::integration
