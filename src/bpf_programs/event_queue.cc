#include "bpf_programs/event_queue.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "bpf/wire.h"
#include "bpf_programs/wire_names.h"

namespace offcpu {
namespace {

uint32_t TypeOf(std::span<const std::byte> record) {
  uint32_t type = 0;
  if (record.size() >= sizeof(type)) std::memcpy(&type, record.data(), sizeof(type));
  return type;
}

constexpr size_t kBatchBytes = 1 << 20;

// All begin with a wire_interval.
bool IsInterval(uint32_t type) { return type == WIRE_INTERVAL || type == WIRE_WOKEN_INTERVAL || type == WIRE_SUM; }

bool MayBeDropped(uint32_t type) { return IsInterval(type) || type == WIRE_CAPTURE || type == WIRE_SAMPLE; }

}  // namespace

void EventQueue::Append(std::span<const std::byte> record) {
  const auto size = static_cast<uint32_t>(record.size());
  const auto head = std::as_bytes(std::span(&size, 1));
  filling_.insert(filling_.end(), head.begin(), head.end());
  filling_.insert(filling_.end(), record.begin(), record.end());
}

void EventQueue::Push(std::span<const std::byte> record) {
  const size_t bytes = bytes_.load(std::memory_order_relaxed) + filling_.size() + record.size() + sizeof(uint32_t);
  const uint32_t type = TypeOf(record);
  const size_t limit = type == WIRE_CAPTURE ? max_bytes_ / 2 : max_bytes_;
  if (bytes > limit && MayBeDropped(type)) {
    Loss(record);
    return;
  }
  Append(record);
  stats_.peak_bytes = std::max(stats_.peak_bytes, bytes);
  if (filling_.size() >= kBatchBytes) Flush();
}

void EventQueue::Loss(std::span<const std::byte> record) {
  if (TypeOf(record) == WIRE_SAMPLE) {
    stats_.samples_dropped++;
    return;
  }
  if (IsInterval(TypeOf(record))) {
    wire_sum sum = {};
    std::memcpy(&sum, record.data(), std::min(record.size(), sizeof(sum)));
    DropIntervals(sum.interval, TypeOf(record) == WIRE_SUM ? sum.count : 1);
    return;
  }
  wire_capture capture = {};
  std::memcpy(&capture, record.data(), std::min(record.size(), sizeof(capture)));
  stats_.captures_dropped++;
  const wire_capture_failed failed = {
      .type = WIRE_CAPTURE_FAILED, .no_user = WIRE_NO_USER_OVERLOAD, .cookie = capture.cookie};
  Append(std::as_bytes(std::span(&failed, 1)));
}

void EventQueue::DropIntervals(const wire_interval& interval, uint64_t count) {
  stats_.intervals_dropped += count;
  intervals_dropped_.store(stats_.intervals_dropped, std::memory_order_relaxed);
  stats_.interval_ns_dropped += interval.blocked_ns + interval.runnable_ns;
  const EventQueueStats::ThreadKey thread(KeyOf(interval.process), static_cast<int32_t>(interval.process.tid));
  if (stats_.dropped.size() >= kMaxThreadsDropped && !stats_.dropped.contains(thread)) return;
  DroppedTime& dropped = stats_.dropped[thread];
  dropped.blocked_ns += interval.blocked_ns;
  dropped.runnable_ns += interval.runnable_ns;
}

void EventQueue::Flush() {
  if (filling_.empty()) return;
  bytes_.fetch_add(filling_.size(), std::memory_order_relaxed);
  const std::lock_guard lock(mutex_);
  batches_.push_back(std::exchange(filling_, std::exchange(emptied_, {})));
}

bool EventQueue::PopBatch(const RecordCallback& record) {
  std::vector<std::byte> batch;
  {
    const std::lock_guard lock(mutex_);
    if (batches_.empty()) return false;
    batch = std::move(batches_.front());
    batches_.pop_front();
  }
  size_t offset = 0;
  while (offset + sizeof(uint32_t) <= batch.size()) {
    uint32_t size;
    std::memcpy(&size, batch.data() + offset, sizeof(size));
    offset += sizeof(size);
    record(std::span(batch).subspan(offset, size));
    offset += size;
  }
  bytes_.fetch_sub(batch.size(), std::memory_order_relaxed);
  batch.clear();
  const std::lock_guard lock(mutex_);
  if (batch.capacity() > emptied_.capacity()) emptied_.swap(batch);  // what is left is freed without the lock
  return true;
}

}  // namespace offcpu
