#include "bpf_programs/decode.h"

#include <cstddef>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "bpf/wire.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace offcpu {
namespace {

using ::testing::ElementsAre;

template <typename T>
std::vector<std::byte> Bytes(const T& head, size_t tail_bytes = 0, const void* tail = nullptr) {
  std::vector<std::byte> bytes(sizeof(head) + tail_bytes);
  std::memcpy(bytes.data(), &head, sizeof(head));
  if (tail_bytes != 0) std::memcpy(bytes.data() + sizeof(head), tail, tail_bytes);
  return bytes;
}

wire_interval AnInterval() {
  wire_interval head = {};
  head.type = WIRE_INTERVAL;
  head.kind = WIRE_KIND_DISK;
  head.cookie = 0x0001000000000007;
  head.kernel_stack = 42;
  head.end_ns = 1000;
  head.blocked_ns = 30;
  head.runnable_ns = 4;
  head.process = {.start_ns = 5, .exec_id = 6, .tgid = 7, .tid = 8};
  head.syscall = 35;
  head.sample_ns = 50;
  head.cgroup = 78;
  std::memcpy(head.comm, "worker", 6);
  return head;
}

wire_sample ASample() {
  wire_sample head = {};
  head.type = WIRE_SAMPLE;
  head.cookie = 0x0001400000000007;
  head.kernel_stack = 42;
  head.at_ns = 1000;
  head.process = {.start_ns = 5, .exec_id = 6, .tgid = 7, .tid = 8};
  head.syscall = 1;
  head.cgroup = 79;
  std::memcpy(head.comm, "worker", 6);
  return head;
}

// Every prefix of a record is either refused or gives the same event as the whole.
void ExpectShortInputRefused(const std::vector<std::byte>& whole) {
  ASSERT_TRUE(Decode(whole).has_value());
  for (size_t size = 0; size < whole.size(); ++size) {
    // A copy of exactly that size, so that a sanitizer sees a read beyond it.
    const std::vector<std::byte> prefix(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_FALSE(Decode(prefix).has_value()) << size;
  }
}

TEST(Decode, ASumTellsOfHowManyItIs) {
  wire_sum head = {.interval = AnInterval(), .count = 9, .longest_ns = 8, .longest_runnable_ns = 3};
  head.interval.type = WIRE_SUM;
  head.interval.cookie = 0;
  head.interval.user_stack = 99;
  const auto event = Decode(Bytes(head));
  ASSERT_TRUE(event.has_value());
  const auto& sum = std::get<IntervalEvent>(*event);
  EXPECT_EQ(sum.waits, 9u);
  EXPECT_EQ(sum.longest_ns, 8u);
  EXPECT_EQ(sum.longest_runnable_ns, 3u);
  EXPECT_EQ(sum.user_stack, 99u);
  EXPECT_EQ(sum.blocked_ns, 30u);
  ExpectShortInputRefused(Bytes(head));
  head.count = 0;
  EXPECT_FALSE(Decode(Bytes(head)).has_value());
}

TEST(Decode, Sample) {
  const auto event = Decode(Bytes(ASample()));
  ASSERT_TRUE(event.has_value());
  const auto& sample = std::get<SampleEvent>(*event);
  EXPECT_EQ(sample.process, (ProcessKey{.pid = 7, .start_ns = 5, .exec_id = 6}));
  EXPECT_EQ(sample.tid, 8);
  EXPECT_EQ(sample.cookie, 0x0001400000000007u);
  EXPECT_EQ(sample.missing, NoUserStack::kNone);
  EXPECT_EQ(sample.kernel_stack, 42u);
  EXPECT_FALSE(sample.in_user);
  EXPECT_EQ(sample.syscall, 1);
  EXPECT_EQ(sample.at_ns, 1000u);
  EXPECT_EQ(sample.control_group, 79u);
  EXPECT_EQ(sample.comm, "worker");
  ExpectShortInputRefused(Bytes(ASample()));
}

TEST(Decode, SampleInUserModeAndWithoutAStack) {
  wire_sample head = ASample();
  head.cookie = 0;
  head.no_user = WIRE_NO_USER_BUDGET;
  head.in_user = 1;
  head.syscall = -1;
  std::memset(head.comm, 'x', sizeof(head.comm));  // not terminated
  const auto event = Decode(Bytes(head));
  ASSERT_TRUE(event.has_value());
  const auto& sample = std::get<SampleEvent>(*event);
  EXPECT_EQ(sample.missing, NoUserStack::kBudget);
  EXPECT_TRUE(sample.in_user);
  EXPECT_EQ(sample.syscall, kNoSystemCall);
  EXPECT_EQ(sample.comm, std::string(WIRE_COMM_BYTES, 'x'));
}

TEST(Decode, Interval) {
  const auto event = Decode(Bytes(AnInterval()));
  ASSERT_TRUE(event.has_value());
  const auto& interval = std::get<IntervalEvent>(*event);
  EXPECT_EQ(interval.process, (ProcessKey{.pid = 7, .start_ns = 5, .exec_id = 6}));
  EXPECT_EQ(interval.tid, 8);
  EXPECT_EQ(interval.cookie, 0x0001000000000007u);
  EXPECT_EQ(interval.missing, NoUserStack::kNone);
  EXPECT_EQ(interval.kernel_stack, 42u);
  EXPECT_EQ(interval.kind, WaitKind::kDisk);
  EXPECT_EQ(interval.syscall, 35);
  EXPECT_EQ(interval.end_ns, 1000u);
  EXPECT_EQ(interval.blocked_ns, 30u);
  EXPECT_EQ(interval.runnable_ns, 4u);
  EXPECT_EQ(interval.sample_ns, 50u);
  EXPECT_EQ(interval.control_group, 78u);
  EXPECT_EQ(interval.comm, "worker");
}

TEST(Decode, IntervalWithoutCookieTellsWhy) {
  wire_interval head = AnInterval();
  head.cookie = 0;
  head.no_user = WIRE_NO_USER_BUDGET;
  EXPECT_EQ(std::get<IntervalEvent>(*Decode(Bytes(head))).missing, NoUserStack::kBudget);
  head.no_user = 0xffffffff;  // no reason that is known
  EXPECT_EQ(std::get<IntervalEvent>(*Decode(Bytes(head))).missing, NoUserStack::kLost);
}

TEST(Decode, AnIntervalWhoseStackWasWalkedMissesNothing) {
  wire_interval head = AnInterval();
  head.cookie = 0;
  head.user_stack = 0xfedcba9876543210;
  const auto interval = std::get<IntervalEvent>(*Decode(Bytes(head)));
  EXPECT_EQ(interval.cookie, 0u);
  EXPECT_EQ(interval.user_stack, 0xfedcba9876543210u);
  EXPECT_EQ(interval.missing, NoUserStack::kNone);
}

TEST(Decode, ASystemCallThatNoKernelHasIsNone) {
  wire_interval head = AnInterval();
  for (const auto& [number, wanted] : std::vector<std::pair<int32_t, int32_t>>{
           {0, 0}, {1023, 1023}, {1024, kNoSystemCall}, {0x40000000, kNoSystemCall}, {-1, kNoSystemCall}, {-38, -1}}) {
    head.syscall = number;
    EXPECT_EQ(std::get<IntervalEvent>(*Decode(Bytes(head))).syscall, wanted) << number;
  }
}

// A wait that a thread ended which an interrupt had woken, byte by byte.
constexpr unsigned char kWoken[] = {
    0x0a, 0,    0,   0,                                                // type: WIRE_WOKEN_INTERVAL
    0,    0,    0,   0,                                                // kind: sleeping
    0x07, 0,    0,   0,   0,    0,   0x01, 0,                          // cookie
    0,    0,    0,   0,   0,    0,   0,    0,                          // user_stack
    0x2a, 0,    0,   0,   0,    0,   0,    0,                          // kernel_stack
    0xe8, 0x03, 0,   0,   0,    0,   0,    0,                          // end_ns: 1000
    0x1e, 0,    0,   0,   0,    0,   0,    0,                          // blocked_ns: 30
    0x04, 0,    0,   0,   0,    0,   0,    0,                          // runnable_ns
    0x05, 0,    0,   0,   0,    0,   0,    0,                          // process: start_ns
    0x06, 0,    0,   0,   0,    0,   0,    0,                          // exec_id
    0x07, 0,    0,   0,   0x08, 0,   0,    0,                          // tgid, tid
    0,    0,    0,   0,                                                // no_user
    0x23, 0,    0,   0,                                                // syscall: 35
    0x63, 0,    0,   0,   0,    0,   0,    0,                          // switches: 99
    0x50, 0xc3, 0,   0,   0,    0,   0,    0,                          // sample_ns: 50,000
    0x4d, 0,    0,   0,   0,    0,   0,    0,                          // cgroup: 77
    'w',  'a',  'i', 't', 'e',  'r', 0,    0, 0, 0, 0, 0, 0, 0, 0, 0,  // comm
    0x02, 0,    0,   0,   0,    0,   0,    0,                          // count: 2 wakers; reserved
    0x84, 0x03, 0,   0,   0,    0,   0,    0,                          // waker 1: at_ns: 900
    0x2b, 0,    0,   0,   0,    0,   0,    0,                          // kernel_stack
    0x09, 0,    0,   0,   0,    0,   0x01, 0,                          // cookie
    0x15, 0,    0,   0,   0,    0,   0,    0,                          // process: start_ns
    0x16, 0,    0,   0,   0,    0,   0,    0,                          // exec_id
    0x17, 0,    0,   0,   0x18, 0,   0,    0,                          // tgid, tid
    0,    0,    0,   0,                                                // no_user
    0,    0,    0,   0,                                                // flags
    'w',  'a',  'k', 'e', 'r',  0,   0,    0, 0, 0, 0, 0, 0, 0, 0, 0,  // comm
    0x20, 0x03, 0,   0,   0,    0,   0,    0,                          // waker 2: at_ns: 800
    0x2c, 0,    0,   0,   0,    0,   0,    0,                          // kernel_stack
    0,    0,    0,   0,   0,    0,   0,    0,                          // cookie
    0,    0,    0,   0,   0,    0,   0,    0,                          // process: start_ns
    0,    0,    0,   0,   0,    0,   0,    0,                          // exec_id
    0,    0,    0,   0,   0,    0,   0,    0,                          // tgid, tid
    0x09, 0,    0,   0,                                                // no_user: kernel thread
    0x01, 0,    0,   0,                                                // flags: WIRE_WAKER_INTERRUPT
    0,    0,    0,   0,   0,    0,   0,    0, 0, 0, 0, 0, 0, 0, 0, 0,  // comm
};

std::vector<std::byte> Woken() {
  const auto bytes = std::as_bytes(std::span(kWoken));
  return {bytes.begin(), bytes.end()};
}

TEST(Decode, AWokenIntervalTellsWhoEndedIt) {
  const auto event = Decode(Woken());
  ASSERT_TRUE(event.has_value());
  const auto& interval = std::get<IntervalEvent>(*event);
  EXPECT_EQ(interval.tid, 8);
  EXPECT_EQ(interval.kind, WaitKind::kSleeping);
  EXPECT_EQ(interval.blocked_ns, 30u);
  EXPECT_EQ(interval.switches, 99u);
  EXPECT_EQ(interval.sample_ns, 50'000u);
  EXPECT_EQ(interval.control_group, 77u);
  EXPECT_EQ(interval.comm, "waiter");
  ASSERT_EQ(interval.wakers.size(), 2u);
  const WakerEvent& thread = interval.wakers[0];
  EXPECT_FALSE(thread.interrupt);
  EXPECT_EQ(thread.process, (ProcessKey{.pid = 0x17, .start_ns = 0x15, .exec_id = 0x16}));
  EXPECT_EQ(thread.tid, 0x18);
  EXPECT_EQ(thread.comm, "waker");
  EXPECT_EQ(thread.cookie, 0x0001000000000009u);
  EXPECT_EQ(thread.missing, NoUserStack::kNone);
  EXPECT_EQ(thread.kernel_stack, 0x2bu);
  const WakerEvent& interrupt = interval.wakers[1];
  EXPECT_TRUE(interrupt.interrupt);
  EXPECT_EQ(interrupt.comm, "");
  EXPECT_EQ(interrupt.cookie, 0u);
  EXPECT_EQ(interrupt.missing, NoUserStack::kKernelThread);
  EXPECT_EQ(interrupt.kernel_stack, 0x2cu);
}

TEST(Decode, AWokenIntervalHasOneLinkToFour) {
  constexpr size_t kCount = offsetof(wire_woken_interval, count);
  std::vector<std::byte> bytes = Woken();
  bytes.resize(sizeof(wire_woken_interval) + 5 * sizeof(wire_waker));
  for (const auto& [count, wanted] : std::vector<std::pair<int, bool>>{{0, false}, {1, true}, {4, true}, {5, false}}) {
    bytes[kCount] = static_cast<std::byte>(count);
    const auto event = Decode(bytes);
    EXPECT_EQ(event.has_value(), wanted) << count;
    if (wanted) {
      EXPECT_EQ(std::get<IntervalEvent>(*event).wakers.size(), static_cast<size_t>(count));
    }
  }
}

TEST(Decode, CommNeedsNoTerminator) {
  wire_interval head = AnInterval();
  std::memset(head.comm, 'x', sizeof(head.comm));
  EXPECT_EQ(std::get<IntervalEvent>(*Decode(Bytes(head))).comm, std::string(16, 'x'));
}

TEST(Decode, UnknownKindIsOther) {
  wire_interval head = AnInterval();
  head.kind = WIRE_KINDS;
  EXPECT_EQ(std::get<IntervalEvent>(*Decode(Bytes(head))).kind, WaitKind::kOther);
}

TEST(Decode, KernelStack) {
  const uint64_t frames[] = {0xffffffff81000001, 0xffffffff81000002};
  const wire_kernel_stack head = {.type = WIRE_KERNEL_STACK, .count = 2, .id = 9};
  const auto event = Decode(Bytes(head, sizeof(frames), frames));
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(std::get<KernelStackEvent>(*event).id, 9u);
  EXPECT_THAT(std::get<KernelStackEvent>(*event).addresses, ElementsAre(frames[0], frames[1]));
}

TEST(Decode, KernelStackWithoutFrames) {
  const auto event = Decode(Bytes(wire_kernel_stack{.type = WIRE_KERNEL_STACK, .count = 0, .id = 9}));
  ASSERT_TRUE(event.has_value());
  EXPECT_THAT(std::get<KernelStackEvent>(*event).addresses, ElementsAre());
}

TEST(Decode, KernelStackWithMoreFramesThanThereCanBe) {
  const std::vector<uint64_t> frames(WIRE_KERNEL_FRAMES + 1);
  wire_kernel_stack head = {.type = WIRE_KERNEL_STACK, .count = WIRE_KERNEL_FRAMES, .id = 9};
  EXPECT_TRUE(Decode(Bytes(head, frames.size() * 8, frames.data())).has_value());
  head.count = WIRE_KERNEL_FRAMES + 1;
  EXPECT_FALSE(Decode(Bytes(head, frames.size() * 8, frames.data())).has_value());
  head.count = 0xffffffff;
  EXPECT_FALSE(Decode(Bytes(head, frames.size() * 8, frames.data())).has_value());
}

TEST(Decode, CodeList) {
  const wire_mapping mappings[] = {
      {.begin = 0x1000, .end = 0x2000, .offset = 0x3000, .inode = 4, .device = 5, .changed_ns = 6},
      {.begin = 0x8000, .end = 0x9000, .offset = 0, .inode = 0, .device = 0, .changed_ns = 0},
  };
  wire_code_list head = {.type = WIRE_CODE, .count = 2, .hash = 11};
  const auto event = Decode(Bytes(head, sizeof(mappings), mappings));
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(std::get<CodeListEvent>(*event).hash, 11u);
  EXPECT_THAT(
      std::get<CodeListEvent>(*event).mappings,
      ElementsAre(
          CodeMapping{.begin = 0x1000, .end = 0x2000, .offset = 0x3000, .inode = 4, .device = 5, .changed_ns = 6},
          CodeMapping{.begin = 0x8000, .end = 0x9000}));
  ExpectShortInputRefused(Bytes(head, sizeof(mappings), mappings));
  head.count = WIRE_MAPPINGS + 1;
  const std::vector<wire_mapping> many(WIRE_MAPPINGS + 1);
  EXPECT_FALSE(Decode(Bytes(head, many.size() * sizeof(wire_mapping), many.data())).has_value());
}

TEST(Decode, Capture) {
  const uint8_t stack[] = {1, 2, 3, 4, 5, 6, 7, 8};
  wire_capture head = {};
  head.type = WIRE_CAPTURE;
  head.stack_bytes = sizeof(stack);
  head.above = WIRE_ABOVE_END;
  head.cookie = 3;
  head.process = {.start_ns = 5, .exec_id = 6, .tgid = 7, .tid = 8};
  head.code = {.sequence = 12, .hash = 13};
  for (int i = 0; i < WIRE_REGISTERS; ++i) head.registers[i] = static_cast<uint64_t>(100 + i);
  head.in_syscall = 1;
  head.walked = 14;
  head.walked_code = 15;
  const auto event = Decode(Bytes(head, sizeof(stack), stack));
  ASSERT_TRUE(event.has_value());
  const auto& capture = std::get<CaptureEvent>(*event);
  EXPECT_EQ(capture.walked, 14u);
  EXPECT_EQ(capture.walked_code, 15u);
  EXPECT_EQ(capture.cookie, 3u);
  EXPECT_EQ(capture.process.pid, 7);
  EXPECT_EQ(capture.tid, 8);
  EXPECT_EQ(capture.code, (CodeVersion{.sequence = 12, .hash = 13}));
  EXPECT_EQ(kX86_64.PcOf(capture.registers), 116u);
  EXPECT_EQ(kX86_64.SpOf(capture.registers), 107u);
  EXPECT_EQ(kX86_64.FpOf(capture.registers), 106u);
  EXPECT_TRUE(capture.in_syscall);
  EXPECT_FALSE(capture.is_32_bit);
  EXPECT_FALSE(capture.more);
  EXPECT_FALSE(capture.unread);
  EXPECT_EQ(capture.stack.size(), 8u);
  EXPECT_EQ(capture.stack[7], std::byte{8});
  EXPECT_EQ(capture.stack_begin(), 107u);
  EXPECT_EQ(capture.stack_end(), 115u);

  head.above = WIRE_ABOVE_MORE;
  EXPECT_TRUE(std::get<CaptureEvent>(*Decode(Bytes(head, sizeof(stack), stack))).more);
  head.above = WIRE_ABOVE_UNREAD;
  EXPECT_TRUE(std::get<CaptureEvent>(*Decode(Bytes(head, sizeof(stack), stack))).unread);
  head.above = WIRE_ABOVE_UNREAD + 1;
  EXPECT_FALSE(std::get<CaptureEvent>(*Decode(Bytes(head, sizeof(stack), stack))).more) << "not known here";

  head.is_32_bit = 1;
  EXPECT_TRUE(std::get<CaptureEvent>(*Decode(Bytes(head, sizeof(stack), stack))).is_32_bit);
}

TEST(Decode, CaptureWithARedZone) {
  const std::vector<uint8_t> stack(WIRE_RED_ZONE_BYTES + 2);
  wire_capture head = {};
  head.type = WIRE_CAPTURE;
  head.registers[7] = 1000;
  head.stack_bytes = WIRE_RED_ZONE_BYTES + 1;
  head.red_zone_bytes = WIRE_RED_ZONE_BYTES;
  const auto event = Decode(Bytes(head, stack.size(), stack.data()));
  ASSERT_TRUE(event.has_value());
  const auto& capture = std::get<CaptureEvent>(*event);
  EXPECT_EQ(capture.stack_begin(), 1000u - 128);
  EXPECT_EQ(capture.stack_end(), 1001u);
  EXPECT_EQ(capture.bytes_from_sp(), 1u);
  head.red_zone_bytes = WIRE_RED_ZONE_BYTES + 1;
  EXPECT_FALSE(Decode(Bytes(head, stack.size(), stack.data())).has_value()) << "more than there is";
  head.red_zone_bytes = 2;
  head.stack_bytes = 1;
  EXPECT_FALSE(Decode(Bytes(head, stack.size(), stack.data())).has_value()) << "more than was captured";
}

// Their bytes follow behind the stack's.
TEST(Decode, CaptureWithPieces) {
  const uint8_t bytes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  wire_capture head = {};
  head.type = WIRE_CAPTURE;
  head.stack_bytes = 2;
  head.pieces[0] = {.begin = 0x1000, .bytes = 3, .above = WIRE_ABOVE_MORE};
  head.pieces[2] = {.begin = 0x3000, .bytes = 0, .above = WIRE_ABOVE_UNREAD};  // the second one is not there
  head.pieces[3] = {.begin = 0x4000, .bytes = 5, .above = WIRE_ABOVE_END};
  const auto event = Decode(Bytes(head, sizeof(bytes), bytes));
  ASSERT_TRUE(event.has_value());
  const auto& capture = std::get<CaptureEvent>(*event);
  EXPECT_EQ(capture.stack.size(), 2u);
  using B = std::byte;
  EXPECT_THAT(capture.pieces, ElementsAre(StackPiece{.begin = 0x1000, .bytes = {B{3}, B{4}, B{5}}, .more = true},
                                          StackPiece{.begin = 0x3000, .bytes = {}, .unread = true},
                                          StackPiece{.begin = 0x4000, .bytes = {B{6}, B{7}, B{8}, B{9}, B{10}}}));
  EXPECT_EQ(capture.bytes(), 10u);
  ExpectShortInputRefused(Bytes(head, sizeof(bytes), bytes));
}

TEST(Decode, CaptureWithPiecesThatCannotBe) {
  const std::vector<uint8_t> bytes(WIRE_PIECE_BYTES + 1);
  wire_capture head = {};
  head.type = WIRE_CAPTURE;
  head.pieces[0] = {.begin = UINT64_MAX - WIRE_PIECE_BYTES, .bytes = WIRE_PIECE_BYTES, .above = WIRE_ABOVE_MORE};
  EXPECT_TRUE(Decode(Bytes(head, bytes.size(), bytes.data())).has_value());
  ++head.pieces[0].begin;
  EXPECT_FALSE(Decode(Bytes(head, bytes.size(), bytes.data())).has_value()) << "it would wrap";
  head.pieces[0] = {.begin = 8, .bytes = WIRE_PIECE_BYTES + 1, .above = WIRE_ABOVE_MORE};
  EXPECT_FALSE(Decode(Bytes(head, bytes.size(), bytes.data())).has_value());
}

TEST(Decode, CaptureWithMoreStackThanThereCanBe) {
  const std::vector<uint8_t> stack(WIRE_STACK_MAX_BYTES + WIRE_RED_ZONE_BYTES + 1);
  wire_capture head = {};
  head.type = WIRE_CAPTURE;
  for (const uint16_t red_zone_bytes : {uint16_t{0}, uint16_t{WIRE_RED_ZONE_BYTES}}) {
    head.red_zone_bytes = red_zone_bytes;
    head.stack_bytes = WIRE_STACK_MAX_BYTES + red_zone_bytes;
    EXPECT_TRUE(Decode(Bytes(head, stack.size(), stack.data())).has_value());
    ++head.stack_bytes;
    EXPECT_FALSE(Decode(Bytes(head, stack.size(), stack.data())).has_value());
  }
}

TEST(Decode, SmallRecords) {
  const wire_capture_failed failed = {.type = WIRE_CAPTURE_FAILED, .no_user = WIRE_NO_USER_EXEC, .cookie = 4};
  EXPECT_EQ(std::get<CaptureFailedEvent>(*Decode(Bytes(failed))).reason, NoUserStack::kExec);
  EXPECT_EQ(std::get<CaptureFailedEvent>(*Decode(Bytes(failed))).cookie, 4u);
  wire_lifecycle life = {
      .type = WIRE_EXEC, .reserved = 0, .process = {.start_ns = 1, .exec_id = 2, .tgid = 3, .tid = 4}};
  EXPECT_EQ(std::get<ExecEvent>(*Decode(Bytes(life))).process.exec_id, 2u);
  life.type = WIRE_EXIT;
  EXPECT_EQ(std::get<ExitEvent>(*Decode(Bytes(life))).process.pid, 3);
}

TEST(Decode, EveryPrefixIsRefused) {
  ExpectShortInputRefused(Bytes(AnInterval()));
  ExpectShortInputRefused(Woken());
  const uint64_t frames[] = {1, 2, 3};
  ExpectShortInputRefused(
      Bytes(wire_kernel_stack{.type = WIRE_KERNEL_STACK, .count = 3, .id = 9}, sizeof(frames), frames));
  wire_capture capture = {};
  capture.type = WIRE_CAPTURE;
  capture.stack_bytes = sizeof(frames);
  ExpectShortInputRefused(Bytes(capture, sizeof(frames), frames));
  ExpectShortInputRefused(Bytes(wire_capture_failed{.type = WIRE_CAPTURE_FAILED}));
  ExpectShortInputRefused(Bytes(wire_lifecycle{.type = WIRE_EXIT}));
}

TEST(Decode, UnknownTypeIsRefused) {
  for (const uint32_t type : {0u, 8u, 0xffffffffu}) {
    wire_interval head = AnInterval();
    head.type = type;
    EXPECT_FALSE(Decode(Bytes(head)).has_value()) << type;
  }
}

}  // namespace
}  // namespace offcpu
