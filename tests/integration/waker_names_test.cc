// Who ended a wait: a waker that is claimed is the right one, with the whole chain up to whom an interrupt has woken.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tests/harness/harness.h"
#include "tests/harness/record_until.h"

namespace offcpu::integration {
namespace {

struct Expected {
  const char* waiter;
  const char* wait;
  const char* waker;  // empty: an interrupt
};

constexpr Expected kWaits[] = {
    {"w_chain", "wait_chain", "k_chain"}, {"k_chain", "wait_middle", "chain_end"}, {"w_timer", "wait_timer", ""},
    {"w_pipe", "wait_pipe", "k_pipe"},    {"w_futex", "wait_futex", "k_futex"},    {"w_event", "wait_event", "k_event"},
    {"w_unix", "wait_unix", "k_unix"},
};

// Names of those that have woken, nearest first; an interrupt has none.
std::vector<std::string> Wakers(const Recording& recording, const StackRow& row) {
  std::vector<std::string> names;
  if (row.row->waker == 0) return names;
  for (const Waker& waker : recording.profile.wakers[row.row->waker - 1])
    names.push_back(waker.interrupt ? "" : recording.profile.comms[waker.comm]);
  return names;
}

// The threads of a process also wait for the lock of its memory while their stacks are copied for this recording.
bool WaitsForMemory(const StackRow& row) {
  return std::any_of(row.kernel.begin(), row.kernel.end(),
                     [](std::string_view name) { return name.starts_with("rwsem_down_"); });
}

TEST(WakerNames, AreTheRightOnes) {
  const TemporaryDirectory directory;
  const std::unique_ptr<Target> target = Target::Start({"wakes", directory.path(), "--seconds", "90", "--cpus", "2"});
  ASSERT_NE(target, nullptr);
  RecordConfig config = Unthrottled({target->pid()});
  config.wakers = true;
  std::map<std::string, uint64_t> right;
  uint64_t whole_chains = 0;
  RecordUntil(config, *target, [&](const Recording& window) {
    for (const Expected& expected : kWaits) {
      for (const StackRow& row : window.Rows([&](const StackRow& r) {
             return r.comm == expected.waiter && r.Has(expected.wait) && r.row->kind == WaitKind::kSleeping &&
                    r.row->blocked_ns != 0 && !WaitsForMemory(r);
           })) {
        const std::vector<std::string> wakers = Wakers(window, row);
        if (wakers.empty()) continue;  // not known, and counted
        EXPECT_EQ(wakers[0], expected.waker) << row.Text();
        right[expected.waiter] += row.row->count;
        if (wakers == std::vector<std::string>{"k_chain", "chain_end", ""}) whole_chains += row.row->count;
      }
    }
    return whole_chains >= 10 && std::all_of(std::begin(kWaits), std::end(kWaits),
                                             [&](const Expected& expected) { return right[expected.waiter] >= 10; });
  });
}

TEST(WakerNames, AreNotToldUnlessAskedFor) {
  const TemporaryDirectory directory;
  const std::unique_ptr<Target> target = Target::Start({"wakes", directory.path(), "--seconds", "0.2"});
  ASSERT_NE(target, nullptr);
  const Recording recording = Record(Unthrottled({target->pid()}), *target);
  EXPECT_TRUE(recording.profile.wakers.empty());
  for (const ProfileRow& row : recording.profile.rows) EXPECT_EQ(row.waker, 0u);
}

}  // namespace
}  // namespace offcpu::integration
