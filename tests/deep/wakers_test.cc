// Who ended a wait: compared with what the program knows of each of its waits. A waker that is claimed is the right
// one, always; those that are not known are counted.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tests/harness/harness.h"

namespace offcpu::integration {
namespace {

struct Expected {
  const char* waiter;
  const char* wait;
  const char* waker;  // null: an interrupt
  const char* wake;   // its function; of an interrupt, in the kernel
};

constexpr Expected kWaits[] = {
    {"w_chain", "wait_chain", "k_chain", "wake_chain"},   {"k_chain", "wait_middle", "chain_end", "wake_middle"},
    {"chain_end", "wait_end", nullptr, "hrtimer_wakeup"}, {"w_timer", "wait_timer", nullptr, "hrtimer_wakeup"},
    {"w_pipe", "wait_pipe", "k_pipe", "wake_pipe"},       {"w_futex", "wait_futex", "k_futex", "wake_futex"},
    {"w_event", "wait_event", "k_event", "wake_event"},   {"w_unix", "wait_unix", "k_unix", "wake_unix"},
    {"w_udp", "wait_udp", "k_udp", "wake_udp"},           {"w_moving", "wait_moving", "k_moving", "wake_moving"},
    {"w_turns", "wait_turn1", "k_turn1", "wake_turn1"},   {"w_turns", "wait_turn2", "k_turn2", "wake_turn2"},
};
constexpr Expected kNetWait = {"w_net", "wait_net", nullptr, "net_rx_action"};
constexpr Expected kDiskWait = {"w_disk", "wait_disk", nullptr, "blk_update_request"};

// A waker in words.
struct WakerInWords {
  bool interrupt = false;
  std::string comm;
  int32_t pid = 0;
  const NamedUserStack* user = nullptr;
  std::vector<std::string> frames;  // of the user stack, leaf first
  std::vector<std::string> kernel;

  bool Has(std::string_view function) const {
    return std::find(frames.begin(), frames.end(), function) != frames.end();
  }
  bool IsIn(std::string_view kernel_function) const {
    return std::find(kernel.begin(), kernel.end(), kernel_function) != kernel.end();
  }
  bool is_complete() const { return user->missing == NoUserStack::kNone && user->end == EndReason::kComplete; }
};

std::vector<WakerInWords> ChainOf(const Recording& recording, const ProfileRow& row) {
  std::vector<WakerInWords> chain;
  if (row.waker == 0) return chain;
  const NamedProfile& profile = recording.profile;
  for (const Waker& waker : profile.wakers[row.waker - 1]) {
    WakerInWords& waker = chain.emplace_back();
    waker.interrupt = waker.interrupt;
    waker.user = &profile.user_stacks[waker.user_stack];
    for (const NamedFrame& frame : profile.kernel_stacks[waker.kernel_stack].frames)
      waker.kernel.emplace_back(frame.name());
    if (waker.interrupt) continue;
    waker.comm = profile.comms[waker.comm];
    waker.pid = profile.processes[waker.process].key.pid;
    for (const NamedFrame& frame : waker.user->frames) waker.frames.emplace_back(frame.name());
  }
  return chain;
}

std::string Text(const std::vector<WakerInWords>& chain) {
  std::string text;
  for (const WakerInWords& waker : chain) {
    text += "  woken by " + (waker.interrupt ? std::string("[interrupt]") : waker.comm) + ":";
    for (const std::string& frame : waker.kernel) text += " " + frame;
    text += " |";
    for (const std::string& frame : waker.frames) text += " " + frame;
    text += "\n";
  }
  return text;
}

// The threads of a process also wait for the lock of its memory while their stacks are copied for this recording.
bool WaitsForMemory(const StackRow& row) {
  return std::any_of(row.kernel.begin(), row.kernel.end(),
                     [](std::string_view name) { return name.starts_with("rwsem_down_"); });
}

// What its last waker waited for, unless that thread had met a lock: then the thread that held the lock woke it.
bool EndsInTheTimer(const std::vector<WakerInWords>& chain) {
  return chain.size() == 3 && chain[2].interrupt && chain[2].IsIn("hrtimer_wakeup");
}

bool IsRight(const Expected& expected, const std::vector<WakerInWords>& chain) {
  const WakerInWords& first = chain.front();
  if (expected.waker == nullptr) return first.interrupt && first.IsIn(expected.wake);
  // One that comes when a packet of the host to itself lies ready delivers it.
  if (first.interrupt && first.IsIn("process_backlog")) return std::string_view(expected.wait) == "wait_udp";
  if (first.interrupt || first.comm != expected.waker) return false;
  return !first.is_complete() || first.Has(expected.wake);
}

struct Figures {
  uint64_t claimed = 0;
  uint64_t unknown = 0;
  uint64_t with_stack = 0;
  uint64_t wrong = 0;
};

Figures Compare(const Recording& recording, const Expected& expected) {
  Figures figures;
  for (const StackRow& row : recording.Rows([&](const StackRow& r) {
         const bool slept = r.row->kind == WaitKind::kSleeping || r.row->kind == WaitKind::kDisk;
         return r.comm == expected.waiter && r.Has(expected.wait) && slept && r.row->blocked_ns != 0 &&
                !WaitsForMemory(r);
       })) {
    const std::vector<WakerInWords> chain = ChainOf(recording, *row.row);
    if (chain.empty()) {
      figures.unknown += row.row->count;
      continue;
    }
    figures.claimed += row.row->count;
    if (!chain.front().interrupt && chain.front().is_complete()) figures.with_stack += row.row->count;
    if (IsRight(expected, chain)) continue;
    figures.wrong += row.row->count;
    ADD_FAILURE() << row.row->count << " waits of " << row.Text() << "\n" << Text(chain);
  }
  return figures;
}

class Wakers : public ::testing::Test {
 protected:
  void RecordWakes(const std::vector<std::string>& options, RecordConfig config = Unthrottled({})) {
    std::vector<std::string> words = {"wakes", directory_.path(), "--seconds", "3"};
    words.insert(words.end(), options.begin(), options.end());
    target_ = Target::Start(words);
    ASSERT_NE(target_, nullptr);
    config.pids = {target_->pid()};
    config.wakers = true;
    recording_ = Record(config, *target_);
  }

  // Every waker that is claimed is the right one, and most waits have one.
  void ExpectRight() {
    std::vector<Expected> waits(std::begin(kWaits), std::end(kWaits));
    if (target_->Value("disk") != 0) waits.push_back(kDiskWait);
    if (target_->Value("net") != 0) waits.push_back(kNetWait);
    for (const Expected& expected : waits) {
      const Figures figures = Compare(recording_, expected);
      std::printf("%-10s %-12s %7llu claimed, %llu with a stack, %llu unknown, %llu wrong\n", expected.waiter,
                  expected.wait, (unsigned long long)figures.claimed, (unsigned long long)figures.with_stack,
                  (unsigned long long)figures.unknown, (unsigned long long)figures.wrong);
      EXPECT_GT(figures.claimed, 100u) << expected.wait << " hardly waits: no test\n" << recording_.LossesText();
      // An interrupt may come while a task runs that the kernel hides from BPF programs, as kernels of sandboxes do.
      const uint64_t allowed = figures.claimed / (expected.waker == nullptr ? 20 : 100);
      EXPECT_LE(figures.unknown, allowed) << expected.wait << "\n" << recording_.LossesText();
      if (expected.waker == nullptr) continue;
      EXPECT_GT(figures.with_stack, figures.claimed / 2) << expected.wait;
    }
  }

  void ForEachThread(const std::function<void(const WakerInWords&, const std::string&)>& visit) const {
    for (const StackRow& row : recording_.Rows([](const StackRow&) { return true; })) {
      const std::vector<WakerInWords> chain = ChainOf(recording_, *row.row);
      for (const WakerInWords& waker : chain) {
        if (!waker.interrupt) visit(waker, row.Text() + "\n" + Text(chain));
      }
    }
  }

  // While a hog does nothing but run, whatever is woken on its CPU is woken by an interrupt. And what an interrupt does
  // is nobody's, by the names of the functions that only they run in.
  void ExpectNothingOfInterrupts() {
    ForEachThread([](const WakerInWords& waker, const std::string& text) {
      EXPECT_FALSE(waker.Has("hog_loop")) << text;
      for (const std::string& frame : waker.kernel) {
        EXPECT_FALSE(frame.find("sysvec_") != std::string::npos ||
                     frame.find("common_interrupt") != std::string::npos || frame.find("irq_exit") != std::string::npos)
            << text;
      }
      EXPECT_TRUE(!waker.IsIn("handle_softirqs") || waker.IsIn("process_backlog")) << text;
      EXPECT_EQ(waker.comm.find("swapper"), std::string::npos) << text;
    });
  }

  const TemporaryDirectory directory_;
  std::unique_ptr<Target> target_;
  Recording recording_;
};

TEST_F(Wakers, AreTheRightOnesOnOneCpu) {
  RecordWakes({"--cpus", "1", "--hogs", "1"});
  ExpectRight();
  ExpectNothingOfInterrupts();
}

TEST_F(Wakers, AreTheRightOnesOnTwoCpus) {
  RecordWakes({"--cpus", "2", "--hogs", "1"});
  ExpectRight();
  ExpectNothingOfInterrupts();
}

// As the service records: a sample of short waits, and budgets. Whose stack is not known is right by name.
TEST_F(Wakers, AreTheRightOnesOfASample) {
  RecordConfig config;
  config.sample_ns = 50'000;
  RecordWakes({"--cpus", "2", "--hogs", "1"}, config);
  uint64_t claimed = 0;
  for (const Expected& expected : kWaits) {
    const Figures figures = Compare(recording_, expected);
    claimed += figures.claimed;
    EXPECT_LE(figures.unknown, figures.claimed / 10) << expected.wait;
  }
  ASSERT_GT(claimed, 1000u) << "hardly anybody was woken: no test";
  ExpectNothingOfInterrupts();
}

// Nothing but waiting threads and interrupts that find the CPU idle.
TEST_F(Wakers, AreNeverTheIdleTask) {
  RecordWakes({"--cpus", "2"});
  ExpectRight();
  ExpectNothingOfInterrupts();
}

TEST_F(Wakers, AreShownInAChainUpToTheTimer) {
  RecordWakes({"--cpus", "2", "--chain"});
  uint64_t whole = 0;
  uint64_t all = 0;
  for (const StackRow& row : recording_.Rows([](const StackRow& r) {
         return r.comm == "w_chain" && r.Has("wait_chain") && r.row->blocked_ns > 0 &&
                r.row->kind == WaitKind::kSleeping;
       })) {
    const std::vector<WakerInWords> chain = ChainOf(recording_, *row.row);
    if (chain.empty() || WaitsForMemory(row)) continue;
    all += row.row->count;
    ASSERT_LE(chain.size(), 3u) << Text(chain);
    EXPECT_EQ(chain[0].comm, "k_chain") << Text(chain);
    if (chain.size() < 2) continue;
    EXPECT_EQ(chain[1].comm, "chain_end") << Text(chain);
    if (!EndsInTheTimer(chain)) continue;
    if (chain[0].Has("wake_chain") && chain[1].Has("wake_middle")) whole += row.row->count;
  }
  std::printf("%llu of %llu waits with all of their chain\n", (unsigned long long)whole, (unsigned long long)all);
  EXPECT_GT(all, 100u) << "hardly any wait: no test";
  EXPECT_GT(whole, all * 8 / 10);
}

// What the waker had waited for before is no part of the wait.
TEST_F(Wakers, HaveNoChainFromBeforeTheWait) {
  RecordWakes({"--cpus", "2"});
  uint64_t alone = 0;
  uint64_t all = 0;
  for (const StackRow& row :
       recording_.Rows([](const StackRow& r) { return r.comm == "w_late" && r.Has("wait_late"); })) {
    const std::vector<WakerInWords> chain = ChainOf(recording_, *row.row);
    if (chain.empty() || WaitsForMemory(row) || !chain[0].Has("wake_late_again")) continue;
    all += row.row->count;
    if (chain.size() == 1) alone += row.row->count;
    if (chain.size() < 2) continue;
    EXPECT_FALSE(chain[1].interrupt && chain[1].IsIn("hrtimer_wakeup")) << Text(chain);
  }
  EXPECT_GT(all, 100u) << "hardly any wait: no test";
  EXPECT_GT(alone, all * 9 / 10);
}

// A thread that is not recorded may wake one that is.
TEST_F(Wakers, AreToldOfThreadsThatAreNotRecorded) {
  RecordConfig config = Unthrottled({});
  config.comms = {"w_chain"};
  RecordWakes({"--cpus", "2"}, config);
  uint64_t whole = 0;
  uint64_t all = 0;
  for (const StackRow& row : recording_.Rows([](const StackRow& r) { return r.Has("wait_chain"); })) {
    EXPECT_EQ(row.comm, "w_chain");
    const std::vector<WakerInWords> chain = ChainOf(recording_, *row.row);
    if (chain.size() != 3 || WaitsForMemory(row)) continue;
    EXPECT_EQ(chain[0].comm, "k_chain") << row.Text() << "\n" << Text(chain);
    EXPECT_EQ(chain[1].comm, "chain_end") << row.Text() << "\n" << Text(chain);
    EXPECT_EQ(chain[1].user->missing, NoUserStack::kNotAsked) << "whom it woke is not recorded";
    all += row.row->count;
    if (!EndsInTheTimer(chain)) continue;
    if (chain[0].Has("wake_chain")) whole += row.row->count;
  }
  std::printf("%llu of %llu chains whole\n", (unsigned long long)whole, (unsigned long long)all);
  EXPECT_GT(all, 100u) << "hardly any wait: no test\n" << recording_.LossesText();
  EXPECT_GT(whole, all * 99 / 100) << recording_.LossesText();
}

TEST_F(Wakers, AreNotToldUnlessAskedFor) {
  target_ = Target::Start({"wakes", directory_.path(), "--seconds", "0.2"});
  ASSERT_NE(target_, nullptr);
  recording_ = Record(Unthrottled({target_->pid()}), *target_);
  EXPECT_TRUE(recording_.profile.wakers.empty());
  for (const ProfileRow& row : recording_.profile.rows) EXPECT_EQ(row.waker, 0u);
}

}  // namespace
}  // namespace offcpu::integration
