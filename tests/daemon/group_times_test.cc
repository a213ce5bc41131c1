#include "daemon/group_times.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace offcpu {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

constexpr char kPod[] = "/kubepods.slice/kubepods-pod01234567_89ab_cdef_0123_456789abcdef.slice/cri-containerd-x.scope";

NamedProfile AProfile() {
  NamedProfile profile;
  profile.processes = {{.key = {.pid = 10}, .name = "nginx", .container = ""},
                       {.key = {.pid = 11}, .name = "shop", .container = "3f5c"}};
  profile.comms = {"worker"};
  profile.control_groups = {"/system.slice/nginx.service", kPod, "/user.slice/user-0.slice/session-1.scope",
                            "/user.slice/user-0.slice/user@0.service/app.slice/run-u1.service"};
  profile.kernel_stacks = {{.id = 1}};
  profile.user_stacks = {{.missing = NoUserStack::kLost}};
  return profile;
}

// 202: futex, 35: nanosleep.
NamedRow ARow(uint32_t process, uint32_t control_group, int32_t syscall, uint64_t blocked_ns, uint64_t runnable_ns) {
  NamedRow row;
  row.process = process;
  row.control_group = control_group;
  row.kind = WaitKind::kSleeping;
  row.syscall = syscall;
  row.count = 1;
  row.blocked_ns = blocked_ns;
  row.runnable_ns = runnable_ns;
  return row;
}

TEST(GroupTimesOf, AreOfServicesAndContainersByCause) {
  NamedProfile profile = AProfile();
  profile.rows = {ARow(0, 1, 202, 100, 1), ARow(0, 1, 35, 20, 2), ARow(0, 1, 202, 5, 0), ARow(1, 2, 202, 7, 3)};
  const auto times = GroupTimesOf(profile);
  ASSERT_EQ(times.size(), 2u);
  const GroupTime& nginx = times.at({.unit = "nginx.service", .pod = "", .container = ""});
  EXPECT_THAT(nginx.blocked_ns, ElementsAre(Pair("lock", 105), Pair("sleep", 20)));
  EXPECT_EQ(nginx.runnable_ns, 3u);
  const GroupTime& shop = times.at({.unit = "", .pod = "01234567-89ab-cdef-0123-456789abcdef", .container = "3f5c"});
  EXPECT_THAT(shop.blocked_ns, ElementsAre(Pair("lock", 7)));
  EXPECT_EQ(shop.total_ns(), 10u);
}

TEST(GroupTimesOf, WaitsForWorkAreLeftOutButNotTheWaitForACpuBehindThem) {
  NamedProfile profile = AProfile();
  profile.idle_is_told = true;
  profile.rows = {ARow(0, 1, 202, 100, 4)};
  profile.rows[0].idle = "nginx: thread pool";
  const GroupTime time = GroupTimesOf(profile).begin()->second;
  EXPECT_TRUE(time.blocked_ns.empty());
  EXPECT_EQ(time.runnable_ns, 4u);
}

// Each login would have a series of its own.
TEST(GroupTimesOf, ScopesAndPassingUnitsAreOneGroup) {
  NamedProfile profile = AProfile();
  profile.rows = {ARow(0, 3, 202, 1, 0), ARow(0, 4, 202, 2, 0), ARow(0, 0, 202, 4, 0)};
  const auto times = GroupTimesOf(profile);
  ASSERT_EQ(times.size(), 1u);
  EXPECT_EQ(times.begin()->first, TimeGroup());
  EXPECT_EQ(times.begin()->second.total_ns(), 7u);
}

TimeGroup Unit(int number) { return {.unit = absl::StrCat("u", number, ".service"), .pod = "", .container = ""}; }
GroupTime Locked(uint64_t ns) { return {.blocked_ns = {{"lock", ns}}, .runnable_ns = 0}; }

std::map<TimeGroup, GroupTime> Full() {
  std::map<TimeGroup, GroupTime> window;
  for (int i = 0; i < static_cast<int>(TopGroups::kMost); ++i)
    window[Unit(i)] = Locked(1000 + static_cast<uint64_t>(i));
  return window;
}

uint64_t Total(const TopGroups& groups) {
  uint64_t total = groups.others().total_ns();
  for (const auto& [group, time] : groups.shown()) total += time.total_ns();
  return total;
}

TEST(TopGroups, AreSumsOfAllWindows) {
  TopGroups groups;
  groups.Add({{Unit(1), Locked(5)}});
  groups.Add({{Unit(1), {.blocked_ns = {{"lock", 2}, {"sleep", 1}}, .runnable_ns = 9}}});
  ASSERT_EQ(groups.shown().size(), 1u);
  EXPECT_THAT(groups.shown().at(Unit(1)).blocked_ns, ElementsAre(Pair("lock", 7), Pair("sleep", 1)));
  EXPECT_EQ(groups.shown().at(Unit(1)).runnable_ns, 9u);
  EXPECT_EQ(groups.others().total_ns(), 0u);
}

TEST(TopGroups, AtTheLimitThoseWithLessAreOneSum) {
  TopGroups groups;
  std::map<TimeGroup, GroupTime> window = Full();
  window[Unit(100)] = Locked(3);
  window[Unit(101)] = Locked(4);
  groups.Add(window);
  EXPECT_EQ(groups.shown().size(), TopGroups::kMost);
  EXPECT_FALSE(groups.shown().contains(Unit(100)));
  EXPECT_THAT(groups.others().blocked_ns, ElementsAre(Pair("lock", 7)));
}

TEST(TopGroups, OneWithMoreTakesThePlaceOfTheLeast) {
  TopGroups groups;
  groups.Add(Full());
  groups.Add({{Unit(100), Locked(501)}});  // the least had 1000, which is half by now
  EXPECT_TRUE(groups.shown().contains(Unit(100)));
  EXPECT_FALSE(groups.shown().contains(Unit(0)));
  EXPECT_THAT(groups.others().blocked_ns, ElementsAre(Pair("lock", 1000)));
  EXPECT_EQ(groups.shown().size(), TopGroups::kMost);
}

TEST(TopGroups, NoTimeIsLost) {
  TopGroups groups;
  uint64_t added = 0;
  for (int window = 0; window < 20; ++window) {
    std::map<TimeGroup, GroupTime> times;
    for (int i = 0; i < 40; ++i) {
      const auto ns = static_cast<uint64_t>((window * 7919 + i * 104'729) % 1000);
      times[Unit(window * 10 + i)] = Locked(ns);
      added += ns;
    }
    groups.Add(times);
    EXPECT_EQ(Total(groups), added);
    EXPECT_LE(groups.shown().size(), TopGroups::kMost);
  }
}

}  // namespace
}  // namespace offcpu
