#include "daemon/requests.h"

#include <unistd.h>

#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fake_recorder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "pprof/pprof_reader.h"

namespace offcpu {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;
using ::testing::StartsWith;

class RequestsTest : public ::testing::Test {
 protected:
  RequestsTest() {
    DaemonConfig config;
    config.windows.length_ns = 3600'000'000'000;
    config.record.cpu_budget_ppm = 5'000;
    recording_ = *Recording::Start(config, StartFake(kernel_));
    dumps_ = std::make_unique<Dumps>(*recording_);
    requests_ = std::make_unique<Requests>(*recording_, *dumps_, stacks_, window_export_, "1.2");
  }

  HttpResponse Get(const std::string& target) {
    const absl::StatusOr<HttpRequest> request = ParseHttpRequest("GET " + target + " HTTP/1.1\r\n\r\n");
    EXPECT_TRUE(request.ok()) << target;
    return requests_->Answer(*request, [] { return false; });
  }
  // "404 12 no such thing": the status of HTTP, the code and the text.
  std::string Refused(const std::string& target) {
    const HttpResponse answer = Get(target);
    EXPECT_THAT(answer.fields, ElementsAre(Pair("Offcpu-Code", testing::_))) << target;
    return std::to_string(answer.status) + " " + (answer.fields.empty() ? "" : answer.fields[0].second) + " " +
           *answer.body;
  }

  // Dumps all windows, and the running one.
  NamedProfile Dump(const std::string& query = "") {
    const HttpResponse answer = Get("/dump?" + query);
    EXPECT_EQ(answer.status, 200) << *answer.body;
    absl::StatusOr<NamedProfile> read = ParsePprof(*answer.body);
    EXPECT_TRUE(read.ok()) << read.status();
    return read.ok() ? *std::move(read) : NamedProfile();
  }

  FakeKernel kernel_;
  std::unique_ptr<Recording> recording_;
  std::unique_ptr<Dumps> dumps_;
  StackRequests stacks_{std::make_shared<ReaderPool>(), std::make_shared<ModuleCache>(), [] { return Listing(); }};
  WindowExport window_export_;
  std::unique_ptr<Requests> requests_;
};

uint64_t BlockedNs(const NamedProfile& profile) {
  uint64_t sum = 0;
  for (const ProfileRow& row : profile.rows) sum += row.blocked_ns;
  return sum;
}

TEST_F(RequestsTest, WhatIsNotKnownIsRefused) {
  EXPECT_THAT(Refused("/stop"), StartsWith("404 12 this offcpud does not serve /stop"));
  EXPECT_THAT(Refused("/"), StartsWith("404 12 this offcpud does not serve /"));
  EXPECT_EQ(Refused("/dump?pod=a"), "404 12 this offcpud does not know the parameter pod of /dump\n");
  EXPECT_EQ(Refused("/status?pid=1"), "404 12 this offcpud does not know the parameter pid of /status\n");
  EXPECT_EQ(Refused("/stacks?pid=1&all"), "404 12 this offcpud does not know the parameter all of /stacks\n");
  HttpRequest post = {.method = "POST", .path = "/status"};
  EXPECT_EQ(requests_->Answer(post, [] { return false; }).status, 404);
}

TEST_F(RequestsTest, HealthIsOkWhileWindowsAreCut) {
  const HttpResponse answer = Get("/healthz");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(*answer.body, "ok\n");
  EXPECT_EQ(Refused("/healthz?deep=1"), "404 12 this offcpud does not know the parameter deep of /healthz\n");
}

TEST_F(RequestsTest, WhatIsNoNumberIsRefused) {
  for (const std::string target : {"/dump?pid=x", "/dump?since_ns=-1", "/dump?until_ns=18446744073709551616",
                                   "/dump?pid=", "/dump?pid=2147483648", "/stacks", "/stacks?pid=1x"})
    EXPECT_THAT(Refused(target), StartsWith("400 3 ")) << target;
  EXPECT_THAT(Refused("/stacks?pid=1&unwind=dwarf"), StartsWith("400 3 "));
}

TEST_F(RequestsTest, ADumpHasTheRunningWindowInIt) {
  EXPECT_EQ(BlockedNs(Dump()), 1u + 1000);
  EXPECT_EQ(BlockedNs(Dump()), 1u + 2 + 2000);
}

TEST_F(RequestsTest, ADumpOfThePastDoesNotEndTheRunningWindow) {
  EXPECT_THAT(Dump("until_ns=1").rows, IsEmpty());
  EXPECT_EQ(kernel_.cuts, 0u);
}

// The client, too, counts back from the clock as it is now.
TEST_F(RequestsTest, ADumpOfTheLastSecondsIsThatWhateverBecameOfTheClock) {
  constexpr uint64_t kHour = 3600'000'000'000;
  std::atomic<uint64_t> set_by_ns = 0;
  dumps_ = std::make_unique<class Dumps>(*recording_, nullptr, [&set_by_ns] {
    Clocks clocks = ReadClocks();
    clocks.unix_ns += set_by_ns;
    return clocks;
  });
  requests_ = std::make_unique<Requests>(*recording_, *dumps_, stacks_, window_export_, "1.2");
  EXPECT_EQ(BlockedNs(Dump()), 1u + 1000) << "the window of before";
  for (const uint64_t step : {kHour, uint64_t{0} - kHour}) {
    set_by_ns = step;
    const uint64_t now = ReadClocks().unix_ns + set_by_ns;
    const NamedProfile all = Dump("since_ns=" + std::to_string(now - 60'000'000'000));
    EXPECT_GT(all.duration_ns, 1u) << "what was recorded before the step, too, was within the last minute";
    EXPECT_NEAR(static_cast<double>(all.start_unix_ns), static_cast<double>(now), 60e9);
    EXPECT_THAT(Dump("since_ns=" + std::to_string(now + 60'000'000'000)).rows, IsEmpty());
  }
}

TEST_F(RequestsTest, ADumpCanBeOfSomeProcessesAndThreads) {
  EXPECT_EQ(BlockedNs(Dump("comm=wor%2A")), 1u);
  EXPECT_THAT(Dump("comm=wor*&pid=11").rows, IsEmpty());
  EXPECT_EQ(BlockedNs(Dump("comm=wor*&pid=11&pid=10")), 1u + 2 + 3);
  EXPECT_EQ(BlockedNs(Dump("comm=nobody&comm=wor*")), 1u + 2 + 3 + 4);
}

TEST_F(RequestsTest, ACutThatFailsIsTheAnswer) {
  kernel_.refuse_cut = true;
  EXPECT_THAT(Refused("/dump"), EndsWith(" the window could not be cut\n"));
}

TEST_F(RequestsTest, DumpsAreCalledOff) {
  const auto make = [this](const IsCancelled& is_cancelled) {
    return dumps_->Make({}, OutputFormat::kPprof, Recording::Clock::now() + std::chrono::seconds(20), is_cancelled)
        .status()
        .code();
  };
  EXPECT_EQ(make([] { return false; }), absl::StatusCode::kOk);
  EXPECT_EQ(make([] { return true; }), absl::StatusCode::kCancelled);
  dumps_->Stop();
  EXPECT_EQ(make([] { return false; }), absl::StatusCode::kCancelled);
}

TEST_F(RequestsTest, ManyDumpsAtOnceAreAllWhole) {
  std::vector<std::future<NamedProfile>> dumps;
  for (int i = 0; i < 20; ++i) dumps.push_back(std::async(std::launch::async, [this] { return Dump(); }));
  for (auto& dump : dumps) EXPECT_GE(BlockedNs(dump.get()), 1001u);
}

TEST_F(RequestsTest, TheStatusSumsUpTheWindows) {
  Dump();
  Dump();
  const HttpResponse answer = Get("/status?json=1");
  EXPECT_EQ(answer.type, "application/json");
  for (
      const std::string field : {
          R"("version":"1.2")",
          R"("memory_limit_bytes":268435456)",
          R"("window_ns":3600000000000)",
          R"("windows":0,)",  // the first has not ended
          R"("windows_limit":60)",
          R"("processes":1,"intervals":4)",
          R"("walks_at_switch":{"walked":14,"summed":12,"proven":2,"misses":[{"name":"new stack","count":4,"ns":0},)",
          R"("told_rows":30,"told_stacks":4})",  // of two windows the most
          R"("walks":2,"walk_ends":[{"name":"complete","count":2,"ns":0}])",
          // The sum of two windows. The budget is what it is now, whatever it was in them.
          R"("cost":{"programs_ns":500000000,"captures_ns":1000000000,"process_ns":250000000,"host_cpu_ns":8000000000,)"
          R"("budget_ppm":5000,"threshold_ns":37000})",
          R"("last_error":""})",
      })
    EXPECT_THAT(*answer.body, HasSubstr(field));
  EXPECT_THAT(*answer.body, Not(HasSubstr(R"("export")"))) << "nothing is exported";
}

TEST_F(RequestsTest, TheStatusIsTextToo) {
  Dump();
  Dump();
  const HttpResponse answer = Get("/status");
  EXPECT_EQ(answer.type, kTextType);
  for (const std::string& line : {
           "offcpud       1.2, pid " + std::to_string(getpid()) + ", up for ",
           std::string("windows       0 of 60, 3600 s each, "),
           std::string(": 4 intervals of 1 processes\n"),
           std::string("\n  sampled     now: some users' waits below 37.0 us\n"),
           std::string("\nat switches   14 waits walked, without captures; 12 summed there; 2 proven\n"
                       "  missed      4 new stack, "),
           std::string("\n  known       30 unwind rows and 4 user stacks in the kernel\n"
                       "user walks    2\n  ended       complete 100.0 %\n"),
       })
    EXPECT_THAT(*answer.body, HasSubstr(line));
}

}  // namespace
}  // namespace offcpu
