// The processes that are recorded: the snapshots of them, and the captures that wait for a snapshot. A
// process is looked at when it is first heard of, because it may not live long, and again when a capture comes whose
// code is not known: at once, or when its pace allows it (reading_pace.h), for which the capture waits. Each capture
// goes on exactly once: it is ready, with the code that it is walked with, or given up, which Stacks learns.
//
// A capture is walked with the mappings of exactly its code version, or as far as they are known, or not at all.
//
// One thread. Snapshots run on reader threads, where they may block for ever; nothing here waits for them. Does not
// walk.
#ifndef OFFCPU_RECORDER_TARGETS_H_
#define OFFCPU_RECORDER_TARGETS_H_

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "bpf_programs/events.h"
#include "os/reader_threads.h"
#include "profile/profile.h"
#include "recorder/host.h"
#include "recorder/known_code.h"
#include "recorder/stacks.h"
#include "recorder/target.h"
#include "recorder/target_table.h"

namespace offcpu {

struct TargetsConfig {
  size_t processes = 8192;                   // known at one time
  size_t waiting_bytes = 64u << 20;          // of stacks that wait for a snapshot
  uint64_t retry_ns = 5'000'000'000;         // until a process that could not be read is looked at again
  bool code_hash = true;                     // captures carry a hash of the executable mappings
  std::chrono::milliseconds deadline{1000};  // for one snapshot of a process, or one other reading of it
};

struct ReadyCapture {
  CaptureEvent event;
  CaptureCode code;  // that it is walked with
};

class Targets {
 public:
  // `stacks` must outlive it. `now_ns`: as of Tick.
  Targets(const TargetsConfig& config, std::shared_ptr<Host> host, Stacks& stacks, uint64_t now_ns);
  Targets(const Targets&) = delete;
  Targets& operator=(const Targets&) = delete;

  // Something has happened to a thread of the process. `comm`: the thread's name, "" if that is not known.
  void HearOf(const ProcessKey& process, int32_t tid, const std::string& comm) { FindOrAdd(process, tid, comm); }
  void OnCapture(CaptureEvent&& event);
  void OnCodeList(CodeListEvent&& event);
  void OnExec(const ProcessKey& process);
  void OnExit(const ProcessKey& process) { table_.OnExit(process); }
  // Captures that have become ready since it was last called, in the order in which they have.
  std::vector<ReadyCapture> TakeReady() { return std::exchange(ready_, {}); }
  // A walk with all of the process's code left that code.
  void SnapshotAgain(const ProcessKey& process);

  // Reads of a target for others. `stuck` runs in place of the job's completion, and that after it if the job was only
  // slow. As long as a job hangs, its process is not read by another one.
  uid_t OwnerOf(const ProcessKey& process);
  bool IsStuck(const ProcessKey& process) const;
  ReadTaken Read(const ProcessKey& process, uid_t owner, ReaderThreads::Job job, std::function<void()> stuck);

  // Takes in finished snapshots and lets time pass. Any clock that does not go back.
  void Tick(uint64_t now_ns);
  // No snapshot is under way or wanted: nothing more will come of waiting.
  bool idle() const { return readers_.pending() == 0 && unasked_.empty(); }

  // Gives up the captures that still wait.
  void GiveUpAll();

  // The processes that are known, by window. From those that were not heard of since the last one began no more will
  // come; should it after all, they are met as if they were new.
  TargetTable& table() { return table_; }
  const TargetTable& table() const { return table_; }
  uint64_t waiting_over_limit() const { return waiting_over_limit_; }  // captures that there was no room for
  // Hashes of code that have become void: see KnownCode.
  uint64_t conflicts() const { return code_.conflicts(); }
  const ReaderStats& reader_stats() const { return readers_.stats(); }

 private:
  Target* FindOrAdd(const ProcessKey& process, int32_t tid, const std::string& comm);
  bool MayHaveSnapshot(const ProcessKey& process, Target& target) const;
  void Wait(const ProcessKey& process, Target& target, CaptureEvent&& event);
  CaptureEvent TakeWaiting(Target& target);
  void Ask(const ProcessKey& process, Target& target);
  void CountStuck(const ProcessKey& process, bool hangs);
  void OnSnapshot(const ProcessKey& process, uint64_t number, ProcessSnapshot&& snapshot);
  void OnLateSnapshot(Target& target, const ProcessSnapshot& snapshot);
  void OnSeen(const ProcessKey& process, Target& target, const ProcessSnapshot& snapshot);
  // The process cannot be looked at, until then or, if `until_ns` is 0, any more.
  void Refuse(Target& target, NoUserStack reason, uint64_t until_ns);
  void VoidCode(uint64_t hash);
  // Part of a stack is better than none.
  void WalkPartOrGiveUp(Target& target, CaptureEvent&& event, NoUserStack reason);
  void MakeReady(const Target& target, CaptureEvent&& event, CaptureCode code);

  const TargetsConfig config_;
  const std::shared_ptr<Host> host_;
  Stacks& stacks_;
  ReaderThreads readers_;
  KnownCode code_;
  TargetTable table_;
  absl::flat_hash_set<ProcessKey> unasked_;  // wait for a reader thread to be free, or for their pace
  std::vector<ReadyCapture> ready_;
  size_t waiting_bytes_ = 0;
  uint64_t waiting_over_limit_ = 0;
  uint64_t now_ns_;
};

}  // namespace offcpu

#endif  // OFFCPU_RECORDER_TARGETS_H_
