// OTLP requests at their limit, and what all requests of a window say together.
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "otlp/otlp.h"
#include "otlp_checker.h"
#include "otlp_reader.h"
#include "otlp_requests.h"
#include "otlp_to_pprof.h"
#include "profile/lost_stacks.h"
#include "tests/pprof/pprof_texts.h"
#include "tests/profile/frame_lines.h"
#include "tests/profile/recorded_profile.h"

namespace offcpu {
namespace {

using ::testing::Pair;
using ::testing::UnorderedElementsAre;

// Every row has frames of its own.
RecordedProfile Many(int rows) {
  RecordedProfile many = OneReader();
  for (int i = 0; i < rows; ++i) {
    const uint64_t address = 0x10000 + 16 * static_cast<uint64_t>(i);
    const std::string name = "function_" + std::to_string(i);
    const uint32_t user = many.AddUser({many.Native({many.app, address, FrameSource::kRegisters, true}, name, "app")});
    if (i % 100 == 0) many.AddProcess({100 + i, 1, 1}, "process");
    many.profile.rows.push_back(
        {{{static_cast<uint32_t>(many.profile.processes.size() - 1), 0, 0, 0, user, WaitKind::kSleeping, kNoSystemCall},
          {1, 1'000'000'000 + address, 7, 1'000}}});
  }
  return many;
}

TEST(OtlpLimitTest, ARequestIsFilledToItsLimit) {
  const RecordedProfile many = Many(300);
  const std::vector<std::string> whole = RequestsOf(many);
  ASSERT_EQ(whole.size(), 1u);
  CheckOtlp(whole);
  OtlpOptions options = Everything();
  options.max_bytes = whole[0].size();
  EXPECT_EQ(RequestsOf(many, options), whole);
  --options.max_bytes;
  const std::vector<std::string> split = RequestsOf(many, options);
  EXPECT_EQ(split.size(), 2u);
  CheckOtlp(split);
  EXPECT_EQ(SumsOf(split), SumsOf(whole));
}

TEST(OtlpLimitTest, ManyRequestsAddUpToTheWindow) {
  const RecordedProfile many = Many(3000);
  const std::vector<std::string> whole = RequestsOf(many);
  for (size_t max_bytes : {kMinOtlpBytes, kMinOtlpBytes + 1, kMinOtlpBytes + 77, size_t{100'000}}) {
    OtlpOptions options = Everything();
    options.max_bytes = max_bytes;
    const std::vector<std::string> requests = RequestsOf(many, options);
    EXPECT_GT(requests.size(), whole[0].size() / max_bytes);
    for (const std::string& request : requests) EXPECT_LE(request.size(), max_bytes);
    // All but the last are full but for one row, which here is less than 600 bytes if it begins a process.
    for (size_t i = 0; i + 2 < requests.size(); ++i) EXPECT_GT(requests[i].size(), max_bytes - 600);
    CheckOtlp(requests);
    EXPECT_EQ(SumsOf(requests), SumsOf(whole));
    EXPECT_EQ(PprofTextsOf(requests), PprofTexts(PprofOf(OfSums(many.profile))));
  }
}

TEST(OtlpLimitTest, AStackThatFitsNoRequestIsNamed) {
  RecordedProfile many = Many(10);
  const std::string huge(kMinOtlpBytes, 'x');
  many.profile.user_stacks[5].frames[0].lines = Line(huge);
  OtlpOptions options = Everything();
  options.max_bytes = kMinOtlpBytes;
  const std::vector<std::string> requests = RequestsOf(many, options);
  CheckOtlp(requests);
  EXPECT_EQ(SumsOf(requests), SumsOf(RequestsOf(many)));
  int found = 0;
  for (const std::string& request : requests) {
    EXPECT_LE(request.size(), options.max_bytes);
    const OtlpReader reader(request);
    const otlp::Profile* profile = Find(reader, 0, "off_cpu/nanoseconds");
    if (profile == nullptr) continue;
    for (const otlp::Sample& sample : profile->samples()) {
      if (reader.Functions(sample) != std::vector<std::string>{"[too large]"}) continue;
      ++found;
      EXPECT_THAT(
          reader.Attributes(sample.attribute_indices()),
          UnorderedElementsAre(Pair("thread.name", "worker"), Pair("offcpu.kind", "sleeping"),
                               Pair("offcpu.cause", "pipe"), Pair("offcpu.wait", "pipe"),
                               Pair("offcpu.no_user_stack", "too large"), Pair("offcpu.no_kernel_stack", "too large")));
    }
  }
  EXPECT_EQ(found, 1);
}

TEST(OtlpLimitTest, ARowThatFitsNoRequestIsLostAndTold) {
  RecordedProfile many = Many(10);
  many.profile.comms.push_back(std::string(kMinOtlpBytes, 'x'));
  many.profile.rows[4].comm = 1;
  many.profile.rows[4].count = 3;
  many.profile.rows[4].runnable_ns = 100;
  for (const bool with_phase : {false, true}) {
    OtlpOptions options = Everything();
    options.max_bytes = kMinOtlpBytes;
    if (with_phase) options.labels.other.set();
    std::vector<std::string> requests;
    const Loss lost = WriteOtlp(many.profile, options, [&](std::string request) { requests.push_back(request); });
    CheckOtlp(requests);
    std::map<std::string, int64_t> sums = SumsOf(requests);
    const std::map<std::string, int64_t> all = SumsOf(RequestsOf(many));
    EXPECT_EQ(lost.reason, "larger than a request");
    EXPECT_EQ(lost.count, 3u);
    EXPECT_EQ(lost.ns, many.profile.rows[4].total_ns());
    EXPECT_EQ(sums["off_cpu/nanoseconds"] + static_cast<int64_t>(lost.ns), all.at("off_cpu/nanoseconds"));
  }
}

TEST(OtlpLimitTest, AProfileHasNoMoreSamplesThanItMay) {
  const RecordedProfile many = Many(50);
  OtlpOptions options = Everything();
  options.max_samples = 7;
  const std::vector<std::string> requests = RequestsOf(many, options);
  CheckOtlp(requests);
  for (const std::string& request : requests) {
    const OtlpReader reader(request);
    for (const auto& resource : reader.message().resource_profiles()) {
      for (const otlp::Profile& profile : resource.scope_profiles(0).profiles()) EXPECT_LE(profile.samples_size(), 7);
    }
  }
  EXPECT_EQ(SumsOf(requests), SumsOf(RequestsOf(many)));
}

TEST(OtlpLimitTest, AWakerThatIsTooMuchLeavesTheStackOfTheWait) {
  RecordedProfile one = OneReader();
  const uint32_t huge = one.AddComm(std::string(kMinOtlpBytes, 'x'));
  one.profile.wakers.push_back({{.comm = huge, .kernel_stack = 0, .user_stack = 0}});
  one.profile.rows[0].waker = 1;
  OtlpOptions options = Everything();
  options.max_bytes = kMinOtlpBytes;
  const std::vector<std::string> requests = RequestsOf(one, options);
  CheckOtlp(requests);
  const std::string all = absl::StrJoin(requests, "");
  EXPECT_NE(all.find("pipe_read"), std::string::npos);
  EXPECT_NE(all.find("too large"), std::string::npos);
  EXPECT_EQ(all.find("xxxx"), std::string::npos);
}

TEST(OtlpLimitTest, CommentsThatFillSeveralRequests) {
  RecordedProfile many = RecordedProfile::All();
  for (int i = 0; i < 2000; ++i) many.profile.ledger.push_back({0, 20 + i, "thread", 10, 1, 2, 3, 4});
  OtlpOptions options = Everything();
  options.max_bytes = kMinOtlpBytes;
  const std::vector<std::string> requests = RequestsOf(many, options);
  EXPECT_GT(requests.size(), 4u);
  CheckOtlp(requests);
  for (const std::string& request : requests) EXPECT_LE(request.size(), options.max_bytes);
  EXPECT_EQ(PprofTextsOf(requests), PprofTexts(PprofOf(OfSums(many.profile))));
  EXPECT_EQ(SumsOf(requests)["recording/nanoseconds"], 5'000'000'001);
}

TEST(OtlpRoundTripTest, NothingThatPprofTellsIsMissing) {
  for (const RecordedProfile& all : {RecordedProfile::All(), RecordedProfile::WithSamples()}) {
    EXPECT_EQ(PprofTextsOf(RequestsOf(all)), PprofTexts(PprofOf(OfSums(all.profile))));
  }
}

// Both formats say only that they were lost: OTLP adds up what it says the same of, and pprof does not.
TEST(OtlpRoundTripTest, KernelStacksThatWereLostAreOne) {
  RecordedProfile all = RecordedProfile::All();
  for (int i = 0; i < 3; ++i) {
    all.profile.kernel_stacks.emplace_back().id = 100 + static_cast<uint64_t>(i);
    NamedRow row = all.profile.rows[0];
    row.kernel_stack = static_cast<uint32_t>(all.profile.kernel_stacks.size() - 1);
    all.profile.rows.push_back(std::move(row));
  }
  EXPECT_NE(PprofTextsOf(RequestsOf(all)), PprofTexts(PprofOf(OfSums(all.profile))));
  JoinLostStacks(all.profile);
  EXPECT_EQ(PprofTextsOf(RequestsOf(all)), PprofTexts(PprofOf(OfSums(all.profile))));
}

}  // namespace
}  // namespace offcpu
