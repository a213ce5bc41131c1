#include "daemon/window_store.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace offcpu {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr uint64_t kSecond = 1'000'000'000;
constexpr WindowStoreLimits kManyBytes = {.windows = 3, .bytes = 1u << 30};

std::shared_ptr<Module> ModuleOf(size_t table_bytes) {
  auto module = std::make_shared<Module>();
  module->path = "/bin/a";
  module->eh_frame.bytes.resize(table_bytes);
  return module;
}

// A second from `start_s` on, with one row of one process.
Profile Second(uint64_t start_s, const std::shared_ptr<const Module>& module = nullptr) {
  Profile profile;
  profile.start_unix_ns = profile.start_boot_ns = start_s * kSecond;
  profile.duration_ns = kSecond;
  profile.processes = {{.key = {.pid = 10, .start_ns = 5, .exec_id = 0}, .name = "server", .container = ""}};
  profile.comms = {"worker"};
  profile.kernel_stacks = {{.id = 1, .addresses = {0xffffffff81000010}}};
  UserStackEntry& entry = profile.user_stacks.emplace_back();
  entry.stack.frames = {{.code = module.get(), .address = 1}};
  if (module != nullptr) profile.code = {module};
  profile.rows = {{{}, {.count = 1, .blocked_ns = 100}}};
  return profile;
}

std::vector<uint64_t> StartsOf(const WindowPieces& windows) {
  std::vector<uint64_t> starts;
  for (const auto& window : windows) starts.push_back(window->start_unix_ns / kSecond);
  return starts;
}

TEST(WindowStoreTest, NothingIsHeldAtFirst) {
  const WindowStore store(kManyBytes);
  EXPECT_THAT(store.Between(0, 0), IsEmpty());
  EXPECT_EQ(store.stats().windows, 0u);
  EXPECT_EQ(store.stats().bytes, 0u);
  EXPECT_EQ(store.stats().oldest_boot_ns, 0u);
}

TEST(WindowStoreTest, TheOldestWindowGoesWhenThereAreTooMany) {
  WindowStore store(kManyBytes);
  for (uint64_t i = 1; i <= 3; ++i) store.Add(Second(i), true);
  EXPECT_THAT(StartsOf(store.Between(0, 0)), ElementsAre(1, 2, 3));
  store.Add(Second(4), true);
  EXPECT_THAT(StartsOf(store.Between(0, 0)), ElementsAre(2, 3, 4));
  EXPECT_EQ(store.stats().windows, 3u);
  EXPECT_EQ(store.stats().ended, 4u);
  EXPECT_EQ(store.stats().over_bytes, 0u);
  EXPECT_EQ(store.stats().oldest_boot_ns, 2 * kSecond);
}

TEST(WindowStoreTest, TheRunningWindowIsHeldBesideThem) {
  WindowStore store(kManyBytes);
  for (uint64_t i = 1; i <= 3; ++i) store.Add(Second(i), true);
  store.Add(Second(4), false);
  EXPECT_THAT(StartsOf(store.Between(0, 0)), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(store.stats().windows, 3u);
}

TEST(WindowStoreTest, WindowsAreFoundByTheTimeTheyTouch) {
  WindowStore store(kManyBytes);
  for (uint64_t i = 1; i <= 3; ++i) store.Add(Second(i), true);
  EXPECT_THAT(StartsOf(store.Between(2 * kSecond, 0)), ElementsAre(2, 3)) << "the first ended there";
  EXPECT_THAT(StartsOf(store.Between(2 * kSecond - 1, 0)), ElementsAre(1, 2, 3));
  EXPECT_THAT(StartsOf(store.Between(0, 3 * kSecond)), ElementsAre(1, 2)) << "the third begins there";
  EXPECT_THAT(StartsOf(store.Between(0, 3 * kSecond + 1)), ElementsAre(1, 2, 3));
  EXPECT_THAT(StartsOf(store.Between(4 * kSecond, 0)), IsEmpty());
}

TEST(WindowStoreTest, PiecesAreOneWindowWhenTheNextOneHasEnded) {
  WindowStore store(kManyBytes);
  store.Add(Second(1), false);
  store.Add(Second(2), false);
  store.Add(Second(3), true);
  store.Add(Second(4), false);
  EXPECT_THAT(StartsOf(store.Between(3 * kSecond, 0)), ElementsAre(3, 4));
  store.Add(Second(5), true);
  const WindowPieces windows = store.Between(0, 0);
  EXPECT_THAT(StartsOf(windows), ElementsAre(1, 4, 5));
  EXPECT_EQ(windows[0]->duration_ns, 3 * kSecond);
  ASSERT_THAT(windows[0]->rows, SizeIs(1));
  EXPECT_EQ(windows[0]->rows[0].blocked_ns, 300u);
  EXPECT_EQ(store.stats().ended, 2u);
}

TEST(WindowStoreTest, PiecesOnTwoSidesOfABoundaryStayApart) {
  WindowStore store(kManyBytes);
  store.Add(Second(1), false);
  store.Add(Second(2), false);
  {
    const WindowStore::Boundary boundary(&store, 3 * kSecond);  // when the second piece ends
    const WindowStore::Boundary same(&store, 3 * kSecond);
    store.Add(Second(3), false);
    store.Add(Second(4), true);
    store.Add(Second(5), false);
    store.Add(Second(6), true);
    EXPECT_THAT(StartsOf(store.Between(0, 0)), ElementsAre(1, 3, 5, 6));
    EXPECT_THAT(StartsOf(store.Between(3 * kSecond, 0)), ElementsAre(3, 5, 6));
    EXPECT_EQ(store.stats().windows, 2u);
  }
  store.Add(Second(7), true);
  EXPECT_THAT(StartsOf(store.Between(0, 0)), ElementsAre(1, 3, 5, 7)) << "nobody is waited for any more";
}

TEST(WindowStoreTest, PiecesOfARunningWindowAreBoundedInNumber) {
  WindowStore store(kManyBytes);
  for (uint64_t i = 0; i < 1000; ++i) {
    store.Add(Second(i), false);
    EXPECT_LE(store.Between(0, 0).size(), 128u);
  }
  uint64_t blocked_ns = 0;
  for (const auto& piece : store.Between(0, 0)) blocked_ns += piece->rows.at(0).blocked_ns;
  EXPECT_EQ(blocked_ns, 100'000u);
}

TEST(WindowStoreTest, BytesAreThoseOfWhatIsHeld) {
  const size_t one = BytesOf(Second(1));
  WindowStore store({.windows = 10, .bytes = 2 * one});
  store.Add(Second(1), true);
  store.Add(Second(2), true);
  EXPECT_EQ(store.stats().bytes, 2 * one);
  EXPECT_EQ(store.stats().windows, 2u) << "as many bytes as there may be";
  store.Add(Second(3), true);
  EXPECT_THAT(StartsOf(store.Between(0, 0)), ElementsAre(2, 3));
  EXPECT_EQ(store.stats().bytes, 2 * one);
  EXPECT_EQ(store.stats().over_bytes, 1u);
}

TEST(WindowStoreTest, TheNewestWindowStaysHoweverLarge) {
  WindowStore store({.windows = 10, .bytes = 1});
  store.Add(Second(1), true);
  store.Add(Second(2), true);
  EXPECT_THAT(StartsOf(store.Between(0, 0)), ElementsAre(2));
}

TEST(WindowStoreTest, AModuleCountsOnceAndAsLongAsAWindowHasIt) {
  const auto module = ModuleOf(100'000);
  const size_t alone = BytesOf(Second(1, module));
  WindowStore store({.windows = 2, .bytes = 1u << 30});
  store.Add(Second(1, module), true);
  store.Add(Second(2, module), true);
  EXPECT_EQ(store.stats().bytes, 2 * alone + BytesOf(*module));
  store.Add(Second(3), true);
  store.Add(Second(4), true);
  EXPECT_EQ(store.stats().bytes, 2 * BytesOf(Second(3)));
}

TEST(WindowStoreTest, JoinedPiecesHoldWhatOneDoes) {
  const auto module = ModuleOf(100'000);
  WindowStore store(kManyBytes);
  for (int i = 0; i < 3; ++i) store.Add(Second(1, module), i == 2);
  store.Add(Second(4), true);
  EXPECT_LT(store.stats().bytes, 2 * BytesOf(Second(1, module)) + BytesOf(*module) + 200);
  EXPECT_GT(store.stats().bytes, BytesOf(*module));
}

TEST(WindowStoreTest, NewLimitsHoldAtOnce) {
  WindowStore store({.windows = 10, .bytes = 1u << 30});
  for (uint64_t i = 1; i <= 5; ++i) store.Add(Second(i), true);
  store.SetLimits({.windows = 2, .bytes = 1u << 30});
  EXPECT_THAT(StartsOf(store.Between(0, 0)), ElementsAre(4, 5));
}

TEST(WindowStoreTest, WhatIsHandedOutOutlivesItsWindow) {
  WindowStore store({.windows = 1, .bytes = 1u << 30});
  store.Add(Second(1), true);
  const WindowPieces windows = store.Between(0, 0);
  store.Add(Second(2), true);
  EXPECT_EQ(windows.at(0)->start_unix_ns, kSecond);
}

// The estimate against what really has been allocated; a vector of a known size stands for all of them.
TEST(BytesOfTest, IsWhatTheVectorsHold) {
  Profile profile;
  const size_t empty = BytesOf(profile);
  profile.rows.reserve(1000);
  EXPECT_EQ(BytesOf(profile), empty + 1000 * sizeof(ProfileRow));
  profile.kernel_stacks.resize(1);
  const size_t before = BytesOf(profile);
  profile.kernel_stacks[0].addresses.reserve(100);
  EXPECT_EQ(BytesOf(profile), before + 800);
  profile.comms.reserve(1);
  profile.comms.emplace_back(1000, 'a');
  EXPECT_GT(BytesOf(profile), before + 800 + 1000);
}

TEST(BytesOfTest, ChainsOfWakersCount) {
  Profile profile;
  const size_t empty = BytesOf(profile);
  profile.wakers.reserve(10);
  EXPECT_EQ(BytesOf(profile), empty + 10 * sizeof(WakerChain));
  profile.wakers.emplace_back().reserve(4);
  EXPECT_EQ(BytesOf(profile), empty + 10 * sizeof(WakerChain) + 4 * sizeof(Waker));
}

TEST(WindowStoreTest, AWindowThatEndsIsHandedOutInItsPieces) {
  WindowStore store(kManyBytes);
  EXPECT_THAT(store.Add(Second(1), false), IsEmpty());
  EXPECT_THAT(store.Add(Second(2), false), IsEmpty());
  EXPECT_THAT(StartsOf(store.Add(Second(3), true)), ElementsAre(1, 2, 3));
  EXPECT_THAT(StartsOf(store.Add(Second(4), true)), ElementsAre(4));
}

// It was suspended in the second one, and its clock was set back after that.
TEST(WindowStoreTest, WindowsAreFoundByTheClockThatNobodySets) {
  WindowStore store(kManyBytes);
  store.Add(Second(1), true);
  Profile suspended = Second(2);
  suspended.stats.suspended_ns = 100 * kSecond;
  store.Add(std::move(suspended), true);
  Profile later = Second(103);
  later.start_unix_ns = kSecond / 2;
  store.Add(std::move(later), true);
  EXPECT_THAT(store.Between(50 * kSecond, 0), SizeIs(2)) << "the second one ended at 103 s";
  EXPECT_THAT(store.Between(103 * kSecond, 0), SizeIs(1));
  EXPECT_THAT(store.Between(0, 103 * kSecond), SizeIs(2));
}

TEST(BytesOfTest, TimesCount) {
  Profile profile = Second(1);
  const size_t without = BytesOf(profile);
  profile.rows[0].times = std::string(1000, 'x');
  profile.rows[0].times.shrink_to_fit();
  EXPECT_GE(BytesOf(profile), without + 1000);
}

}  // namespace
}  // namespace offcpu
