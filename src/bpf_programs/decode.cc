#include "bpf_programs/decode.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "bpf/wire.h"
#include "bpf_programs/wire_names.h"

namespace offcpu {
namespace {

static_assert(kMaxCaptureBytes == WIRE_STACK_MAX_BYTES && kMaxListedMappings == WIRE_MAPPINGS &&
              kVdsoDevice == WIRE_VDSO);
static_assert(kMaxStackPieces == WIRE_PIECES && kMaxStackPieceBytes == WIRE_PIECE_BYTES);

// Copies the fixed part of a record; the ring aligns to 8 bytes, a test's array need not.
template <typename T>
bool ReadHead(std::span<const std::byte> record, T* head) {
  if (record.size() < sizeof(T)) return false;
  std::memcpy(head, record.data(), sizeof(T));
  return true;
}

template <size_t kBytes>
std::string CommOf(const char (&comm)[kBytes]) {
  return std::string(comm, strnlen(comm, kBytes));
}

IntervalEvent IntervalOf(const wire_interval& head) {
  return {.process = KeyOf(head.process),
          .tid = static_cast<int32_t>(head.process.tid),
          .cookie = head.cookie,
          .user_stack = head.user_stack,
          .missing = head.cookie != 0 || head.user_stack != 0 ? NoUserStack::kNone : MissingOf(head.no_user),
          .kernel_stack = head.kernel_stack,
          .kind = KindOf(head.kind),
          .syscall = SystemCallOf(kHostMachine, head.syscall),
          .switches = head.switches,
          .end_ns = head.end_ns,
          .blocked_ns = head.blocked_ns,
          .runnable_ns = head.runnable_ns,
          .sample_ns = head.sample_ns,
          .control_group = head.cgroup,
          .comm = CommOf(head.comm),
          .wakers = {}};
}

std::optional<Event> DecodeInterval(std::span<const std::byte> record) {
  wire_interval head;
  if (!ReadHead(record, &head)) return std::nullopt;
  return IntervalOf(head);
}

std::optional<Event> DecodeSum(std::span<const std::byte> record) {
  wire_sum head;
  if (!ReadHead(record, &head) || head.count == 0) return std::nullopt;
  IntervalEvent event = IntervalOf(head.interval);
  event.waits = head.count;
  event.longest_ns = head.longest_ns;
  event.longest_runnable_ns = head.longest_runnable_ns;
  return event;
}

WakerEvent WakerOf(const wire_waker& waker) {
  if ((waker.flags & WIRE_WAKER_INTERRUPT) != 0) {
    return {.interrupt = true, .missing = NoUserStack::kKernelThread, .kernel_stack = waker.kernel_stack};
  }
  return {.process = KeyOf(waker.process),
          .tid = static_cast<int32_t>(waker.process.tid),
          .comm = CommOf(waker.comm),
          .cookie = waker.cookie,
          .missing = waker.cookie != 0 ? NoUserStack::kNone : MissingOf(waker.no_user),
          .kernel_stack = waker.kernel_stack};
}

std::optional<Event> DecodeWokenInterval(std::span<const std::byte> record) {
  wire_woken_interval head;
  if (!ReadHead(record, &head) || head.count == 0 || head.count > WIRE_WAKERS) return std::nullopt;
  IntervalEvent event = IntervalOf(head.interval);
  auto wakers = record.subspan(sizeof(head));
  for (uint32_t i = 0; i < head.count; ++i) {
    wire_waker waker;
    if (!ReadHead(wakers, &waker)) return std::nullopt;
    event.wakers.push_back(WakerOf(waker));
    wakers = wakers.subspan(sizeof(waker));
  }
  return event;
}

std::optional<Event> DecodeSample(std::span<const std::byte> record) {
  wire_sample head;
  if (!ReadHead(record, &head)) return std::nullopt;
  return SampleEvent{.process = KeyOf(head.process),
                     .tid = static_cast<int32_t>(head.process.tid),
                     .cookie = head.cookie,
                     .missing = head.cookie != 0 ? NoUserStack::kNone : MissingOf(head.no_user),
                     .kernel_stack = head.kernel_stack,
                     .in_user = head.in_user != 0,
                     .syscall = SystemCallOf(kHostMachine, head.syscall),
                     .at_ns = head.at_ns,
                     .control_group = head.cgroup,
                     .comm = {head.comm, strnlen(head.comm, sizeof(head.comm))}};
}

std::optional<Event> DecodeKernelStack(std::span<const std::byte> record) {
  wire_kernel_stack head;
  if (!ReadHead(record, &head) || head.count > WIRE_KERNEL_FRAMES) return std::nullopt;
  const auto frames = record.subspan(sizeof(head));
  if (frames.size() < head.count * sizeof(uint64_t)) return std::nullopt;
  KernelStackEvent event{.id = head.id, .addresses = std::vector<uint64_t>(head.count)};
  if (head.count != 0) std::memcpy(event.addresses.data(), frames.data(), head.count * sizeof(uint64_t));
  return event;
}

std::optional<Event> DecodeCodeList(std::span<const std::byte> record) {
  wire_code_list head;
  if (!ReadHead(record, &head) || head.count > WIRE_MAPPINGS) return std::nullopt;
  const auto mappings = record.subspan(sizeof(head));
  if (mappings.size() < head.count * sizeof(wire_mapping)) return std::nullopt;
  return CodeListEvent{.hash = head.hash,
                       .mappings = DecodeMappings(mappings.first(head.count * sizeof(wire_mapping)))};
}

// False if they are not all in `bytes`.
bool DecodePieces(std::span<const wire_piece> pieces, std::span<const std::byte> bytes, std::vector<StackPiece>* out) {
  for (const wire_piece& piece : pieces) {
    if (piece.begin == 0) continue;
    if (piece.bytes > WIRE_PIECE_BYTES || piece.bytes > bytes.size() || piece.begin > UINT64_MAX - WIRE_PIECE_BYTES) {
      return false;
    }
    const auto own = bytes.first(piece.bytes);
    out->push_back({.begin = piece.begin,
                    .bytes = {own.begin(), own.end()},
                    .more = piece.above == WIRE_ABOVE_MORE,
                    .unread = piece.above == WIRE_ABOVE_UNREAD});
    bytes = bytes.subspan(piece.bytes);
  }
  return true;
}

bool HasRoomForStack(const wire_capture& head) {
  if (head.red_zone_bytes > WIRE_RED_ZONE_BYTES || head.red_zone_bytes > head.stack_bytes) return false;
  return head.stack_bytes - head.red_zone_bytes <= WIRE_STACK_MAX_BYTES;
}

std::optional<Event> DecodeCapture(std::span<const std::byte> record) {
  wire_capture head;
  if (!ReadHead(record, &head) || !HasRoomForStack(head)) return std::nullopt;
  const auto stack = record.subspan(sizeof(head));
  if (stack.size() < head.stack_bytes) return std::nullopt;
  CaptureEvent event{.cookie = head.cookie,
                     .process = KeyOf(head.process),
                     .tid = static_cast<int32_t>(head.process.tid),
                     .code = {.sequence = head.code.sequence, .hash = head.code.hash},
                     .walked = head.walked,
                     .walked_code = head.walked_code,
                     .at_ns = head.at_ns,
                     .registers = {},
                     .in_syscall = head.in_syscall != 0,
                     .is_32_bit = head.is_32_bit != 0,
                     .more = head.above == WIRE_ABOVE_MORE,
                     .unread = head.above == WIRE_ABOVE_UNREAD,
                     .red_zone_bytes = head.red_zone_bytes,
                     .stack = {stack.begin(), stack.begin() + head.stack_bytes},
                     .pieces = {}};
  if (!DecodePieces(head.pieces, stack.subspan(head.stack_bytes), &event.pieces)) return std::nullopt;
  std::copy(std::begin(head.registers), std::end(head.registers), event.registers.value.begin());
  return event;
}

std::optional<Event> DecodeCaptureFailed(std::span<const std::byte> record) {
  wire_capture_failed head;
  if (!ReadHead(record, &head)) return std::nullopt;
  return CaptureFailedEvent{.cookie = head.cookie, .reason = MissingOf(head.no_user)};
}

template <typename T>
std::optional<Event> DecodeLifecycle(std::span<const std::byte> record) {
  wire_lifecycle head;
  if (!ReadHead(record, &head)) return std::nullopt;
  return T{.process = KeyOf(head.process)};
}

}  // namespace

std::vector<CodeMapping> DecodeMappings(std::span<const std::byte> bytes) {
  std::vector<CodeMapping> mappings;
  for (wire_mapping wire; ReadHead(bytes, &wire); bytes = bytes.subspan(sizeof(wire))) {
    mappings.push_back({.begin = wire.begin,
                        .end = wire.end,
                        .offset = wire.offset,
                        .inode = wire.inode,
                        .device = wire.device,
                        .changed_ns = wire.changed_ns});
  }
  return mappings;
}

std::optional<Event> Decode(std::span<const std::byte> record) {
  uint32_t type;
  if (!ReadHead(record, &type)) return std::nullopt;
  switch (type) {
    case WIRE_INTERVAL:
      return DecodeInterval(record);
    case WIRE_SUM:
      return DecodeSum(record);
    case WIRE_SAMPLE:
      return DecodeSample(record);
    case WIRE_WOKEN_INTERVAL:
      return DecodeWokenInterval(record);
    case WIRE_KERNEL_STACK:
      return DecodeKernelStack(record);
    case WIRE_CODE:
      return DecodeCodeList(record);
    case WIRE_CAPTURE:
      return DecodeCapture(record);
    case WIRE_CAPTURE_FAILED:
      return DecodeCaptureFailed(record);
    case WIRE_EXEC:
      return DecodeLifecycle<ExecEvent>(record);
    case WIRE_EXIT:
      return DecodeLifecycle<ExitEvent>(record);
    default:
      return std::nullopt;
  }
}

}  // namespace offcpu
