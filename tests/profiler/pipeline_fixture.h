// A pipeline without BPF, threads that do not exist and processes that are made up.
#ifndef OFFCPU_TESTS_PROFILER_PIPELINE_FIXTURE_H_
#define OFFCPU_TESTS_PROFILER_PIPELINE_FIXTURE_H_

#include <cstring>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "profiler/pipeline.h"

namespace offcpu {

inline constexpr uint64_t kCode = 0x10000;   // executable memory without a file: walked by frame pointer
inline constexpr uint64_t kStack = 0x70000;  // where captured stacks lie
inline constexpr CodeVersion kVersion1 = {.sequence = 2, .hash = 11};
inline constexpr CodeVersion kVersion2 = {.sequence = 4, .hash = 22};
inline constexpr ProcessKey kProcess = {.pid = 100, .start_ns = 1, .exec_id = 1};
inline constexpr ProcessKey kOther = {.pid = 200, .start_ns = 1, .exec_id = 1};

inline std::shared_ptr<const AddressSpace> SpaceAt(uint64_t begin) {
  return std::make_shared<AddressSpace>(std::vector<MappedCode>{{.begin = begin, .end = begin + 0x1000}});
}

inline IntervalEvent AnInterval(uint64_t cookie, uint64_t ns, const ProcessKey& process = kProcess) {
  return {.process = process,
          .tid = process.pid,
          .cookie = cookie,
          .kernel_stack = 5,
          .kind = WaitKind::kSleeping,
          .blocked_ns = ns,
          .comm = "worker"};
}

// A stack of two frames: the leaf at kCode + 8, called from kCode + 0x10, which is the outermost one.
inline CaptureEvent ACapture(uint64_t cookie, const CodeVersion& code, const ProcessKey& process = kProcess) {
  const uint64_t words[] = {
      kStack + 0x10,  // leaf's saved rbp
      kCode + 0x10,   // leaf's return address
      0,              // outer frame's saved rbp
      0,              // outer frame's return address: there is no caller
  };
  CaptureEvent event = {.cookie = cookie, .process = process, .tid = process.pid, .code = code, .more = true};
  event.registers.value[kRip] = kCode + 8;
  event.registers.value[kRsp] = kStack;
  event.registers.value[kRbp] = kStack;
  event.stack.resize(sizeof(words));
  std::memcpy(event.stack.data(), words, sizeof(words));
  return event;
}

// Stands for the processes: what a look finds, by pid. Changed by the test, read on reader threads.
class FakeProcesses {
 public:
  void Set(pid_t pid, ProcessLook look) {
    const std::lock_guard lock(mutex_);
    looks_[pid] = std::move(look);
  }
  void SetCode(pid_t pid, const CodeVersion& code, std::shared_ptr<const AddressSpace> space) {
    Set(pid, {.outcome = LookOutcome::kSeen, .name = "leader", .code = code, .space = std::move(space)});
  }
  void Block(pid_t pid, std::shared_future<void> until) {
    const std::lock_guard lock(mutex_);
    blocked_[pid] = std::move(until);
  }
  ProcessLook Look(pid_t pid) {
    std::shared_future<void> until;
    {
      const std::lock_guard lock(mutex_);
      ++looks_taken_[pid];
      if (blocked_.contains(pid)) until = blocked_[pid];
    }
    if (until.valid()) until.wait();
    const std::lock_guard lock(mutex_);
    return looks_[pid];
  }
  int looks_taken(pid_t pid) {
    const std::lock_guard lock(mutex_);
    return looks_taken_[pid];
  }

 private:
  std::mutex mutex_;
  std::map<pid_t, ProcessLook> looks_;
  std::map<pid_t, std::shared_future<void>> blocked_;
  std::map<pid_t, int> looks_taken_;
};

class PipelineTest : public ::testing::Test {
 protected:
  PipelineTest() { Make({}); }

  void Make(const PipelineConfig& config, const ReaderLimits& readers = {}) {
    pipeline_ = std::make_unique<Pipeline>(
        config,
        Pipeline::Hooks{
            .look = [processes = processes_](const ProcessKey& key, int32_t,
                                             const auto&) { return processes->Look(key.pid); },
            .read_stacks = [read =
                                read_stacks_](const std::vector<WaitingThread>& threads) { return (*read)(threads); },
            .grow_window = [this](int32_t tid, uint32_t bytes) { grown_[tid] = bytes; },
            .forget_definition = [this](uint64_t id) { forgotten_.insert(id); },
            .owner = [this](pid_t pid) { return owners_.contains(pid) ? owners_[pid] : 0; },
            .control_group = [](uint64_t id) { return "/group" + std::to_string(id); },
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
  std::map<int32_t, uint32_t> grown_;
  std::set<uint64_t> forgotten_;
  uint64_t now_ns_ = 1'000'000'000'000'000;  // hosts run for weeks
  std::unique_ptr<Pipeline> pipeline_;
  Profile profile_;
};

// A thread of kProcess in a wait that goes on.
inline WaitingThread AWaitingThread(uint64_t switches, uint64_t cookie = 0) {
  WaitingThread thread;
  thread.process = kProcess;
  thread.tid = kProcess.pid;
  thread.switches = switches;
  thread.cookie = cookie;
  thread.open = OpenWait{.begin_ns = 1};
  thread.in_open_wait = true;
  thread.has_user = true;
  return thread;
}

}  // namespace offcpu

#endif  // OFFCPU_TESTS_PROFILER_PIPELINE_FIXTURE_H_
