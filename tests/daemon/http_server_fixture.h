// An HTTP server of a recording that is made up, and a client of it.
#ifndef OFFCPU_TESTS_DAEMON_HTTP_SERVER_FIXTURE_H_
#define OFFCPU_TESTS_DAEMON_HTTP_SERVER_FIXTURE_H_

#include <httplib.h>

#include <chrono>
#include <memory>
#include <string>

#include "daemon/http_server.h"
#include "fake_recorder.h"
#include "gtest/gtest.h"
#include "pprof/pprof_reader.h"

namespace offcpu {

class HttpServerTest : public ::testing::Test {
 protected:
  HttpServerTest() {
    DaemonConfig config;
    config.windows.length_ns = 3600'000'000'000;
    recording_ = *Recording::Start(config, StartFake(kernel_));
    dumps_ = std::make_unique<Dumps>(*recording_);
    server_ = *HttpServer::Listen("127.0.0.1:0", std::make_shared<HttpAccess>(), Source());
    client_ = std::make_unique<httplib::Client>("127.0.0.1", server_->port());
    client_->set_read_timeout(std::chrono::seconds(60));  // sanitizers take a while
  }

  HttpSource Source() {
    return {.recording = *recording_,
            .dumps = *dumps_,
            .window_export = window_export_,
            .blocked = *blocked_,
            .version = "1.2",
            .check_health = [this] { return health_; }};
  }

  httplib::Response Get(const std::string& path, const httplib::Headers& headers = {}) {
    httplib::Result result = client_->Get(path.c_str(), headers);
    EXPECT_TRUE(result) << path << ": " << to_string(result.error());
    return result ? *result : httplib::Response();
  }

  static uint64_t BlockedNs(const httplib::Response& response) {
    const absl::StatusOr<NamedProfile> profile = ParsePprof(response.body);
    EXPECT_TRUE(profile.ok()) << profile.status();
    if (!profile.ok()) return 0;
    uint64_t sum = 0;
    for (const ProfileRow& row : profile->rows) sum += row.blocked_ns;
    return sum;
  }

  FakeKernel kernel_;
  absl::Status health_;
  std::unique_ptr<Recording> recording_;
  std::unique_ptr<Dumps> dumps_;
  WindowExport window_export_;
  std::unique_ptr<BlockedTimes> blocked_ = *BlockedTimes::Start();
  std::unique_ptr<HttpServer> server_;
  std::unique_ptr<httplib::Client> client_;
};

}  // namespace offcpu

#endif  // OFFCPU_TESTS_DAEMON_HTTP_SERVER_FIXTURE_H_
