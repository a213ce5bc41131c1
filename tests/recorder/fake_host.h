// A made-up host. Tests set what it answers, and check what the pipeline has asked it to do.
#ifndef OFFCPU_TESTS_RECORDER_FAKE_HOST_H_
#define OFFCPU_TESTS_RECORDER_FAKE_HOST_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "recorder/host.h"
#include "tests/recorder/made_up_events.h"

namespace offcpu {

class FakeHost : public Host {
 public:
  static constexpr uint64_t kUntoldGroup = 77;
  using ReadFunction = std::function<std::vector<LiveStack>(const std::vector<WaitingThread>&)>;

  explicit FakeHost(const ReaderLimits& readers = {})
      : Host(std::make_shared<ReaderPool>(readers), std::make_shared<SharedFiles>(kMaxSharedPieces)) {}

  ProcessSnapshot Snapshot(const ProcessKey& process, int32_t, const AddressSpace*) override {
    return processes->Snapshot(process.pid);
  }
  void FindRuntime(const ProcessKey&, int32_t, ProcessSnapshot* snapshot) override { find_runtime(snapshot); }
  bool ReadRuntime(const ProcessKey&, int32_t, Runtime& runtime, std::span<const uint64_t> words) override {
    return runtime.Read(SpanMemory(0, {}), words);
  }
  std::vector<LiveStack> ReadStacks(const std::vector<WaitingThread>& threads) override { return read(threads); }
  uid_t OwnerOf(pid_t pid) override { return owners.contains(pid) ? owners[pid] : 0; }
  std::optional<std::string> ControlGroupPath(uint64_t id) override {
    return id == kUntoldGroup ? std::nullopt : std::optional("/group" + std::to_string(id));
  }
  void SetStackHint(int32_t tid, const StackHint& hint) override { hints[tid] = hint; }
  void ForgetDefinition(uint64_t id) override { forgotten.insert(id); }
  wire_hash_key hash_key() const override { return {.low = 1, .high = 2}; }
  bool WalksUserStacks() const override { return walks; }
  uint64_t StackIdOf(uint64_t code_hash, std::span<const uint64_t> pcs) const override {
    return all_have_id != 0 ? all_have_id : Host::StackIdOf(code_hash, pcs);
  }
  void TellWalk(const ToldWalk& walk) override { told.push_back(walk); }
  void ForgetWalks() override { ++forgotten_walks; }

  std::shared_ptr<FakeProcesses> processes = std::make_shared<FakeProcesses>();
  ReadFunction read = [](const std::vector<WaitingThread>& threads) {
    std::vector<LiveStack> stacks;
    for (const WaitingThread& thread : threads) stacks.push_back({.capture = ACapture(0, kVersion1, thread.process)});
    return stacks;
  };
  std::function<void(ProcessSnapshot*)> find_runtime = [](ProcessSnapshot*) {};  // on reader threads
  std::map<pid_t, uid_t> owners;  // of processes; root, if it is not here
  std::map<int32_t, StackHint> hints;
  std::set<uint64_t> forgotten;
  bool walks = false;
  uint64_t all_have_id = 0;  // 0: each stack has its own
  std::vector<ToldWalk> told;
  int forgotten_walks = 0;
};

}  // namespace offcpu

#endif  // OFFCPU_TESTS_RECORDER_FAKE_HOST_H_
