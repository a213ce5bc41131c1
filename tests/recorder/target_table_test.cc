#include "recorder/target_table.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/recorder/made_up_events.h"

namespace offcpu {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class TargetTableTest : public ::testing::Test {
 protected:
  std::vector<std::string> Evicted() {
    std::vector<std::string> names;
    for (const ProcessInfo& process : table_.TakeEvicted()) names.push_back(process.name);
    return names;
  }

  TargetTable table_{1};
};

TEST_F(TargetTableTest, AProcessIsNewOnce) {
  EXPECT_EQ(table_.Find(kProcess), nullptr);
  const TargetTable::Heard first = table_.HearOf(kProcess, kProcess.pid, "leader");
  EXPECT_TRUE(first.is_new);
  const TargetTable::Heard again = table_.HearOf(kProcess, kProcess.pid + 1, "helper");
  EXPECT_FALSE(again.is_new);
  EXPECT_EQ(again.target, first.target);
  EXPECT_EQ(again.target, table_.Find(kProcess));
  EXPECT_EQ(again.target->tid, kProcess.pid + 1);
  EXPECT_EQ(again.target->main_comm, "leader") << "a thread's name is not the process's";
}

TEST_F(TargetTableTest, OnlyThoseThatHaveEndedMakeRoom) {
  table_.HearOf(kProcess, kProcess.pid, "leader");
  EXPECT_EQ(table_.HearOf(kOther, kOther.pid, "other").target, nullptr);
  EXPECT_EQ(table_.over_limit(), 1u);
  table_.OnExit(kProcess);
  table_.Find(kProcess)->is_being_read = true;
  EXPECT_EQ(table_.HearOf(kOther, kOther.pid, "other").target, nullptr) << "what a snapshot finds is still to come";
  table_.Find(kProcess)->is_being_read = false;
  table_.Find(kProcess)->waiting.push_back(ACapture(1, kVersion1));
  EXPECT_EQ(table_.HearOf(kOther, kOther.pid, "other").target, nullptr) << "a capture waits";
  table_.Find(kProcess)->waiting.clear();
  EXPECT_THAT(Evicted(), IsEmpty());
  EXPECT_TRUE(table_.HearOf(kOther, kOther.pid, "other").is_new);
  EXPECT_EQ(table_.over_limit(), 3u);
  EXPECT_THAT(Evicted(), ElementsAre("leader"));
  EXPECT_THAT(Evicted(), IsEmpty()) << "each is named once";
  EXPECT_EQ(table_.exited(), 0u);
}

TEST_F(TargetTableTest, WhatIsUnderWayIsNotForgotten) {
  table_.HearOf(kProcess, kProcess.pid, "leader");
  table_.OnExit(kProcess);
  table_.BeginWindow();
  table_.Find(kProcess)->is_being_read = true;
  table_.Forget();
  EXPECT_NE(table_.Find(kProcess), nullptr);
  EXPECT_EQ(table_.exited(), 1u);
  table_.Find(kProcess)->is_being_read = false;
  table_.Forget();
  EXPECT_EQ(table_.Find(kProcess), nullptr);
  EXPECT_EQ(table_.exited(), 0u);
}

}  // namespace
}  // namespace offcpu
