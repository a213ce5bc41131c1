// A Java virtual machine of the HotSpot family (OpenJDK, Temurin and others), started with any options: whose frames
// its compiled, interpreted and generated code has, and what their functions are called. Needs no agent, no option and
// no help of the virtual machine; see layout.h for what is gone by.
//
// Only the stack copy is of the moment of a capture. What the code cache has is read before and after it. A blob that
// is the same in both readings was there in between, as its number (compile_id) is never given twice. Of one that was
// seen only after, everything speaks for it but that: a walk through it is marked as a guess.
#ifndef OFFCPU_RUNTIMES_HOTSPOT_HOTSPOT_H_
#define OFFCPU_RUNTIMES_HOTSPOT_HOTSPOT_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/status/statusor.h"
#include "process/memory.h"
#include "process/memory_budget.h"
#include "runtimes/hotspot/class_changes.h"
#include "runtimes/hotspot/code_cache.h"
#include "runtimes/hotspot/java_functions.h"
#include "runtimes/hotspot/layout.h"
#include "runtimes/paged_memory.h"
#include "runtimes/runtime.h"

namespace offcpu {

// A virtual machine that does not count the classes that it unloads is taken to unload some so often. Stacks with
// methods that it interprets are guesses then.
inline constexpr uint64_t kUncountedNs = 1'000'000'000;
inline constexpr size_t kMaxKnownBlobs = 1 << 17;  // all are forgotten when there are more

class HotSpot final : public Runtime {
 public:
  using Clock = uint64_t (*)();  // CLOCK_MONOTONIC, ns

  // `symbols`: see VmStructs. `room`: for all that is kept of it. Blocks as the memory does. An error says why this
  // virtual machine is not served.
  static absl::StatusOr<std::shared_ptr<HotSpot>> Open(const Memory& memory,
                                                       const std::map<std::string, uint64_t, std::less<>>& symbols,
                                                       Clock clock, MemoryLease room = {});

  CodeRange bounds() const override { return bounds_; }
  bool Read(const Memory& memory, std::span<const uint64_t> words) override;
  bool HasUnread() const override { return functions()->HasUnread(); }
  std::unique_ptr<MadeCode> CodeAt(uint64_t captured_ns) override;
  std::unique_ptr<InterpreterReading> ReadInterpreter(const Memory& /*memory*/) override { return nullptr; }

 private:
  friend class HotSpotStack;

  struct Known {
    std::shared_ptr<const Blob> blob;
    uint64_t first_ns = 0;  // when the first reading that has found it had ended
    uint64_t last_ns = 0;   // when the last one began
  };

  HotSpot(const HotSpotLayout& layout, Clock clock, MemoryLease room)
      : layout_(layout),
        clock_(clock),
        functions_(std::make_shared<JavaFunctions>(room.Another())),
        room_(std::move(room)) {}
  static constexpr size_t kBytesEach = sizeof(Known) + sizeof(Blob) + 64;  // with its name and its part of a node

  std::shared_ptr<JavaFunctions> functions() const {
    std::lock_guard lock(mutex_);
    return functions_;
  }
  // Reads what class_changes.h has, and notes the time of it. Nothing: it cannot be read.
  std::optional<uint64_t> ReadVersion(const Memory& memory);
  // Nothing: that is not known.
  std::optional<uint64_t> VersionAt(uint64_t ns) const;
  // Tells what the interpreter runs from what is there at another time. Without an address: nothing does.
  CodeStamp InterpreterStampAt(uint64_t ns) const;
  // False: it cannot be read.
  bool ReadCode(const Memory& memory, std::span<const uint64_t> words);
  // Words beyond what one call may read are left out: what is known of them stays.
  void ReadWords(const PagedMemory& memory, const CodeCache& cache, std::span<const uint64_t> words, uint64_t began_ns);
  void Learn(const Blob& blob, uint64_t began_ns);
  void Forget(absl::btree_map<uint64_t, Known>::iterator begin, absl::btree_map<uint64_t, Known>::iterator end);
  void LearnFree(uint64_t address);
  // The blob that the address is in, as it is known now.
  std::optional<Known> Find(uint64_t address) const;

  const HotSpotLayout layout_;
  const Clock clock_;
  CodeRange bounds_;  // of the code cache
  uint64_t call_stub_return_ = 0;
  std::atomic<uint64_t> continuation_return_ = 0;  // 0: no virtual thread has run yet, or there are none
  ClassCounters counters_;

  mutable std::mutex mutex_;  // guards what follows
  // Those before are kept for a walk that has just met one of them.
  std::shared_ptr<JavaFunctions> functions_, functions_before_;
  ClassChanges changes_;
  absl::btree_map<uint64_t, Known> blobs_;  // by the begin of their code
  MemoryLease room_;                        // of which they take kBytesEach
  std::atomic<bool> has_read_all_ = false;  // not guarded
};

}  // namespace offcpu

#endif  // OFFCPU_RUNTIMES_HOTSPOT_HOTSPOT_H_
