#include "export/refusals.h"

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "otlp_windows.h"

namespace offcpu {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

SpoolRecord RecordOf(uint32_t programs, uint32_t part = 0, uint32_t parts = 1) {
  return {.start_unix_ns = 7,
          .duration_ns = 1'000'000'007,
          .part = part,
          .parts = parts,
          .body = RequestOfPrograms(programs)};
}

TEST(RefusalsTest, WhatIsNotRefusedIsLeftAlone) {
  Refusals refusals;
  EXPECT_EQ(refusals.OnAnswer(RecordOf(3), {.status = 200}).judgement.fate, Fate::kDelivered);
  EXPECT_EQ(refusals.OnAnswer(RecordOf(3), {.status = 503}).judgement.fate, Fate::kLater);
  EXPECT_THAT(refusals.OnAnswer(RecordOf(3), {.status = 503}).parts, IsEmpty());
}

TEST(RefusalsTest, ARequestIsDividedIntoItsProfiles) {
  const SpoolRecord record = RecordOf(3, 1, 2);
  Refusals refusals;
  const Refusals::Verdict verdict = refusals.OnAnswer(record, {.status = 400, .body = "bad"});
  EXPECT_EQ(verdict.judgement.fate, Fate::kDivided);
  EXPECT_THAT(verdict.types, IsEmpty());
  ASSERT_THAT(verdict.parts, SizeIs(3));
  uint64_t share_ns = 0;
  for (const SpoolRecord& part : verdict.parts) {
    EXPECT_EQ(RequestParts::Parse(part.body)->profiles(), 1u);
    EXPECT_EQ(part.start_unix_ns, record.start_unix_ns);
    share_ns += ShareOfWindowNs(part.duration_ns, part.part, part.parts);
  }
  EXPECT_EQ(share_ns, ShareOfWindowNs(record.duration_ns, 1, 2));
}

TEST(RefusalsTest, ManyProfilesAreDividedInSteps) {
  Refusals refusals;
  const std::vector<SpoolRecord> parts = refusals.OnAnswer(RecordOf(150), {.status = 500}).parts;
  ASSERT_THAT(parts, SizeIs(Refusals::kMostParts));
  size_t profiles = 0;
  for (const SpoolRecord& part : parts) profiles += RequestParts::Parse(part.body)->profiles();
  EXPECT_EQ(profiles, 150u);
  EXPECT_THAT(refusals.OnAnswer(parts[0], {.status = 500}).parts, SizeIs(2));
}

TEST(RefusalsTest, OneProfileIsRefusedForGoodAndNamed) {
  Refusals refusals;
  const Refusals::Verdict verdict = refusals.OnAnswer(RecordOf(1), {.status = 400, .body = "bad"});
  EXPECT_EQ(verdict.judgement.fate, Fate::kRefused);
  EXPECT_THAT(verdict.types, ElementsAre("off_cpu"));
  EXPECT_EQ(ReasonOf(verdict.judgement), "off_cpu of program-a: HTTP 400: bad");
}

TEST(RefusalsTest, ARefusalThatIsNotOfTheContentIsOfAll) {
  Refusals refusals;
  const Refusals::Verdict verdict = refusals.OnAnswer(RecordOf(3), {.status = 404});
  EXPECT_EQ(verdict.judgement.fate, Fate::kRefused);
  EXPECT_THAT(verdict.parts, IsEmpty());
  EXPECT_THAT(verdict.types, SizeIs(3));
}

TEST(RefusalsTest, WhatTheServerHasKeptIsNotSentAgain) {
  Refusals refusals;
  const std::string body = "push series with index 1 and id x failed; push series with index 77 and id y failed";
  const Refusals::Verdict verdict = refusals.OnAnswer(RecordOf(3), {.status = 400, .body = body});
  EXPECT_EQ(verdict.judgement.fate, Fate::kDelivered);
  EXPECT_EQ(verdict.judgement.rejected_profiles, 1u);
  EXPECT_EQ(verdict.judgement.rejected_ns, 1'000'000'007 / 3);
  EXPECT_EQ(verdict.judgement.what, "off_cpu of program-b");
  EXPECT_THAT(verdict.types, ElementsAre("off_cpu"));
  EXPECT_THAT(verdict.parts, IsEmpty());
}

// Pyroscope has a limit of bytes a second for each tenant: what comes until it is reached is kept.
TEST(RefusalsTest, OnlyWhatIsNamedComesAgainLater) {
  const SpoolRecord record = RecordOf(4, 1, 2);
  Refusals refusals;
  const std::string body =
      "2 errors: push series with index 1 and id x failed: resource_exhausted: push rate limit (4MB) exceeded; "
      "push series with index 3 and id y failed: resource_exhausted: push rate limit (4MB) exceeded";
  const Refusals::Verdict verdict =
      refusals.OnAnswer(record, {.status = 429, .body = body, .retry_after = std::chrono::seconds(7)});
  EXPECT_EQ(verdict.judgement.fate, Fate::kRestLater);
  EXPECT_EQ(verdict.judgement.retry_after, std::chrono::seconds(7));
  EXPECT_EQ(verdict.judgement.rejected_profiles, 0u);
  EXPECT_THAT(verdict.types, IsEmpty());
  ASSERT_THAT(verdict.parts, SizeIs(2));
  EXPECT_EQ(RequestParts::Parse(verdict.parts[0].body)->Name(0), "off_cpu of program-b");
  EXPECT_EQ(RequestParts::Parse(verdict.parts[1].body)->Name(0), "off_cpu of program-d");
  for (const SpoolRecord& part : verdict.parts) {
    EXPECT_EQ(RequestParts::Parse(part.body)->profiles(), 1u);
    EXPECT_EQ(part.parts, 8u) << "a fourth of a half";
  }
  EXPECT_EQ(verdict.parts[0].part, 5u);
  EXPECT_EQ(verdict.parts[1].part, 7u);
}

TEST(RefusalsTest, OfManyProfilesOnlyTheNamedComeAgainLater) {
  Refusals refusals;
  const std::string body = "push series with index 148 and id x failed; push series with index 4 and id y failed";
  const std::vector<SpoolRecord> parts = refusals.OnAnswer(RecordOf(150), {.status = 429, .body = body}).parts;
  ASSERT_THAT(parts, SizeIs(2));
  for (const SpoolRecord& part : parts) EXPECT_EQ(RequestParts::Parse(part.body)->profiles(), 1u);
}

TEST(RefusalsTest, WhereAllOrNoneAreNamedAllComesAgainLater) {
  const std::string all = "push series with index 0 and id x failed; push series with index 1 and id y failed";
  for (const std::string& body : {all, std::string("push series with index 2 and id x failed"), std::string("no")}) {
    Refusals refusals;
    const Refusals::Verdict verdict = refusals.OnAnswer(RecordOf(2), {.status = 429, .body = body});
    EXPECT_EQ(verdict.judgement.fate, Fate::kLater) << body;
    EXPECT_THAT(verdict.parts, IsEmpty()) << body;
  }
}

TEST(RefusalsTest, WhereAllAreNamedAllAreRefused) {
  Refusals refusals;
  const std::string body = "push series with index 0 and id x failed; push series with index 1 and id y failed";
  const Refusals::Verdict verdict = refusals.OnAnswer(RecordOf(2), {.status = 400, .body = body});
  EXPECT_EQ(verdict.judgement.fate, Fate::kRefused);
  EXPECT_THAT(verdict.types, ElementsAre("off_cpu", "off_cpu"));
}

std::string Failed(const std::string& index, const std::string& error) {
  return "push series with index " + index + " and id x failed: " + error + "; ";
}

// The status is that of the profile that is bad; there is no room for the others now.
TEST(RefusalsTest, ABadProfileDoesNotCostThoseThatThereIsNoRoomFor) {
  Refusals refusals;
  const std::string limit = "resource_exhausted: push rate limit (4MB) exceeded";
  const std::string body = Failed("0", limit) + Failed("1", "invalid_argument: bad labels") + Failed("2", limit);
  const Refusals::Verdict verdict = refusals.OnAnswer(RecordOf(4), {.status = 400, .body = body});
  EXPECT_EQ(verdict.judgement.fate, Fate::kRestLater);
  EXPECT_EQ(verdict.judgement.rejected_profiles, 1u);
  EXPECT_EQ(verdict.judgement.rejected_ns, 1'000'000'007 / 4);
  EXPECT_EQ(verdict.judgement.what, "off_cpu of program-b");
  EXPECT_THAT(verdict.types, ElementsAre("off_cpu"));
  ASSERT_THAT(verdict.parts, SizeIs(2));
  EXPECT_EQ(RequestParts::Parse(verdict.parts[0].body)->Name(0), "off_cpu of program-a");
  EXPECT_EQ(RequestParts::Parse(verdict.parts[1].body)->Name(0), "off_cpu of program-c");
}

TEST(RefusalsTest, WhereThereIsNoRoomForAnyAllComesAgainLater) {
  Refusals refusals;
  const std::string body = Failed("0", "resource_exhausted: x") + Failed("1", "unavailable: y");
  const Refusals::Verdict verdict = refusals.OnAnswer(RecordOf(2), {.status = 400, .body = body});
  EXPECT_EQ(verdict.judgement.fate, Fate::kLater);
  EXPECT_EQ(verdict.judgement.rejected_profiles, 0u);
  EXPECT_THAT(verdict.parts, IsEmpty());
  EXPECT_THAT(verdict.types, IsEmpty());
}

// partial_success {rejected_profiles: `rejected`}, a varint.
HttpAnswer Rejecting(const std::string& rejected) {
  std::string body = "\x0a";
  body += static_cast<char>(rejected.size() + 1);
  body += "\x08" + rejected;
  return {.status = 200, .body = body, .content_type = "application/x-protobuf"};
}

TEST(RefusalsTest, NoMoreProfilesAreRejectedThanWereSent) {
  const std::string all_of_int64 = std::string(8, '\xff') + "\x7f";  // 2^63 - 1
  for (const std::string& rejected : {std::string("\x04"), all_of_int64}) {
    Refusals refusals;
    const Judgement judgement = refusals.OnAnswer(RecordOf(3, 1, 2), Rejecting(rejected)).judgement;
    EXPECT_EQ(judgement.fate, Fate::kDelivered);
    EXPECT_EQ(judgement.rejected_profiles, 3u);
    EXPECT_EQ(judgement.rejected_ns, ShareOfWindowNs(1'000'000'007, 1, 2));
    EXPECT_EQ(judgement.reason, "profiles were rejected (more profiles than were sent)");
  }
  Refusals refusals;
  const Judgement judgement = refusals.OnAnswer(RecordOf(3), Rejecting("\x03")).judgement;
  EXPECT_EQ(judgement.rejected_profiles, 3u);
  EXPECT_EQ(judgement.reason, "profiles were rejected");
}

TEST(RefusalsTest, AServerThatRefusesWhateverItGetsIsNotAskedForParts) {
  Refusals refusals;
  size_t divided = 0;
  for (int i = 0; i < 100; ++i) divided += refusals.OnAnswer(RecordOf(2), {.status = 400}).parts.empty() ? 0 : 1;
  EXPECT_EQ(divided, Refusals::kMostInARow);
  refusals.OnAnswer(RecordOf(2), {.status = 200});
  EXPECT_THAT(refusals.OnAnswer(RecordOf(2), {.status = 400}).parts, SizeIs(2));
}

TEST(RefusalsTest, ADamagedRecordIsRefusedWhole) {
  Refusals refusals;
  SpoolRecord record = RecordOf(3);
  record.body = "\x0a\xff";
  const Refusals::Verdict verdict = refusals.OnAnswer(record, {.status = 400});
  EXPECT_EQ(verdict.judgement.fate, Fate::kRefused);
  EXPECT_THAT(verdict.parts, IsEmpty());
}

}  // namespace
}  // namespace offcpu
