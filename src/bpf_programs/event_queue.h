// Ring records on their way from the thread that drains the rings to the worker. Bounded in bytes: when it is full the
// drainer drops and counts, it never waits, because a ring that is not drained loses records unseen.
//
// Captures may take half of it: they are large, and an interval is worth more than a stack. Definitions (of kernel
// stacks, of code hashes) are never dropped, because each is sent only once. A dropped capture leaves its failure
// behind, so that its intervals do not wait in vain.
#ifndef OFFCPU_BPF_PROGRAMS_EVENT_QUEUE_H_
#define OFFCPU_BPF_PROGRAMS_EVENT_QUEUE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "process/identity.h"

struct wire_interval;

namespace offcpu {

// The time of one thread's intervals that were dropped.
struct DroppedTime {
  uint64_t blocked_ns = 0;
  uint64_t runnable_ns = 0;
};

struct EventQueueStats {
  using ThreadKey = std::pair<ProcessKey, int32_t>;
  uint64_t intervals_dropped = 0;
  uint64_t interval_ns_dropped = 0;
  uint64_t captures_dropped = 0;
  uint64_t samples_dropped = 0;
  size_t peak_bytes = 0;
  absl::flat_hash_map<ThreadKey, DroppedTime> dropped;  // of the first kMaxThreadsDropped threads
};
inline constexpr size_t kMaxThreadsDropped = 1 << 16;

class EventQueue {
 public:
  explicit EventQueue(size_t max_bytes) : max_bytes_(max_bytes) {}

  // Drainer: adds a record to the batch at hand; Flush hands the batch over, and so does Push when it has grown large.
  void Push(std::span<const std::byte> record);
  void Flush();

  // Worker: gives every record of the oldest batch to `record`. False if there is none.
  using RecordCallback = std::function<void(std::span<const std::byte> record)>;
  bool PopBatch(const RecordCallback& record);

  // Drainer; a caller on another thread has to keep the drainer from pushing meanwhile.
  const EventQueueStats& stats() const { return stats_; }
  // Any thread.
  uint64_t intervals_dropped() const { return intervals_dropped_.load(std::memory_order_relaxed); }

 private:
  void Append(std::span<const std::byte> record);
  void Loss(std::span<const std::byte> record);
  void DropIntervals(const wire_interval& interval, uint64_t count);

  const size_t max_bytes_;
  std::atomic<size_t> bytes_{0};  // handed over and not popped
  std::vector<std::byte> filling_;
  EventQueueStats stats_;
  std::atomic<uint64_t> intervals_dropped_{0};  // as stats_ has it
  std::mutex mutex_;
  std::deque<std::vector<std::byte>> batches_;  // guarded by mutex_
  std::vector<std::byte> emptied_;  // one of them, to be filled again: new memory is dear; guarded by mutex_
};

}  // namespace offcpu

#endif  // OFFCPU_BPF_PROGRAMS_EVENT_QUEUE_H_
