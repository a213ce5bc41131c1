// The limits of the service's HTTP: what clients that do not do what they came for take from those that do.
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <chrono>
#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "daemon/http_server.h"
#include "fake_recorder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace offcpu {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr char kGetHealth[] = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
constexpr char kGetText[] = "GET /debug/pprof/offcpu?debug=1 HTTP/1.1\r\n\r\n";
constexpr char kGetHour[] = "GET /debug/pprof/offcpu?seconds=3600 HTTP/1.1\r\n\r\n";

// A client that does only what it is told to.
class Client {
 public:
  explicit Client(int port, int receive_bytes = 0) : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    if (receive_bytes != 0) setsockopt(fd_.get(), SOL_SOCKET, SO_RCVBUF, &receive_bytes, sizeof(receive_bytes));
    const timeval patience = {.tv_sec = 60, .tv_usec = 0};
    setsockopt(fd_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  }

  // False if it has been ended.
  bool Send(const std::string& bytes) const {
    return send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
  }
  // Until the server has ended it.
  std::string ReadAll() const {
    std::string all;
    char bytes[4096];
    ssize_t n = 0;
    while ((n = recv(fd_.get(), bytes, sizeof(bytes), 0)) > 0) all.append(bytes, static_cast<size_t>(n));
    return all;
  }

 private:
  OwnedFd fd_;
};

class HttpLimitsTest : public ::testing::Test {
 protected:
  HttpLimitsTest() {
    DaemonConfig config;
    config.windows.length_ns = 3600'000'000'000;
    recording_ = *Recording::Start(config, StartFake(kernel_));
    dumps_ = std::make_unique<Dumps>(*recording_);
  }

  void Listen(const HttpLimits& limits) {
    const HttpSource source = {.recording = *recording_,
                               .dumps = *dumps_,
                               .window_export = window_export_,
                               .blocked = *blocked_,
                               .version = "1.2",
                               .check_health = [] { return absl::OkStatus(); }};
    server_ = *HttpServer::Listen("127.0.0.1:0", std::make_shared<HttpAccess>(), source, limits);
  }

  std::string Ask(const std::string& request) const {
    const Client client(server_->port());
    EXPECT_TRUE(client.Send(request));
    return client.ReadAll();
  }
  std::string Health() const { return Ask(kGetHealth); }
  // A line of /metrics, by its beginning.
  std::string Metric(const std::string& name) const {
    const std::string all = Ask("GET /metrics HTTP/1.1\r\n\r\n");
    const size_t at = all.find("\n" + name);
    return at == std::string::npos ? all : all.substr(at + 1, all.find('\n', at + 1) - at - 1);
  }

  FakeKernel kernel_;
  std::unique_ptr<Recording> recording_;
  std::unique_ptr<Dumps> dumps_;
  WindowExport window_export_;
  std::unique_ptr<BlockedTimes> blocked_ = *BlockedTimes::Start();
  std::unique_ptr<HttpServer> server_;
};

TEST_F(HttpLimitsTest, ConnectionsThatOweTheirRequestGiveWay) {
  Listen({.connections = 4, .head_time = std::chrono::hours(1)});
  std::deque<Client> dripping;
  for (int i = 0; i < 100; ++i) {
    dripping.emplace_back(server_->port());
    dripping.back().Send("G");
  }
  EXPECT_THAT(Health(), AllOf(StartsWith("HTTP/1.1 200 OK\r\n"), EndsWith("\r\n\r\nok\n")));
  EXPECT_THAT(dripping.front().ReadAll(), IsEmpty()) << "the oldest went first";
  EXPECT_TRUE(dripping.back().Send(std::string(kGetHealth).substr(1)));
  EXPECT_THAT(dripping.back().ReadAll(), EndsWith("ok\n")) << "the newest is there";
}

TEST_F(HttpLimitsTest, AHeadHasTimeAsAWholeAndNotFromByteToByte) {
  Listen({.head_time = std::chrono::milliseconds(200)});
  const auto start = std::chrono::steady_clock::now();
  const Client dripping(server_->port());
  // Well beyond its time, however slow we are ourselves: the loop ends when the server has ended the connection.
  bool goes_on = true;
  for (int i = 0; goes_on && i < 6000; ++i) {
    goes_on = dripping.Send("G");
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_FALSE(goes_on);
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(200));
  EXPECT_EQ(Metric("offcpud_http_dropped_total{reason=\"request late\"}"),
            "offcpud_http_dropped_total{reason=\"request late\"} 1");
}

TEST_F(HttpLimitsTest, AHeadIsBoundedInBytes) {
  Listen({.head_bytes = 100});
  const std::string head = "GET /healthz HTTP/1.1\r\nx: ";
  const std::string end = "\r\n\r\n";
  EXPECT_THAT(Ask(head + std::string(100 - head.size() - end.size(), 'x') + end), StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(Ask(head + std::string(101 - head.size() - end.size(), 'x') + end), StartsWith("HTTP/1.1 431 "));
  EXPECT_THAT(Ask(head + std::string(101 - head.size(), 'x')), StartsWith("HTTP/1.1 431 ")) << "without its end";
}

TEST_F(HttpLimitsTest, WhatIsNoRequestIsSaidToBeNone) {
  Listen({});
  EXPECT_THAT(Ask("\x16\x03\x01 TLS \r\n\r\n"), StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(Ask("POST /metrics HTTP/1.1\r\nContent-Length: 4\r\n\r\nbody"), StartsWith("HTTP/1.1 405 "));
  EXPECT_THAT(Ask("HEAD /healthz HTTP/1.1\r\n\r\n"), AllOf(HasSubstr("Content-Length: 3\r\n"), EndsWith("\r\n\r\n")));
}

TEST_F(HttpLimitsTest, ProfilesAreCappedApart) {
  Listen({});
  std::deque<Client> waiting;
  for (size_t i = 0; i < HttpProfiles::kMost; ++i) {
    waiting.emplace_back(server_->port());
    ASSERT_TRUE(waiting.back().Send(kGetHour));
  }
  // The first of these may overtake what was sent just before it; then all have been read.
  for (int i = 0; i < 2; ++i) EXPECT_THAT(Health(), EndsWith("ok\n"));
  std::string answer = Ask(kGetHour);
  EXPECT_THAT(answer, AllOf(StartsWith("HTTP/1.1 503 "), HasSubstr("Retry-After: 5\r\n")));
  EXPECT_THAT(Ask(kGetText), StartsWith("HTTP/1.1 503 "));
  EXPECT_EQ(Metric("offcpud_http_profiles_refused_total"), "offcpud_http_profiles_refused_total 2");
  // Those who have gone take no place. It is seen when their connections end.
  waiting.clear();
  while (!(answer = Ask(kGetText)).starts_with("HTTP/1.1 200 ")) std::this_thread::yield();
  EXPECT_THAT(answer, HasSubstr("server"));
}

TEST_F(HttpLimitsTest, ProfilesThatCannotBeHadKeepNobodyFromTheRest) {
  Listen({});
  kernel_.hold_cut = true;
  std::deque<Client> waiting;
  for (size_t i = 0; i < HttpProfiles::kMost; ++i) {
    waiting.emplace_back(server_->port());
    ASSERT_TRUE(waiting.back().Send(kGetText));
  }
  EXPECT_THAT(Health(), EndsWith("ok\n"));
  EXPECT_THAT(Metric("offcpud_http_profiles"), HasSubstr("offcpud_http_profiles"));
  kernel_.hold_cut = false;
  for (const Client& client : waiting) EXPECT_THAT(client.ReadAll(), StartsWith("HTTP/1.1 200 "));
}

// What they do not take of an answer is more than the kernel keeps for them.
TEST_F(HttpLimitsTest, AnswersThatAreNotTakenGiveWay) {
  kernel_.long_names = true;
  Listen({.answer_time = std::chrono::milliseconds(300), .answer_bytes = 1});
  const Client client(server_->port(), 1024);
  ASSERT_TRUE(client.Send(kGetText));
  const std::string late = "offcpud_http_dropped_total{reason=\"answer not taken\"}";
  const std::string room = "offcpud_http_dropped_total{reason=\"no room\"}";
  while (Metric(late) != late + " 1") std::this_thread::yield();
  EXPECT_EQ(Metric(room), room + " 0");
}

TEST_F(HttpLimitsTest, OfAnswersThatAreNotTakenTheOldestGoesForANewOne) {
  kernel_.long_names = true;
  Listen({.answer_time = std::chrono::hours(1), .answer_bytes = 1});
  const std::string room = "offcpud_http_dropped_total{reason=\"no room\"}";
  std::deque<Client> slow;
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(slow.emplace_back(server_->port(), 1024).Send(kGetText));
  // Whichever is made last stays.
  while (Metric(room) != room + " 2") std::this_thread::yield();
}

}  // namespace
}  // namespace offcpu
