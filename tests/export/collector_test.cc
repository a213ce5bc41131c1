// The exporter before a real OpenTelemetry Collector. Skipped where there is none: scripts/otelcol makes one.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "export/exporter.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "otelcol.h"
#include "tests/export/windows.h"

namespace offcpu {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr uint64_t kSecond = 1'000'000'000;

// The `number`th window of a second each, in which two threads waited for as many milliseconds together, and one a
// nanosecond for a CPU.
std::shared_ptr<const Profile> AWindow(uint64_t number) {
  Profile profile;
  profile.start_unix_ns = 1'790'000'000 * kSecond + number * kSecond;
  profile.duration_ns = kSecond;
  profile.host = "web1";
  profile.processes = {{.key = {.pid = 10, .start_ns = 5, .exec_id = 0}, .name = "server", .container = "c1"}};
  profile.comms = {"worker"};
  profile.kernel_stacks = {{.id = 1, .addresses = {0xffffffff81000010}}, {.id = 2, .addresses = {0xffffffff81000020}}};
  profile.user_stacks = {{.missing = NoUserStack::kLost}};
  profile.rows = {{{}, {.count = 1, .blocked_ns = number * 400'000}},
                  {{.kernel_stack = 1}, {.count = 2, .blocked_ns = number * 600'000 - 1, .runnable_ns = 1}}};
  profile.stats.losses = {{.reason = "no user stack: lost", .count = 2, .ns = number * 1'000'000}};
  return std::make_shared<const Profile>(std::move(profile));
}

class CollectorTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!Otelcol::IsThere()) GTEST_SKIP() << OFFCPU_OTELCOL << " is not there: scripts/otelcol makes it";
    std::string name = testing::TempDir() + "/collector.XXXXXX";
    directory_ = mkdtemp(name.data());
    config_.spool = directory_ + "/spool";
    config_.spool_bytes = 64u << 20;
    config_.spool_age_ns = 3600 * kSecond;
    config_.types = *ParseOtlpTypes({"off_cpu", "contentions", "blocked", "runnable", "lost"});
  }
  ~CollectorTest() override {
    exporter_.reset();
    if (!directory_.empty()) std::filesystem::remove_all(directory_);
  }

  void Begin(const std::string& scheme, int port) {
    config_.target.url = scheme + "://localhost:" + std::to_string(port) + "/v1development/profiles";
    config_.shown_url = config_.target.url;
    exporter_ = std::make_unique<Exporter>(
        config_, [](bool, const std::string& line) { std::printf("%s\n", line.c_str()); },
        ExporterLimits{.windows = 1000, .backoff = {.first = milliseconds(20), .most = milliseconds(200)}});
  }

  void AddWindows(uint64_t first, uint64_t last) {
    for (uint64_t number = first; number <= last; ++number) exporter_->Add(Ended({AWindow(number)}));
  }

  ExporterStats AwaitSent(uint64_t requests) {
    const auto deadline = std::chrono::steady_clock::now() + seconds(60);
    while (exporter_->stats().requests_sent < requests && std::chrono::steady_clock::now() < deadline)
      std::this_thread::sleep_for(milliseconds(5));
    EXPECT_GE(exporter_->stats().requests_sent, requests) << exporter_->stats().last_error;
    return exporter_->stats();
  }

  // Off-CPU time by the id of the Profile: off_cpu comes first, in the resource of each process.
  std::map<std::string, uint64_t> OffCpuNs() const {
    std::map<std::string, uint64_t> ns;
    for (const PrintedProfile& profile : PrintedProfiles(directory_)) {
      if (profile.service != "server" || profile.number != 0) continue;
      const auto [known, inserted] = ns.try_emplace(profile.id, profile.sum);
      EXPECT_EQ(known->second, profile.sum) << "what comes twice is the same";
    }
    return ns;
  }

  // That windows 1 to `last` have arrived, each once if ids that come again are left out.
  void ExpectWindows(uint64_t last) const {
    std::multiset<uint64_t> ms;
    for (const auto& [id, ns] : OffCpuNs()) ms.insert(ns / 1'000'000);
    std::multiset<uint64_t> expected;
    for (uint64_t number = 1; number <= last; ++number) expected.insert(number);
    EXPECT_EQ(ms, expected);
  }

  std::string directory_;
  ExportConfig config_;
  std::unique_ptr<Exporter> exporter_;
};

TEST_F(CollectorTest, TakesWindowsAndSeesTheirSums) {
  const Otelcol collector(directory_);
  Begin("http", collector.port());
  AddWindows(1, 5);
  const ExporterStats stats = AwaitSent(5);
  EXPECT_THAT(stats.losses, IsEmpty());
  EXPECT_EQ(stats.retries, 0u);
  EXPECT_EQ(stats.last_error, "");
  ExpectWindows(5);
  std::map<size_t, uint64_t> sums;  // by the Profile's number in its scope
  for (const PrintedProfile& profile : PrintedProfiles(directory_)) {
    EXPECT_EQ(profile.id.size(), 32u);
    if (profile.service == "server") sums[profile.number] += profile.sum;
  }
  EXPECT_EQ(sums[0], 15'000'000u) << "off_cpu";
  EXPECT_EQ(sums[1], 15u) << "contentions";
  EXPECT_EQ(sums[2], 15'000'000u - 5) << "blocked";
  EXPECT_EQ(sums[3], 5u) << "runnable";
}

TEST_F(CollectorTest, TakesThemUncompressed) {
  const Otelcol collector(directory_);
  config_.gzip = false;
  Begin("http", collector.port());
  AddWindows(1, 2);
  AwaitSent(2);
  ExpectWindows(2);
}

TEST_F(CollectorTest, TakesThemOverTls) {
  const Certificates certificates(directory_);
  const Otelcol collector(directory_, 0,
                          {.certificate_file = certificates.server, .key_file = certificates.server_key});
  Begin("https", collector.port());  // whose certificate is not known
  AddWindows(1, 1);
  const auto deadline = std::chrono::steady_clock::now() + seconds(30);
  while (exporter_->stats().retries == 0 && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
  EXPECT_THAT(exporter_->stats().last_error, testing::HasSubstr("certificate"));
  EXPECT_EQ(exporter_->stats().requests_sent, 0u);
  exporter_.reset();
  config_.target.ca_file = certificates.ca;
  Begin("https", collector.port());
  AddWindows(2, 3);
  EXPECT_THAT(AwaitSent(3).losses, IsEmpty());
  ExpectWindows(3);
}

TEST_F(CollectorTest, TakesThemOverTlsFromThoseItKnows) {
  const Certificates certificates(directory_);
  const Otelcol collector(directory_, 0,
                          {.certificate_file = certificates.server,
                           .key_file = certificates.server_key,
                           .client_ca_file = certificates.ca});
  config_.target.ca_file = certificates.ca;
  config_.target.certificate_file = certificates.client;
  config_.target.key_file = certificates.client_key;
  Begin("https", collector.port());
  AddWindows(1, 3);
  EXPECT_THAT(AwaitSent(3).losses, IsEmpty());
  ExpectWindows(3);
}

TEST_F(CollectorTest, GetsWhatWaitedForTenWindows) {
  auto collector = std::make_unique<Otelcol>(directory_);
  const int port = collector->port();
  Begin("http", port);
  AddWindows(1, 2);
  AwaitSent(2);
  collector.reset();
  AddWindows(3, 12);
  const auto deadline = std::chrono::steady_clock::now() + seconds(30);
  while (exporter_->stats().requests_waiting < 10 && std::chrono::steady_clock::now() < deadline)
    std::this_thread::yield();
  EXPECT_EQ(exporter_->stats().requests_waiting, 10u);
  collector = std::make_unique<Otelcol>(directory_, port);
  const ExporterStats stats = AwaitSent(12);
  EXPECT_THAT(stats.losses, IsEmpty());
  ExpectWindows(12);
}

// While windows are on their way, again and again.
TEST_F(CollectorTest, MayBeKilledAtAnyTime) {
  constexpr uint64_t kWindows = 60;
  auto collector = std::make_unique<Otelcol>(directory_);
  const int port = collector->port();
  Begin("http", port);
  for (uint64_t number = 1; number <= kWindows; ++number) {
    AddWindows(number, number);
    if (number % 20 != 0) continue;
    AwaitSent(number - 19);
    collector->Kill();
    collector = std::make_unique<Otelcol>(directory_, port);
  }
  const ExporterStats stats = AwaitSent(kWindows);
  EXPECT_THAT(stats.losses, IsEmpty());
  ExpectWindows(kWindows);
}

TEST_F(CollectorTest, SaysWhatItDoesNotTake) {
  const Otelcol collector(directory_);
  Begin("http", collector.port());
  exporter_.reset();
  config_.target.url += "/nothing";
  exporter_ = std::make_unique<Exporter>(config_, [](bool, const std::string&) {});
  AddWindows(1, 1);
  const auto deadline = std::chrono::steady_clock::now() + seconds(30);
  // What is said comes after what is counted.
  while (exporter_->stats().last_error.empty() && std::chrono::steady_clock::now() < deadline)
    std::this_thread::yield();
  ASSERT_EQ(exporter_->stats().losses.size(), 1u);
  EXPECT_EQ(exporter_->stats().losses[0].reason, "refused");
  EXPECT_THAT(exporter_->stats().last_error, testing::HasSubstr("HTTP 404"));
}

}  // namespace
}  // namespace offcpu
