// The code that processes have mapped, as far as any snapshot has seen it: an address space that was read, or one that
// is put together of the list of mappings that stands for a hash, and of pieces that snapshots have found. So a capture
// may not need a snapshot of its process, and a process that has ended may still have its stacks walked. One thread.
//
// Takes no snapshots. What is not known is left out, and said to be.
#ifndef OFFCPU_RECORDER_KNOWN_CODE_H_
#define OFFCPU_RECORDER_KNOWN_CODE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "bpf_programs/events.h"
#include "profile/void_names.h"
#include "recorder/host.h"
#include "recorder/process_snapshot.h"
#include "recorder/shared_files.h"
#include "recorder/target.h"
#include "runtimes/runtime.h"

namespace offcpu {

// What a capture is walked with.
struct CaptureCode {
  std::shared_ptr<const AddressSpace> space;
  bool whole = true;                   // false: the process had more code mapped, of which nothing is known
  std::shared_ptr<Runtime> runtime{};  // of the process; null: it has none that is known
  bool is_starting = false;            // it will have one, which knows what is guessed now
};

class KnownCode {
 public:
  // `host` must outlive it. Its files learn what snapshots have found.
  explicit KnownCode(Host& host) : host_(host), files_(host.files()) {}

  // False: the hash has become void, because two lists have it. What was made of either may be the other's.
  [[nodiscard]] bool Learn(CodeListEvent&& list);
  // Likewise of the hash of `snapshot`, which is one that has seen `target`.
  [[nodiscard]] bool Learn(Target& target, const ProcessSnapshot& snapshot);

  // The code of exactly this version, if all of it is known. `target` remembers it.
  std::optional<CaptureCode> FindWhole(Target& target, const CodeVersion& version) const;
  // Also if only a part of it is known.
  std::optional<CaptureCode> FindPart(Target& target, const CodeVersion& version) const;

  // `version`, without a hash that is void: the sequence number, which only this process has, tells as much.
  CodeVersion Trusted(const CodeVersion& version) const;
  // Hashes that have become void.
  uint64_t conflicts() const { return conflicts_; }

 private:
  void Void(uint64_t hash);

  Host& host_;
  const std::shared_ptr<SharedFiles> files_;
  absl::flat_hash_map<uint64_t, std::vector<CodeMapping>> lists_;  // by code hash
  size_t list_entries_ = 0;                                        // in all of them
  VoidNames void_;
  uint64_t conflicts_ = 0;
};

}  // namespace offcpu

#endif  // OFFCPU_RECORDER_KNOWN_CODE_H_
