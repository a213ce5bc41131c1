#include "recorder/pipeline_hooks.h"

#include <span>
#include <vector>

#include "capture/stack_ids.h"
#include "process/control_groups.h"
#include "process/memory.h"
#include "process/owner.h"
#include "recorder/listing.h"
#include "recorder/live.h"
#include "recorder/own_vdso.h"
#include "runtimes/find_runtime.h"

namespace offcpu {

Pipeline::Hooks PipelineHooks(const std::shared_ptr<Programs>& programs, const std::shared_ptr<ModuleCache>& modules,
                              const std::shared_ptr<ReaderPool>& readers) {
  const Listing listing = ListingOf(programs);
  const auto files = std::make_shared<SharedFiles>(kMaxSharedPieces);
  LearnOwnVdso(listing.describe, *modules, *files);
  Pipeline::Hooks hooks = {
      .look =
          [describe = listing.describe, modules, files](const ProcessKey& process, int32_t tid,
                                                        const std::shared_ptr<const AddressSpace>& previous) {
            return LookAtProcess(process, tid, previous.get(), describe, *modules, files.get());
          },
      .find_runtime =
          [modules](int32_t tid, const AddressSpace& space) {
            const ProcessMemory memory(tid);
            std::shared_ptr<Runtime> runtime = FindRuntime(space, memory, modules->LeaseFor(OwnerOf(tid)));
            if (runtime != nullptr) runtime->Read(memory, {});  // what is there now is known before the first capture
            return runtime;
          },
      .read_stacks =
          [listing](const std::vector<WaitingThread>& threads) {
            return ReadLiveStacks(threads, kLiveStackBytes, listing.find, listing.describe);
          },
      .hint = [programs](int32_t tid, const StackHint& hint) { programs->SetStackHint(tid, hint); },
      .forget_definition = [programs](uint64_t id) { programs->ForgetDefinition(id); },
      .hash_key = programs->hash_key(),
      .owner = OwnerOf,
      .control_group = FindControlGroupsBelow(ControlGroupRoot().value_or("")),
      .files = files,
      .readers = readers};
  if (programs->WalksUserStacks()) {
    hooks.known_stacks = {
        .id = [key = programs->hash_key()](uint64_t code_hash,
                                           std::span<const uint64_t> pcs) { return UserStackId(key, code_hash, pcs); },
        .tell = [programs](const ToldWalk& walk) { programs->TellWalk(walk); },
        .forget = [programs] { programs->ForgetWalks(); }};
  }
  return hooks;
}

}  // namespace offcpu
