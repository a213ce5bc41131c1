#include "profile/merge_named.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/profile/recorded_profile.h"

namespace offcpu {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// As a file is read: with modules, names and numbers of its own.
NamedProfile OneReader(uint64_t start_unix_ns = 1000) {
  NamedProfile profile = RecordedProfile::OneReader().profile;
  profile.start_unix_ns = start_unix_ns;
  profile.duration_ns = 60;
  profile.host = "web1";
  profile.stats.intervals = 2;
  profile.processes[0].key.start_ns = 0;
  for (NamedUserStack& stack : profile.user_stacks) {
    for (NamedFrame& frame : stack.frames) frame.lines = profile.names->AddLine(profile.names->Add(frame.name()));
  }
  return profile;
}

NamedProfile Merge(NamedProfile a, NamedProfile b) {
  std::vector<NamedProfile> both;
  both.push_back(std::move(a));
  both.push_back(std::move(b));
  return MergeNamedProfiles(std::move(both));
}

std::vector<std::string_view> NamesOf(const std::vector<NamedFrame>& frames) {
  std::vector<std::string_view> names;
  for (const NamedFrame& frame : frames) names.push_back(frame.name());
  return names;
}

TEST(MergeNamedTest, OneIsLeftAsItIs) {
  std::vector<NamedProfile> one;
  one.push_back(OneReader());
  one[0].processes[0].key.start_ns = 5;
  const NamedProfile merged = MergeNamedProfiles(std::move(one));
  EXPECT_EQ(merged.processes[0].key.start_ns, 5u);
  EXPECT_THAT(merged.rows, SizeIs(1));
}

TEST(MergeNamedTest, RowsOfOneMeaningAreAddedUp) {
  const NamedProfile merged = Merge(OneReader(2000), OneReader(1000));
  EXPECT_EQ(merged.start_unix_ns, 1000u);
  EXPECT_EQ(merged.duration_ns, 120u);
  EXPECT_EQ(merged.host, "web1");
  EXPECT_EQ(merged.stats.intervals, 4u);
  EXPECT_EQ(merged.stats.processes, 1u);
  ASSERT_THAT(merged.rows, SizeIs(1));
  EXPECT_EQ(merged.rows[0].count, 4u);
  EXPECT_EQ(merged.rows[0].blocked_ns, 10'000u);
  EXPECT_EQ(merged.rows[0].runnable_ns, 2u);
  EXPECT_EQ(merged.rows[0].max_ns, 4000u);
  EXPECT_EQ(merged.rows[0].kind, WaitKind::kDisk);
  EXPECT_THAT(merged.processes, SizeIs(1));
  ASSERT_THAT(merged.user_stacks, SizeIs(1));
  EXPECT_THAT(NamesOf(merged.user_stacks[0].frames), ElementsAre("read", "loop", "app+0x3006"));
  ASSERT_THAT(merged.kernel_stacks, SizeIs(1));
  EXPECT_THAT(NamesOf(merged.kernel_stacks[0].frames), ElementsAre("schedule", "pipe_read"));
  ASSERT_THAT(merged.code, SizeIs(2)) << "one by path and build id";
  for (const NamedFrame& frame : merged.user_stacks[0].frames)
    EXPECT_TRUE(frame.code == merged.code[0].get() || frame.code == merged.code[1].get());
}

TEST(MergeNamedTest, AnotherBuildIsAnotherModule) {
  NamedProfile other = OneReader();
  auto rebuilt = std::make_shared<Module>();
  rebuilt->path = "/opt/app";
  rebuilt->build_id = "cc03";
  const CodeObject* before = other.code[1].get();
  for (NamedFrame& frame : other.user_stacks[0].frames) {
    if (frame.code == before) frame.code = rebuilt.get();
  }
  other.code[1] = rebuilt;
  const NamedProfile merged = Merge(OneReader(), std::move(other));
  EXPECT_THAT(merged.code, SizeIs(3));
  EXPECT_THAT(merged.user_stacks, SizeIs(2));
  EXPECT_THAT(merged.rows, SizeIs(2));
}

TEST(MergeNamedTest, FilesWithoutBuildIdsAreToldApartByTheirHashes) {
  const auto with_hash = [](const char* hash) {
    NamedProfile profile = OneReader();
    auto module = std::make_shared<Module>();
    module->path = "/opt/app";
    module->file_hash = hash;
    const CodeObject* before = profile.code[1].get();
    for (NamedFrame& frame : profile.user_stacks[0].frames) {
      if (frame.code == before) frame.code = module.get();
    }
    profile.code[1] = module;
    return profile;
  };
  EXPECT_THAT(Merge(with_hash("aa"), with_hash("aa")).user_stacks, SizeIs(1));
  EXPECT_THAT(Merge(with_hash("aa"), with_hash("bb")).user_stacks, SizeIs(2));
}

TEST(MergeNamedTest, TheKernelIsElsewhereAfterEachBoot) {
  NamedProfile other = OneReader();
  for (NamedFrame& frame : other.kernel_stacks[0].frames) frame.address += 0x1000000;
  EXPECT_THAT(Merge(OneReader(), std::move(other)).kernel_stacks, SizeIs(1));
}

TEST(MergeNamedTest, AProcessIsToldByWhatItIs) {
  NamedProfile other_program = OneReader();
  other_program.processes[0].name = "shell";
  const NamedProfile two = Merge(OneReader(), std::move(other_program));
  ASSERT_THAT(two.processes, SizeIs(2));
  EXPECT_NE(two.processes[0].key, two.processes[1].key);
  EXPECT_EQ(two.processes[1].key.pid, 10);
  EXPECT_THAT(two.rows, SizeIs(2));

  NamedProfile other_host = OneReader();
  other_host.host = "web2";
  const NamedProfile of_two = Merge(OneReader(), std::move(other_host));
  EXPECT_EQ(of_two.host, "web1, web2");
  EXPECT_THAT(of_two.processes, SizeIs(2));
}

// The same program, started twice in one pid: they are not one, whatever they are called.
TEST(MergeNamedTest, ImagesOfOneProcessStayApart) {
  const auto two_images = [] {
    NamedProfile profile = OneReader();
    profile.processes.push_back(profile.processes[0]);
    ++profile.processes[1].key.exec_id;
    profile.rows.push_back(profile.rows[0]);
    profile.rows[1].process = 1;
    return profile;
  };
  const NamedProfile merged = Merge(two_images(), two_images());
  EXPECT_THAT(merged.processes, SizeIs(2));
  ASSERT_THAT(merged.rows, SizeIs(2));
  EXPECT_EQ(merged.rows[0].count, 4u);
  EXPECT_EQ(merged.rows[1].count, 4u);
}

TEST(MergeNamedTest, WhatWaitsAreStaysAndKeepsThemApart) {
  NamedProfile mutex = OneReader();
  mutex.rows[0].wait = mutex.names->Add("mutex");
  NamedProfile join = OneReader();
  join.rows[0].wait = join.names->Add("join");
  const NamedProfile merged = Merge(mutex, join);
  ASSERT_THAT(merged.rows, SizeIs(2));
  EXPECT_THAT((std::vector<std::string_view>{merged.rows[0].wait, merged.rows[1].wait}), ElementsAre("mutex", "join"));
}

TEST(MergeNamedTest, WaitsForWorkStayMarkedAndApart) {
  NamedProfile idle = OneReader();
  idle.rows[0].idle = idle.names->Add("a pool");
  idle.idle_is_told = true;
  NamedProfile busy = OneReader();
  busy.idle_is_told = true;
  const NamedProfile merged = Merge(idle, busy);
  EXPECT_TRUE(merged.idle_is_told);
  ASSERT_THAT(merged.rows, SizeIs(2));
  EXPECT_THAT((std::vector<std::string_view>{merged.rows[0].idle, merged.rows[1].idle}), ElementsAre("a pool", ""));
  EXPECT_THAT(merged.user_stacks, SizeIs(1)) << "but their stack is one";
  EXPECT_FALSE(Merge(idle, OneReader()).idle_is_told) << "not of all";
}

TEST(MergeNamedTest, WakersKeepTheirStacks) {
  NamedProfile profile = OneReader();
  profile.wakers = {{{.process = 0, .comm = 0, .kernel_stack = 0, .user_stack = 0}}};
  profile.rows[0].waker = 1;
  const NamedProfile merged = Merge(profile, profile);
  ASSERT_THAT(merged.wakers, SizeIs(1));
  ASSERT_THAT(merged.wakers[0], SizeIs(1));
  EXPECT_EQ(merged.rows[0].waker, 1u);
  EXPECT_THAT(NamesOf(merged.user_stacks[merged.wakers[0][0].user_stack].frames),
              ElementsAre("read", "loop", "app+0x3006"));
}

// Whatever a recording can hold.
TEST(MergeNamedTest, OfAWholeRecordingTwiceEverythingIsTwice) {
  const NamedProfile once = RecordedProfile::All().profile;
  const NamedProfile merged = Merge(once, once);
  ASSERT_EQ(merged.rows.size(), once.rows.size());
  uint64_t ns = 0;
  uint64_t merged_ns = 0;
  for (const NamedRow& row : once.rows) ns += row.total_ns();
  for (const NamedRow& row : merged.rows) merged_ns += row.total_ns();
  EXPECT_EQ(merged_ns, 2 * ns);
  EXPECT_EQ(merged.ledger.size(), once.ledger.size());
  EXPECT_EQ(merged.stats.losses[0].count, 6u);
  uint32_t others = 0;
  for (const ProcessInfo& process : merged.processes) others += process.key == ProcessKey() ? 1 : 0;
  EXPECT_EQ(others, 1u) << "what stands for all that found no place";
}

TEST(MergeNamedTest, NamesOutliveWhatTheyWereReadFrom) {
  NamedProfile merged;
  {
    NamedProfile a = OneReader();
    NamedProfile b = OneReader();
    b.user_stacks[0].frames[0].lines =
        b.names->AddLine(b.names->Add("a name that is too long to be stored in a string"));
    merged = Merge(std::move(a), std::move(b));
  }
  ASSERT_THAT(merged.user_stacks, SizeIs(2));
  EXPECT_EQ(merged.user_stacks[1].frames[0].name(), "a name that is too long to be stored in a string");
}

// As two builds of one program may have them, without a build id that says so.
TEST(MergeNamedTest, StacksOfOtherInlinedFunctionsStayApart) {
  NamedProfile a = OneReader();
  NamedProfile b = OneReader();
  for (auto [profile, inner] : {std::pair(&a, "push"), {&b, "pop"}}) {
    NamedFrame& frame = profile->user_stacks[0].frames[1];
    frame.lines = profile->names->Add(std::vector<FrameLine>{{inner}, {frame.name()}});
  }
  EXPECT_THAT(Merge(std::move(a), std::move(b)).user_stacks, SizeIs(2));
}

}  // namespace
}  // namespace offcpu
