// What any user of the host can do to the service by its HTTP: /healthz and /metrics are answered, and others get
// profiles, however many connections and profiles one client holds.
#include <gtest/gtest.h>
#include <httplib.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "tests/harness/confined_service.h"

namespace offcpu::integration {
namespace {

using std::chrono::seconds;

constexpr int kDripping = 1500;
constexpr char kHour[] = "GET /debug/pprof/offcpu?seconds=3600 HTTP/1.1\r\nHost: localhost\r\n\r\n";

class AttackHttp : public testing::Test {
 protected:
  AttackHttp() {
    const rlimit files = {.rlim_cur = 4096, .rlim_max = 4096};
    setrlimit(RLIMIT_NOFILE, &files);
    service_ = ConfinedService::Start("");
  }

  // Connected, and has sent `bytes`.
  OwnedFd Connect(const std::string& bytes) const {
    OwnedFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(service_->http_port()));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    return fd;
  }

  // Gets as Prometheus does, with no more patience than it has.
  httplib::Result Get(const char* path) const {
    httplib::Client client("127.0.0.1", service_->http_port());
    client.set_connection_timeout(seconds(10));
    client.set_read_timeout(seconds(10));
    return client.Get(path);
  }
  void ExpectAnswers() const {
    const httplib::Result health = Get("/healthz");
    ASSERT_TRUE(health) << httplib::to_string(health.error());
    EXPECT_EQ(health->body, "ok\n");
    const httplib::Result metrics = Get("/metrics");
    ASSERT_TRUE(metrics) << httplib::to_string(metrics.error());
    EXPECT_EQ(metrics->status, 200);
  }
  // A value of /metrics, by all before it.
  uint64_t Metric(const std::string& name) const {
    const httplib::Result metrics = Get("/metrics");
    const size_t at = metrics ? metrics->body.find("\n" + name + " ") : std::string::npos;
    if (at == std::string::npos) return 0;
    const size_t begin = at + name.size() + 2;
    uint64_t value = 0;
    EXPECT_TRUE(absl::SimpleAtoi(metrics->body.substr(begin, metrics->body.find('\n', begin) - begin), &value));
    return value;
  }

  std::unique_ptr<ConfinedService> service_;
};

TEST_F(AttackHttp, DrippingConnectionsKeepNobodyOut) {
  if (service_ == nullptr) GTEST_SKIP() << "needs the cgroup controllers memory and pids";
  std::vector<OwnedFd> dripping;
  for (int i = 0; i < kDripping; ++i) {
    dripping.push_back(Connect("G"));
    if (i % 100 == 0) ExpectAnswers();
  }
  for (int round = 0; round < 5; ++round) {
    for (const OwnedFd& fd : dripping) send(fd.get(), "E", 1, MSG_NOSIGNAL);
    ExpectAnswers();
  }
  EXPECT_GE(Metric("offcpud_http_dropped_total{reason=\"no room\"}"), static_cast<uint64_t>(kDripping - 64 - 64));
  EXPECT_TRUE(service_->alive()) << service_->Account();
}

TEST_F(AttackHttp, RequestsForTheNextHourTakeNoThread) {
  if (service_ == nullptr) GTEST_SKIP() << "needs the cgroup controllers memory and pids";
  const size_t threads = service_->threads_called("http");
  EXPECT_GT(threads, 1u) << "these are not its threads: no test";
  std::vector<OwnedFd> waiting;
  for (int i = 0; i < 8; ++i) waiting.push_back(Connect(kHour));
  for (int i = 0; i < 100; ++i) waiting.push_back(Connect(kHour));
  ExpectAnswers();
  EXPECT_EQ(service_->threads_called("http"), threads);
  const httplib::Result refused = Get("/debug/pprof/offcpu?debug=1");
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->status, 503);
  EXPECT_EQ(refused->get_header_value("Retry-After"), "5");
  EXPECT_GE(Metric("offcpud_http_profiles_refused_total"), 101u);
  // Those who may ask the control socket are not concerned.
  EXPECT_EQ(service_->Ask({"dump", "-o", service_->Path("a.pb.gz")}).code, 0);
  waiting.clear();
  const auto end = std::chrono::steady_clock::now() + seconds(60);
  int status = 0;
  while (status != 200 && std::chrono::steady_clock::now() < end) {
    const httplib::Result text = Get("/debug/pprof/offcpu?debug=1");
    status = text ? text->status : 0;
  }
  EXPECT_EQ(status, 200) << "whoever has gone takes no place";
  EXPECT_TRUE(service_->alive()) << service_->Account();
}

TEST_F(AttackHttp, TheEndDoesNotWaitForThem) {
  if (service_ == nullptr) GTEST_SKIP() << "needs the cgroup controllers memory and pids";
  std::vector<OwnedFd> waiting;
  for (int i = 0; i < 100; ++i) waiting.push_back(Connect(i % 10 == 0 ? kHour : "G"));
  ExpectAnswers();
  service_->Signal(SIGTERM);
  EXPECT_EQ(service_->AwaitEnd(seconds(15)), 0) << service_->Account();
}

}  // namespace
}  // namespace offcpu::integration
