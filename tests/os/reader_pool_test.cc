#include "os/reader_pool.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <time.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <thread>
#include <vector>

#include "tests/os/stuck.h"

namespace offcpu {
namespace {

using std::chrono::milliseconds;
using State = ReaderPool::State;
using TaskPtr = std::shared_ptr<ReaderPool::Task>;

constexpr milliseconds kLong = std::chrono::hours(1);
constexpr milliseconds kShort(20);
constexpr uid_t kUser = 1000;
constexpr uid_t kOther = 1001;

bool Never() { return false; }

void PinToFirstCpu() {
  cpu_set_t set;
  EXPECT_EQ(sched_getaffinity(0, sizeof(set), &set), 0);
  int cpu = 0;
  while (!CPU_ISSET(cpu, &set)) ++cpu;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  EXPECT_EQ(sched_setaffinity(0, sizeof(set), &set), 0);
}

class ReaderPoolTest : public ::testing::Test {
 protected:
  // For far longer than it can take.
  bool Await(const std::function<bool()>& done) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!done()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      std::this_thread::sleep_for(milliseconds(1));
    }
    return true;
  }
  bool AwaitState(const TaskPtr& task, State state) {
    return Await([&] { return pool_->Look(task) == state; });
  }
  void Make(const ReaderLimits& limits) { pool_ = std::make_unique<ReaderPool>(limits); }
  TaskPtr Submit(uid_t user, ReaderPool::Job job, milliseconds deadline = kLong) {
    TaskPtr task;
    EXPECT_EQ(pool_->Submit({.owner = user}, deadline, std::move(job), &task), ReadTaken::kYes);
    return task;
  }
  ReadTaken TrySubmit(uid_t user) {
    TaskPtr task;
    return pool_->Submit(
        {.owner = user}, kLong, [] {}, &task);
  }

  std::unique_ptr<ReaderPool> pool_ = std::make_unique<ReaderPool>();
};

TEST_F(ReaderPoolTest, RunsJobs) {
  std::atomic<int> sum = 0;
  for (int i = 1; i <= 10; ++i)
    EXPECT_TRUE(pool_->Run(
        {.owner = kUser}, kLong, [i, &sum] { sum += i; }, Never));
  EXPECT_EQ(sum, 55);
}

TEST_F(ReaderPoolTest, WhatIsNotDoneInTimeIsStuckUntilItIsDone) {
  Stuck stuck;
  const TaskPtr task = Submit(kUser, stuck.job(), kShort);
  EXPECT_TRUE(AwaitState(task, State::kStuck));
  EXPECT_EQ(pool_->stats().stuck, 1u);
  stuck.Release();
  EXPECT_TRUE(AwaitState(task, State::kDone));
  EXPECT_EQ(pool_->stats().stuck, 0u);
}

// On a loaded machine it may come back to its CPU only when it has taken far too long, and is tried again.
TEST_F(ReaderPoolTest, WhatUsesItsTimeIsNotStuck) {
  bool was_running = false;
  for (int i = 0; i < 1000 && !was_running; ++i) {
    TaskPtr task;
    std::atomic<bool> is_set = false;
    const auto begin = std::chrono::steady_clock::now();
    const auto taken = [begin] { return std::chrono::steady_clock::now() - begin; };
    task = Submit(
        kUser,
        [&] {
          while (!is_set || taken() < 2 * kShort) {
          }
          const State state = pool_->Look(task);
          if (taken() > 4 * kShort) return;
          was_running = true;
          EXPECT_EQ(state, State::kRunning);
        },
        kShort);
    is_set = true;
    EXPECT_TRUE(AwaitState(task, State::kDone));
  }
  EXPECT_TRUE(was_running);
}

// The job comes to its CPU only when a thread that never leaves it lets it. On a loaded machine this one may be late.
TEST_F(ReaderPoolTest, WhatWaitsForACpuIsNotStuck) {
  bool was_looked_at = false;
  for (int i = 0; i < 1000 && !was_looked_at; ++i) {
    std::atomic<bool> is_over = false;
    std::promise<void> begun;
    const auto submitted = std::chrono::steady_clock::now();
    const TaskPtr task = Submit(
        kUser,
        [&] {
          PinToFirstCpu();
          const sched_param none = {};
          EXPECT_EQ(sched_setscheduler(0, SCHED_IDLE, &none), 0);
          begun.set_value();
          while (!is_over) {
          }
        },
        kShort);
    begun.get_future().wait();
    std::thread hog([&] {
      PinToFirstCpu();
      while (!is_over) {
      }
    });
    std::this_thread::sleep_for(2 * kShort);
    const State state = pool_->Look(task);
    if (std::chrono::steady_clock::now() - submitted < 5 * kShort) {
      was_looked_at = true;
      EXPECT_EQ(state, State::kRunning);
    }
    is_over = true;
    hog.join();
    EXPECT_TRUE(AwaitState(task, State::kDone));
  }
  EXPECT_TRUE(was_looked_at);
}

TEST_F(ReaderPoolTest, WhatUsesItsTimeForTooLongIsStuck) {
  TaskPtr task;
  std::atomic<bool> is_set = false;
  State state = State::kQueued;
  task = Submit(
      kUser,
      [&] {
        const auto begin = std::chrono::steady_clock::now();
        while (!is_set || std::chrono::steady_clock::now() - begin < 5 * kShort) {
        }
        state = pool_->Look(task);
      },
      kShort);
  is_set = true;
  EXPECT_TRUE(AwaitState(task, State::kDone));
  EXPECT_EQ(state, State::kStuck);
}

TEST_F(ReaderPoolTest, SlowJobsHoldUpNoOthers) {
  Make({.serving = 1, .slow = milliseconds(1), .of_user = 2});
  Stuck slow;
  Submit(kUser, slow.job());
  EXPECT_TRUE(pool_->Run(
      {.owner = kOther}, kLong, [] {}, Never));
  EXPECT_TRUE(pool_->Run(
      {.owner = kUser}, kLong, [] {}, Never))
      << "he has another thread";
  slow.Release();
}

TEST_F(ReaderPoolTest, SlowJobsOfOneUserTakeHisThreadsOnly) {
  Make({.serving = 1, .slow = milliseconds(1), .of_user = 2, .threads = 3});
  Stuck slow[2];
  for (Stuck& s : slow) Submit(kUser, s.job());
  const TaskPtr waits = Submit(kUser, [] {});
  EXPECT_TRUE(pool_->Run(
      {.owner = kOther}, kLong, [] {}, Never));
  EXPECT_EQ(pool_->Look(waits), State::kQueued);
  slow[0].Release();
  EXPECT_TRUE(AwaitState(waits, State::kDone));
  slow[1].Release();
}

TEST_F(ReaderPoolTest, OfAUserWhoseReadsHangNoMoreIsTaken) {
  Make({.of_user = 2});
  Stuck stuck[2];
  std::vector<TaskPtr> tasks;
  for (Stuck& s : stuck) tasks.push_back(Submit(kUser, s.job(), kShort));
  for (const TaskPtr& task : tasks) EXPECT_TRUE(AwaitState(task, State::kStuck));
  EXPECT_EQ(TrySubmit(kUser), ReadTaken::kUserStuck);
  EXPECT_EQ(TrySubmit(kOther), ReadTaken::kYes);
  stuck[0].Release();
  EXPECT_TRUE(AwaitState(tasks[0], State::kDone));
  EXPECT_EQ(TrySubmit(kUser), ReadTaken::kYes);
  stuck[1].Release();
}

TEST_F(ReaderPoolTest, WhatHangsIsNotReadAgainUntilItIsDone) {
  constexpr uint64_t kFile = 7;
  Stuck stuck;
  TaskPtr task;
  const auto read = [this](uid_t user, uint64_t id) {
    return pool_->Run(
        ReadSubject{.owner = user, .id = id}, kLong, [] {}, Never);
  };
  ASSERT_EQ(pool_->Submit({.owner = kUser, .id = kFile}, kShort, stuck.job(), &task), ReadTaken::kYes);
  EXPECT_TRUE(AwaitState(task, State::kStuck));
  EXPECT_FALSE(read(kUser, kFile));
  EXPECT_FALSE(read(kOther, kFile));
  EXPECT_TRUE(read(kUser, kFile + 1)) << "other things are read, and what nobody else reads";
  EXPECT_EQ(TrySubmit(kUser), ReadTaken::kYes);
  stuck.Release();
  EXPECT_TRUE(AwaitState(task, State::kDone));
  EXPECT_TRUE(read(kUser, kFile));
}

TEST_F(ReaderPoolTest, ThreadsAreBoundedWhoeverHangs) {
  Make({.slow = milliseconds(1), .of_user = 2, .threads = 4});
  Stuck stuck[6];
  std::vector<TaskPtr> tasks;
  for (uid_t i = 0; i < 6; ++i) tasks.push_back(Submit(kUser + i / 2, stuck[i].job(), kShort));
  const auto count = [&](State state) {
    return std::count_if(tasks.begin(), tasks.end(), [&](const TaskPtr& task) { return pool_->Look(task) == state; });
  };
  EXPECT_TRUE(Await([&] { return count(State::kStuck) == 4; }));
  EXPECT_EQ(pool_->stats().threads, 4u);
  EXPECT_EQ(count(State::kQueued), 2) << "healthy ones wait, and are not called stuck";
  for (Stuck& s : stuck) s.Release();
  EXPECT_TRUE(Await([&] { return count(State::kDone) == 6; }));
  EXPECT_TRUE(Await([&] { return pool_->stats().threads <= 2; })) << "and do not stay";
}

TEST_F(ReaderPoolTest, QueuesAreBounded) {
  Make({.serving = 1, .slow = kLong, .queued_of_user = 2, .queued = 3});
  Stuck stuck;
  EXPECT_TRUE(AwaitState(Submit(kUser, stuck.job()), State::kRunning));
  std::vector<TaskPtr> tasks;
  for (int i = 0; i < 2; ++i) tasks.push_back(Submit(kUser, [] {}));
  EXPECT_EQ(TrySubmit(kUser), ReadTaken::kFull);
  tasks.push_back(Submit(kOther, [] {}));
  EXPECT_EQ(TrySubmit(kOther), ReadTaken::kFull);
  stuck.Release();
  for (const TaskPtr& task : tasks) EXPECT_TRUE(AwaitState(task, State::kDone));
}

TEST_F(ReaderPoolTest, UsersHaveTheirTurns) {
  Make({.serving = 1, .slow = kLong});
  Stuck stuck;
  const TaskPtr first = Submit(kUser, stuck.job());
  EXPECT_TRUE(AwaitState(first, State::kRunning));
  std::vector<uid_t> order;
  std::vector<TaskPtr> tasks;
  for (int i = 0; i < 3; ++i) tasks.push_back(Submit(kUser, [&] { order.push_back(kUser); }));
  tasks.push_back(Submit(kOther, [&] { order.push_back(kOther); }));
  stuck.Release();
  for (const TaskPtr& task : tasks) EXPECT_TRUE(AwaitState(task, State::kDone));
  EXPECT_EQ(order, (std::vector<uid_t>{kOther, kUser, kUser, kUser}));
}

TEST_F(ReaderPoolTest, WhoWaitsGivesUpWhatHangs) {
  Stuck stuck;
  EXPECT_FALSE(pool_->Run({.owner = kUser}, kShort, stuck.job(), Never));
  stuck.Release();
}

TEST_F(ReaderPoolTest, WhoWaitsGivesUpWhatDoesNotBegin) {
  Make({.serving = 1, .slow = kLong});
  Stuck stuck;
  EXPECT_TRUE(AwaitState(Submit(kUser, stuck.job()), State::kRunning));
  auto owned = std::make_shared<int>(0);
  const std::weak_ptr<int> kept = owned;
  EXPECT_FALSE(pool_->Run(
      {.owner = kUser}, kShort, [owned = std::move(owned)] { ADD_FAILURE() << "has begun"; }, Never));
  EXPECT_TRUE(kept.expired());
  stuck.Release();
}

TEST_F(ReaderPoolTest, WhoWaitsCanBeCalledOff) {
  Stuck stuck;
  EXPECT_FALSE(pool_->Run({.owner = kUser}, kLong, stuck.job(), [] { return true; }));
  stuck.Release();
}

TEST_F(ReaderPoolTest, NothingIsTakenOrWaitedForAfterTheEnd) {
  Make({.serving = 1, .slow = kLong});
  Stuck stuck;
  const TaskPtr running = Submit(kUser, stuck.job());
  EXPECT_TRUE(AwaitState(running, State::kRunning));
  const TaskPtr queued = Submit(kUser, [] { ADD_FAILURE() << "has begun"; });
  std::thread waits([&] {
    EXPECT_FALSE(pool_->Run(
        {.owner = kOther}, kLong, [] {}, Never));
  });
  EXPECT_TRUE(Await([&] { return pool_->stats().running == 1; }));
  pool_->EndAt(ReaderPool::Clock::now() + kShort);
  waits.join();
  pool_->EndAt(ReaderPool::Clock::now());
  EXPECT_EQ(pool_->Look(queued), State::kDropped);
  EXPECT_EQ(TrySubmit(kUser), ReadTaken::kFull);
  EXPECT_FALSE(pool_->Run(
      {.owner = kUser}, kLong, [] {}, Never));
  stuck.Release();
}

TEST_F(ReaderPoolTest, DestructionDoesNotWait) {
  Stuck stuck;
  auto owned = std::make_shared<int>(0);
  const std::weak_ptr<int> kept = owned;
  const TaskPtr task = Submit(kUser, [owned = std::move(owned), job = stuck.job()] { job(); });
  EXPECT_TRUE(AwaitState(task, State::kRunning));
  pool_ = nullptr;
  EXPECT_FALSE(kept.expired()) << "what a job owns is there while it runs";
  stuck.Release();
  EXPECT_TRUE(Await([&] { return kept.expired(); }));
}

}  // namespace
}  // namespace offcpu
