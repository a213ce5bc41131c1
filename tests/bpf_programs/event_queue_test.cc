#include "bpf_programs/event_queue.h"

#include <cstring>
#include <thread>
#include <vector>

#include "bpf/wire.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace offcpu {
namespace {

using ::testing::ElementsAre;

template <typename T>
std::span<const std::byte> Record(const T& head) {
  return std::as_bytes(std::span(&head, 1));
}

std::vector<uint32_t> PopTypes(EventQueue& queue) {
  std::vector<uint32_t> types;
  while (queue.PopBatch([&types](std::span<const std::byte> record) {
    uint32_t type;
    std::memcpy(&type, record.data(), sizeof(type));
    types.push_back(type);
  })) {
  }
  return types;
}

TEST(EventQueue, GivesRecordsInOrder) {
  EventQueue queue(1 << 20);
  queue.Push(Record(wire_interval{.type = WIRE_INTERVAL}));
  queue.Push(Record(wire_kernel_stack{.type = WIRE_KERNEL_STACK}));
  EXPECT_THAT(PopTypes(queue), ElementsAre()) << "not handed over yet";
  queue.Flush();
  queue.Push(Record(wire_capture{.type = WIRE_CAPTURE}));
  queue.Flush();
  queue.Flush();
  EXPECT_THAT(PopTypes(queue), ElementsAre(WIRE_INTERVAL, WIRE_KERNEL_STACK, WIRE_CAPTURE));
}

TEST(EventQueue, AtTheLimitIntervalsAreCountedWithTheirTime) {
  const wire_interval interval = {.type = WIRE_INTERVAL, .blocked_ns = 5, .runnable_ns = 6};
  EventQueue queue(2 * (sizeof(interval) + 4));
  for (int i = 0; i < 3; ++i) queue.Push(Record(interval));
  queue.Flush();
  EXPECT_THAT(PopTypes(queue), ElementsAre(WIRE_INTERVAL, WIRE_INTERVAL));
  EXPECT_EQ(queue.stats().intervals_dropped, 1u);
  EXPECT_EQ(queue.intervals_dropped(), 1u);
  EXPECT_EQ(queue.stats().interval_ns_dropped, 11u);
  queue.Push(Record(interval));  // there is room again
  queue.Flush();
  EXPECT_THAT(PopTypes(queue), ElementsAre(WIRE_INTERVAL));
}

TEST(EventQueue, AtTheLimitASumCountsAsItsIntervals) {
  const wire_sum sum = {.interval = {.type = WIRE_SUM, .blocked_ns = 5, .runnable_ns = 6}, .count = 7};
  EventQueue queue(sizeof(sum) + 4);
  for (int i = 0; i < 2; ++i) queue.Push(Record(sum));
  EXPECT_EQ(queue.stats().intervals_dropped, 7u);
  EXPECT_EQ(queue.stats().interval_ns_dropped, 11u);
}

TEST(EventQueue, AtTheLimitSamplesAreCounted) {
  EventQueue queue(sizeof(wire_sample) + 4);
  for (int i = 0; i < 3; ++i) queue.Push(Record(wire_sample{.type = WIRE_SAMPLE}));
  queue.Flush();
  EXPECT_THAT(PopTypes(queue), ElementsAre(WIRE_SAMPLE));
  EXPECT_EQ(queue.stats().samples_dropped, 2u);
  EXPECT_EQ(queue.stats().intervals_dropped, 0u);
}

TEST(EventQueue, AtTheLimitACaptureLeavesItsFailure) {
  EventQueue queue(8);
  queue.Push(Record(wire_capture{.type = WIRE_CAPTURE, .cookie = 77}));
  queue.Flush();
  wire_capture_failed failed = {};
  ASSERT_TRUE(queue.PopBatch([&failed](std::span<const std::byte> record) {
    ASSERT_EQ(record.size(), sizeof(failed));
    std::memcpy(&failed, record.data(), sizeof(failed));
  }));
  EXPECT_EQ(failed.type, static_cast<uint32_t>(WIRE_CAPTURE_FAILED));
  EXPECT_EQ(failed.no_user, static_cast<uint32_t>(WIRE_NO_USER_OVERLOAD));
  EXPECT_EQ(failed.cookie, 77u);
  EXPECT_EQ(queue.stats().captures_dropped, 1u);
}

TEST(EventQueue, CapturesLeaveHalfOfItToIntervals) {
  EventQueue queue(2 * (sizeof(wire_capture) + 4));
  queue.Push(Record(wire_capture{.type = WIRE_CAPTURE}));
  queue.Push(Record(wire_capture{.type = WIRE_CAPTURE}));
  EXPECT_EQ(queue.stats().captures_dropped, 1u);
  queue.Push(Record(wire_interval{.type = WIRE_INTERVAL}));
  EXPECT_EQ(queue.stats().intervals_dropped, 0u);
}

TEST(EventQueue, DefinitionsAreNeverDropped) {
  EventQueue queue(0);
  queue.Push(Record(wire_kernel_stack{.type = WIRE_KERNEL_STACK}));
  queue.Push(Record(wire_lifecycle{.type = WIRE_EXIT}));
  queue.Flush();
  EXPECT_THAT(PopTypes(queue), ElementsAre(WIRE_KERNEL_STACK, WIRE_EXIT));
}

// Whatever the two threads do, what was pushed is popped or counted.
TEST(EventQueue, TwoThreadsLoseNothing) {
  constexpr uint64_t kRecords = 200'000;
  EventQueue queue(64 << 10);
  std::thread drainer([&queue] {
    for (uint64_t i = 0; i < kRecords; ++i) {
      queue.Push(Record(wire_interval{.type = WIRE_INTERVAL, .blocked_ns = 1}));
      if (i % 100 == 99) queue.Flush();
    }
    queue.Flush();
    queue.Push(Record(wire_lifecycle{.type = WIRE_EXIT}));
    queue.Flush();
  });
  uint64_t popped = 0;
  bool ended = false;
  while (!ended) {
    queue.PopBatch([&](std::span<const std::byte> record) {
      if (record.size() == sizeof(wire_interval)) ++popped;
      ended |= record.size() == sizeof(wire_lifecycle);
    });
  }
  drainer.join();
  EXPECT_EQ(popped + queue.stats().intervals_dropped, kRecords);
  EXPECT_EQ(queue.stats().interval_ns_dropped, queue.stats().intervals_dropped);
  EXPECT_LE(queue.stats().peak_bytes, (64u << 10) + 200);
}

}  // namespace
}  // namespace offcpu
