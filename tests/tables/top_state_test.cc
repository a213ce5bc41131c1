#include "tables/top_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/profile/fake_profile.h"

namespace offcpu {
namespace {

using Kind = TopKey::Kind;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr uint64_t kMs = 1'000'000;

// Two processes: "web" with a lock and a pipe, "db" with a disk.
class TopStateTest : public ::testing::Test {
 protected:
  TopStateTest() {
    const uint32_t web = fake_.Process(10, "web");
    const uint32_t db = fake_.Process(20, "db");
    const uint32_t futex = fake_.Kernel({"schedule", "futex_wait"});
    const uint32_t pipe = fake_.Kernel({"schedule", "pipe_read"});
    const uint32_t disk = fake_.Kernel({"io_schedule", "folio_wait_bit"});
    fake_.Row(web, fake_.Comm("worker"), fake_.User({"Lock", "main"}), futex, 50 * kMs, 1 * kMs);
    fake_.Row(web, fake_.Comm("reader"), fake_.User({"Fill", "main"}), pipe, 30 * kMs, 2 * kMs);
    fake_.Row(db, fake_.Comm("writer"), fake_.User({"Flush", "main"}), disk, 60 * kMs, 40 * kMs);
    fake_.profile.duration_ns = 1'000 * kMs;
    all_ = MakeTopTable(fake_.profile, RowValue::kOffCpu, 100);
    Select();
  }

  void Select() { shown_ = ShownOf(all_, state_); }
  TopAction Type(const TopKey& key) {
    const TopAction action = Press(key, shown_, &state_);
    if (action == TopAction::kSelect) Select();
    return action;
  }
  void Type(const std::string& typed) {
    for (const TopKey& key : TopKeys(typed)) Type(key);
  }
  std::vector<std::string> Processes() const {
    std::vector<std::string> names;
    for (const TopProcess& process : shown_.processes) names.push_back(process.name);
    return names;
  }
  std::vector<std::string> Stacks() const {
    std::vector<std::string> threads;
    for (const size_t index : StacksOf(shown_, state_)) threads.push_back(shown_.stacks[index].thread);
    return threads;
  }
  std::string Process() const { return state_.process.has_value() ? state_.process->name : ""; }
  std::string Stack() const { return state_.stack.has_value() ? state_.stack->thread : ""; }

  FakeProfile fake_;
  TopTable all_;
  TopTable shown_;
  TopState state_;
};

// Another process of it may be the first one in the next refresh.
TEST_F(TopStateTest, AProgramStaysSelected) {
  const uint32_t other = fake_.Process(5, "web");
  fake_.Row(other, fake_.Comm("worker"), fake_.User({"Lock", "main"}), 0, 70 * kMs);
  all_ = MakeTopTable(fake_.profile, RowValue::kOffCpu, 100, true, RowsApart::kPrograms);
  Select();
  EXPECT_THAT(Processes(), ElementsAre("web", "db"));
  Type("j");
  EXPECT_THAT(Stacks(), ElementsAre("worker", "reader"));
  fake_.profile.rows.erase(fake_.profile.rows.begin(), fake_.profile.rows.begin() + 2);
  all_ = MakeTopTable(fake_.profile, RowValue::kOffCpu, 100, true, RowsApart::kPrograms);
  Select();
  EXPECT_THAT(Stacks(), ElementsAre("worker")) << "of the other process";
  Type("/worker\r");
  EXPECT_THAT(Processes(), ElementsAre("web"));
}

TEST_F(TopStateTest, EachKeyOfAValueSortsBoth) {
  EXPECT_THAT(Processes(), ElementsAre("db", "web"));
  EXPECT_THAT(Stacks(), ElementsAre("writer", "worker", "reader"));
  Type("b");
  EXPECT_EQ(state_.value, RowValue::kBlocked);
  EXPECT_THAT(Processes(), ElementsAre("web", "db")) << "80 ms and 60";
  EXPECT_THAT(Stacks(), ElementsAre("writer", "worker", "reader"));
  Type("r");
  EXPECT_EQ(state_.value, RowValue::kRunnable);
  EXPECT_THAT(Processes(), ElementsAre("db", "web"));
  EXPECT_THAT(Stacks(), ElementsAre("writer", "reader", "worker"));
  Type("c");
  EXPECT_EQ(state_.value, RowValue::kCount);
  EXPECT_THAT(Processes(), ElementsAre("web", "db")) << "two waits and one";
  Type("o");
  EXPECT_EQ(state_.value, RowValue::kOffCpu);
  EXPECT_THAT(Processes(), ElementsAre("db", "web"));
}

TEST_F(TopStateTest, TheSelectionMovesAndStopsAtTheEnds) {
  Type("\033[A");
  EXPECT_EQ(Process(), "db") << "the first key selects";
  Type("\033[B");
  EXPECT_EQ(Process(), "web");
  Type("\033[B");
  EXPECT_EQ(Process(), "web");
  Type("\033[5~");
  EXPECT_EQ(Process(), "db");
  Type("\033[6~");
  EXPECT_EQ(Process(), "web");
  Type("\033[H");
  EXPECT_EQ(Process(), "db");
  Type("\033[F");
  EXPECT_EQ(Process(), "web");
  Type("kj");
  EXPECT_EQ(Process(), "web");
}

TEST_F(TopStateTest, OnlyTheStacksOfTheSelectedProcessAreShown) {
  Type("jj");
  EXPECT_EQ(Process(), "web");
  EXPECT_THAT(Stacks(), ElementsAre("worker", "reader"));
  Type("\t");
  EXPECT_EQ(Stack(), "worker");
  Type("j");
  EXPECT_EQ(Stack(), "reader");
  Type("j");
  EXPECT_EQ(Stack(), "reader");
  EXPECT_EQ(Process(), "web");
}

TEST_F(TopStateTest, TheStacksOfAllAreWalkedWithoutAProcess) {
  Type("\r");
  EXPECT_EQ(Stack(), "writer");
  Type("\033[F");
  EXPECT_EQ(Stack(), "reader");
  EXPECT_EQ(Process(), "");
  Type("\t");
  EXPECT_EQ(Stack(), "");
  EXPECT_FALSE(state_.in_stacks);
}

TEST_F(TopStateTest, EscapeGoesOneStepBack) {
  Type("/e\rj\r");
  EXPECT_EQ(Stack(), "writer");
  Type("\033");
  EXPECT_EQ(Stack(), "");
  EXPECT_EQ(Process(), "db");
  Type("\033");
  EXPECT_EQ(Process(), "");
  EXPECT_EQ(state_.filter, "e");
  Type("\033");
  EXPECT_EQ(state_.filter, "");
  EXPECT_EQ(Type(TopKey{Kind::kEscape}), TopAction::kNone);
}

// A filter may be of the process, the thread, a frame, the kernel's function, the number, or the cause.
TEST_F(TopStateTest, AFilterLooksAtAllTextOfAStack) {
  for (const std::string filter : {"web", "reader", "fill", "PIPE_read", "10"}) {
    state_.filter = filter;
    Select();
    EXPECT_EQ(Stacks().back(), "reader") << filter;
    EXPECT_THAT(Processes(), ElementsAre("web")) << filter;
  }
  state_.filter = "block i/o";
  Select();
  EXPECT_THAT(Stacks(), ElementsAre("writer"));
  state_.filter = "none of them";
  Select();
  EXPECT_THAT(Stacks(), IsEmpty());
  EXPECT_THAT(Processes(), IsEmpty());
  Type("j\t\033[F");
  EXPECT_EQ(Process() + Stack(), "") << "there is nothing to select";
}

TEST_F(TopStateTest, AProcessCostsWhatItsStacksThatPassCost) {
  Type("/futex\r");
  ASSERT_THAT(Processes(), ElementsAre("web"));
  EXPECT_EQ(shown_.processes[0].sums.blocked_ns, 50 * kMs);
  EXPECT_EQ(shown_.processes[0].sums.runnable_ns, 1 * kMs);
  EXPECT_EQ(shown_.processes[0].sums.count, 1u);
  EXPECT_EQ(shown_.sums.total_ns(), 183 * kMs) << "all there is stays what it is";
}

TEST_F(TopStateTest, WhatIsTypedIsTheFilterUntilItIsEntered) {
  Type("/qb");
  EXPECT_TRUE(state_.is_typing);
  EXPECT_EQ(state_.filter, "qb");
  EXPECT_EQ(state_.value, RowValue::kOffCpu);
  Type("\x7f\x7f\x7f");
  EXPECT_EQ(state_.filter, "");
  Type("a\u20ac\x7f");
  EXPECT_EQ(state_.filter, "a") << "a character goes as a whole";
  Type("\t\033[A");
  EXPECT_EQ(state_.filter, "a");
  Type("\r");
  EXPECT_FALSE(state_.is_typing);
  EXPECT_EQ(state_.filter, "a");
  Type("/b\033");
  EXPECT_FALSE(state_.is_typing);
  EXPECT_EQ(state_.filter, "");
}

TEST_F(TopStateTest, AFilterIsOfAllProcesses) {
  Type("j\tj/writer");
  EXPECT_EQ(Process() + Stack(), "") << "what was selected need not pass";
  EXPECT_FALSE(state_.in_stacks);
  EXPECT_THAT(Stacks(), ElementsAre("writer"));
}

TEST_F(TopStateTest, AFilterHasTwoHundredBytes) {
  Type("/" + std::string(199, 'x'));
  EXPECT_EQ(Type({Kind::kText, "\u20ac"}), TopAction::kNone);
  EXPECT_EQ(Type({Kind::kText, "y"}), TopAction::kSelect);
  EXPECT_EQ(Type({Kind::kText, "z"}), TopAction::kNone);
  EXPECT_EQ(state_.filter, std::string(199, 'x') + "y");
}

TEST_F(TopStateTest, PauseAndQuit) {
  EXPECT_EQ(Type({Kind::kText, " "}), TopAction::kPause);
  EXPECT_TRUE(state_.is_paused);
  EXPECT_EQ(Type({Kind::kText, "p"}), TopAction::kPause);
  EXPECT_FALSE(state_.is_paused);
  EXPECT_EQ(Type({Kind::kText, "q"}), TopAction::kQuit);
  EXPECT_EQ(Type({Kind::kText, "x"}), TopAction::kNone);
}

// A wait that comes and goes does not take the selection with it.
TEST_F(TopStateTest, TheSelectionOutlastsARefreshWithoutIt) {
  Type("jj\tj");
  EXPECT_EQ(Stack(), "reader");
  shown_ = {};
  EXPECT_THAT(Stacks(), IsEmpty());
  Type("j");
  EXPECT_EQ(Process() + " " + Stack(), "web reader");
  Select();
  EXPECT_THAT(Stacks(), ElementsAre("worker", "reader"));
}

}  // namespace
}  // namespace offcpu
