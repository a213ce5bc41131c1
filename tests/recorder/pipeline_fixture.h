// A pipeline without BPF, over processes that are made up.
#ifndef OFFCPU_TESTS_RECORDER_PIPELINE_FIXTURE_H_
#define OFFCPU_TESTS_RECORDER_PIPELINE_FIXTURE_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "recorder/pipeline.h"
#include "tests/recorder/made_up_events.h"

namespace offcpu {

class PipelineTest : public ::testing::Test {
 protected:
  static constexpr uint64_t kUntoldGroup = 77;

  PipelineTest() { Make({}); }

  void Make(const PipelineConfig& config, const ReaderLimits& readers = {}) {
    pipeline_ = std::make_unique<Pipeline>(
        config,
        Pipeline::Hooks{
            .look = [processes = processes_](const ProcessKey& key, int32_t,
                                             const auto&) { return processes->Look(key.pid); },
            .read_stacks = [read =
                                read_stacks_](const std::vector<WaitingThread>& threads) { return (*read)(threads); },
            .hint = [this](int32_t tid, const StackHint& hint) { hints_[tid] = hint; },
            .forget_definition = [this](uint64_t id) { forgotten_.insert(id); },
            .owner = [this](pid_t pid) { return owners_.contains(pid) ? owners_[pid] : 0; },
            .control_group =
                [](uint64_t id) {
                  return id == kUntoldGroup ? std::nullopt : std::optional("/group" + std::to_string(id));
                },
            .readers = std::make_shared<ReaderPool>(readers),
        },
        now_ns_);
  }

  // Until no look is under way. Bounded by the readers' deadline.
  void Settle() {
    do {
      std::this_thread::yield();
      pipeline_->Tick(now_ns_);
    } while (!pipeline_->idle());
  }

  // What the live path finds of a thread of kProcess.
  static LiveStack ALiveStack() {
    LiveStack live;
    live.capture = ACapture(0, kVersion1);
    return live;
  }

  void Finish() { profile_ = pipeline_->Finish({}); }

  uint64_t TotalNs() const {
    uint64_t ns = 0;
    for (const ProfileRow& row : profile_.rows) ns += row.total_ns();
    return ns;
  }

  // Time by how its user stack came out: number of frames and end, or the reason for none.
  std::map<std::string, uint64_t> NsByOutcome() const {
    std::map<std::string, uint64_t> ns;
    for (const ProfileRow& row : profile_.rows) {
      const UserStackEntry& entry = profile_.user_stacks[row.user_stack];
      const std::string name = entry.missing != NoUserStack::kNone ? std::string(Name(entry.missing))
                                                                   : std::to_string(entry.stack.frames.size()) + " " +
                                                                         std::string(Name(entry.stack.end));
      ns[name] += row.total_ns();
    }
    return ns;
  }

  uint64_t DropCount(const std::string& reason) const {
    for (const Drop& drop : profile_.stats.drops) {
      if (drop.reason == reason) return drop.count;
    }
    return 0;
  }

  using Outcomes = std::map<std::string, uint64_t>;
  // A reader that is given up outlives the test, and has its own hold on what it runs.
  using ReadStacks = std::function<std::vector<LiveStack>(const std::vector<WaitingThread>&)>;
  std::shared_ptr<ReadStacks> read_stacks_ = std::make_shared<ReadStacks>(
      [](const auto& threads) { return std::vector<LiveStack>(threads.size(), ALiveStack()); });
  std::shared_ptr<FakeProcesses> processes_ = std::make_shared<FakeProcesses>();
  std::map<pid_t, uid_t> owners_;  // of processes; root, if it is not here
  std::map<int32_t, StackHint> hints_;
  std::set<uint64_t> forgotten_;
  uint64_t now_ns_ = 1'000'000'000'000'000;  // hosts run for weeks
  std::unique_ptr<Pipeline> pipeline_;
  Profile profile_;
};

}  // namespace offcpu

#endif  // OFFCPU_TESTS_RECORDER_PIPELINE_FIXTURE_H_
