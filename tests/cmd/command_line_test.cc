#include "offcpu/command_line.h"

#include <cstdint>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace offcpu {
namespace {

// Two verbs that take one of each kind of flag.
class CommandLineTest : public testing::Test {
 protected:
  int Run(const std::vector<std::string>& arguments) {
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    const int code = RunCommandLine(arguments, verbs_);
    output_ = testing::internal::GetCapturedStdout();
    errors_ = testing::internal::GetCapturedStderr();
    return code;
  }

  bool fast_ = false;
  bool slow_ = false;
  int number_ = 0;
  uint32_t hz_ = 0;
  uint64_t count_ = 0;
  std::string unit_ = "us";
  std::vector<std::string> files_;
  std::vector<std::string> states_;
  std::string seconds_;
  std::vector<std::string> command_;
  int runs_ = 0;
  std::string output_;
  std::string errors_;

  const std::vector<Verb> verbs_ = {
      {.name = "record",
       .help = "Records",
       .footer = "The end.",
       .flags = {{"--fast", &fast_, "Fast"},
                 {"--slow", &slow_, "Slow", "", {.excludes = "--fast"}},
                 {"--hz", &hz_, "So often", "HZ", {.min = 1, .max = 1000}},
                 {"-n,--count", &count_, "So many", "COUNT", {.min = 1}},
                 {"--unit", &unit_, "Of time", "UNIT", {.one_of = {"us", "ns"}, .shows_default = true}},
                 {"-o,--output", &files_, "Into", "FILE"},
                 {"--state", &states_, "Which", "STATE", {.separator = ','}},
                 {"SECONDS", &seconds_, "How long"}},
       .run =
           [this] {
             ++runs_;
             return kExitCannotRun;
           },
       .command = &command_},
      {.name = "look",
       .help = "Looks",
       .footer = {},
       .flags = {{"NUMBER", &number_, "At", "", {.is_required = true}}},
       .run = [] { return kExitOk; }},
  };
};

TEST_F(CommandLineTest, FillsTheValuesAndReturnsWhatTheVerbDoes) {
  EXPECT_EQ(Run({"record", "--fast", "--hz", "1000", "-n", "18446744073709551615", "--unit=ns", "--state", "S,D"}),
            kExitCannotRun);
  EXPECT_EQ(runs_, 1);
  EXPECT_TRUE(fast_);
  EXPECT_EQ(hz_, 1000u);
  EXPECT_EQ(count_, UINT64_MAX);
  EXPECT_EQ(unit_, "ns");
  EXPECT_EQ(states_, std::vector<std::string>({"S", "D"}));
  EXPECT_EQ(Run({"look", "12"}), kExitOk);
  EXPECT_EQ(number_, 12);
  EXPECT_EQ(errors_, "");
}

TEST_F(CommandLineTest, AFlagOfAListTakesOneValueAtATime) {
  Run({"record", "-o", "a", "5", "-o", "b"});
  EXPECT_EQ(files_, std::vector<std::string>({"a", "b"}));
  EXPECT_EQ(seconds_, "5");
}

TEST_F(CommandLineTest, WrongUseIsOneLineAndRunsNothing) {
  const std::vector<std::vector<std::string>> wrong = {{"record", "--hz", "0"},
                                                       {"record", "--hz", "1001"},
                                                       {"record", "-n", "0"},
                                                       {"record", "-n", "-1"},
                                                       {"record", "-n", "many"},
                                                       {"record", "--fast", "--slow"},
                                                       {"look"},
                                                       {"look", "x"},
                                                       {"record", "--unit=s"},
                                                       {"record", "5", "and another"},
                                                       {"record", "--never"},
                                                       {"else"},
                                                       {"look", "12", "--", "command"},
                                                       {"record", "--"}};
  for (const std::vector<std::string>& arguments : wrong) {
    const std::string said = arguments.empty() ? "nothing" : arguments.front() + " " + arguments.back();
    EXPECT_EQ(Run(arguments), kExitUsage) << said;
    EXPECT_EQ(errors_.rfind("offcpu: ", 0), 0u) << said << ": " << errors_;
    EXPECT_EQ(errors_.find('\n'), errors_.size() - 1) << said;
    EXPECT_EQ(output_, "") << said;
  }
  EXPECT_EQ(runs_, 0);
}

TEST_F(CommandLineTest, SaysWhatIsWrongAndWhereToReadMore) {
  Run({"record", "-n", "0"});
  EXPECT_EQ(errors_, "offcpu: --count: must be 1 or more; see offcpu record --help\n");
  Run({"record", "--"});
  EXPECT_EQ(errors_, "offcpu: no command follows --; see offcpu record --help\n");
  Run({"look", "1", "--", "true"});
  EXPECT_EQ(errors_, "offcpu: only record runs a command; see offcpu look --help\n");
}

TEST_F(CommandLineTest, AVerbThatIsNearlyOneIsNamed) {
  for (const char* typed : {"recrod", "rcord", "reccord", "recort", "ecrord"}) {
    EXPECT_EQ(Run({typed, "--fast", "5"}), kExitUsage);
    EXPECT_EQ(errors_, "offcpu: no verb '" + std::string(typed) + "' (did you mean record?); see offcpu --help\n");
  }
  Run({"lok"});
  EXPECT_EQ(errors_, "offcpu: no verb 'lok' (did you mean look?); see offcpu --help\n");
  for (const char* typed : {"else", "r", "--recrod", "", "cook-book"}) {
    EXPECT_EQ(Run({typed}), kExitUsage);
    EXPECT_EQ(errors_.find("did you mean"), std::string::npos) << errors_;
  }
  Run({"else"});
  EXPECT_EQ(errors_, "offcpu: no verb 'else'; see offcpu --help\n");
  EXPECT_EQ(Run({"look", "recrod"}), kExitUsage);
  EXPECT_EQ(errors_.find("did you mean"), std::string::npos) << errors_;
  EXPECT_EQ(runs_, 0);
}

TEST_F(CommandLineTest, AnOptionThatIsNearlyOneIsNamed) {
  EXPECT_EQ(Run({"record", "--fsat"}), kExitUsage);
  EXPECT_EQ(errors_, "offcpu: no option '--fsat' (did you mean --fast?); see offcpu record --help\n");
  EXPECT_EQ(Run({"record", "--outptu=x"}), kExitUsage);
  EXPECT_EQ(errors_, "offcpu: no option '--outptu' (did you mean --output?); see offcpu record --help\n");
  EXPECT_EQ(Run({"record", "--never"}), kExitUsage);
  EXPECT_EQ(errors_, "offcpu: no option '--never'; see offcpu record --help\n");
}

TEST_F(CommandLineTest, WhatIsNoNumberIsSaidSo) {
  EXPECT_EQ(Run({"record", "--hz", "abc"}), kExitUsage);
  EXPECT_EQ(errors_, "offcpu: --hz: 'abc' is not a number; see offcpu record --help\n");
  EXPECT_EQ(Run({"record", "--hz", "99999999999999999999"}), kExitUsage);
  EXPECT_EQ(errors_, "offcpu: --hz: must be 1 to 1000; see offcpu record --help\n");
  EXPECT_EQ(Run({"look", "x"}), kExitUsage);
  EXPECT_EQ(errors_, "offcpu: NUMBER: 'x' is not a number; see offcpu look --help\n");
  EXPECT_EQ(Run({"record", "--fast=abc"}), kExitUsage);
  EXPECT_EQ(errors_, "offcpu: --fast takes no value; see offcpu record --help\n");
}

TEST_F(CommandLineTest, WithoutWordsItPrintsItsVerbsAsAnError) {
  EXPECT_EQ(Run({}), kExitUsage);
  EXPECT_EQ(output_, "");
  EXPECT_NE(errors_.find("  record "), std::string::npos) << errors_;
}

TEST_F(CommandLineTest, HelpIsAVerbToo) {
  EXPECT_EQ(Run({"help"}), kExitOk);
  const std::string all = output_;
  EXPECT_NE(all.find("  record "), std::string::npos) << all;
  EXPECT_EQ(Run({"--help"}), kExitOk);
  EXPECT_EQ(output_, all);
  EXPECT_EQ(Run({"help", "record"}), kExitOk);
  EXPECT_NE(output_.find("The end."), std::string::npos) << output_;
  EXPECT_EQ(Run({"help", "recrod"}), kExitUsage);
  EXPECT_EQ(errors_, "offcpu: no verb 'recrod' (did you mean record?); see offcpu --help\n");
}

TEST_F(CommandLineTest, WhatFollowsTwoDashesIsTheCommandWhateverItLooksLike) {
  Run({"record", "3", "--", "make", "--fast", "--", "-j4"});
  EXPECT_EQ(command_, std::vector<std::string>({"make", "--fast", "--", "-j4"}));
  EXPECT_EQ(seconds_, "3");
  EXPECT_FALSE(fast_);
}

TEST_F(CommandLineTest, HelpHasTheFlagsAndRunsNothing) {
  EXPECT_EQ(Run({"--help"}), kExitOk);
  EXPECT_NE(output_.find("record"), std::string::npos);
  EXPECT_EQ(Run({"record", "--help"}), kExitOk);
  EXPECT_NE(output_.find("--unit UNIT:{us,ns}"), std::string::npos) << output_;
  EXPECT_NE(output_.find("The end."), std::string::npos) << output_;
  EXPECT_EQ(runs_, 0);
}

}  // namespace
}  // namespace offcpu
