// One process as the pipeline knows it: its recent code versions, and the captures that wait for a snapshot of it.
// Plain state of one thread; the caller decides when one is taken.
#ifndef OFFCPU_RECORDER_TARGET_H_
#define OFFCPU_RECORDER_TARGET_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "bpf_programs/events.h"
#include "process/address_space.h"
#include "process/owner.h"
#include "profile/profile.h"
#include "recorder/reading_pace.h"
#include "runtimes/find_runtime.h"

namespace offcpu {

class Target {
 public:
  // Versions of the code that are remembered: a program that exchanges libraries comes back to older ones.
  static constexpr size_t kVersions = 8;
  static constexpr size_t kPieces = 4096;  // mappings ever seen; all are forgotten when there are more

  explicit Target(const ProcessKey& process) : info({.key = process}) {}

  // With the best name there is.
  ProcessInfo Named() const;

  // The mappings that a capture of this version was made with, if they are known; else null.
  std::shared_ptr<const AddressSpace> Find(const CodeVersion& code) const;
  // The newest that was read from the process.
  std::shared_ptr<const AddressSpace> newest() const { return newest_; }
  // `space` was read from the process when its code was `code`; `mappings` is what code.hash stands for.
  void Remember(const CodeVersion& code, const std::vector<CodeMapping>& mappings,
                std::shared_ptr<const AddressSpace> space);
  // A version that was put together of its mappings.
  void AddVersion(const CodeVersion& code, std::shared_ptr<const AddressSpace> space);
  // Forgets the code that this hash is said to stand for.
  void ForgetVersion(uint64_t hash);
  // What any snapshot has found at `mapping`; null if none has seen it.
  const MappedCode* FindPiece(const CodeMapping& mapping) const;

  ProcessInfo info;                 // as far as a snapshot has told
  FoundRuntime runtime;             // as far as snapshots have found
  std::string main_comm;            // of its main thread, whose name it has; empty until that is heard of
  uint64_t heard_in = 0;            // the last window that it was heard of in
  int32_t tid = 0;                  // the thread heard of last
  int32_t asked_tid = 0;            // through which the last snapshot was made
  bool is_being_read = false;       // a snapshot is under way
  uint64_t snapshots = 0;           // begun; names the one under way
  size_t asked = 0;                 // how many of `waiting` were there when it began
  ReadingPace pace{kSnapshotRate};  // of snapshots of it
  uint64_t snapshot_again_ns = 0;   // not before, for code that was not found
  uint64_t changes_since_ns = 0;    // when snapshots began that its mappings did not hold still for; 0: they did
  NoUserStack refused = NoUserStack::kNone;  // why no capture of it is walked; kNone: they are
  uint64_t refused_until_ns = 0;             // of this; 0: for good
  uid_t owner = kNoOwner;                    // as of owner_at_ns
  uint64_t owner_at_ns = 0;                  // 0: not known yet
  size_t stuck_reads = 0;                    // that were given up and have not come back
  std::deque<CaptureEvent> waiting;

 private:
  struct Version {
    CodeVersion code;
    std::shared_ptr<const AddressSpace> space;
  };

  std::vector<Version> versions_;  // oldest first
  std::shared_ptr<const AddressSpace> newest_;
  absl::flat_hash_map<CodeMapping, MappedCode> pieces_;
};

}  // namespace offcpu

#endif  // OFFCPU_RECORDER_TARGET_H_
