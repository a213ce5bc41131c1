// No stack is wrong though images, libraries, threads and pids change under the recorder: every frame has the caller
// that the source of tests/targets/churn.cc gives it.
#include <gtest/gtest.h>

#include <cinttypes>
#include <cstdio>

#include "tests/harness/churn_callers.h"
#include "tests/harness/harness.h"

namespace offcpu::integration {
namespace {

constexpr double kPauseNs = 0.5e9;  // of the host

// One of ten lives of an image or a library, 150 ms each, may be over before anybody could look at it: the first one,
// if the host pauses then. Later ones are known by it.
constexpr double kOfTenLives = 0.88;

class Churn : public testing::Test {
 protected:
  void RecordIt(const std::vector<std::string>& words, const Callers& callers) {
    target_ = Target::Start(words);
    ASSERT_NE(target_, nullptr);
    RecordConfig config = Unthrottled({target_->pid()});
    config.follow_forks = true;
    recording_ = Record(config, *target_);
    for (const StackRow& row : recording_.Rows([](const StackRow&) { return true; })) {
      if (row.user->missing == NoUserStack::kNone) ExpectRealCallers(row, callers);
    }
  }

  // How much of the time that the thread measured is below the function, in whole stacks.
  void ExpectShare(const std::string& thread, const std::string& function, double at_least, double at_most) const {
    const Measure measured = target_->Measured(thread, function);
    const Measure got = recording_.Sum([&](const StackRow& row) { return row.complete() && row.Has(function); });
    const double share = static_cast<double>(got.ns) / static_cast<double>(measured.ns);
    std::printf("%s: %.2f %% of the measured time\n", function.c_str(), 100 * share);
    const double stolen = static_cast<double>(target_->stolen_ns()) / static_cast<double>(measured.ns);
    EXPECT_GE(share, at_least - stolen) << function << "\n" << recording_.LossesText();
    EXPECT_LE(share, at_most + stolen) << function << "\n" << recording_.LossesText();
  }

  // Nearly all of its waits are there, with whole stacks. Their time is a little less than the thread measured, because
  // it reads its clock before each of them and after it.
  void ExpectNearlyAll(const std::string& thread, const std::string& function) const {
    const Measure got = recording_.Sum([&](const StackRow& row) {
      return row.complete() && row.Has(function) && row.row->kind == WaitKind::kSleeping;
    });
    const Measure measured = target_->Measured(thread, function);
    std::printf("%s: %" PRIu64 " of %" PRIu64 " waits\n", function.c_str(), got.count, measured.count);
    EXPECT_GE(static_cast<double>(got.count), 0.98 * static_cast<double>(measured.count)) << recording_.LossesText();
    ExpectShare(thread, function, 0.95, 1.02);
  }

  // The wait that an exec cuts short is recorded and not measured: one of each image's life. It may be longer than the
  // others where something delays it; twice as long on average is plenty. A pause of the host may be in it as well.
  void ExpectShareOfImages(double at_least, double lives) const {
    for (const char* function : {"image_a_wait", "image_b_wait"}) {
      const Measure measured = target_->Measured("blocked", function);
      const double pause = kPauseNs / static_cast<double>(measured.ns);
      ExpectShare("blocked", function, at_least, 1.02 + 2 * lives / static_cast<double>(measured.count) + pause);
    }
  }

  std::unique_ptr<Target> target_;
  Recording recording_;
};

TEST_F(Churn, OfImagesThatLiveForMilliseconds) {
  RecordIt({"churn", "exec", "--rounds", "200", "--life-ms", "3"}, ImageCallers());
  ExpectShareOfImages(0.50, 100);
}

TEST_F(Churn, OfImages) {
  RecordIt({"churn", "exec", "--rounds", "20", "--life-ms", "150"}, ImageCallers());
  ExpectShareOfImages(kOfTenLives, 10);
}

TEST_F(Churn, OfChildrenThatLiveForAMillisecond) {
  RecordIt({"churn", "fork", "--rounds", "500"}, {{"fork_child_wait", ""}, {"fork_parent_wait", ""}});
  ExpectNearlyAll("churn", "fork_child_wait");
  ExpectNearlyAll("churn", "fork_parent_wait");
}

TEST_F(Churn, OfThreadsAndProcessesThatEnd) {
  RecordIt({"churn", "exit", "--rounds", "200"},
           {{"exit_blocked_wait", ""}, {"exit_thread_wait", ""}, {"exit_main_wait", ""}});
  ExpectNearlyAll("churn", "exit_main_wait");
  ExpectNearlyAll("exit_thread", "exit_thread_wait");
}

TEST_F(Churn, OfLibrariesThatLiveForMillisecondsAtOneAddress) {
  RecordIt({"churn", "dlopen", "--rounds", "200", "--life-ms", "3"}, LibraryCallers());
  ASSERT_GT(target_->Value("same_address"), 150u) << "the libraries lie apart: no test";
  // On a busy machine a library may be gone before anybody could look at it.
  ExpectShare("churn", "lib_a_wait", 0.50, 1.02);
  ExpectShare("churn", "lib_b_wait", 0.50, 1.02);
}

TEST_F(Churn, OfLibrariesAtOneAddress) {
  RecordIt({"churn", "dlopen", "--rounds", "20", "--life-ms", "150"}, LibraryCallers());
  ASSERT_GT(target_->Value("same_address"), 15u) << "the libraries lie apart: no test";
  ExpectShare("churn", "lib_a_wait", kOfTenLives, 1.02);
  ExpectShare("churn", "lib_b_wait", kOfTenLives, 1.02);
}

TEST_F(Churn, OfPidsThatLiveForAMillisecond) {
  RecordIt({"churn", "pids", "--rounds", "400", "--life-ms", "1"}, ImageCallers());
  ASSERT_GT(target_->Value("reused_pids"), 200u) << "pids were not reused: no test";
  // The parent is of image a, too. Image b may never live long enough for anybody to look at it.
  ExpectShare("churn", "image_a_wait", 0.50, 1.02);
  ExpectShare("churn_b", "image_b_wait", 0, 1.02);
}

TEST_F(Churn, OfPids) {
  RecordIt({"churn", "pids", "--rounds", "20", "--life-ms", "150"}, ImageCallers());
  ASSERT_GT(target_->Value("reused_pids"), 10u) << "pids were not reused: no test";
  ExpectShare("churn", "image_a_wait", 0.98, 1.02);
  ExpectShare("churn_b", "image_b_wait", kOfTenLives, 1.02);
}

}  // namespace
}  // namespace offcpu::integration
