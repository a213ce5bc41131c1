#include "bpf_programs/waiting_thread.h"

#include <cstring>

#include "bpf/wire.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace offcpu {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// When the recording began and ended, by the scheduler's clock.
constexpr uint64_t kStart = 1'005'000;
constexpr uint64_t kEnd = 1'009'000;

// Left the CPU to sleep 1000 ns before the end, and sleeps still.
wire_thread Sleeper() {
  wire_thread thread = {};
  thread.process = {.start_ns = 1, .exec_id = 2, .tgid = 10, .tid = 11};
  thread.switches = 7;
  thread.out_ns = kEnd - 1000;
  thread.out_run_delay = 300;
  thread.run_delay = 300;
  thread.arrivals = 7;
  thread.has_run = 1;
  thread.kind = WIRE_KIND_SLEEPING;
  thread.state = WIRE_KIND_SLEEPING;
  std::memcpy(thread.comm, "worker", 7);
  return thread;
}

std::vector<std::byte> BytesOf(const wire_thread& thread, const std::vector<uint64_t>& frames = {}) {
  std::vector<std::byte> bytes(sizeof(thread) + frames.size() * sizeof(uint64_t));
  std::memcpy(bytes.data(), &thread, sizeof(thread));
  if (!frames.empty()) std::memcpy(bytes.data() + sizeof(thread), frames.data(), frames.size() * sizeof(uint64_t));
  return bytes;
}

WaitingThread Decoded(const wire_thread& thread, uint64_t end_ns = kEnd) {
  std::vector<WaitingThread> threads = DecodeThreads(BytesOf(thread), kStart, end_ns);
  EXPECT_THAT(threads, SizeIs(1));
  return threads.at(0);
}

MATCHER_P3(WaitIs, blocked, runnable, throughout, "") {
  return arg.has_value() && arg->blocked_ns == blocked && arg->runnable_ns == runnable && arg->throughout == throughout;
}

TEST(WaitingThreadTest, Decodes) {
  wire_thread wire = Sleeper();
  wire.cookie = 99;
  wire.off_cpu_ns = 77;
  wire.has_user = 1;
  wire.in_syscall = 1;
  wire.syscall = 202;
  for (uint64_t i = 0; i < WIRE_REGISTERS; ++i) wire.registers[i] = 100 + i;
  wire.count = 2;
  const std::vector<WaitingThread> threads = DecodeThreads(BytesOf(wire, {0xa, 0xb}), kStart, kEnd);
  ASSERT_THAT(threads, SizeIs(1));
  const WaitingThread& thread = threads[0];
  EXPECT_EQ(thread.process, (ProcessKey{.pid = 10, .start_ns = 1, .exec_id = 2}));
  EXPECT_EQ(thread.tid, 11);
  EXPECT_EQ(thread.comm, "worker");
  EXPECT_EQ(thread.switches, 7u);
  EXPECT_EQ(thread.cookie, 99u);
  EXPECT_EQ(thread.off_cpu_ns, 77u);
  EXPECT_EQ(thread.state, WaitKind::kSleeping);
  EXPECT_TRUE(thread.has_user);
  EXPECT_TRUE(thread.in_syscall);
  EXPECT_EQ(thread.syscall, 202);
  EXPECT_FALSE(thread.is_32_bit);
  EXPECT_EQ(thread.registers.value[kRip], 116u);
  EXPECT_THAT(thread.kernel, ElementsAre(0xa, 0xb));
  EXPECT_TRUE(thread.in_open_wait);
}

TEST(WaitingThreadTest, OfAProgramOf32Bits) {
  wire_thread wire = Sleeper();
  wire.is_32_bit = 1;
  wire.syscall = WIRE_32_BIT_CALL | 422;  // futex_time64
  const std::vector<WaitingThread> threads = DecodeThreads(BytesOf(wire, {}), kStart, kEnd);
  ASSERT_THAT(threads, SizeIs(1));
  EXPECT_TRUE(threads[0].is_32_bit);
  EXPECT_EQ(threads[0].syscall, 202) << "futex";
}

TEST(WaitingThreadTest, TakesWholeRecordsOnly) {
  wire_thread wire = Sleeper();
  wire.count = 1;
  std::vector<std::byte> bytes = BytesOf(wire, {0xa});
  const std::vector<std::byte> second = bytes;
  bytes.insert(bytes.end(), second.begin(), second.end());
  for (size_t size = 0; size <= bytes.size(); ++size) {
    EXPECT_THAT(DecodeThreads(std::span(bytes).first(size), kStart, kEnd), SizeIs(size / second.size()));
  }
  wire.count = WIRE_KERNEL_FRAMES + 1;
  EXPECT_THAT(DecodeThreads(BytesOf(wire, std::vector<uint64_t>(WIRE_KERNEL_FRAMES + 1)), kStart, kEnd), IsEmpty());
  wire.count = UINT32_MAX;
  EXPECT_THAT(DecodeThreads(BytesOf(wire), kStart, kEnd), IsEmpty());
}

TEST(OpenWaitTest, FromLeavingToTheEnd) {
  EXPECT_THAT(Decoded(Sleeper()).open, WaitIs(1000u, 0u, false));
  EXPECT_EQ(Decoded(Sleeper()).open->begin_ns, kEnd - 1000);
}

TEST(OpenWaitTest, WithoutARecordingThereIsNone) {
  EXPECT_EQ(Decoded(Sleeper(), 0).open, std::nullopt);
  EXPECT_FALSE(Decoded(Sleeper(), 0).in_open_wait);
}

TEST(OpenWaitTest, IsClippedToTheBeginning) {
  wire_thread wire = Sleeper();
  wire.out_ns = kStart - 1;
  EXPECT_THAT(Decoded(wire).open, WaitIs(4000u, 0u, true));
  wire.out_ns = kStart + 1;
  EXPECT_THAT(Decoded(wire).open, WaitIs(3999u, 0u, false));
}

TEST(OpenWaitTest, OfAThreadThatNeverRanInIt) {
  wire_thread wire = Sleeper();
  wire.out_ns = 0;
  wire.has_run = 0;
  EXPECT_THAT(Decoded(wire).open, WaitIs(4000u, 0u, true));
}

TEST(OpenWaitTest, NotOfAThreadThatRanAtTheEnd) {
  wire_thread wire = Sleeper();
  wire.out_ns = 0;
  wire.on_cpu = 1;
  EXPECT_EQ(Decoded(wire).open, std::nullopt);
  wire.on_cpu = 0;  // it has left since
  EXPECT_EQ(Decoded(wire).open, std::nullopt);
}

TEST(OpenWaitTest, LeavingAfterTheEndIsNoWait) {
  wire_thread wire = Sleeper();
  wire.out_ns = kEnd;
  EXPECT_EQ(Decoded(wire).open, std::nullopt);
}

TEST(OpenWaitTest, WokenAndInTheQueueIsRunnable) {
  wire_thread wire = Sleeper();
  wire.queued_ns = kEnd - 200;
  EXPECT_THAT(Decoded(wire).open, WaitIs(800u, 200u, false));
  wire.run_delay = wire.out_run_delay + 50;  // moved from one queue to another
  EXPECT_THAT(Decoded(wire).open, WaitIs(750u, 250u, false));
  wire.queued_ns = kEnd + 1;  // woken after the end
  EXPECT_THAT(Decoded(wire).open, WaitIs(950u, 50u, false));
}

TEST(OpenWaitTest, OfThatBeforeTheRecordingNothingIsKnown) {
  wire_thread wire = Sleeper();
  wire.out_ns = kStart - 100;
  wire.run_delay = wire.out_run_delay + 50;  // when is not known
  wire.queued_ns = kStart - 10;
  EXPECT_THAT(Decoded(wire).open, WaitIs(0u, 4000u, true));
  wire.queued_ns = 0;
  EXPECT_THAT(Decoded(wire).open, WaitIs(4000u, 0u, true));
}

TEST(OpenWaitTest, PreemptedIsRunnableThroughout) {
  wire_thread wire = Sleeper();
  for (const uint32_t kind : {WIRE_KIND_PREEMPTED, WIRE_KIND_YIELDED}) {
    wire.kind = kind;
    EXPECT_THAT(Decoded(wire).open, WaitIs(0u, 1000u, false));
  }
}

TEST(OpenWaitTest, BackOnceSinceTheEnd) {
  wire_thread wire = Sleeper();
  wire.new_arrivals = 1;
  wire.arrivals = 8;
  wire.arrived_ns = kEnd + 40;
  wire.run_delay = wire.out_run_delay + 100;  // 40 of it after the end
  const WaitingThread thread = Decoded(wire);
  EXPECT_THAT(thread.open, WaitIs(940u, 60u, false));
  EXPECT_FALSE(thread.in_open_wait) << "what its stacks show is another wait";
  EXPECT_TRUE(thread.came_back);
  EXPECT_FALSE(Decoded(Sleeper()).came_back);
  wire.on_cpu = 1;
  EXPECT_THAT(Decoded(wire).open, WaitIs(940u, 60u, false));
}

TEST(OpenWaitTest, BackOftenSinceTheEnd) {
  wire_thread wire = Sleeper();
  wire.new_arrivals = 2;
  wire.arrivals = 9;
  wire.arrived_ns = kEnd + 400;
  wire.run_delay = wire.out_run_delay + 100;
  EXPECT_THAT(Decoded(wire).open, WaitIs(1000u, 0u, false));
}

TEST(OpenWaitTest, AThreadThatIsBeingMadeDoesNotWait) {
  wire_thread wire = Sleeper();
  wire.out_ns = 0;
  wire.has_run = 0;
  wire.arrivals = 0;
  wire.run_delay = 0;
  EXPECT_EQ(Decoded(wire).open, std::nullopt);
}

// A thread is recorded at some of its events only where a filter asks for its name.
TEST(OpenWaitTest, BackUnseenBeforeTheEndIsNoWait) {
  wire_thread wire = Sleeper();
  wire.new_arrivals = 1;
  wire.arrivals = 8;
  wire.arrived_ns = kEnd - 500;
  EXPECT_EQ(Decoded(wire).open, std::nullopt);
  wire.out_ns = 0;
  wire.has_run = 0;
  EXPECT_EQ(Decoded(wire).open, std::nullopt);
  wire.new_arrivals = 2;
  EXPECT_EQ(Decoded(wire).open, std::nullopt);
}

TEST(OpenWaitTest, ANewThreadIsRunnableSinceItsCreation) {
  wire_thread wire = Sleeper();
  wire.out_ns = 0;
  wire.has_run = 0;
  wire.arrivals = 0;
  wire.run_delay = 0;
  wire.queued_ns = kEnd - 70;
  EXPECT_THAT(Decoded(wire).open, WaitIs(0u, 70u, false));
  wire.run_delay = 10;  // in another queue, before
  EXPECT_THAT(Decoded(wire).open, WaitIs(0u, 80u, false));
  wire.arrivals = 1;  // after the end
  wire.new_arrivals = 1;
  wire.queued_ns = 0;
  wire.arrived_ns = kEnd + 30;
  wire.run_delay = 100;
  EXPECT_THAT(Decoded(wire).open, WaitIs(0u, 70u, false));
}

}  // namespace
}  // namespace offcpu
