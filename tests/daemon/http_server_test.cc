#include <httplib.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "http_server_fixture.h"
#include "recorder/clocks.h"

namespace offcpu {
namespace {

using ::testing::HasSubstr;

TEST_F(HttpServerTest, AProfileIsOfAllThatIsHeld) {
  for (const char* name : {"offcpu", "block"}) {
    const httplib::Response response = Get(std::string("/debug/pprof/") + name);
    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(response.get_header_value("Content-Type"), "application/octet-stream");
    EXPECT_EQ(response.get_header_value("X-Content-Type-Options"), "nosniff");
    EXPECT_EQ(response.get_header_value("Content-Disposition"), std::string("attachment; filename=\"") + name + "\"");
    EXPECT_EQ(BlockedNs(response), name == std::string("offcpu") ? 1001u : 2003u);
  }
}

TEST_F(HttpServerTest, WithSecondsItIsOfTheTimeFromNowOn) {
  ASSERT_TRUE(recording_->CutNow(Recording::Clock::now() + std::chrono::seconds(20)).ok());  // 1
  const auto start = std::chrono::steady_clock::now();
  const httplib::Response response = Get("/debug/pprof/offcpu?seconds=1");
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
  EXPECT_EQ(response.get_header_value("Content-Disposition"), "attachment; filename=\"offcpu-delta\"");
  EXPECT_EQ(BlockedNs(response), 1003u) << "the cut at its beginning was the second";
}

TEST_F(HttpServerTest, AsTextItIsForPeople) {
  const httplib::Response response = Get("/debug/pprof/offcpu?debug=1");
  EXPECT_THAT(response.get_header_value("Content-Type"), HasSubstr("text/plain"));
  EXPECT_THAT(response.body, HasSubstr("server"));
}

TEST_F(HttpServerTest, WrongRequestsAreToldWhatIsWrong) {
  for (const char* query : {"seconds=", "seconds=x", "seconds=-1", "seconds=3601", "seconds=1&debug=1"}) {
    const httplib::Response response = Get(std::string("/debug/pprof/offcpu?") + query);
    EXPECT_EQ(response.status, 400) << query;
    EXPECT_EQ(response.get_header_value("X-Go-Pprof"), "1");
    EXPECT_THAT(response.get_header_value("Content-Type"), HasSubstr("text/plain"));
  }
  const httplib::Response heap = Get("/debug/pprof/heap");
  EXPECT_EQ(heap.status, 404);
  EXPECT_EQ(heap.body, "no profile heap; the profiles are offcpu and block\n");
  EXPECT_EQ(Get("/nothing").status, 404);
  EXPECT_EQ(kernel_.cuts, 0u) << "none of them costs anything";
}

TEST_F(HttpServerTest, ThereIsAnIndex) {
  EXPECT_THAT(Get("/debug/pprof/").body, HasSubstr("offcpu?seconds=5"));
  EXPECT_EQ(Get("/debug/pprof").status, 301);
}

TEST_F(HttpServerTest, ACutThatFailsIsTheAnswer) {
  kernel_.refuse_cut = true;
  for (const char* path : {"/debug/pprof/offcpu", "/debug/pprof/offcpu?seconds=1"}) {
    const httplib::Response response = Get(path);
    EXPECT_EQ(response.status, 500);
    EXPECT_EQ(response.body, "the window could not be cut\n");
  }
}

TEST_F(HttpServerTest, HealthIsThatOfTheRecording) {
  EXPECT_EQ(Get("/healthz").body, "ok\n");
  health_ = absl::UnavailableError("the recording is stuck");
  const httplib::Response response = Get("/healthz");
  EXPECT_EQ(response.status, 503);
  EXPECT_EQ(response.body, "the recording is stuck\n");
}

TEST_F(HttpServerTest, MetricsAreForPrometheus) {
  const httplib::Response response = Get("/metrics");
  EXPECT_THAT(response.get_header_value("Content-Type"), HasSubstr("version=0.0.4"));
  EXPECT_THAT(response.body, HasSubstr("offcpud_build_info{version=\"1.2\"} 1"));
}

TEST_F(HttpServerTest, OnlyLoopbackNamesAreServed) {
  for (const char* host :
       {"evil.example", "evil.example:7071", "127.0.0.1.evil.example", "10.0.0.1", "localhost.evil", "[fe80::1]:80"}) {
    EXPECT_EQ(Get("/metrics", {{"Host", host}}).status, 403) << host;
  }
  for (const char* host : {"localhost", "localhost:7071", "127.0.0.1:7071", "127.1.2.3", "[::1]", "[::1]:7071"})
    EXPECT_EQ(Get("/metrics", {{"Host", host}}).status, 200) << host;
}

TEST_F(HttpServerTest, LocalhostIsLoopback) {
  const auto server = HttpServer::Listen("localhost:0", std::make_shared<HttpAccess>(), Source());
  ASSERT_TRUE(server.ok()) << server.status();
  httplib::Client client("127.0.0.1", (*server)->port());
  EXPECT_TRUE(client.Get("/healthz"));
}

TEST_F(HttpServerTest, AnAddressOfAnotherHostIsNamedAsWhatItIs) {
  const auto server = HttpServer::Listen("192.0.2.1:7071", std::make_shared<HttpAccess>(), Source());  // RFC 5737
  EXPECT_THAT(std::string(server.status().message()), HasSubstr("192.0.2.1:7071: Cannot assign requested address"));
}

TEST_F(HttpServerTest, APortInUseIsAnError) {
  const std::string listen = "127.0.0.1:" + std::to_string(server_->port());
  const auto second = HttpServer::Listen(listen, std::make_shared<HttpAccess>(), Source());
  EXPECT_THAT(std::string(second.status().message()), HasSubstr(listen + ": the port is in use (http.listen)"));
  server_.reset();
  EXPECT_TRUE(HttpServer::Listen(listen, std::make_shared<HttpAccess>(), Source()).ok()) << "it is free again";
}

// A reload from 127.0.0.1 to 0.0.0.0, say, and back: nobody is refused meanwhile.
TEST_F(HttpServerTest, AnotherAddressOfThePortIsHadBeforeTheFirstOneIsGone) {
  const auto access = std::make_shared<HttpAccess>();
  const std::string all = "0.0.0.0:" + std::to_string(server_->port());
  const std::string loopback = "127.0.0.1:" + std::to_string(server_->port());
  EXPECT_FALSE(HttpServer::Listen(all, access, Source()).ok()) << "another one's port is in use";
  for (const std::string& listen : {all, loopback, all}) {
    absl::StatusOr<std::unique_ptr<HttpServer>> next = HttpServer::Listen(listen, access, Source(), {}, server_.get());
    ASSERT_TRUE(next.ok()) << next.status();
    EXPECT_EQ(Get("/healthz").status, 200);
    EXPECT_FALSE(HttpServer::Listen(listen, access, Source()).ok()) << "in use, while both are there";
    server_ = *std::move(next);
    EXPECT_EQ(Get("/healthz").status, 200);
    EXPECT_FALSE(HttpServer::Listen(all, access, Source()).ok()) << "in use";
    EXPECT_FALSE(HttpServer::Listen(loopback, access, Source()).ok()) << "in use";
  }
}

// Who wait for an hour, which is longer than a test may take.
TEST_F(HttpServerTest, ItsEndDoesNotWaitForThoseWhoWait) {
  std::thread waiting([this] { EXPECT_FALSE(client_->Get("/debug/pprof/offcpu?seconds=3600")); });
  while (kernel_.cuts == 0) std::this_thread::yield();
  server_.reset();
  waiting.join();
}

TEST_F(HttpServerTest, ClientsThatHaveGoneHoldNoPlace) {
  for (int i = 0; i < 20; ++i) {  // more than there are places
    httplib::Client client("127.0.0.1", server_->port());
    client.set_read_timeout(0, 20'000);  // then it goes
    // An answer is a 503: it has not been seen yet that one before it has gone.
    while (client.Get("/debug/pprof/offcpu?seconds=3600")) std::this_thread::yield();
  }
  EXPECT_EQ(Get("/healthz").status, 200);
}

TEST_F(HttpServerTest, TheLastHourIsAPage) {
  const httplib::Response root = Get("/");
  EXPECT_EQ(root.status, 301);
  EXPECT_EQ(root.get_header_value("Location"), "/live");
  const httplib::Response page = Get("/live");
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(page.get_header_value("Content-Type"), "text/html; charset=utf-8");
  EXPECT_EQ(page.get_header_value("X-Content-Type-Options"), "nosniff");
  EXPECT_EQ(page.get_header_value("Content-Security-Policy"), "frame-ancestors 'none'");
  EXPECT_EQ(page.get_header_value("Referrer-Policy"), "no-referrer");
  EXPECT_EQ(page.get_header_value("Cache-Control"), "no-store");
  EXPECT_FALSE(page.has_header("Content-Disposition"));
  EXPECT_THAT(page.body, ::testing::StartsWith("<!DOCTYPE html>"));
  EXPECT_THAT(page.body, HasSubstr("default-src 'none'; script-src 'sha256-"));
  const httplib::Response file = Get("/live?download=1");
  EXPECT_EQ(file.get_header_value("Content-Disposition"), "attachment; filename=\"offcpu.html\"");
}

// The cut that is made for the answer is of now: what ends an hour from now has it, what ended an hour ago has nothing.
TEST_F(HttpServerTest, ASpanIsOfItsWindows) {
  const uint64_t now = ReadClocks().unix_ns / 1'000'000'000;
  const std::string path = "/debug/pprof/offcpu?since=" + std::to_string(now - 3600);
  EXPECT_EQ(BlockedNs(Get(path + "&until=" + std::to_string(now + 3600))), 1001u);
  EXPECT_EQ(BlockedNs(Get(path + "&until=" + std::to_string(now - 60))), 0u);
  EXPECT_EQ(BlockedNs(Get("/debug/pprof/offcpu?since=" + std::to_string(now + 60))), 0u);
  EXPECT_EQ(Get("/live?since=" + std::to_string(now - 60)).status, 200);
}

TEST_F(HttpServerTest, SpansAreTwoPointsInTime) {
  for (const char* query : {"since=x", "since=-1", "since=0", "until=", "since=5&until=5", "since=6&until=5",
                            "since=99999999999999999999", "until=8589934593"}) {
    EXPECT_EQ(Get(std::string("/live?") + query).status, 400) << query;
    EXPECT_EQ(Get(std::string("/debug/pprof/offcpu?") + query).status, 400) << query;
  }
  EXPECT_EQ(Get("/debug/pprof/offcpu?since=5&seconds=1").status, 400);
  EXPECT_EQ(kernel_.cuts, 0u);
}

}  // namespace
}  // namespace offcpu
