#include "process/reader_threads.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace offcpu {
namespace {

using std::chrono::milliseconds;

// Blocks in a read of a pipe until it is released.
class Stuck {
 public:
  Stuck() { EXPECT_EQ(pipe(fds_->fd), 0); }
  ReaderThreads::Job job(ReaderThreads::Completion completion = [] {}) {
    return [fds = fds_, completion] {
      char c = 0;
      while (read(fds->fd[0], &c, 1) != 1) {
      }
      return completion;
    };
  }
  void Release() { EXPECT_EQ(write(fds_->fd[1], "x", 1), 1); }

 private:
  struct Fds {
    ~Fds() {
      close(fd[0]);
      close(fd[1]);
    }
    int fd[2] = {-1, -1};
  };
  std::shared_ptr<Fds> fds_ = std::make_shared<Fds>();
};

// Polls until `done` or for far longer than it can take.
bool PollUntil(ReaderThreads& threads, const std::function<bool()>& done) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (std::chrono::steady_clock::now() < deadline) {
    threads.Poll();
    if (done()) return true;
    std::this_thread::sleep_for(milliseconds(1));
  }
  return false;
}

ReaderThreads::Completion Never() {
  return [] { ADD_FAILURE() << "must not run"; };
}

ReaderLimits Limits(size_t threads, size_t abandoned, milliseconds deadline = std::chrono::hours(1)) {
  ReaderLimits limits;
  limits.threads = threads;
  limits.abandoned = abandoned;
  limits.deadline = deadline;
  return limits;
}

TEST(ReaderThreadsTest, ResultsComeByPollOnTheOwnersThread) {
  ReaderThreads threads(Limits(2, 4));
  int sum = 0;
  const std::thread::id owner = std::this_thread::get_id();
  for (int i = 1; i <= 10; ++i) {
    ASSERT_TRUE(threads.Submit(
        [i, owner, &sum]() -> ReaderThreads::Completion {
          EXPECT_NE(std::this_thread::get_id(), owner);
          return [i, owner, &sum] {
            EXPECT_EQ(std::this_thread::get_id(), owner);
            sum += i;
          };
        },
        Never()));
  }
  EXPECT_TRUE(PollUntil(threads, [&] { return threads.pending() == 0; }));
  EXPECT_EQ(sum, 55);
  EXPECT_EQ(threads.stats().done, 10u);
}

TEST(ReaderThreadsTest, StuckJobIsGivenUpAndOthersAreServed) {
  ReaderThreads threads(Limits(1, 4, milliseconds(20)));
  Stuck stuck;
  bool given_up = false;
  bool served = false;
  ASSERT_TRUE(threads.Submit(stuck.job(), [&] { given_up = true; }));
  ASSERT_TRUE(threads.Submit([&] { return [&] { served = true; }; }, [] {}));
  EXPECT_TRUE(PollUntil(threads, [&] { return given_up && threads.pending() == 0; }));
  EXPECT_TRUE(served);
  EXPECT_EQ(threads.stats().stuck, 1u);
  EXPECT_EQ(threads.stats().abandoned, 1u);
  // Back again: its result is not wanted any more, its thread does not count.
  stuck.Release();
  EXPECT_TRUE(PollUntil(threads, [&] { return threads.stats().abandoned == 0; }));
}

TEST(ReaderThreadsTest, JobThatWasOnlySlowHasItsResultAfterAll) {
  ReaderThreads threads(Limits(1, 4, milliseconds(20)));
  Stuck slow;
  std::vector<std::string> what;
  ASSERT_TRUE(threads.Submit(slow.job([&] { what.push_back("completion"); }), [&] { what.push_back("stuck"); }));
  ASSERT_TRUE(PollUntil(threads, [&] { return !what.empty(); }));
  EXPECT_EQ(what, std::vector<std::string>{"stuck"});
  slow.Release();
  ASSERT_TRUE(PollUntil(threads, [&] { return what.size() == 2; }));
  EXPECT_EQ(what[1], "completion");
  EXPECT_EQ(threads.stats().late, 1u);
  EXPECT_EQ(threads.stats().done, 0u);
}

TEST(ReaderThreadsTest, WithAsManyStuckAsAllowedNothingIsTaken) {
  ReaderThreads threads(Limits(2, 4, milliseconds(20)));
  Stuck stuck[4];
  int given_up = 0;
  for (Stuck& s : stuck) ASSERT_TRUE(threads.Submit(s.job(), [&] { ++given_up; }));
  EXPECT_TRUE(PollUntil(threads, [&] { return given_up == 4; }));
  EXPECT_FALSE(threads.Submit([] { return Never(); }, Never()));
  EXPECT_EQ(threads.stats().refused, 1u);
  stuck[0].Release();
  EXPECT_TRUE(PollUntil(threads, [&] { return threads.stats().abandoned == 3; }));
  bool served = false;
  EXPECT_TRUE(threads.Submit([&] { return [&] { served = true; }; }, [&] { served = true; }));
  EXPECT_TRUE(PollUntil(threads, [&] { return served; }));
  for (int i = 1; i < 4; ++i) stuck[i].Release();
  EXPECT_TRUE(PollUntil(threads, [&] { return threads.stats().abandoned == 0; }));
}

TEST(ReaderThreadsTest, JobsThatNobodyIsLeftToBeginAreGivenUp) {
  ReaderThreads threads(Limits(1, 0, milliseconds(20)));
  EXPECT_FALSE(threads.Submit([] { return Never(); }, Never())) << "no thread may ever be stuck: none is risked";
  ReaderThreads one(Limits(1, 1, milliseconds(20)));
  Stuck stuck[2];
  int given_up = 0;
  for (Stuck& s : stuck) ASSERT_TRUE(one.Submit(s.job(), [&] { ++given_up; }));
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(one.Submit([] { return [] {}; }, [&] { ++given_up; }));
  EXPECT_TRUE(PollUntil(one, [&] { return one.pending() == 0; }));
  EXPECT_EQ(given_up, 5);
  EXPECT_EQ(one.stats().abandoned, 2u);
  for (Stuck& s : stuck) s.Release();
  EXPECT_TRUE(PollUntil(one, [&] { return one.stats().abandoned == 0; }));
}

TEST(ReaderThreadsTest, QueueIsBounded) {
  ReaderLimits limits = Limits(1, 4);
  limits.queued = 3;
  ReaderThreads threads(limits);
  Stuck stuck;
  std::atomic<bool> begun = false;
  ASSERT_TRUE(threads.Submit(
      [&begun, job = stuck.job()] {
        begun = true;
        return job();
      },
      Never()));
  EXPECT_TRUE(PollUntil(threads, [&] { return begun.load(); }));
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(threads.Submit([] { return [] {}; }, Never()));
  EXPECT_FALSE(threads.Submit([] { return Never(); }, Never()));
  EXPECT_EQ(threads.pending(), 4u);
  stuck.Release();
  EXPECT_TRUE(PollUntil(threads, [&] { return threads.pending() == 0; }));
}

TEST(ReaderThreadsTest, CompletionsMaySubmit) {
  ReaderThreads threads(Limits(1, 4));
  int left = 5;
  std::function<void()> next = [&] {
    if (--left == 0) return;
    EXPECT_TRUE(threads.Submit([&] { return next; }, Never()));
  };
  ASSERT_TRUE(threads.Submit([&] { return next; }, Never()));
  EXPECT_TRUE(PollUntil(threads, [&] { return left == 0; }));
}

TEST(ReaderThreadsTest, DestructionDoesNotWait) {
  Stuck stuck;
  auto owned = std::make_shared<int>(0);
  std::weak_ptr<int> result = owned;
  std::weak_ptr<int> callback;
  {
    ReaderThreads threads(Limits(1, 4));
    auto kept = std::make_shared<int>(0);
    callback = kept;
    auto begun = std::make_shared<std::atomic<bool>>(false);
    ASSERT_TRUE(threads.Submit(
        [begun, job = stuck.job(), owned = std::move(owned)] {
          *begun = true;
          return job();
        },
        [kept] {}));
    ASSERT_TRUE(PollUntil(threads, [&] { return begun->load(); }));
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
