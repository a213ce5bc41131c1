#include "export/answer_meaning.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace offcpu {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;

// As a collector answers.
Judgement Of(long status, std::string body = "") {
  return Judge({.status = status, .body = std::move(body), .content_type = "application/x-protobuf"});
}

TEST(DeliveryTest, ACollectorTakesWithAnEmptyPartialSuccess) {
  const Judgement judgement = Of(200, std::string("\x0a\x00", 2));  // as collector 0.152 answers every success
  EXPECT_EQ(judgement.fate, Fate::kDelivered);
  EXPECT_EQ(judgement.rejected_profiles, 0u);
  EXPECT_EQ(judgement.reason, "");
  for (const long status : {200, 202, 204}) EXPECT_EQ(Of(status).fate, Fate::kDelivered) << status;
}

TEST(DeliveryTest, WhatWasRejectedOfARequestIsNotSentAgain) {
  const std::string body =
      "\x0a\x0a"  // partial_success (field 1), 10 bytes
      "\x08\x03"  // rejected_profiles (field 1): 3
      "\x12\x06"  // error_message (field 2), 6 bytes
      "no\nway";  // in which a line ends
  const Judgement judgement = Of(200, body);
  EXPECT_EQ(judgement.fate, Fate::kDelivered);
  EXPECT_EQ(judgement.rejected_profiles, 3u);
  EXPECT_EQ(judgement.reason, "no?way");
}

TEST(DeliveryTest, AWarningRejectsNothing) {
  const std::string body =
      "\x0a\x04"  // partial_success (field 1), 4 bytes
      "\x12\x02"  // error_message (field 2), 2 bytes
      "hm";
  EXPECT_EQ(Of(200, body).rejected_profiles, 0u);
  EXPECT_EQ(Of(200, body).reason, "hm");
  const std::string negative =
      "\x0a\x0b"                                       // partial_success (field 1), 11 bytes
      "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01";  // rejected_profiles (field 1): -1
  EXPECT_EQ(Of(200, negative).rejected_profiles, 0u);
}

TEST(DeliveryTest, WhoRejectsWithoutAWordIsNotWell) {
  const Judgement judgement = Of(200, "\x0a\x02\x08\x03");  // partial_success {rejected_profiles: 3}
  EXPECT_EQ(judgement.rejected_profiles, 3u);
  EXPECT_EQ(judgement.reason, "profiles were rejected");
  EXPECT_EQ(judgement.kind, "partial success");
}

// The page of a login, a proxy or a web server that is not a collector: it has thrown the request away.
TEST(DeliveryTest, ASuccessThatIsNotOfOtlpIsWorthAnotherTry) {
  const std::string partial("\x0a\x00", 2);
  const std::vector<HttpAnswer> answers = {
      {.status = 200, .body = "<html>OK</html>", .content_type = "text/html"},
      {.status = 200, .body = "<html>OK</html>", .content_type = "application/x-protobuf"},
      {.status = 200, .body = "{}", .content_type = "application/json"},  // of a request that was in JSON
      {.status = 202, .body = "", .content_type = "text/html"},
      {.status = 200, .body = partial},
      {.status = 200, .body = partial, .content_type = "application/x-protobufs"},
      {.status = 200, .body = partial, .is_whole = false, .content_type = "application/x-protobuf"},
  };
  for (const HttpAnswer& answer : answers) {
    const Judgement judgement = Judge(answer);
    EXPECT_EQ(judgement.fate, Fate::kLater) << answer.body;
    EXPECT_EQ(judgement.kind, "not an OTLP answer");
    EXPECT_EQ(judgement.rejected_profiles, 0u);
  }
  EXPECT_EQ(Judge(answers[0]).reason,
            "HTTP 200, but not an OTLP answer: its type is text/html, not application/x-protobuf; is this the URL of a "
            "collector?");
  EXPECT_THAT(Judge(answers[1]).reason, HasSubstr(": it cannot be read;"));
  EXPECT_THAT(Judge(answers[4]).reason, HasSubstr(": its type is missing, not"));
  EXPECT_THAT(Judge(answers[6]).reason, HasSubstr(": it is longer than 1 MiB;"));
}

TEST(DeliveryTest, TheTypeOfASuccessIsThatOfOtlp) {
  const std::string partial("\x0a\x00", 2);
  for (const char* type : {"application/x-protobuf", "Application/X-Protobuf", "application/x-protobuf ; charset=x"})
    EXPECT_EQ(Judge({.status = 200, .body = partial, .content_type = type}).fate, Fate::kDelivered) << type;
  EXPECT_EQ(Judge({.status = 200}).fate, Fate::kDelivered) << "no bytes are the empty message, and need no type";
}

// The specification's list; what real servers answered is in it too: 415 and 405 of a wrong request, 400 of one that is
// too large or that they do not like, 500 of one that they do not understand.
TEST(DeliveryTest, OnlyFourAnswersAreWorthAnotherTry) {
  for (const long status : {429, 502, 503, 504}) EXPECT_EQ(Of(status).fate, Fate::kLater) << status;
  for (const long status : {301, 307, 400, 401, 403, 404, 405, 408, 413, 415, 418, 500, 501, 505})
    EXPECT_EQ(Of(status).fate, Fate::kRefused) << status;
}

TEST(DeliveryTest, ARefusalMayBeOfAPart) {
  for (const long status : {400, 413, 422, 500}) EXPECT_TRUE(Of(status).may_be_of_a_part) << status;
  for (const long status : {200, 301, 401, 403, 404, 405, 415, 503})
    EXPECT_FALSE(Of(status).may_be_of_a_part) << status;
}

// As Pyroscope does, which then has the others.
TEST(DeliveryTest, AnAnswerMayNameWhatItIsOf) {
  const std::string of_two =
      "failed to make a GRPC request: 2 errors: push series with index 12 and id a failed: invalid metric name; "
      "push series with index 3 and id b failed: invalid labels";
  EXPECT_THAT(Of(400, of_two).refused_profiles, testing::ElementsAre(12, 3));
  EXPECT_THAT(Of(400, "push series with index x").refused_profiles, testing::IsEmpty());
  EXPECT_THAT(Of(429, of_two).refused_profiles, testing::ElementsAre(12, 3)) << "only they come again";
  EXPECT_THAT(Judge({.status = 400, .body = of_two, .is_whole = false}).refused_profiles, testing::IsEmpty())
      << "there may be more";
}

// Each profile has an error of its own, with the status of one of them. What its labels say is not the error.
TEST(DeliveryTest, AnAnswerMayNameWhatItHasNoRoomForNow) {
  const Judgement judgement =
      Of(400,
         "4 errors: push series with index 4 and id a failed: resource_exhausted: push rate limit (4MB) exceeded; "
         "push series with index 0 and id b failed: invalid_argument: profile with labels "
         "'{service_name=\"a failed: unavailable\"}' has no label; push series with index 2 and id c failed: "
         "unavailable: no ingester; push series with index 1 and id d failed");
  EXPECT_THAT(judgement.refused_profiles, testing::ElementsAre(4, 0, 2, 1));
  EXPECT_THAT(judgement.limited_profiles, testing::ElementsAre(4, 2));
}

TEST(DeliveryTest, NoAnswerIsWorthAnotherTry) {
  const Judgement judgement = Judge({.error = "Couldn't connect"});
  EXPECT_EQ(judgement.fate, Fate::kLater);
  EXPECT_EQ(judgement.reason, "Couldn't connect");
  EXPECT_EQ(judgement.kind, "no answer");
}

TEST(DeliveryTest, AReasonIsOneShortLine) {
  EXPECT_EQ(Of(503).reason, "HTTP 503");
  EXPECT_EQ(Of(400, "request body too large").reason, "HTTP 400: request body too large");
  EXPECT_EQ(Of(400, "request body too large").kind, "HTTP 400") << "in no words of others";
  EXPECT_EQ(Of(400, "a\nb\x1b[31m").reason, "HTTP 400: a?b?[31m");
  EXPECT_EQ(Of(400, "\x12\x95\x01").reason, "HTTP 400: ?\xef\xbf\xbd?") << "a Status message begins like that";
  EXPECT_EQ(Of(400, std::string(299, 'x') + "\xc3\xa9").reason, "HTTP 400: " + std::string(299, 'x') + "\xef\xbf\xbd");
  EXPECT_LE(Of(400, std::string(10'000, 'x')).reason.size(), 400u);
}

TEST(DeliveryTest, TheServerSaysWhenButNotForEver) {
  EXPECT_EQ(Judge({.status = 503, .retry_after = seconds(7)}).retry_after, seconds(7));
  EXPECT_EQ(Judge({.status = 429, .retry_after = seconds(1'000'000)}).retry_after, seconds(3600));
  EXPECT_EQ(Judge({.status = 503}).retry_after, std::nullopt);
}

TEST(BackoffTest, GrowsByHalfUpToALimitAndVariesByHalf) {
  Backoff backoff({.first = milliseconds(1000), .most = milliseconds(3000)});
  EXPECT_EQ(backoff.Next(0.5), milliseconds(1000));
  EXPECT_EQ(backoff.Next(0), milliseconds(750));  // half of 1500
  EXPECT_EQ(backoff.Next(0.5), milliseconds(2250));
  EXPECT_EQ(backoff.Next(0.5), milliseconds(3000));   // not 3375
  EXPECT_EQ(backoff.Next(0.75), milliseconds(3750));  // one and a quarter of it
  backoff.Reset();
  EXPECT_EQ(backoff.Next(0.5), milliseconds(1000));
}

}  // namespace
}  // namespace offcpu
