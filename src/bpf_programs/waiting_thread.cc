#include "bpf_programs/waiting_thread.h"

#include <algorithm>
#include <cstring>

#include "bpf/wire.h"
#include "bpf_programs/wire_names.h"

namespace offcpu {
namespace {

// Stamps are frozen when recording ends, so that a thread may have come and gone since; what it gained in waiting for a
// CPU by then is known if it has come only once.
uint64_t QueuedNs(const wire_thread& thread, uint64_t begin_ns, uint64_t end_ns) {
  if (thread.new_arrivals > 1) return 0;
  uint64_t growth = begin_ns == thread.out_ns ? thread.run_delay - thread.out_run_delay : 0;
  if (thread.new_arrivals == 1) {
    const uint64_t late = thread.arrived_ns > end_ns ? thread.arrived_ns - end_ns : 0;
    return growth > late ? growth - late : 0;
  }
  const uint64_t since = std::max(thread.queued_ns, begin_ns);
  if (thread.queued_ns != 0 && since < end_ns) growth += end_ns - since;
  return growth;
}

// Has it come to a CPU between the stamp and the end, at an event that the filters left out? Then nothing is known of
// the wait that it is in.
bool IsStale(const wire_thread& thread, uint64_t end_ns) {
  if (thread.new_arrivals == 0) return false;
  if (thread.new_arrivals == 1) return thread.arrived_ns <= end_ns;
  return thread.out_ns == 0;
}

std::optional<OpenWait> OpenWaitOf(const wire_thread& thread, uint64_t start, uint64_t end) {
  if (end == 0 || (thread.out_ns == 0 && thread.has_run != 0) || IsStale(thread, end)) return std::nullopt;
  const bool is_new = thread.out_ns == 0 && thread.arrivals == thread.new_arrivals;
  const uint64_t queued_last = thread.new_arrivals == 0 ? thread.queued_ns : thread.arrived_ns;
  if (is_new && queued_last == 0) return std::nullopt;  // it is being made
  const uint64_t begin = std::max(is_new ? queued_last - thread.run_delay : thread.out_ns, start);
  if (begin >= end) return std::nullopt;
  const uint64_t total = end - begin;
  const bool wanted_to_run = thread.kind == WIRE_KIND_PREEMPTED || thread.kind == WIRE_KIND_YIELDED;
  OpenWait wait;
  wait.begin_ns = begin;
  wait.runnable_ns = is_new || wanted_to_run ? total : std::min(QueuedNs(thread, begin, end), total);
  wait.blocked_ns = total - wait.runnable_ns;
  wait.kind = KindOf(thread.kind);
  wait.throughout = begin == start && !is_new;
  return wait;
}

WaitingThread FromWire(const wire_thread& wire) {
  WaitingThread thread;
  thread.process = KeyOf(wire.process);
  thread.tid = static_cast<int32_t>(wire.process.tid);
  thread.comm.assign(wire.comm, strnlen(wire.comm, sizeof(wire.comm)));
  thread.switches = wire.switches;
  thread.on_cpu = wire.on_cpu != 0;
  thread.cookie = wire.cookie;
  thread.out_ns = wire.out_ns;
  thread.off_cpu_ns = wire.off_cpu_ns;
  thread.state = KindOf(wire.state);
  thread.is_kernel = wire.is_kernel != 0;
  thread.has_user = wire.has_user != 0;
  std::copy(std::begin(wire.registers), std::end(wire.registers), thread.registers.value.begin());
  thread.stack_begin = wire.stack_begin;
  thread.stack_end = wire.stack_end;
  thread.in_syscall = wire.in_syscall != 0;
  thread.is_32_bit = wire.is_32_bit != 0;
  thread.syscall = SystemCallOf(kHostMachine, wire.syscall);
  thread.control_group = wire.cgroup;
  return thread;
}

}  // namespace

std::vector<WaitingThread> DecodeThreads(std::span<const std::byte> bytes, uint64_t start_ns, uint64_t end_ns) {
  std::vector<WaitingThread> threads;
  wire_thread wire;
  while (bytes.size() >= sizeof(wire)) {
    std::memcpy(&wire, bytes.data(), sizeof(wire));
    bytes = bytes.subspan(sizeof(wire));
    if (wire.count > WIRE_KERNEL_FRAMES || wire.count * sizeof(uint64_t) > bytes.size()) break;
    WaitingThread& thread = threads.emplace_back(FromWire(wire));
    thread.kernel.resize(wire.count);
    if (wire.count != 0) std::memcpy(thread.kernel.data(), bytes.data(), wire.count * sizeof(uint64_t));
    bytes = bytes.subspan(wire.count * sizeof(uint64_t));
    thread.open = OpenWaitOf(wire, start_ns, end_ns);
    thread.came_back = thread.open.has_value() && wire.new_arrivals != 0;
    thread.in_open_wait = thread.open.has_value() && !thread.on_cpu && !thread.came_back;
  }
  return threads;
}

}  // namespace offcpu
