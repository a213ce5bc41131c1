// What the pipeline asks of the host that it records: of the running BPF programs, of the targets and of the kernel. A
// recording asks the real one (recorded_host.h), a test one that is made up.
//
// Threads: Snapshot, FindRuntime, ReadRuntime and ReadStacks run on reader threads, where they may block for ever, and
// need a host that outlives the pipeline. The worker calls all others, and they do not block.
#ifndef OFFCPU_RECORDER_HOST_H_
#define OFFCPU_RECORDER_HOST_H_

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bpf_programs/events.h"
#include "bpf_programs/stack_ids.h"
#include "bpf_programs/user_rows.h"
#include "bpf_programs/waiting_thread.h"
#include "os/reader_pool.h"
#include "recorder/live.h"
#include "recorder/process_snapshot.h"
#include "recorder/shared_files.h"
#include "runtimes/runtime.h"

namespace offcpu {

class Host {
 public:
  // Snapshots run on `readers`, and so do reads of stacks. Snapshots may ask `files`.
  Host(std::shared_ptr<ReaderPool> readers, std::shared_ptr<SharedFiles> files)
      : readers_(std::move(readers)), files_(std::move(files)) {}
  virtual ~Host() = default;
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  // See TakeProcessSnapshot; `previous` may be null.
  virtual ProcessSnapshot Snapshot(const ProcessKey& process, int32_t tid, const AddressSpace* previous) = 0;
  // Adds the language runtime of a process to what a snapshot has seen of it, and the time that it takes to find that.
  // What is known of it so far is there already.
  virtual void FindRuntime(const ProcessKey& process, int32_t tid, ProcessSnapshot* snapshot) = 0;
  // See Runtime::Read. False, too, if there is no such process any more.
  virtual bool ReadRuntime(const ProcessKey& process, int32_t tid, Runtime& runtime,
                           std::span<const uint64_t> words) = 0;
  // See ReadLiveStacks.
  virtual std::vector<LiveStack> ReadStacks(const std::vector<WaitingThread>& threads) = 0;

  virtual uid_t OwnerOf(pid_t pid) = 0;
  // See ControlGroups::Find.
  virtual std::optional<std::string> ControlGroupPath(uint64_t id) = 0;

  // What follows asks the BPF programs; see Programs.
  virtual void SetStackHint(int32_t tid, const StackHint& hint) = 0;
  virtual void ForgetDefinition(uint64_t id) = 0;
  virtual wire_hash_key hash_key() const = 0;
  virtual bool WalksUserStacks() const = 0;
  virtual uint64_t StackIdOf(uint64_t code_hash, std::span<const uint64_t> pcs) const {
    return UserStackId(hash_key(), code_hash, pcs);
  }
  virtual void TellWalk(const ToldWalk& walk) = 0;
  virtual void ForgetWalks() = 0;

  const std::shared_ptr<ReaderPool>& readers() const { return readers_; }
  const std::shared_ptr<SharedFiles>& files() const { return files_; }

 private:
  const std::shared_ptr<ReaderPool> readers_;
  const std::shared_ptr<SharedFiles> files_;
};

}  // namespace offcpu

#endif  // OFFCPU_RECORDER_HOST_H_
