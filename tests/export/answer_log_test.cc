#include "export/answer_log.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace offcpu {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using ::testing::ElementsAre;
using ::testing::SizeIs;

class AnswerLogTest : public testing::Test {
 protected:
  void Add(Judgement judgement, AnswerLog::Clock::duration at = {}) {
    log_.Add(judgement, AnswerLog::Clock::time_point() + hours(1) + at);
  }
  static Judgement Refusal(const std::string& what, const std::string& reason) {
    return {.fate = Fate::kRefused, .may_be_of_a_part = true, .what = what, .reason = reason};
  }

  std::vector<std::string> said_;
  AnswerLog log_{"http://c", [this](bool is_bad, const std::string& line) {
                   said_.push_back((is_bad ? "bad: " : "good: ") + line);
                 }};
};

TEST_F(AnswerLogTest, AKindIsSaidOnceUntilWindowsArriveAgain) {
  const Judgement good = {.fate = Fate::kDelivered};
  Add(good);
  for (const char* reason : {"HTTP 503: busy with 1", "HTTP 503: busy with 2"}) Add({.reason = reason});
  Add(good);
  Add(good);
  Add({.reason = "HTTP 503: busy with 3"});
  EXPECT_THAT(said_, ElementsAre("bad: http://c does not take windows, which are kept: HTTP 503: busy with 1",
                                 "good: windows reach http://c again",
                                 "bad: http://c does not take windows, which are kept: HTTP 503: busy with 3"));
}

TEST_F(AnswerLogTest, WhatIsRefusedOfWindowsThatArriveIsSaidOnceAnHour) {
  for (int window = 0; window < 90; ++window) {
    Add({.fate = Fate::kDivided, .may_be_of_a_part = true, .reason = "HTTP 400: bad"}, minutes(window));
    Add({.fate = Fate::kDelivered}, minutes(window));
    Add(Refusal("off_cpu of a", "HTTP 400: no " + std::to_string(window)), minutes(window));
    Add(Refusal("off_cpu of b", "HTTP 400: no " + std::to_string(window)), minutes(window));
  }
  EXPECT_THAT(said_, ElementsAre("bad: http://c refuses a window, whose profiles are sent one by one: HTTP 400: bad",
                                 "bad: http://c refuses a window: off_cpu of a: HTTP 400: no 0",
                                 "bad: http://c refuses a window: off_cpu of b: HTTP 400: no 0",
                                 "bad: http://c refuses a window, whose profiles are sent one by one: HTTP 400: bad",
                                 "bad: http://c refuses a window: off_cpu of a: HTTP 400: no 61",
                                 "bad: http://c refuses a window: off_cpu of b: HTTP 400: no 61"));
}

TEST_F(AnswerLogTest, NamesThatAreNewEachTimeDoNotFillALog) {
  for (int i = 0; i < 1000; ++i) Add(Refusal("off_cpu of " + std::to_string(i), "HTTP 400"));
  EXPECT_THAT(said_, SizeIs(100));
}

}  // namespace
}  // namespace offcpu
