// A pipeline without BPF, over processes that are made up.
#ifndef OFFCPU_TESTS_RECORDER_PIPELINE_FIXTURE_H_
#define OFFCPU_TESTS_RECORDER_PIPELINE_FIXTURE_H_

#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "recorder/pipeline.h"
#include "tests/recorder/fake_host.h"

namespace offcpu {

class PipelineTest : public ::testing::Test {
 protected:
  static constexpr uint64_t kUntoldGroup = FakeHost::kUntoldGroup;

  PipelineTest() { Make({}); }

  // Another pipeline of the same processes, which are read as before.
  void Make(const PipelineConfig& config, const ReaderLimits& readers = {}) {
    auto host = std::make_shared<FakeHost>(readers);
    host->processes = processes_;
    if (host_ != nullptr) host->read = host_->read;
    host_ = std::move(host);
    pipeline_ = std::make_unique<Pipeline>(config, host_, now_ns_);
  }

  // Until no snapshot is under way. Bounded by the readers' deadline.
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

  uint64_t LossCount(const std::string& reason) const {
    for (const Loss& loss : profile_.stats.losses) {
      if (loss.reason == reason) return loss.count;
    }
    return 0;
  }

  using Outcomes = std::map<std::string, uint64_t>;
  std::shared_ptr<FakeProcesses> processes_ = std::make_shared<FakeProcesses>();
  std::shared_ptr<FakeHost> host_;           // a reader that is given up outlives the test, and has its own hold on it
  uint64_t now_ns_ = 1'000'000'000'000'000;  // hosts run for weeks
  std::unique_ptr<Pipeline> pipeline_;
  Profile profile_;
};

}  // namespace offcpu

#endif  // OFFCPU_TESTS_RECORDER_PIPELINE_FIXTURE_H_
