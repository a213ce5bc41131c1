// Processes that are made up, and what the BPF programs would say of them.
#ifndef OFFCPU_TESTS_RECORDER_MADE_UP_EVENTS_H_
#define OFFCPU_TESTS_RECORDER_MADE_UP_EVENTS_H_

#include <cstring>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "bpf_programs/events.h"
#include "bpf_programs/waiting_thread.h"
#include "recorder/process_snapshot.h"

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

// Stands for the processes: what a snapshot finds, by pid. Changed by the test, read on reader threads.
class FakeProcesses {
 public:
  void Set(pid_t pid, ProcessSnapshot snapshot) {
    const std::lock_guard lock(mutex_);
    snapshots_[pid] = std::move(snapshot);
  }
  void SetCode(pid_t pid, const CodeVersion& code, std::shared_ptr<const AddressSpace> space) {
    Set(pid, {.outcome = SnapshotOutcome::kSeen, .name = "leader", .code = code, .space = std::move(space)});
  }
  void Block(pid_t pid, std::shared_future<void> until) {
    const std::lock_guard lock(mutex_);
    blocked_[pid] = std::move(until);
  }
  ProcessSnapshot Snapshot(pid_t pid) {
    std::shared_future<void> until;
    {
      const std::lock_guard lock(mutex_);
      ++snapshots_taken_[pid];
      if (blocked_.contains(pid)) until = blocked_[pid];
    }
    if (until.valid()) until.wait();
    const std::lock_guard lock(mutex_);
    return snapshots_[pid];
  }
  int snapshots_taken(pid_t pid) {
    const std::lock_guard lock(mutex_);
    return snapshots_taken_[pid];
  }

 private:
  std::mutex mutex_;
  std::map<pid_t, ProcessSnapshot> snapshots_;
  std::map<pid_t, std::shared_future<void>> blocked_;
  std::map<pid_t, int> snapshots_taken_;
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

#endif  // OFFCPU_TESTS_RECORDER_MADE_UP_EVENTS_H_
