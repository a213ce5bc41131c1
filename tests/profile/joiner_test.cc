#include "profile/joiner.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace offcpu {
namespace {

// What the table holds for one cookie: the tests give every cookie a process of its own.
using Found = std::map<std::pair<uint32_t, uint32_t>, uint64_t>;  // (process, user stack) -> ns

class JoinerTest : public ::testing::Test {
 protected:
  static constexpr Joiner::Limits kLimits = {.kernel_entries = 100, .bytes = 1u << 20, .wait_ns = 1000};

  void Limit(const Joiner::Limits& limits) { joiner_.emplace(limits, stacks_, table_); }

  static Interval Wait(uint64_t cookie, uint64_t blocked_ns, uint32_t kernel_stack = 0) {
    Interval interval;
    interval.cookie = cookie;
    interval.row = {{.process = static_cast<uint32_t>(cookie), .kernel_stack = kernel_stack},
                    RowSums::OfWait(blocked_ns, 1, 0, 0)};
    return interval;
  }

  uint32_t Stack(uint64_t address) {
    UserStack stack;
    stack.frames.push_back({.code = nullptr, .address = address});
    return stacks_.InternUser(stack);
  }
  uint32_t Missing(NoUserStack reason) { return stacks_.InternMissing(reason); }

  // Ends the test's table.
  Found Finish() {
    stacks_.InternKernel(0);
    Found found;
    for (const ProfileRow& row : table_.Finish(stacks_, {}).rows)
      found[{row.process, row.user_stack}] += row.total_ns();
    return found;
  }

  StackTable stacks_{{}};
  OffCpuTable table_{{}};
  std::optional<Joiner> joiner_{std::in_place, kLimits, stacks_, table_};
};

TEST_F(JoinerTest, OneCaptureReleasesAllThatWait) {
  uint32_t stack = Stack(1);
  joiner_->Add(Wait(5, 10));
  joiner_->Add(Wait(6, 99));
  joiner_->Add(Wait(5, 20));
  EXPECT_EQ(table_.rows(), 0u);
  joiner_->Resolve(5, stack);
  EXPECT_EQ(table_.rows(), 1u);
  joiner_->Flush();
  EXPECT_EQ(Finish(), (Found{{{5, stack}, 32}, {{6, Missing(NoUserStack::kPending)}, 100}}));
}

TEST_F(JoinerTest, ACaptureWithoutAStackReleasesToo) {
  uint32_t gone = Missing(NoUserStack::kGone);
  joiner_->Add(Wait(5, 10));
  joiner_->Resolve(5, gone);
  EXPECT_EQ(Finish(), (Found{{{5, gone}, 11}}));
}

TEST_F(JoinerTest, AnOutcomeServesThoseThatWaitAndNoneThatComeLater) {
  const uint32_t stack = Stack(1);
  joiner_->Add(Wait(5, 10));
  EXPECT_TRUE(joiner_->IsWaitedFor(5));
  EXPECT_FALSE(joiner_->IsWaitedFor(6));
  joiner_->Resolve(5, stack);
  joiner_->Resolve(6, stack);
  EXPECT_FALSE(joiner_->IsWaitedFor(5));
  for (const uint64_t cookie : {5, 6}) joiner_->Add(Wait(cookie, 10));
  EXPECT_EQ(joiner_->waiting_entries(), 2u);
  joiner_->Flush();
  const uint32_t pending = Missing(NoUserStack::kPending);
  EXPECT_EQ(Finish(), (Found{{{5, stack}, 11}, {{5, pending}, 11}, {{6, pending}, 11}}));
}

TEST_F(JoinerTest, WhatIsKnownDoesNotWait) {
  const uint32_t stack = Stack(1);
  Interval interval = Wait(0, 10);
  interval.row.user_stack = stack;
  interval.has_user_stack = true;
  joiner_->Add(interval);
  EXPECT_EQ(joiner_->waiting_entries(), 0u);
  EXPECT_EQ(Finish(), (Found{{{0, stack}, 11}}));
}

TEST_F(JoinerTest, WithoutACookieThereIsNothingToWaitFor) {
  Interval budget = Wait(0, 10);
  budget.missing = NoUserStack::kBudget;
  joiner_->Add(budget);
  joiner_->Add(Wait(0, 20));  // no reason either: the sender broke its word
  joiner_->Resolve(0, Stack(1));
  joiner_->Add(Wait(0, 30));
  EXPECT_EQ(joiner_->waiting_entries(), 0u);
  EXPECT_EQ(Finish(), (Found{{{0, Missing(NoUserStack::kBudget)}, 11}, {{0, Missing(NoUserStack::kLost)}, 52}}));
}

TEST_F(JoinerTest, AReasonBeatsACookie) {
  Interval interval = Wait(5, 10);
  interval.missing = NoUserStack::kRingFull;
  joiner_->Add(interval);
  joiner_->Resolve(5, Stack(1));
  EXPECT_EQ(Finish(), (Found{{{5, Missing(NoUserStack::kRingFull)}, 11}}));
}

TEST_F(JoinerTest, WaitingEndsAfterItsTimeAndNotBefore) {
  joiner_->Advance(5000);
  joiner_->Add(Wait(5, 10));
  joiner_->Advance(6000);
  EXPECT_EQ(joiner_->waiting_entries(), 1u);
  joiner_->Advance(6001);
  EXPECT_EQ(joiner_->waiting_entries(), 0u);
  EXPECT_EQ(joiner_->waiting_bytes(), 0u);
  EXPECT_EQ(Finish(), (Found{{{5, Missing(NoUserStack::kLost)}, 11}}));
}

TEST_F(JoinerTest, TheCallerNamesTheReasonOfExpiryAndFlush) {
  joiner_->Add(Wait(5, 10));
  joiner_->Advance(1001, NoUserStack::kOverload);
  joiner_->Add(Wait(6, 10));
  joiner_->Flush(NoUserStack::kGone);
  EXPECT_EQ(Finish(), (Found{{{5, Missing(NoUserStack::kOverload)}, 11}, {{6, Missing(NoUserStack::kGone)}, 11}}));
}

// A new interval under a cookie proves that the thread is still in its kernel entry, so its capture can still come.
TEST_F(JoinerTest, EachIntervalOfAStayRenewsItsTime) {
  joiner_->Add(Wait(5, 10));
  joiner_->Add(Wait(6, 10));
  joiner_->Advance(900);
  joiner_->Add(Wait(5, 10));
  joiner_->Advance(1900);
  EXPECT_EQ(joiner_->waiting_entries(), 1u);
  uint32_t stack = Stack(1);
  joiner_->Resolve(5, stack);
  EXPECT_EQ(Finish(), (Found{{{5, stack}, 22}, {{6, Missing(NoUserStack::kLost)}, 11}}));
}

TEST_F(JoinerTest, TimeDoesNotGoBack) {
  joiner_->Advance(5000);
  joiner_->Advance(1);
  joiner_->Add(Wait(5, 10));
  joiner_->Advance(6000);
  EXPECT_EQ(joiner_->waiting_entries(), 1u);
}

TEST_F(JoinerTest, TheOldestStayMakesRoom) {
  Limit({.kernel_entries = 2, .bytes = 1u << 20, .wait_ns = 1000});
  joiner_->Add(Wait(5, 10));
  joiner_->Add(Wait(6, 10));
  EXPECT_EQ(joiner_->waiting_entries(), 2u);
  joiner_->Add(Wait(5, 10));  // 6 is now the oldest
  joiner_->Add(Wait(7, 10));
  EXPECT_EQ(joiner_->waiting_entries(), 2u);
  joiner_->Flush();
  uint32_t pending = Missing(NoUserStack::kPending);
  EXPECT_EQ(Finish(), (Found{{{5, pending}, 22}, {{6, Missing(NoUserStack::kOverload)}, 11}, {{7, pending}, 11}}));
}

TEST_F(JoinerTest, BytesAreBoundedAndGivenBack) {
  Limit({.kernel_entries = 1000, .bytes = 10000, .wait_ns = 1000});
  for (uint64_t cookie = 1; cookie <= 500; ++cookie) {
    joiner_->Add(Wait(cookie, 10));
    EXPECT_LE(joiner_->waiting_bytes(), 10000u);
  }
  const size_t waiting = joiner_->waiting_entries();
  EXPECT_GT(waiting, 10u);
  joiner_->Flush();
  EXPECT_EQ(joiner_->waiting_bytes(), 0u);
  std::map<uint32_t, uint64_t> ns;  // by user stack
  for (const auto& [key, one_ns] : Finish()) ns[key.second] += one_ns;
  EXPECT_EQ(ns, (std::map<uint32_t, uint64_t>{{Missing(NoUserStack::kOverload), (500 - waiting) * 11},
                                              {Missing(NoUserStack::kPending), waiting * 11}}));
}

TEST_F(JoinerTest, NoRoomAtAllStillKeepsTheTime) {
  Limit({.kernel_entries = 0, .bytes = 0, .wait_ns = 0});
  joiner_->Add(Wait(5, 10));
  EXPECT_EQ(joiner_->waiting_entries(), 0u);
  EXPECT_EQ(Finish(), (Found{{{5, Missing(NoUserStack::kOverload)}, 11}}));
}

TEST_F(JoinerTest, AKernelEntryThatBlocksInALoopTakesNoMoreRoom) {
  for (uint32_t kernel : {0u, 1u, 2u}) joiner_->Add(Wait(5, 10, stacks_.InternKernel(kernel)));
  size_t bytes = joiner_->waiting_bytes();
  for (int i = 0; i < 1000; ++i) joiner_->Add(Wait(5, 10, stacks_.InternKernel(static_cast<uint64_t>(i % 3))));
  EXPECT_EQ(joiner_->waiting_bytes(), bytes);
  uint32_t stack = Stack(1);
  joiner_->Resolve(5, stack);
  EXPECT_EQ(table_.rows(), 3u);
  EXPECT_EQ(Finish(), (Found{{{5, stack}, 1003 * 11}}));
}

TEST_F(JoinerTest, AKernelEntryOfVeryManyKernelStacksKeepsEach) {
  for (uint64_t kernel = 0; kernel < 200; ++kernel) {
    uint32_t index = stacks_.InternKernel(kernel);
    joiner_->Add(Wait(5, 10, index));
    joiner_->Add(Wait(5, 10, 0));  // soon beyond the look back: waits as rows that the table adds up
  }
  const uint32_t stack = Stack(1);
  joiner_->Resolve(5, stack);
  EXPECT_EQ(table_.rows(), 200u);
  EXPECT_EQ(Finish(), (Found{{{5, stack}, 400 * 11}}));
}

// Intervals with wakers: a chain of cookies beside the interval's own.
class JoinerWakersTest : public JoinerTest {
 protected:
  static Interval Woken(uint64_t cookie, const std::vector<uint64_t>& waker_cookies) {
    Interval interval = Wait(cookie, 9);
    for (const uint64_t waker : waker_cookies) {
      interval.wakers.push_back({.in_profile = {.process = static_cast<uint32_t>(waker), .kernel_stack = 0},
                                 .cookie = waker,
                                 .missing = NoUserStack::kNone});
    }
    return interval;
  }

  // Ends the test's table, which has one row: its user stack, and those of its wakers.
  std::vector<uint32_t> FinishOne() {
    stacks_.InternKernel(0);
    const Profile profile = table_.Finish(stacks_, {});
    EXPECT_EQ(profile.rows.size(), 1u);
    std::vector<uint32_t> stacks = {profile.rows[0].user_stack};
    for (const Waker& waker : profile.wakers.at(profile.rows[0].waker - 1)) stacks.push_back(waker.user_stack);
    return stacks;
  }
};

TEST_F(JoinerWakersTest, AnIntervalWaitsForAllOfItsStacks) {
  const std::vector<uint32_t> stacks = {Stack(1), Stack(2), Stack(3)};
  // In every order of their captures, some of them known with the interval.
  for (int before = 0; before <= 3; ++before) {
    std::vector<uint64_t> order = {0, 1, 2};
    do {
      StackTable stack_table({});
      OffCpuTable table({});
      Joiner joiner(kLimits, stack_table, table);
      const auto index_of = [&](uint64_t index) {
        UserStack stack;
        stack.frames.push_back({.code = nullptr, .address = index + 1});
        return stack_table.InternUser(stack);
      };
      Interval interval = Woken(5, {6, 7});
      for (int i = 0; i < before; ++i) {
        const uint64_t index = order[static_cast<size_t>(i)];
        if (index == 0) {
          interval.cookie = 0;
          interval.has_user_stack = true;
          interval.row.user_stack = index_of(index);
        } else {
          IntervalWaker& waker = interval.wakers[index - 1];
          waker.cookie = 0;
          waker.has_user_stack = true;
          waker.in_profile.user_stack = index_of(index);
        }
      }
      joiner.Add(std::move(interval));
      for (int i = before; i < 3; ++i) {
        const uint64_t index = order[static_cast<size_t>(i)];
        EXPECT_EQ(table.rows(), 0u);
        EXPECT_TRUE(joiner.IsWaitedFor(5 + index));
        joiner.Resolve(5 + index, index_of(index));
      }
      EXPECT_EQ(joiner.waiting_entries(), 0u);
      EXPECT_EQ(joiner.waiting_bytes(), 0u);
      stack_table.InternKernel(0);
      const Profile profile = table.Finish(stack_table, {});
      ASSERT_EQ(profile.rows.size(), 1u);
      ASSERT_EQ(profile.wakers.size(), 1u);
      ASSERT_EQ(profile.wakers[0].size(), 2u);
      const auto address = [&](uint32_t stack) { return profile.user_stacks[stack].stack.frames[0].address; };
      EXPECT_EQ(address(profile.rows[0].user_stack), 1u);
      EXPECT_EQ(address(profile.wakers[0][0].user_stack), 2u);
      EXPECT_EQ(address(profile.wakers[0][1].user_stack), 3u);
    } while (std::next_permutation(order.begin(), order.end()));
  }
}

TEST_F(JoinerWakersTest, OneKernelEntryMayBeInTwoPlaces) {
  const uint32_t own = Stack(1);
  const uint32_t waker = Stack(2);
  joiner_->Add(Woken(5, {6, 5, 6}));
  joiner_->Resolve(6, waker);
  joiner_->Resolve(5, own);
  EXPECT_EQ(FinishOne(), (std::vector<uint32_t>{own, waker, own, waker}));
}

TEST_F(JoinerWakersTest, WhatDoesNotComeIsMissingByItself) {
  const uint32_t own = Stack(1);
  const uint32_t last = Stack(2);
  joiner_->Add(Woken(5, {6, 7}));
  joiner_->Resolve(5, own);
  joiner_->Advance(500);
  joiner_->Resolve(7, last);
  EXPECT_EQ(table_.rows(), 0u);
  joiner_->Advance(1001);
  EXPECT_EQ(joiner_->waiting_entries(), 0u);
  EXPECT_EQ(FinishOne(), (std::vector<uint32_t>{own, Missing(NoUserStack::kLost), last}));
}

TEST_F(JoinerWakersTest, AnOutcomeThatIsWantedIsKeptAsLongAsItIs) {
  const uint32_t waker = Stack(2);
  joiner_->Add(Woken(5, {6}));
  joiner_->Resolve(6, waker);
  joiner_->Resolve(6, Stack(3));  // the first one stays
  for (uint64_t now = 900; now < 9000; now += 900) {
    joiner_->Advance(now);
    joiner_->Add(Wait(5, 1));  // its kernel entry goes on
  }
  joiner_->Resolve(5, Stack(1));
  EXPECT_FALSE(joiner_->IsWaitedFor(6));
  stacks_.InternKernel(0);
  const Profile profile = table_.Finish(stacks_, {});
  ASSERT_EQ(profile.wakers.size(), 1u);
  EXPECT_EQ(profile.wakers[0][0].user_stack, waker);
}

TEST_F(JoinerWakersTest, FlushAndNoRoomKeepTheTime) {
  joiner_->Add(Woken(5, {6, 7}));
  joiner_->Flush();
  const uint32_t pending = Missing(NoUserStack::kPending);
  Limit({.kernel_entries = 0, .bytes = 0, .wait_ns = 1000});
  joiner_->Add(Woken(15, {6, 7}));
  EXPECT_EQ(joiner_->waiting_entries(), 0u);
  EXPECT_EQ(joiner_->waiting_bytes(), 0u);
  EXPECT_EQ(Finish(), (Found{{{5, pending}, 10}, {{15, Missing(NoUserStack::kOverload)}, 10}}));
}

TEST_F(JoinerWakersTest, WaitsThatSomebodyElseEndedAreAnotherRow) {
  joiner_->Add(Woken(5, {6}));
  joiner_->Add(Woken(5, {6}));
  joiner_->Add(Woken(5, {7}));
  joiner_->Add(Wait(5, 9));
  joiner_->Resolve(5, Stack(1));
  joiner_->Resolve(6, Stack(2));
  joiner_->Resolve(7, Stack(2));
  stacks_.InternKernel(0);
  const Profile profile = table_.Finish(stacks_, {});
  ASSERT_EQ(profile.rows.size(), 3u);
  std::multiset<uint64_t> counts;
  for (const ProfileRow& row : profile.rows) counts.insert(row.count);
  EXPECT_EQ(counts, (std::multiset<uint64_t>{1, 1, 2}));
}

TEST_F(JoinerWakersTest, AnInterruptHasNothingToWaitFor) {
  Interval interval = Wait(0, 9);
  interval.missing = NoUserStack::kBudget;
  interval.wakers.push_back({.in_profile = {.interrupt = true}, .cookie = 0, .missing = NoUserStack::kKernelThread});
  joiner_->Add(interval);
  EXPECT_EQ(FinishOne(), (std::vector<uint32_t>{Missing(NoUserStack::kBudget), Missing(NoUserStack::kKernelThread)}));
}

// Intervals, captures and time in any order, against a model that knows only what was sent: with room for everything
// each interval has its cookie's outcome; with too little, its outcome or a reason; no nanosecond is lost or doubled.
// What the model knows of a cookie by then comes with the interval.
class RandomJoinerTest : public JoinerTest, public ::testing::WithParamInterface<std::tuple<uint32_t, bool>> {};

constexpr size_t kTightBytes = 2500;  // of some eight intervals

TEST_P(RandomJoinerTest, SumInIsSumOut) {
  using Key = std::tuple<uint64_t, uint32_t, WaitKind, int32_t>;  // cookie, kernel stack, kind, system call
  auto [seed, tight] = GetParam();
  if (tight) {
    Limit({.kernel_entries = 8, .bytes = kTightBytes, .wait_ns = 50});
  } else {
    Limit({.kernel_entries = 10000, .bytes = 64u << 20, .wait_ns = 1u << 30});
  }
  std::mt19937 random(seed);
  auto draw = [&](uint64_t limit) { return random() % limit; };
  std::map<Key, uint64_t> sent_ns;        // by cookie
  std::map<uint64_t, uint32_t> outcomes;  // by cookie
  uint64_t now = 0;
  uint64_t intervals = 0;
  for (int step = 0; step < 5000; ++step) {
    uint64_t cookie = 1 + static_cast<uint64_t>(step) / 20 + draw(30);
    uint64_t action = draw(10);
    if (action < 6) {
      Interval interval = Wait(cookie, draw(1000), static_cast<uint32_t>(draw(40)));
      interval.row.kind = static_cast<WaitKind>(draw(kWaitKindCount));
      interval.row.syscall = draw(8) == 0 ? 0 : 1;
      if (const auto known = outcomes.find(cookie); known != outcomes.end()) {
        interval.cookie = 0;
        interval.has_user_stack = true;
        interval.row.user_stack = known->second;
      }
      joiner_->Add(interval);
      sent_ns[{cookie, interval.row.kernel_stack, interval.row.kind, interval.row.syscall}] += interval.row.total_ns();
      ++intervals;
    } else if (action < 9) {
      uint32_t outcome = draw(4) == 0 ? Missing(NoUserStack::kGone) : Stack(cookie);
      // A second capture of a cookie would be a bug of the sender; its outcome would be the same.
      joiner_->Resolve(cookie, outcomes.try_emplace(cookie, outcome).first->second);
    } else {
      joiner_->Advance(now += draw(20));
    }
    EXPECT_LE(joiner_->waiting_bytes(), tight ? kTightBytes : 64u << 20);
  }
  joiner_->Flush();

  const uint32_t lost = Missing(NoUserStack::kLost);
  const uint32_t overload = Missing(NoUserStack::kOverload);
  const uint32_t given_up[] = {lost, overload, Missing(NoUserStack::kPending)};
  for (uint32_t kernel = 0; kernel < 40; ++kernel) stacks_.InternKernel(kernel);
  std::map<Key, uint64_t> received_ns;
  std::map<uint32_t, uint64_t> without_outcome;  // intervals, by what they have instead
  uint64_t with_outcome = 0;
  for (const ProfileRow& row : table_.Finish(stacks_, {}).rows) {
    uint64_t cookie = row.process;
    received_ns[{cookie, row.kernel_stack, row.kind, row.syscall}] += row.total_ns();
    auto outcome = outcomes.find(cookie);
    if (outcome != outcomes.end() && outcome->second == row.user_stack) {
      with_outcome += row.events();
      continue;
    }
    without_outcome[row.user_stack] += row.events();
    EXPECT_THAT(given_up, ::testing::Contains(row.user_stack)) << "cookie " << cookie;
    EXPECT_TRUE(tight || outcome == outcomes.end()) << "cookie " << cookie;
  }
  EXPECT_EQ(received_ns, sent_ns);
  EXPECT_EQ(tight, without_outcome[lost] > 0);
  EXPECT_EQ(tight, without_outcome[overload] > 0);
  EXPECT_GT(with_outcome, 100u);
  for (const auto& [reason, count] : without_outcome) with_outcome += count;
  EXPECT_EQ(with_outcome, intervals) << "with those that have none";
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomJoinerTest, ::testing::Combine(::testing::Range(1u, 21u), ::testing::Bool()));

// A kernel entry that blocks again and again: what lies in one second is one stretch, and all of it keeps its place.
TEST_F(JoinerTest, WaitsThatAreAddedUpKeepTheirTimes) {
  const uint32_t stack = Stack(1);
  for (uint64_t i = 1; i <= 40; ++i) {  // of 0.1 s each, a quarter of a second apart
    Interval interval = Wait(5, 100'000'000);
    interval.when = {{.end_ns = i * 250'000'000, .blocked_ns = 100'000'000, .sums = TimeBucket::Of(0, interval.row)}};
    const size_t before = joiner_->waiting_bytes();
    joiner_->Add(std::move(interval));
    const size_t more = joiner_->waiting_bytes() - before;
    if (i > 1) {
      EXPECT_EQ(more, i % 4 == 1 ? sizeof(Stretch) : 0) << i;
    }
  }
  joiner_->Resolve(5, stack);
  stacks_.InternKernel(0);
  const Profile profile = table_.Finish(stacks_, {});
  ASSERT_EQ(profile.rows.size(), 1u);
  const auto buckets = UnpackTimes(profile.rows[0].times).value();
  ASSERT_EQ(buckets.size(), 10u);
  for (const TimeBucket& bucket : buckets) {
    EXPECT_EQ(bucket.blocked_ns, 400'000'000u);
    EXPECT_EQ(bucket.count, 4u);
  }
}

// What lies in one second, but in different buckets, is not one stretch.
TEST_F(JoinerTest, WaitsAreAddedUpInTheBucketsOfTheTable) {
  OffCpuTable table({.bucket_ns = 250'000'000});
  Joiner joiner(kLimits, stacks_, table);
  const uint32_t stack = Stack(1);
  for (uint64_t i = 1; i <= 8; ++i) {  // of 0.1 s each, two to a bucket
    Interval interval = Wait(5, 100'000'000);
    interval.when = {{.end_ns = i * 125'000'000, .blocked_ns = 100'000'000, .sums = TimeBucket::Of(0, interval.row)}};
    const size_t before = joiner.waiting_bytes();
    joiner.Add(std::move(interval));
    if (i > 1) {
      EXPECT_EQ(joiner.waiting_bytes() - before, i % 2 == 1 ? sizeof(Stretch) : 0) << i;
    }
  }
  joiner.Resolve(5, stack);
  stacks_.InternKernel(0);
  const Profile profile = table.Finish(stacks_, {});
  EXPECT_EQ(profile.times.bucket_ns, 250'000'000u);
  const auto buckets = UnpackTimes(profile.rows.at(0).times).value();
  ASSERT_EQ(buckets.size(), 4u);
  for (const TimeBucket& bucket : buckets) EXPECT_EQ(bucket.blocked_ns, 200'000'000u);
}

TEST_F(JoinerTest, BytesOfTimesAreBounded) {
  const auto add = [this](uint64_t second) {
    Interval interval = Wait(5, 1);
    interval.when = {{.end_ns = second * 1'000'000'000 + 5, .blocked_ns = 1, .sums = TimeBucket::Of(0, interval.row)}};
    joiner_->Add(std::move(interval));
  };
  add(0);
  const size_t one = joiner_->waiting_bytes();
  add(1);
  EXPECT_EQ(joiner_->waiting_bytes(), one + sizeof(Stretch));
  for (uint64_t second = 2; second < 2 * kLimits.bytes / sizeof(Stretch); ++second) {
    add(second);
    ASSERT_LE(joiner_->waiting_bytes(), kLimits.bytes);
  }
  joiner_->Flush();
  const Found found = Finish();
  ASSERT_EQ(found.size(), 2u) << "given up for want of room, or because it ended";
  uint64_t all = 0;
  for (const auto& [key, ns] : found) all += ns;
  EXPECT_EQ(all, 2 * (2 * kLimits.bytes / sizeof(Stretch)));
}

}  // namespace
}  // namespace offcpu
