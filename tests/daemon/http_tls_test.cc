// HTTP beyond the host itself: TLS, and what clients have to show, with the clients of other projects.
#include <httplib.h>
#include <signal.h>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "certificates.h"
#include "daemon/http_server.h"
#include "fake_recorder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace offcpu {
namespace {

using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

constexpr std::string_view kBeginning("\x16\x03\x01", 3);  // of a handshake
constexpr char kToken[] = "a-token-of-thirty-two-characters";
const httplib::Headers kWithToken = {{"Authorization", std::string("Bearer ") + kToken}};

class HttpTlsTest : public ::testing::Test {
 protected:
  HttpTlsTest() {
    signal(SIGPIPE, SIG_IGN);
    DaemonConfig config;
    config.windows.length_ns = 3600'000'000'000;
    recording_ = *Recording::Start(config, StartFake(kernel_));
    dumps_ = std::make_unique<Dumps>(*recording_);
    config_ = {
        .listen = "127.0.0.1:0", .certificate_file = files_.Path("server.pem"), .key_file = files_.Path("server.key")};
  }

  void Listen(const HttpLimits& limits = {}) {
    const auto access = HttpAccess::Load(config_);
    ASSERT_TRUE(access.ok()) << access.status();
    server_ = *HttpServer::Listen(config_.listen, *access,
                                  {.recording = *recording_,
                                   .dumps = *dumps_,
                                   .window_export = window_export_,
                                   .blocked = *blocked_,
                                   .version = "1.2",
                                   .check_health = [] { return absl::OkStatus(); }},
                                  limits);
  }
  void WantToken(const std::string& token = kToken) { config_.bearer_token_file = files_.Write("token", token); }
  void WantCertificate() { config_.client_ca_file = files_.Path("ca.pem"); }

  // A client that believes only our authority. `name`: whose certificate it shows; empty: none.
  std::unique_ptr<httplib::SSLClient> Client(const std::string& name = "") const {
    const std::string base = files_.Path(name);
    auto client =
        name.empty() ? std::make_unique<httplib::SSLClient>("127.0.0.1", server_->port())
                     : std::make_unique<httplib::SSLClient>("127.0.0.1", server_->port(), base + ".pem", base + ".key");
    client->set_ca_cert_path(files_.Path("ca.pem").c_str());
    client->enable_server_certificate_verification(true);
    client->set_read_timeout(std::chrono::seconds(60));  // sanitizers take a while for an answer of megabytes
    return client;
  }
  // A client that has said no more than that.
  OwnedFd WhoSays(std::string_view bytes) const {
    OwnedFd client(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(server_->port()));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(client.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    EXPECT_EQ(send(client.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
    return client;
  }
  // The status; 0: there was no answer.
  int Get(const std::string& path, const httplib::Headers& headers = {}, const std::string& name = "") const {
    const httplib::Result result = Client(name)->Get(path.c_str(), headers);
    return result ? result->status : 0;
  }

  Certificates files_;
  FakeKernel kernel_;
  std::unique_ptr<Recording> recording_;
  std::unique_ptr<Dumps> dumps_;
  WindowExport window_export_;
  std::unique_ptr<BlockedTimes> blocked_ = *BlockedTimes::Start();
  DaemonConfig::Http config_;
  std::unique_ptr<HttpServer> server_;
};

TEST_F(HttpTlsTest, WhoHasTheTokenIsServed) {
  WantToken();
  Listen();
  for (const char* path : {"/metrics", "/debug/pprof/", "/debug/pprof/offcpu", "/nothing"}) {
    EXPECT_EQ(Get(path), 401) << path;
    EXPECT_EQ(Get(path, {{"Authorization", "Bearer a-token-of-thirty-two-characterS"}}), 401) << path;
    EXPECT_NE(Get(path, kWithToken), 401) << path;
  }
  EXPECT_EQ(Get("/metrics", kWithToken), 200);
  EXPECT_EQ(Get("/healthz"), 200) << "those who probe have nothing to show";
  const httplib::Result refused = Client()->Get("/metrics");
  ASSERT_TRUE(refused);
  std::vector<std::string> schemes;
  const auto [begin, end] = refused->headers.equal_range("WWW-Authenticate");
  for (auto it = begin; it != end; ++it) schemes.push_back(it->second);
  EXPECT_THAT(schemes, UnorderedElementsAre("Bearer realm=\"offcpud\"", "Basic realm=\"offcpud: the token\""));
  EXPECT_THAT(Client()->Get("/metrics", kWithToken)->body, HasSubstr("\noffcpud_http_unauthorized_total 9\n"));
}

// With a token it need not be TLS, on the host itself.
TEST_F(HttpTlsTest, ATokenIsAskedForWithoutTlsToo) {
  config_ = {.listen = "127.0.0.1:0"};
  WantToken();
  Listen();
  httplib::Client client("127.0.0.1", server_->port());
  EXPECT_EQ(client.Get("/metrics")->status, 401);
  EXPECT_EQ(client.Get("/metrics", kWithToken)->status, 200);
  EXPECT_EQ(client.Get("/metrics", {{"Authorization", kWithToken.begin()->second}, {"Host", "evil.example"}})->status,
            403);
}

TEST_F(HttpTlsTest, WhoHasACertificateOfOursIsServed) {
  WantCertificate();
  Listen();
  EXPECT_EQ(Get("/metrics"), 401);
  EXPECT_EQ(Get("/healthz"), 200);
  EXPECT_EQ(Get("/metrics", {}, "client"), 200);
  EXPECT_EQ(Get("/metrics", {}, "stranger"), 0);
  EXPECT_EQ(Get("/healthz", {}, "stranger"), 0) << "a wrong one is worse than none";
}

TEST_F(HttpTlsTest, TokenAndCertificateAreBothAskedFor) {
  WantCertificate();
  WantToken();
  Listen();
  EXPECT_EQ(Get("/metrics", kWithToken), 401);
  EXPECT_EQ(Get("/metrics", {}, "client"), 401);
  EXPECT_EQ(Get("/metrics", kWithToken, "client"), 200);
}

// The certificate says which host this is: whatever name a client has for it, no page of a stranger's leads here.
TEST_F(HttpTlsTest, TheNameOfTheHostIsTheCertificates) {
  WantToken();
  Listen();
  EXPECT_EQ(Get("/metrics", {{"Authorization", kWithToken.begin()->second}, {"Host", "node7.example:7071"}}), 200);
}

TEST_F(HttpTlsTest, WithoutTlsThereIsNoAnswer) {
  WantToken();
  Listen();
  EXPECT_FALSE(httplib::Client("127.0.0.1", server_->port()).Get("/healthz"));
  EXPECT_THAT(Client()->Get("/metrics", kWithToken)->body,
              HasSubstr("\noffcpud_http_dropped_total{reason=\"no TLS\"} 1\n"));
}

// Probes of a port, and clients that have thought better of it, are no strangers.
TEST_F(HttpTlsTest, WhoHangsUpIsNotCounted) {
  WantToken();
  Listen();
  for (const std::string_view said : {std::string_view(), kBeginning}) {
    const OwnedFd client = WhoSays(said);
    ASSERT_EQ(shutdown(client.get(), SHUT_WR), 0);
    char byte = 0;
    EXPECT_EQ(recv(client.get(), &byte, 1, 0), 0) << "the server ends it, and says nothing";
  }
  EXPECT_THAT(Client()->Get("/metrics", kWithToken)->body,
              HasSubstr("\noffcpud_http_dropped_total{reason=\"no TLS\"} 0\n"));
}

TEST_F(HttpTlsTest, OldVersionsAreRefused) {
  Listen();
  const std::string command = "openssl s_client -connect 127.0.0.1:" + std::to_string(server_->port()) + " -CAfile " +
                              files_.Path("ca.pem") + " -cipher ALL:@SECLEVEL=0 </dev/null >" + files_.Path("log") +
                              " 2>&1 -";
  EXPECT_NE(std::system((command + "tls1_1").c_str()), 0);
  EXPECT_EQ(std::system((command + "tls1_2").c_str()), 0);
  EXPECT_EQ(std::system((command + "tls1_3").c_str()), 0);
}

// More than the buffers of a socket hold: it is written when it is taken.
TEST_F(HttpTlsTest, LargeAnswersArriveWhole) {
  kernel_.long_names = true;
  WantToken();
  Listen();
  const auto client = Client();
  size_t bytes = 0;
  const httplib::Result result = client->Get("/debug/pprof/offcpu?debug=1", kWithToken, [&](const char*, size_t size) {
    bytes += size;
    return true;
  });
  ASSERT_TRUE(result) << to_string(result.error());
  EXPECT_EQ(std::to_string(bytes), result->get_header_value("Content-Length"));
  EXPECT_GT(bytes, 5u << 20);
}

// A client that does not go on with its handshake owes its request as any other.
TEST_F(HttpTlsTest, WhoSaysNothingKeepsNobodyOut) {
  WantToken();
  Listen({.connections = 2, .head_time = std::chrono::milliseconds(60'000)});
  std::vector<OwnedFd> sockets;
  for (int i = 0; i < 8; ++i) sockets.push_back(WhoSays(kBeginning));
  EXPECT_EQ(Get("/metrics", kWithToken), 200);
}

TEST_F(HttpTlsTest, WhatIsLoadedAnewHoldsFromThenOn) {
  WantToken();
  Listen();
  EXPECT_EQ(Get("/metrics", kWithToken), 200);
  WantToken("another-token-of-many-characters");
  server_->SetAccess(*HttpAccess::Load(config_));
  EXPECT_EQ(Get("/metrics", kWithToken), 401);
  EXPECT_EQ(Get("/metrics", {{"Authorization", "Bearer another-token-of-many-characters"}}), 200);
}

}  // namespace
}  // namespace offcpu
