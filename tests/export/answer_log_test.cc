#include "export/answer_log.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace offcpu {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::SizeIs;
using ::testing::StartsWith;

class AnswerLogTest : public testing::Test {
 protected:
  void Add(Judgement judgement, AnswerLog::Clock::duration at = {}) {
    log_.Add(judgement, AnswerLog::Clock::time_point() + hours(1) + at);
  }
  static Judgement Good() { return {.fate = Fate::kDelivered}; }
  static Judgement Later(const std::string& words) { return {.kind = "HTTP 503", .reason = "HTTP 503: " + words}; }
  static Judgement Refusal(const std::string& what, const std::string& words) {
    return {.fate = Fate::kRefused,
            .may_be_of_a_part = true,
            .what = what,
            .kind = "HTTP 400",
            .reason = "HTTP 400: " + words};
  }

  std::vector<std::string> said_;
  AnswerLog log_{"http://c", [this](bool is_bad, const std::string& line) {
                   said_.push_back((is_bad ? "bad: " : "good: ") + line);
                 }};
};

TEST_F(AnswerLogTest, AKindIsSaidOnceUntilWindowsArriveAgain) {
  Add(Good());
  Add(Later("busy with 1"));
  Add(Later("busy with 2"), hours(1));
  Add(Good(), hours(2));
  Add(Good(), hours(3));
  Add(Later("busy with 3"), hours(4));
  EXPECT_THAT(said_,
              ElementsAre("bad: http://c accepts no windows at the moment; they are kept: HTTP 503: busy with 1",
                          "good: windows reach http://c again",
                          "bad: http://c accepts no windows at the moment; they are kept: HTTP 503: busy with 3"));
}

TEST_F(AnswerLogTest, KindsAreApart) {
  Add({.kind = "no answer", .reason = "Couldn't connect"});
  Add({.kind = "not an OTLP answer", .reason = "HTTP 200, but not an OTLP answer"});
  EXPECT_THAT(said_, SizeIs(2));
}

// A collector that takes every other request.
TEST_F(AnswerLogTest, AKindIsSaidOnceAMinute) {
  for (int s = 0; s < 120; s += 2) {
    Add(Later("busy"), seconds(s));
    Add(Good(), seconds(s + 1));
  }
  EXPECT_THAT(said_, ElementsAre(StartsWith("bad: "), StartsWith("good: "), StartsWith("bad: "), StartsWith("good: ")));
}

TEST_F(AnswerLogTest, WhatIsSaidLastIsTrueAMinuteLater) {
  Add(Later("busy"));
  Add(Good(), seconds(59));
  Add(Later("busy"), seconds(60));
  Add(Good(), seconds(61));
  EXPECT_THAT(said_, SizeIs(3)) << "that windows arrive again was said two seconds ago";
  Add(Good(), seconds(119));
  EXPECT_THAT(said_, ElementsAre(StartsWith("bad: "), StartsWith("good: "), StartsWith("bad: "), StartsWith("good: ")));
}

TEST_F(AnswerLogTest, WhatIsRefusedOfWindowsThatArriveIsSaidOnceAnHourWithoutNames) {
  for (int window = 0; window < 90; ++window) {
    Add({.fate = Fate::kDivided, .may_be_of_a_part = true, .kind = "HTTP 400", .reason = "HTTP 400: bad"},
        minutes(window));
    Add(Good(), minutes(window));
    Add(Refusal("off_cpu of a", "no " + std::to_string(window)), minutes(window));
    Add(Refusal("off_cpu of b", "no " + std::to_string(window)), minutes(window));
  }
  EXPECT_THAT(said_, ElementsAre("bad: http://c refuses a window; its profiles are now sent one by one: HTTP 400: bad",
                                 "bad: http://c refuses a window: HTTP 400: no 0",
                                 "bad: http://c refuses a window; its profiles are now sent one by one: HTTP 400: bad",
                                 "bad: http://c refuses a window: HTTP 400: no 60"));
}

TEST_F(AnswerLogTest, StatusesThatAreNewEachTimeDoNotFillALog) {
  for (int status = 300; status < 1000; ++status)
    Add({.fate = Fate::kRefused, .kind = std::to_string(status), .reason = "no"});
  EXPECT_THAT(said_, SizeIs(AnswerLog::kMostKinds));
  Add(Good(), minutes(1));
  EXPECT_EQ(said_.back(), "good: windows reach http://c again");
}

}  // namespace
}  // namespace offcpu
