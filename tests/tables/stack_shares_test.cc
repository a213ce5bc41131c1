#include "tables/stack_shares.h"

#include <gtest/gtest.h>

#include <string>

#include "process/module.h"
#include "tables/summary.h"
#include "tests/profile/fake_profile.h"

namespace offcpu {
namespace {

class StackSharesTest : public ::testing::Test {
 protected:
  void Wait(uint32_t user, uint64_t ns, WaitKind kind = WaitKind::kSleeping) {
    fake_.Row(process_, comm_, user, kernel_, ns, 0, kind);
  }
  std::string Summary() {
    std::string text;
    WriteSummary(fake_.profile, true, [&text](std::string_view piece) { text += piece; });
    return text;
  }

  FakeProfile fake_;
  const uint32_t process_ = fake_.Process(7, "server");
  const uint32_t comm_ = fake_.Comm("server");
  const uint32_t kernel_ = fake_.Kernel({"schedule"});
};

TEST_F(StackSharesTest, TellWhyStacksAreNotThereAndWhatToDo) {
  Wait(fake_.User({"f", "main"}), 900);
  Wait(fake_.Missing(NoUserStack::kBudget), 60);
  Wait(fake_.User({"g"}, EndReason::kNoRow), 30);
  Wait(fake_.Missing(NoUserStack::kGone), 10);
  const StackShares shares = SharesOf(fake_.profile);
  EXPECT_EQ(shares.ns, 1000u);
  EXPECT_EQ(shares.complete_ns, 900u);
  ASSERT_EQ(shares.gaps.size(), 3u);
  EXPECT_EQ(shares.gaps[0].reason, "no user stack: budget");
  EXPECT_EQ(shares.gaps[0].ns, 60u);
  EXPECT_NE(shares.gaps[0].remedy.find("record for longer"), std::string::npos);
  EXPECT_EQ(shares.gaps[1].reason, "truncated: no row");
  EXPECT_EQ(shares.gaps[2].remedy, "") << "a process that has ended: nothing can be done";
}

TEST_F(StackSharesTest, OnlyWhatIsProvenIsComplete) {
  Wait(fake_.User({"f", "main"}), 600);
  Wait(fake_.User({"f"}, EndReason::kGuessedEnd), 400);
  const StackShares shares = SharesOf(fake_.profile);
  EXPECT_EQ(shares.complete_ns, 600u);
  ASSERT_EQ(shares.gaps.size(), 1u);
  EXPECT_EQ(shares.gaps[0].reason, "guessed end");
  EXPECT_EQ(shares.gaps[0].ns, 400u);
  EXPECT_NE(shares.gaps[0].remedy.find("only unwind tables"), std::string::npos);
}

// Advice follows from the file that the walk has ended in. Of a stored recording it is not known what that has.
TEST_F(StackSharesTest, AdviceForCodeWithoutARowFollowsFromItsFile) {
  Module module;
  const auto advice = [&] {
    fake_.profile.rows.clear();
    Wait(fake_.User({"f", "g"}, EndReason::kNoRow), 100);
    fake_.profile.user_stacks.back().frames.back().code = &module;
    return std::string(SharesOf(fake_.profile).gaps.at(0).remedy);
  };
  EXPECT_EQ(advice(), "code that no unwind table describes: --verbose lists the files");
  module.code = {{0x1000, 0x2000}};
  EXPECT_NE(advice().find("keep its .eh_frame or .sframe"), std::string::npos) << advice();
  module.eh_frame.bytes.resize(8);
  EXPECT_NE(advice().find("unwind tables leave out"), std::string::npos) << advice();
  module.too_large = true;
  EXPECT_NE(advice().find("damaged or too large, or found no room"), std::string::npos) << advice();
}

// That of most of the time.
TEST_F(StackSharesTest, OneGapHasOneAdvice) {
  Module bare;
  bare.code = {{0x1000, 0x2000}};
  Wait(fake_.User({"f"}, EndReason::kNoRow), 100);
  Wait(fake_.User({"g"}, EndReason::kNoRow), 200);
  fake_.profile.user_stacks.back().frames.back().code = &bare;
  const StackShares shares = SharesOf(fake_.profile);
  ASSERT_EQ(shares.gaps.size(), 1u);
  EXPECT_EQ(shares.gaps[0].ns, 300u);
  EXPECT_NE(shares.gaps[0].remedy.find("keep its .eh_frame"), std::string::npos);
}

TEST_F(StackSharesTest, WalksThatMakeNoSenseHaveAdvice) {
  for (const EndReason end : {EndReason::kBadCfa, EndReason::kBadMemory, EndReason::kBadReturnAddress}) {
    EXPECT_NE(RemedyOf(end), "") << Name(end);
  }
}

TEST_F(StackSharesTest, LeaveOutWhatCanHaveNoUserStack) {
  Wait(fake_.User({"f", "main"}), 100);
  Wait(fake_.Missing(NoUserStack::kKernelThread), 900);
  Wait(fake_.Missing(NoUserStack::kBudget), 50, WaitKind::kRunning);
  const StackShares shares = SharesOf(fake_.profile);
  EXPECT_EQ(shares.ns, 100u);
  EXPECT_EQ(shares.complete_ns, 100u);
  EXPECT_TRUE(shares.gaps.empty());
}

TEST_F(StackSharesTest, AreTheFirstLineOfTheSummaryAfterTheFigures) {
  Wait(fake_.User({"f", "main"}), 980);
  Wait(fake_.Missing(NoUserStack::kBudget), 20);
  EXPECT_NE(Summary().find(" rows\nwith stacks   98.0 % of the time off a CPU has its whole user stack\n"
                           "  2.0 % no user stack: budget: too many new stacks to copy: record for longer, or fewer "
                           "processes (-p, --cgroup)\nstacks "),
            std::string::npos)
      << Summary();
}

TEST_F(StackSharesTest, AreOneLineWhereNothingIsToBeDone) {
  Wait(fake_.User({"f", "main"}), 990);
  Wait(fake_.Missing(NoUserStack::kGone), 10);
  EXPECT_NE(Summary().find("with stacks   99.0 % of the time off a CPU has its whole user stack\nstacks "),
            std::string::npos)
      << Summary();
}

}  // namespace
}  // namespace offcpu
