#include "recorder/recorded_host.h"

#include <utility>

#include "os/now.h"
#include "process/control_groups.h"
#include "process/memory.h"
#include "process/owner.h"
#include "recorder/listing.h"
#include "recorder/own_vdso.h"
#include "runtimes/find_runtime.h"

namespace offcpu {
namespace {

class HostWithPrograms final : public Host {
 public:
  HostWithPrograms(std::shared_ptr<Programs> programs, std::shared_ptr<ModuleCache> modules,
                   std::shared_ptr<ReaderPool> readers, bool service_names)
      : Host(std::move(readers), std::make_shared<SharedFiles>(kMaxSharedPieces)),
        programs_(std::move(programs)),
        modules_(std::move(modules)),
        service_names_(service_names),
        listing_(ListingOf(programs_)),
        find_control_group_(FindControlGroupsBelow(ControlGroupRoot().value_or(""))) {
    LearnOwnVdso(listing_.describe, *modules_, *files());
  }

  ProcessSnapshot Snapshot(const ProcessKey& process, int32_t tid, const AddressSpace* previous) override {
    ProcessSnapshot snapshot = TakeProcessSnapshot(process, tid, previous, listing_.describe, *modules_, files().get());
    const bool is_asked = service_names_ && snapshot.outcome == SnapshotOutcome::kSeen;
    if (is_asked) snapshot.service = ReadServiceNames(process.pid, snapshot.executable);
    return snapshot;
  }
  void FindRuntime(const ProcessKey& process, int32_t tid, ProcessSnapshot* snapshot) override {
    const uint64_t began_ns = NowNs(CLOCK_THREAD_CPUTIME_ID);
    if (const std::optional<ProcessMemory> memory = MemoryOf(process, tid)) {
      const RuntimeForm before =
          std::exchange(snapshot->runtime,
                        offcpu::FindRuntime(*snapshot->space, *memory, modules_->LeaseFor(OwnerOf(process.pid))))
              .form;
      const RuntimeForm form = snapshot->runtime.form;
      // What names only the functions of live stacks makes no difference here.
      const bool is_loss = form == RuntimeForm::kUnknown && snapshot->runtime.missing.empty();
      if (is_loss && before != form) modules_->CountUnknownRuntime();
      // What is there now is known before the first capture.
      if (form == RuntimeForm::kServed) snapshot->runtime.runtime->Read(*memory, {});
    }
    snapshot->cpu_ns += NowNs(CLOCK_THREAD_CPUTIME_ID) - began_ns;
  }
  bool ReadRuntime(const ProcessKey& process, int32_t tid, Runtime& runtime, std::span<const uint64_t> words) override {
    const std::optional<ProcessMemory> memory = MemoryOf(process, tid);
    return memory && runtime.Read(*memory, words);
  }
  std::vector<LiveStack> ReadStacks(const std::vector<WaitingThread>& threads) override {
    return ReadLiveStacks(threads, kLiveStackBytes, listing_.find, listing_.describe);
  }
  uid_t OwnerOf(pid_t pid) override { return offcpu::OwnerOf(pid); }
  std::optional<std::string> ControlGroupPath(uint64_t id) override { return find_control_group_(id); }
  void SetStackHint(int32_t tid, const StackHint& hint) override { programs_->SetStackHint(tid, hint); }
  void ForgetDefinition(uint64_t id) override { programs_->ForgetDefinition(id); }
  wire_hash_key hash_key() const override { return programs_->hash_key(); }
  bool WalksUserStacks() const override { return programs_->WalksUserStacks(); }
  void TellWalk(const ToldWalk& walk) override { programs_->TellWalk(walk); }
  void ForgetWalks() override { programs_->ForgetWalks(); }

 private:
  // Nothing if it has ended: its number may be another one's by now. The thread may have ended before it.
  std::optional<ProcessMemory> MemoryOf(const ProcessKey& process, int32_t tid) const {
    for (const int32_t thread : {tid, process.pid}) {
      const std::optional<ProcessVersion> now = listing_.describe(thread);
      if (now && now->process == process) return ProcessMemory(thread);
    }
    return std::nullopt;
  }

  const std::shared_ptr<Programs> programs_;
  const std::shared_ptr<ModuleCache> modules_;
  const bool service_names_;
  const Listing listing_;
  const ControlGroups::Find find_control_group_;
};

}  // namespace

std::shared_ptr<Host> RecordedHost(std::shared_ptr<Programs> programs, std::shared_ptr<ModuleCache> modules,
                                   std::shared_ptr<ReaderPool> readers, bool service_names) {
  return std::make_shared<HostWithPrograms>(std::move(programs), std::move(modules), std::move(readers), service_names);
}

}  // namespace offcpu
