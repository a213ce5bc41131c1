#include "os/reader_threads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/os/stuck.h"

namespace offcpu {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;

constexpr milliseconds kLong = std::chrono::hours(1);
constexpr milliseconds kShort(20);
constexpr uid_t kUser = 1000;

ReaderThreads::Job JobOf(
    const Stuck& stuck, ReaderThreads::Completion completion = [] {}) {
  return [job = stuck.job(), completion] {
    job();
    return completion;
  };
}

using GivenUp = ReaderThreads::GivenUp;

ReaderThreads::Completion NoResult() {
  return [] { ADD_FAILURE() << "must not run"; };
}

void Never(GivenUp) { ADD_FAILURE() << "must not run"; }

class ReaderThreadsTest : public ::testing::Test {
 protected:
  // Polls until `done` or for far longer than it can take.
  static bool PollUntil(ReaderThreads& threads, const std::function<bool()>& done) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (std::chrono::steady_clock::now() < deadline) {
      threads.Poll();
      if (done()) return true;
      std::this_thread::sleep_for(milliseconds(1));
    }
    return false;
  }
  static void Submit(ReaderThreads& threads, ReaderThreads::Job job, ReaderThreads::OnGivenUp stuck) {
    ASSERT_EQ(threads.Submit(kUser, std::move(job), std::move(stuck)), ReadTaken::kYes);
  }

  const std::shared_ptr<ReaderPool> pool_ = std::make_shared<ReaderPool>(ReaderLimits{.of_user = 2});
};

TEST_F(ReaderThreadsTest, ResultsComeByPollOnTheOwnersThread) {
  ReaderThreads threads(pool_, kLong);
  int sum = 0;
  const std::thread::id owner = std::this_thread::get_id();
  for (int i = 1; i <= 10; ++i) {
    Submit(
        threads,
        [i, owner, &sum]() -> ReaderThreads::Completion {
          EXPECT_NE(std::this_thread::get_id(), owner);
          return [i, owner, &sum] {
            EXPECT_EQ(std::this_thread::get_id(), owner);
            sum += i;
          };
        },
        Never);
  }
  EXPECT_TRUE(PollUntil(threads, [&] { return threads.pending() == 0; }));
  EXPECT_EQ(sum, 55);
  EXPECT_EQ(threads.stats().done, 10u);
}

TEST_F(ReaderThreadsTest, StuckJobIsGivenUpAndOthersAreServed) {
  ReaderThreads threads(pool_, kShort);
  ReaderThreads patient(pool_, kLong);  // whose job may be late
  Stuck stuck;
  bool given_up = false;
  bool served = false;
  Submit(threads, JobOf(stuck), [&](GivenUp) { given_up = true; });
  Submit(
      patient, [&] { return [&] { served = true; }; }, Never);
  EXPECT_TRUE(PollUntil(threads, [&] { return given_up && threads.pending() == 0; }));
  EXPECT_TRUE(PollUntil(patient, [&] { return patient.pending() == 0; }));
  EXPECT_TRUE(served);
  EXPECT_EQ(threads.stats().stuck, 1u);
  stuck.Release();
  EXPECT_TRUE(PollUntil(threads, [&] { return threads.stats().late == 1; }));
}

TEST_F(ReaderThreadsTest, JobThatWasOnlySlowHasItsResultAfterAll) {
  ReaderThreads threads(pool_, kShort);
  Stuck slow;
  std::vector<std::string> what;
  Submit(threads, JobOf(slow, [&] { what.push_back("completion"); }), [&](GivenUp) { what.push_back("stuck"); });
  ASSERT_TRUE(PollUntil(threads, [&] { return !what.empty(); }));
  EXPECT_EQ(what, std::vector<std::string>{"stuck"});
  slow.Release();
  ASSERT_TRUE(PollUntil(threads, [&] { return what.size() == 2; }));
  EXPECT_EQ(what[1], "completion");
  EXPECT_EQ(threads.stats().late, 1u);
  EXPECT_EQ(threads.stats().done, 0u);
}

TEST_F(ReaderThreadsTest, WhatIsNotTakenBecauseOfOthersThatHangIsCounted) {
  ReaderThreads threads(pool_, kShort);
  Stuck stuck[2];
  int given_up = 0;
  for (Stuck& s : stuck) Submit(threads, JobOf(s), [&](GivenUp) { ++given_up; });
  EXPECT_TRUE(PollUntil(threads, [&] { return given_up == 2; }));
  EXPECT_EQ(threads.Submit(
                kUser, [] { return NoResult(); }, Never),
            ReadTaken::kUserStuck);
  EXPECT_EQ(threads.stats().not_begun, 1u);
  for (Stuck& s : stuck) s.Release();
}

TEST_F(ReaderThreadsTest, SoIsWhatIsQueuedBehindThem) {
  ReaderThreads threads(pool_, kShort);
  Stuck stuck[2];
  std::array<std::vector<GivenUp>, 4> told;  // by job; which comes first depends on when the poll does
  for (size_t i = 0; i < 2; ++i) Submit(threads, JobOf(stuck[i]), [&, i](GivenUp why) { told[i].push_back(why); });
  for (size_t i = 2; i < 4; ++i)
    Submit(
        threads, [] { return NoResult(); }, [&, i](GivenUp why) { told[i].push_back(why); });
  EXPECT_TRUE(PollUntil(threads, [&] { return threads.pending() == 0; }));
  for (size_t i = 0; i < 2; ++i) EXPECT_THAT(told[i], ElementsAre(GivenUp::kStuck)) << i;
  for (size_t i = 2; i < 4; ++i) EXPECT_THAT(told[i], ElementsAre(GivenUp::kNotBegun)) << i;
  EXPECT_EQ(threads.stats().not_begun, 2u);
  for (Stuck& s : stuck) s.Release();
}

TEST_F(ReaderThreadsTest, SeveralShareAPool) {
  ReaderThreads one(pool_, kShort);
  ReaderThreads other(pool_, kLong);
  Stuck stuck;
  bool given_up = false;
  bool done = false;
  Submit(one, JobOf(stuck), [&](GivenUp) { given_up = true; });
  Submit(
      other, [&] { return [&] { done = true; }; }, Never);
  EXPECT_TRUE(PollUntil(other, [&] { return done; }));
  EXPECT_FALSE(given_up) << "that is the other's to poll";
  EXPECT_TRUE(PollUntil(one, [&] { return given_up; }));
  stuck.Release();
}

TEST_F(ReaderThreadsTest, WhatNobodyBeginsAnyMoreIsGivenUp) {
  ReaderThreads threads(pool_, kLong);
  Stuck stuck[2];
  int given_up = 0;
  for (Stuck& s : stuck) Submit(threads, JobOf(s), Never);
  EXPECT_TRUE(PollUntil(threads, [&] { return pool_->stats().running == 2; }));
  for (int i = 0; i < 3; ++i)
    Submit(
        threads, [] { return NoResult(); }, [&](GivenUp) { ++given_up; });
  pool_->EndAt(ReaderPool::Clock::now());
  EXPECT_TRUE(PollUntil(threads, [&] { return given_up == 3; }));
  for (Stuck& s : stuck) s.Release();
  EXPECT_TRUE(PollUntil(threads, [&] { return threads.pending() == 0; }));
}

TEST_F(ReaderThreadsTest, CompletionsMaySubmit) {
  ReaderThreads threads(pool_, kLong);
  int left = 5;
  std::function<void()> next = [&] {
    if (--left != 0)
      Submit(
          threads, [&] { return next; }, Never);
  };
  Submit(
      threads, [&] { return next; }, Never);
  EXPECT_TRUE(PollUntil(threads, [&] { return left == 0; }));
}

TEST_F(ReaderThreadsTest, DestructionDoesNotWait) {
  Stuck stuck;
  auto owned = std::make_shared<int>(0);
  const std::weak_ptr<int> result = owned;
  std::weak_ptr<int> callback;
  {
    ReaderThreads threads(pool_, kLong);
    auto kept = std::make_shared<int>(0);
    callback = kept;
    Submit(
        threads, [job = JobOf(stuck), owned = std::move(owned)] { return job(); }, [kept](GivenUp) {});
    ASSERT_TRUE(PollUntil(threads, [&] { return pool_->stats().running == 1; }));
  }
  EXPECT_TRUE(callback.expired()) << "what the owner has given is freed with it";
  EXPECT_FALSE(result.expired()) << "what the job owns is not, while it runs";
  stuck.Release();
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!result.expired() && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
  EXPECT_TRUE(result.expired());
}

}  // namespace
}  // namespace offcpu
