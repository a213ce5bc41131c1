#include "daemon/requests.h"

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
#include "proto/control.pb.h"

namespace offcpu {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

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

  std::vector<control::Reply> Answer(const std::string& request) {
    std::vector<control::Reply> replies;
    const auto send = [&replies](std::string_view message) {
      replies.emplace_back();
      EXPECT_TRUE(replies.back().ParseFromArray(message.data(), static_cast<int>(message.size())));
      return absl::OkStatus();
    };
    requests_->Answer(request, send, [] { return false; });
    return replies;
  }

  static control::Request Version1() {
    control::Request request;
    request.set_version(1);
    return request;
  }

  // Dumps all windows, and the running one.
  NamedProfile Dump(const control::DumpRequest& dump) {
    control::Request request = Version1();
    *request.mutable_dump() = dump;
    std::string bytes;
    bool last = false;
    for (const control::Reply& reply : Answer(request.SerializeAsString())) {
      EXPECT_TRUE(reply.has_chunk()) << reply.error().message();
      EXPECT_FALSE(last);
      bytes += reply.chunk().data();
      last = reply.chunk().last();
    }
    EXPECT_TRUE(last);
    absl::StatusOr<NamedProfile> read = ParsePprof(bytes);
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

TEST_F(RequestsTest, WhatIsNoRequestIsRefused) {
  for (const std::string request : {"", "\xff\xff", "\x08\x01"}) {
    const std::vector<control::Reply> replies = Answer(request);
    ASSERT_THAT(replies, SizeIs(1));
    EXPECT_TRUE(replies[0].has_error());
  }
  control::Request next;
  next.set_version(2);
  next.mutable_status();
  EXPECT_THAT(Answer(next.SerializeAsString()).at(0).error().message(), HasSubstr("another version"));
}

TEST_F(RequestsTest, EveryBeginningOfARequestIsAnswered) {
  control::Request request = Version1();
  request.mutable_dump()->add_pids(7);
  request.mutable_dump()->add_comms("abc");
  const std::string bytes = request.SerializeAsString();
  for (size_t size = 0; size < bytes.size(); ++size) EXPECT_THAT(Answer(bytes.substr(0, size)), SizeIs(1)) << size;
}

TEST_F(RequestsTest, ADumpHasTheRunningWindowInIt) {
  EXPECT_EQ(BlockedNs(Dump({})), 1u + 1000);
  EXPECT_EQ(BlockedNs(Dump({})), 1u + 2 + 2000);
}

TEST_F(RequestsTest, ADumpOfThePastDoesNotEndTheRunningWindow) {
  control::DumpRequest dump;
  dump.set_until_unix_ns(1);
  EXPECT_THAT(Dump(dump).rows, IsEmpty());
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
  EXPECT_EQ(BlockedNs(Dump({})), 1u + 1000) << "the window of before";
  for (const uint64_t step : {kHour, uint64_t{0} - kHour}) {
    set_by_ns = step;
    const uint64_t now = ReadClocks().unix_ns + set_by_ns;
    control::DumpRequest dump;
    dump.set_since_unix_ns(now - 60'000'000'000);
    const NamedProfile all = Dump(dump);
    EXPECT_GT(all.duration_ns, 1u) << "what was recorded before the step, too, was within the last minute";
    EXPECT_NEAR(static_cast<double>(all.start_unix_ns), static_cast<double>(now), 60e9);
    dump.set_since_unix_ns(now + 60'000'000'000);
    EXPECT_THAT(Dump(dump).rows, IsEmpty());
  }
}

TEST_F(RequestsTest, ADumpCanBeOfSomeProcessesAndThreads) {
  control::DumpRequest dump;
  dump.add_comms("wor*");
  EXPECT_EQ(BlockedNs(Dump(dump)), 1u);
  dump.add_pids(11);
  EXPECT_THAT(Dump(dump).rows, IsEmpty());
  dump.add_pids(10);
  EXPECT_EQ(BlockedNs(Dump(dump)), 1u + 2 + 3);
}

TEST_F(RequestsTest, ACutThatFailsIsTheAnswer) {
  kernel_.refuse_cut = true;
  control::Request request = Version1();
  request.mutable_dump();
  const std::vector<control::Reply> replies = Answer(request.SerializeAsString());
  ASSERT_THAT(replies, SizeIs(1));
  EXPECT_EQ(replies[0].error().message(), "the window could not be cut");
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
  for (int i = 0; i < 20; ++i) dumps.push_back(std::async(std::launch::async, [this] { return Dump({}); }));
  for (auto& dump : dumps) EXPECT_GE(BlockedNs(dump.get()), 1001u);
}

TEST_F(RequestsTest, TheStatusSumsUpTheWindows) {
  Dump({});
  Dump({});
  control::Request request = Version1();
  request.mutable_status();
  const std::vector<control::Reply> replies = Answer(request.SerializeAsString());
  ASSERT_THAT(replies, SizeIs(1));
  const control::Status& status = replies[0].status();
  EXPECT_EQ(status.version(), "1.2");
  EXPECT_EQ(status.intervals(), 4u);
  EXPECT_EQ(status.walks(), 2u);
  EXPECT_EQ(status.processes(), 1u);
  ASSERT_EQ(status.walk_ends_size(), 1);
  EXPECT_EQ(status.walk_ends(0).name(), "complete");
  EXPECT_EQ(status.walk_ends(0).count(), 2u);
  const control::SwitchWalks& walks = status.walks_at_switch();
  EXPECT_EQ(walks.walked(), 14u);
  EXPECT_EQ(walks.summed(), 12u);
  EXPECT_EQ(walks.proven(), 2u);
  ASSERT_EQ(walks.misses_size(), 2);
  EXPECT_EQ(walks.misses(0).name(), "new stack");
  EXPECT_EQ(walks.misses(0).count(), 4u);
  EXPECT_EQ(walks.misses(1).name(), "no row");
  EXPECT_EQ(walks.told_rows(), 30u) << "of two windows the most";
  EXPECT_EQ(walks.told_stacks(), 4u);
  EXPECT_EQ(status.windows(), 0u) << "the first has not ended";
  EXPECT_EQ(status.windows_limit(), 60u);
  EXPECT_EQ(status.window_ns(), 3600'000'000'000u);
  EXPECT_EQ(status.memory_limit_bytes(), 256u << 20);
  EXPECT_GT(status.memory_bytes(), 1u << 20);
  EXPECT_GT(status.cpu_ns(), 0u);
  EXPECT_EQ(status.cost().programs_ns(), 500'000'000u);  // of two windows
  EXPECT_EQ(status.cost().captures_ns(), 1'000'000'000u);
  EXPECT_EQ(status.cost().process_ns(), 250'000'000u);
  EXPECT_EQ(status.cost().host_cpu_ns(), 8'000'000'000u);
  EXPECT_EQ(status.cost().budget_ppm(), 5'000u) << "what it is now, whatever it was in these windows";
  EXPECT_EQ(status.cost().threshold_ns(), 37'000u);
}

}  // namespace
}  // namespace offcpu
