#include "export/exporter.h"

#include <sys/mount.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "bytes/gzip.h"
#include "fake_collector.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "opentelemetry/proto/collector/profiles/v1development/profiles_service.pb.h"
#include "tests/export/windows.h"

namespace offcpu {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

using Request = opentelemetry::proto::collector::profiles::v1development::ExportProfilesServiceRequest;

constexpr uint64_t kSecond = 1'000'000'000;
constexpr char kProtobuf[] = "Content-Type: application/x-protobuf\r\n";

// The `number`th window of a second each, in which one thread waited for as many milliseconds.
std::shared_ptr<const Profile> AWindow(uint64_t number) {
  Profile profile;
  profile.start_unix_ns = 1'790'000'000 * kSecond + number * kSecond;
  profile.duration_ns = kSecond;
  profile.host = "web1";
  profile.processes = {{.key = {.pid = 10, .start_ns = 5, .exec_id = 0}, .name = "server", .container = ""}};
  profile.comms = {"worker"};
  profile.kernel_stacks = {{.id = 1, .addresses = {0xffffffff81000010}}};
  profile.user_stacks = {{.missing = NoUserStack::kLost}};
  profile.rows = {{{}, {.count = 1, .blocked_ns = number * 1'000'000}}};
  return std::make_shared<const Profile>(std::move(profile));
}

// The sixth, in which each of these waited as long.
std::shared_ptr<const Profile> AWindowOf(const std::vector<std::string>& programs) {
  Profile window = *AWindow(6);
  const ProfileRow row = window.rows[0];
  window.processes.clear();
  window.rows.clear();
  for (const std::string& name : programs) {
    const auto index = static_cast<uint32_t>(window.processes.size());
    window.processes.push_back(
        {.key = {.pid = 10 + static_cast<int32_t>(index), .start_ns = 5, .exec_id = 0}, .name = name, .container = ""});
    window.rows.push_back(row);
    window.rows.back().process = index;
  }
  return std::make_shared<const Profile>(std::move(window));
}

Request Decode(const FakeRequest& sent) {
  const absl::StatusOr<std::string> bytes = Gunzip(sent.body, 64u << 20);
  EXPECT_TRUE(bytes.ok()) << bytes.status();
  Request request;
  EXPECT_TRUE(bytes.ok() && request.ParseFromString(*bytes));
  return request;
}

// Off-CPU milliseconds of a request, which say what window it is of.
uint64_t MsOf(const FakeRequest& sent) {
  const Request request = Decode(sent);
  const auto& dictionary = request.dictionary();
  uint64_t ns = 0;
  for (const auto& resource : request.resource_profiles()) {
    for (const auto& scope : resource.scope_profiles()) {
      for (const auto& profile : scope.profiles()) {
        if (dictionary.string_table(profile.sample_type().type_strindex()) != "off_cpu") continue;
        for (const auto& sample : profile.samples()) ns += static_cast<uint64_t>(sample.values(0));
      }
    }
  }
  return ns / 1'000'000;
}

std::vector<uint64_t> MsOf(const std::vector<FakeRequest>& sent) {
  std::vector<uint64_t> ms;
  for (const FakeRequest& request : sent) ms.push_back(MsOf(request));
  return ms;
}

std::vector<std::string> ServicesOf(const FakeRequest& sent) {
  std::vector<std::string> services;
  const Request request = Decode(sent);
  for (const auto& resource : request.resource_profiles()) {
    for (const auto& attribute : resource.resource().attributes()) {
      if (attribute.key() == "service.name") services.push_back(attribute.value().string_value());
    }
  }
  return services;
}

class ExporterTest : public ::testing::Test {
 protected:
  ExporterTest() {
    std::string name = testing::TempDir() + "/exporter.XXXXXX";
    directory_ = mkdtemp(name.data());
    config_.target.url = config_.shown_url = collector_->url();
    config_.target.timeout = seconds(20);
    config_.spool = directory_ + "/spool";
    config_.spool_bytes = 64u << 20;
    config_.spool_age_ns = 3600 * kSecond;
    limits_ = {.windows = 100, .backoff = {.first = milliseconds(2), .most = milliseconds(10)}};
  }
  ~ExporterTest() override { std::filesystem::remove_all(directory_); }

  std::unique_ptr<Exporter> Start() {
    return std::make_unique<Exporter>(
        config_,
        [this](bool is_bad, const std::string& line) {
          const std::lock_guard lock(mutex_);
          said_.push_back((is_bad ? "bad: " : "good: ") + line);
        },
        limits_);
  }
  std::vector<std::string> Said() {
    const std::lock_guard lock(mutex_);
    return said_;
  }
  // Until `is_so` of the statistics.
  template <typename Condition>
  static ExporterStats AwaitStats(const Exporter& exporter, Condition is_so) {
    const auto deadline = std::chrono::steady_clock::now() + seconds(120);
    while (!is_so(exporter.stats()) && std::chrono::steady_clock::now() < deadline)
      std::this_thread::sleep_for(milliseconds(1));
    EXPECT_TRUE(is_so(exporter.stats()));
    return exporter.stats();
  }
  static std::map<std::string, uint64_t> Lost(const ExporterStats& stats) {
    std::map<std::string, uint64_t> lost;
    for (const Loss& loss : stats.losses) lost[loss.reason] = loss.count;
    return lost;
  }

  const KeptPort port_;
  std::unique_ptr<FakeCollector> collector_ = std::make_unique<FakeCollector>(port_.number());
  std::string directory_;
  ExportConfig config_;
  ExporterLimits limits_;
  std::mutex mutex_;
  std::vector<std::string> said_;
};

TEST_F(ExporterTest, AWindowArrivesOnce) {
  const std::unique_ptr<Exporter> exporter = Start();
  exporter->Add(Ended({AWindow(7)}));
  const FakeRequest sent = collector_->AwaitTaken(1)[0];
  EXPECT_TRUE(sent.Has("Content-Encoding: gzip"));
  EXPECT_EQ(MsOf(sent), 7u);
  const ExporterStats stats = AwaitStats(*exporter, [](const ExporterStats& s) { return s.requests_sent == 1; });
  EXPECT_EQ(stats.windows, 1u);
  EXPECT_EQ(stats.bytes_sent, sent.body.size());
  EXPECT_EQ(stats.requests_waiting, 0u);
  EXPECT_THAT(stats.losses, IsEmpty());
  EXPECT_EQ(stats.last_error, "");
  EXPECT_EQ(collector_->Await(1).size(), 1u);
  EXPECT_THAT(Said(), IsEmpty());
}

TEST_F(ExporterTest, PiecesAreOneWindow) {
  const std::unique_ptr<Exporter> exporter = Start();
  exporter->Add(Ended({AWindow(1), AWindow(2), AWindow(4)}));
  EXPECT_EQ(MsOf(collector_->AwaitTaken(1)[0]), 7u);
}

TEST_F(ExporterTest, WindowsWaitWhileTheCollectorIsDownAndComeInOrder) {
  collector_.reset();
  const std::unique_ptr<Exporter> exporter = Start();
  for (uint64_t i = 1; i <= 10; ++i) exporter->Add(Ended({AWindow(i)}));
  const ExporterStats waiting =
      AwaitStats(*exporter, [](const ExporterStats& s) { return s.requests_waiting == 10 && s.retries >= 2; });
  EXPECT_EQ(waiting.oldest_unix_ns, AWindow(1)->start_unix_ns);
  EXPECT_THAT(waiting.last_error, HasSubstr("onnect"));
  collector_ = std::make_unique<FakeCollector>(port_.number());
  EXPECT_THAT(MsOf(collector_->AwaitTaken(10)), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9, 10));
  const ExporterStats stats = AwaitStats(*exporter, [](const ExporterStats& s) { return s.requests_waiting == 0; });
  EXPECT_THAT(stats.losses, IsEmpty());
  EXPECT_EQ(stats.oldest_unix_ns, 0u);
  EXPECT_EQ(stats.last_error, "");
  ASSERT_EQ(Said().size(), 2u) << "once each";
  EXPECT_THAT(Said()[0],
              HasSubstr("bad: " + config_.target.url + " accepts no windows at the moment; they are kept: "));
  EXPECT_THAT(Said()[1], HasSubstr("good: windows reach " + config_.target.url + " again"));
}

TEST_F(ExporterTest, WhatIsNotTakenIsSentAgainTheSame) {
  FakeAnswer half = HttpReply(200, "a longer body");
  half.bytes.resize(half.bytes.size() - 3);
  collector_->Then({HttpReply(429, ""),
                    HttpReply(502, "bad gateway"),
                    HttpReply(503, ""),
                    HttpReply(504, ""),
                    half,
                    {.bytes = ""},
                    {.reads_all = false}});
  const std::unique_ptr<Exporter> exporter = Start();
  exporter->Add(Ended({AWindow(3)}));
  EXPECT_THAT(MsOf(collector_->AwaitTaken(1)), ElementsAre(3));
  const std::vector<FakeRequest> all = collector_->Await(7);
  EXPECT_EQ(all.size(), 7u) << "of eight, one was not read";
  for (const FakeRequest& request : all) EXPECT_EQ(request.body, all[0].body) << "the ids of the profiles too";
  const ExporterStats stats = AwaitStats(*exporter, [](const ExporterStats& s) { return s.requests_sent == 1; });
  EXPECT_EQ(stats.retries, 7u);
  EXPECT_THAT(stats.losses, IsEmpty());
}

// It may say nothing for longer than a slow machine takes for an answer: windows come at least once.
TEST_F(ExporterTest, ASilentCollectorIsAskedAgain) {
  config_.target.timeout = milliseconds(300);
  collector_->Then({{.bytes = "", .waits = true}});
  const std::unique_ptr<Exporter> exporter = Start();
  const auto before = std::chrono::steady_clock::now();
  exporter->Add(Ended({AWindow(3)}));
  EXPECT_EQ(MsOf(collector_->AwaitTaken(1)[0]), 3u);
  const std::vector<FakeRequest> all = collector_->Await(2);
  EXPECT_EQ(all[0].body, all[1].body);
  EXPECT_GE(all[1].at - before, config_.target.timeout) << "it was not waited for";
}

TEST_F(ExporterTest, TheServerSaysWhenToComeBack) {
  limits_.backoff = {.first = milliseconds(0), .most = milliseconds(0)};
  collector_->Then({HttpReply(503, "", "Retry-After: 1\r\n"), HttpReply(429, "", "Retry-After: 1\r\n")});
  const std::unique_ptr<Exporter> exporter = Start();
  exporter->Add(Ended({AWindow(1)}));
  const std::vector<FakeRequest> all = collector_->Await(3);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_GE(all[1].at - all[0].at, seconds(1));
  EXPECT_GE(all[2].at - all[1].at, seconds(1));
}

TEST_F(ExporterTest, WhatIsRefusedIsCountedAndHoldsNothingUp) {
  collector_->Then({HttpReply(400, "bad"), HttpReply(413, "too large"), HttpReply(500, "no"), HttpReply(401, "")});
  const std::unique_ptr<Exporter> exporter = Start();
  for (uint64_t i = 1; i <= 5; ++i) exporter->Add(Ended({AWindow(i)}));
  EXPECT_THAT(MsOf(collector_->AwaitTaken(1)), ElementsAre(5));
  EXPECT_EQ(collector_->Await(5).size(), 5u) << "each was sent once";
  const ExporterStats stats = AwaitStats(*exporter, [](const ExporterStats& s) { return s.requests_sent == 1; });
  ASSERT_EQ(stats.losses.size(), 1u);
  EXPECT_EQ(stats.losses[0].reason, "refused");
  EXPECT_EQ(stats.losses[0].count, 4u);
  EXPECT_EQ(stats.losses[0].ns, 4 * kSecond);
}

// A collector does not like the second of three: a program that the exporter does not know of before.
TEST_F(ExporterTest, ABadProfileCostsNoOthers) {
  const FakeAnswer taken = HttpReply(200, std::string("\x0a\x00", 2), kProtobuf);  // FakeCollector's own
  for (const std::string& spool : {config_.spool, std::string()}) {
    config_.spool = spool;
    collector_ = std::make_unique<FakeCollector>();
    config_.target.url = config_.shown_url = collector_->url();
    collector_->Then({HttpReply(400, "bad"), taken, HttpReply(400, "bad"), taken});
    const std::unique_ptr<Exporter> exporter = Start();
    exporter->Add(Ended({AWindowOf({"server", "bad one", "client"})}));
    EXPECT_THAT(MsOf(collector_->AwaitTaken(2)), ElementsAre(6, 6));
    const ExporterStats stats =
        AwaitStats(*exporter, [](const ExporterStats& s) { return s.requests_sent == 2 && s.requests_waiting == 0; });
    EXPECT_THAT(Lost(stats), ElementsAre(std::pair("refused", 1u)));
    EXPECT_EQ(stats.losses[0].ns, kSecond / 3);
    ASSERT_EQ(stats.refused.size(), 1u);
    EXPECT_EQ(stats.refused[0].reason, "off_cpu");
    EXPECT_EQ(stats.refused[0].count, 1u);
    EXPECT_EQ(collector_->Await(4).size(), 4u);
    ASSERT_EQ(Said().size(), 2u);
    EXPECT_THAT(Said()[0], HasSubstr("refuses a window; its profiles are now sent one by one: HTTP 400: bad"));
    EXPECT_THAT(Said()[1], HasSubstr("refuses a window: HTTP 400: bad"));
    said_.clear();
  }
}

// A limit of the tenant was reached in the middle of a request.
TEST_F(ExporterTest, WhatACollectorHasNoRoomForComesLaterAndTheRestNotAgain) {
  for (const std::string& spool : {config_.spool, std::string()}) {
    config_.spool = spool;
    collector_ = std::make_unique<FakeCollector>();
    config_.target.url = config_.shown_url = collector_->url();
    collector_->Then(
        {HttpReply(429, "push series with index 1 and id 3f failed: resource_exhausted", "Retry-After: 1\r\n")});
    const std::unique_ptr<Exporter> exporter = Start();
    exporter->Add(Ended({AWindowOf({"server", "late one", "client"})}));
    const std::vector<FakeRequest> taken = collector_->AwaitTaken(1);
    EXPECT_THAT(ServicesOf(taken[0]), ElementsAre("late one"));
    const ExporterStats stats =
        AwaitStats(*exporter, [](const ExporterStats& s) { return s.requests_sent == 1 && s.requests_waiting == 0; });
    EXPECT_EQ(stats.retries, 1u);
    EXPECT_THAT(stats.losses, IsEmpty());
    const std::vector<FakeRequest> all = collector_->Await(2);
    ASSERT_EQ(all.size(), 2u);
    EXPECT_GE(all[1].at - all[0].at, seconds(1)) << "when the server says";
    exporter->Stop();  // what is said comes after what is counted
    ASSERT_EQ(Said().size(), 2u);
    EXPECT_THAT(Said()[0],
                HasSubstr("accepts only a part of a window at the moment; the rest is kept: HTTP 429: push series"));
    EXPECT_THAT(Said()[1], HasSubstr("again"));
    said_.clear();
  }
}

// Each profile has an error of its own, and the status is that of the one that is bad for good.
TEST_F(ExporterTest, ABadProfileDoesNotCostThoseThatThereIsNoRoomFor) {
  for (const std::string& spool : {config_.spool, std::string()}) {
    config_.spool = spool;
    collector_ = std::make_unique<FakeCollector>();
    config_.target.url = config_.shown_url = collector_->url();
    collector_->Then({HttpReply(400,
                                "2 errors: push series with index 1 and id a failed: invalid_argument: bad; push "
                                "series with index 2 and id b failed: resource_exhausted: push rate limit exceeded")});
    const std::unique_ptr<Exporter> exporter = Start();
    exporter->Add(Ended({AWindowOf({"server", "bad one", "late one"})}));
    const std::vector<FakeRequest> taken = collector_->AwaitTaken(1);
    EXPECT_THAT(ServicesOf(taken[0]), ElementsAre("late one"));
    const ExporterStats stats =
        AwaitStats(*exporter, [](const ExporterStats& s) { return s.requests_sent == 1 && s.requests_waiting == 0; });
    EXPECT_EQ(stats.retries, 1u);
    EXPECT_THAT(Lost(stats), ElementsAre(std::pair("profiles rejected", 1u)));
    EXPECT_EQ(stats.losses[0].ns, kSecond / 3);
    ASSERT_EQ(stats.refused.size(), 1u);
    EXPECT_EQ(stats.refused[0].count, 1u);
    EXPECT_EQ(collector_->Await(2).size(), 2u);
    said_.clear();
  }
}

// Pyroscope takes nothing that is older than an hour, and says so of each profile.
TEST_F(ExporterTest, WindowsThatHaveBecomeTooOldAreRefusedAndHoldNothingUp) {
  const auto too_old = [](const std::string& index) {
    return "push series with index " + index + " and id 3f failed: profile with labels '{service_name=\"a\"}' is " +
           "outside of ingestion window (profile timestamp: 2026-11-24 10:00:00, the ingestion window starts at " +
           "2026-11-24 10:30:00)";
  };
  const std::string both = "failed to make a GRPC request: 2 errors: " + too_old("1") + "; " + too_old("0");
  collector_->Then({HttpReply(400, both), HttpReply(400, both), HttpReply(400, both)});
  const std::unique_ptr<Exporter> exporter = Start();
  for (int i = 0; i < 3; ++i) exporter->Add(Ended({AWindowOf({"server", "client"})}));
  exporter->Add(Ended({AWindow(4)}));
  EXPECT_THAT(MsOf(collector_->AwaitTaken(1)), ElementsAre(4));
  EXPECT_EQ(collector_->Await(4).size(), 4u) << "each once, and whole";
  const ExporterStats stats =
      AwaitStats(*exporter, [](const ExporterStats& s) { return s.requests_sent == 1 && s.requests_waiting == 0; });
  EXPECT_THAT(Lost(stats), ElementsAre(std::pair("refused", 3u)));
  EXPECT_EQ(stats.losses[0].ns, 3 * kSecond);
  ASSERT_EQ(stats.refused.size(), 1u);
  EXPECT_EQ(stats.refused[0].count, 6u) << "profiles";
}

TEST_F(ExporterTest, WhatACollectorHasKeptIsNotSentAgain) {
  config_.types = *ParseOtlpTypes({"off_cpu", "contentions"});
  collector_->Then({HttpReply(400, "push series with index 1 and id 3f failed: invalid metric name")});
  const std::unique_ptr<Exporter> exporter = Start();
  exporter->Add(Ended({AWindow(1)}));
  const ExporterStats stats = AwaitStats(*exporter, [](const ExporterStats& s) { return s.requests_sent == 1; });
  EXPECT_THAT(Lost(stats), ElementsAre(std::pair("profiles rejected", 1u)));
  EXPECT_EQ(stats.losses[0].ns, kSecond / 2);
  ASSERT_EQ(stats.refused.size(), 1u);
  EXPECT_EQ(stats.refused[0].reason, "contentions");
  EXPECT_THAT(stats.last_error, testing::StartsWith("contentions of server: HTTP 400: push series"));
  exporter->Add(Ended({AWindow(2)}));
  EXPECT_THAT(MsOf(collector_->AwaitTaken(1)), ElementsAre(2));
  EXPECT_EQ(collector_->Await(2).size(), 2u);
}

// What collector 0.152 and Pyroscope were seen to answer, each to a request of its own: whatever it is, the window
// after it comes through, and what did not is counted or comes again.
TEST_F(ExporterTest, EveryAnswerThatServersWereSeenToGiveIsTaken) {
  const std::string partial("\x0a\x00", 2);  // partial_success (field 1), empty
  const std::string status(
      "\x08\x03\x12\x03"
      "bad",
      7);  // google.rpc.Status: code (field 1) 3, message (field 2)
  const std::vector<FakeAnswer> refused = {
      HttpReply(500, "sample values length mismatch 2 1"),    // a period and two values in a sample
      HttpReply(400, "sample value length mismatch"),         // two values in a sample
      HttpReply(400, "unsupported encoding: zstd"),           // another compression
      HttpReply(400, status, kProtobuf),                      // no protobuf
      HttpReply(500, "missing profile metadata dictionary"),  // an empty body
      HttpReply(415, "unsupported media type"),               // another content type
      HttpReply(405, "405 method not allowed, supported: [POST]"),
      HttpReply(400, "request body too large"),  // where the specification has 413
      HttpReply(413, "http: request body too large"),
      HttpReply(404, "404 page not found"),  // another path
  };
  const std::vector<FakeAnswer> later = {
      HttpReply(503, status, kProtobuf),  // memory limit, full queue: without Retry-After
      HttpReply(429, "ingestion rate limit exceeded"),
  };
  collector_->Then(refused);
  collector_->Then(later);
  collector_->Then({HttpReply(200, partial, kProtobuf)});
  const std::unique_ptr<Exporter> exporter = Start();
  for (uint64_t i = 0; i <= refused.size(); ++i) exporter->Add(Ended({AWindow(i + 1)}));
  const ExporterStats stats = AwaitStats(*exporter, [](const ExporterStats& s) { return s.requests_sent == 1; });
  EXPECT_EQ(stats.retries, later.size());
  EXPECT_THAT(Lost(stats), ElementsAre(std::pair("refused", refused.size())));
  EXPECT_EQ(collector_->Await(1).size(), refused.size() + later.size() + 1);
}

TEST_F(ExporterTest, WhatACollectorRejectsOfARequestIsCounted) {
  collector_->Then({HttpReply(200, "\x0a\x02\x08\x03", kProtobuf)});  // partial_success {rejected_profiles: 3}
  const std::unique_ptr<Exporter> exporter = Start();
  exporter->Add(Ended({AWindow(1)}));
  const ExporterStats stats = AwaitStats(*exporter, [](const ExporterStats& s) { return s.requests_sent == 1; });
  EXPECT_THAT(Lost(stats), ElementsAre(std::pair("profiles rejected", 1u))) << "no more than were sent";
  EXPECT_EQ(stats.losses[0].ns, kSecond);
}

TEST_F(ExporterTest, ACollectorCannotForgeLosses) {
  const std::string most = std::string(8, '\xff') + "\x7f";  // 2^63 - 1
  const FakeAnswer forged = HttpReply(200, "\x0a\x0a\x08" + most, kProtobuf);
  collector_->Then({forged, forged, forged});
  const std::unique_ptr<Exporter> exporter = Start();
  for (int i = 0; i < 3; ++i) exporter->Add(Ended({AWindowOf({"server", "client"})}));
  const ExporterStats stats = AwaitStats(*exporter, [](const ExporterStats& s) { return s.requests_sent == 3; });
  EXPECT_THAT(Lost(stats), ElementsAre(std::pair("profiles rejected", 6u)));
  EXPECT_EQ(stats.losses[0].ns, 3 * kSecond);
}

// What is not OTLP's does not say that a window has arrived.
TEST_F(ExporterTest, ASuccessOfAnotherServerIsNone) {
  const std::string endless(HttpPoster::kMaxReadBytes + 1, '\x0a');
  collector_->Then({HttpReply(200, "<html>log in</html>", "Content-Type: text/html\r\n"),
                    HttpReply(200, "<html>log in</html>", kProtobuf), HttpReply(200, endless, kProtobuf)});
  const std::unique_ptr<Exporter> exporter = Start();
  exporter->Add(Ended({AWindow(3)}));
  EXPECT_THAT(MsOf(collector_->AwaitTaken(1)), ElementsAre(3));
  const ExporterStats stats = AwaitStats(*exporter, [](const ExporterStats& s) { return s.requests_sent == 1; });
  EXPECT_EQ(stats.retries, 3u);
  EXPECT_THAT(stats.losses, IsEmpty());
  exporter->Stop();  // what is said comes after what is counted
  EXPECT_THAT(Said(), ElementsAre(HasSubstr("accepts no windows at the moment; they are kept: HTTP 200, but not an "
                                            "OTLP answer: its type is text/html"),
                                  HasSubstr("again")));
}

// Each program's profile is refused by itself; what programs are called is up to their users.
TEST_F(ExporterTest, RefusalsDoNotFillALog) {
  std::vector<std::string> programs;
  for (int i = 0; i < 42; ++i) programs.push_back("program" + std::to_string(i));
  collector_->Then(std::vector<FakeAnswer>(43, HttpReply(500, "no")));
  const std::unique_ptr<Exporter> exporter = Start();
  exporter->Add(Ended({AWindowOf(programs)}));
  const ExporterStats stats =
      AwaitStats(*exporter, [](const ExporterStats& s) { return !s.losses.empty() && s.losses[0].count == 42; });
  EXPECT_THAT(stats.last_error, HasSubstr("off_cpu of program")) << "`offcpu status` has it";
  exporter->Stop();
  EXPECT_THAT(Said(),
              ElementsAre(testing::EndsWith("refuses a window; its profiles are now sent one by one: HTTP 500: no"),
                          testing::EndsWith("refuses a window: HTTP 500: no")));
}

TEST_F(ExporterTest, LossesAreTold) {
  config_.types = *ParseOtlpTypes({"off_cpu", "lost"});
  collector_->Then({HttpReply(400, "")});
  const std::unique_ptr<Exporter> exporter = Start();
  exporter->Add(Ended({AWindow(1)}));
  AwaitStats(*exporter, [](const ExporterStats& s) { return !s.losses.empty(); });
  exporter->Add(Ended({AWindow(2)}));
  exporter->Add(Ended({AWindow(3)}));
  const std::vector<FakeRequest> sent = collector_->AwaitTaken(2);
  EXPECT_THAT(Decode(sent[0]).dictionary().string_table(), testing::Contains("refused"));
  EXPECT_THAT(Decode(sent[1]).dictionary().string_table(), Not(testing::Contains("refused"))) << "once";
}

TEST_F(ExporterTest, CountersGoOnWithTheNextExporter) {
  config_.types = *ParseOtlpTypes({"off_cpu", "lost"});
  collector_.reset();
  config_.spool = "";
  std::unique_ptr<Exporter> exporter = Start();
  exporter->Add(Ended({AWindow(1)}));
  AwaitStats(*exporter, [](const ExporterStats& s) { return s.requests_waiting == 1 && s.retries > 0; });
  const ExporterPast past = exporter->Stop();
  EXPECT_EQ(past.stats.windows, 1u);
  collector_ = std::make_unique<FakeCollector>(port_.number());
  exporter = std::make_unique<Exporter>(
      config_, [](bool, const std::string&) {}, limits_, past);
  exporter->Add(Ended({AWindow(2)}));
  EXPECT_THAT(Decode(collector_->AwaitTaken(1)[0]).dictionary().string_table(), testing::Contains("no room in memory"));
  const ExporterStats stats = AwaitStats(*exporter, [](const ExporterStats& s) { return s.requests_sent == 1; });
  EXPECT_EQ(stats.windows, 2u);
  EXPECT_GE(stats.retries, past.stats.retries);
  EXPECT_THAT(Lost(stats), ElementsAre(std::pair("no room in memory", 1u)));
}

TEST_F(ExporterTest, WhatWaitsIsSentByWhoStartsNext) {
  collector_.reset();
  Start()->Add(Ended({AWindow(1)}));  // and ends
  EXPECT_TRUE(Said().empty() || Said()[0].find("bad: ") == 0);
  collector_ = std::make_unique<FakeCollector>(port_.number());
  const std::unique_ptr<Exporter> exporter = Start();
  EXPECT_THAT(MsOf(collector_->AwaitTaken(1)), ElementsAre(1));
}

TEST_F(ExporterTest, WithoutASpoolWindowsWaitInMemoryUpToALimit) {
  collector_.reset();
  config_.spool = "";
  const std::unique_ptr<Exporter> one = Start();
  one->Add(Ended({AWindow(1)}));
  const uint64_t bytes = AwaitStats(*one, [](const ExporterStats& s) { return s.requests_waiting == 1; }).bytes_waiting;
  limits_.memory_bytes = bytes * 3 + bytes / 2;  // of windows that differ by a few bytes
  const std::unique_ptr<Exporter> exporter = Start();
  exporter->Add(Ended({AWindow(1)}));
  AwaitStats(*exporter, [](const ExporterStats& s) { return s.retries > 0; });  // it may be taken any time, and stays
  for (uint64_t i = 2; i <= 5; ++i) exporter->Add(Ended({AWindow(i)}));
  const ExporterStats stats = AwaitStats(*exporter, [](const ExporterStats& s) {
    return s.requests_waiting == 3 && !s.losses.empty() && s.losses[0].count == 2;
  });
  EXPECT_LE(stats.bytes_waiting, limits_.memory_bytes);
  EXPECT_EQ(stats.losses[0].reason, "no room in memory");
  EXPECT_EQ(stats.losses[0].ns, 2 * kSecond);
  collector_ = std::make_unique<FakeCollector>(port_.number());
  const std::vector<uint64_t> ms = MsOf(collector_->AwaitTaken(4));
  EXPECT_EQ(std::multiset<uint64_t>(ms.begin(), ms.end()), (std::multiset<uint64_t>{1, 1, 4, 5}));
}

TEST_F(ExporterTest, WhatWaitsInMemoryIsWrittenAtTheEndIfTheDiskIsWellAgain) {
  if (mount("tmpfs", directory_.c_str(), "tmpfs", MS_NODEV | MS_NOSUID, "size=64k") != 0) GTEST_SKIP() << "needs root";
  collector_.reset();
  std::unique_ptr<Exporter> exporter = Start();
  const std::string filler = directory_ + "/filler";
  std::ofstream(filler) << std::string(1 << 20, 'x') << std::flush;
  for (uint64_t i = 1; i <= 3; ++i) exporter->Add(Ended({AWindow(i)}));
  const ExporterStats waiting = AwaitStats(*exporter, [](const ExporterStats& s) { return s.requests_waiting == 3; });
  EXPECT_THAT(waiting.losses, IsEmpty()) << "they may be delivered yet, and a figure of losses never falls";
  std::filesystem::remove(filler);
  EXPECT_THAT(exporter->Stop().stats.losses, IsEmpty());
  exporter.reset();
  size_t full = 0;
  for (const std::string& line : Said()) full += line.find("cannot use the spool") != std::string::npos ? 1 : 0;
  EXPECT_EQ(full, 1u) << "though each window has a name of its own";
  exporter = Start();
  collector_ = std::make_unique<FakeCollector>(port_.number());
  EXPECT_THAT(MsOf(collector_->AwaitTaken(3)), ElementsAre(1, 2, 3));
  EXPECT_THAT(AwaitStats(*exporter, [](const ExporterStats& s) { return s.requests_waiting == 0; }).losses, IsEmpty());
  exporter.reset();
  umount2(directory_.c_str(), MNT_DETACH);
}

// What a collector says of each request is in its own words.
TEST_F(ExporterTest, WhatGoesOnIsSaidOnce) {
  collector_->Then({HttpReply(503, "busy with 17"), HttpReply(503, "busy with 18"), HttpReply(503, "busy with 19")});
  const std::unique_ptr<Exporter> exporter = Start();
  exporter->Add(Ended({AWindow(1)}));
  AwaitStats(*exporter, [](const ExporterStats& s) { return s.requests_sent == 1; });
  exporter->Stop();  // what is said comes after what is counted
  ASSERT_EQ(Said().size(), 2u);
  EXPECT_THAT(Said()[0], HasSubstr("busy with 17"));
  EXPECT_THAT(Said()[1], HasSubstr("again"));
}

TEST_F(ExporterTest, WhoAddsIsNeverHeldUp) {
  limits_.windows = 0;  // as if the encoder were busy with another one for ever
  const std::unique_ptr<Exporter> exporter = Start();
  exporter->Add(Ended({AWindow(1), AWindow(2)}));
  exporter->Add(Ended({AWindow(3)}));
  exporter->Add(Ended({}));
  const ExporterStats stats = exporter->stats();
  EXPECT_EQ(stats.windows, 2u);
  ASSERT_EQ(stats.losses.size(), 1u);
  EXPECT_EQ(stats.losses[0].reason, "encoder busy");
  EXPECT_EQ(stats.losses[0].count, 2u);
  EXPECT_EQ(stats.losses[0].ns, 3 * kSecond);
}

TEST_F(ExporterTest, EndsWhileACollectorIsSilent) {
  collector_->Then({{.bytes = "", .waits = true}});
  config_.target.timeout = std::chrono::hours(1);  // longer than a test may take
  std::unique_ptr<Exporter> exporter = Start();
  exporter->Add(Ended({AWindow(1)}));
  collector_->Await(1);  // it has the request, and says nothing
  exporter.reset();
  exporter = Start();
  EXPECT_EQ(MsOf(collector_->AwaitTaken(1)), std::vector<uint64_t>{1});
}

TEST_F(ExporterTest, FilesNeedNoCollector) {
  config_.target.url = "";
  config_.files = {.directory = directory_ + "/files", .keep = 10, .bytes = 1u << 20};
  const std::unique_ptr<Exporter> exporter = Start();
  exporter->Add(Ended({AWindow(1)}));
  exporter->Add(Ended({AWindow(2)}));
  AwaitStats(*exporter, [](const ExporterStats& s) { return s.files.written == 2; });
  EXPECT_FALSE(std::filesystem::exists(config_.spool));
  size_t files = 0;
  for (const auto& file : std::filesystem::directory_iterator(config_.files.directory))
    files += file.path().extension() == ".gz" ? 1 : 0;
  EXPECT_EQ(files, 2u);
}

}  // namespace
}  // namespace offcpu
