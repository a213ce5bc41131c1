#include "recorder/live.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "os/now.h"
#include "process/machine.h"
#include "process/memory.h"

namespace offcpu {
namespace {

uint32_t RedZoneBytes(const WaitingThread& thread) {
  const Machine& machine = thread.is_32_bit ? kI386 : kHostMachine;
  const uint64_t sp = kHostMachine.SpOf(thread.registers);
  if (sp < thread.stack_begin || sp >= thread.stack_end) return 0;
  return static_cast<uint32_t>(std::min<uint64_t>(machine.red_zone_bytes, sp - thread.stack_begin));
}

// Copies `max_bytes` from the stack pointer upwards, or as many as there are: what captures take, too.
void CopyStack(const WaitingThread& thread, size_t max_bytes, CaptureEvent* capture) {
  const uint64_t sp = kHostMachine.SpOf(thread.registers);
  const bool is_known = sp >= thread.stack_begin && sp < thread.stack_end;
  const size_t wanted = is_known ? std::min<uint64_t>(max_bytes, thread.stack_end - sp) : max_bytes;
  capture->red_zone_bytes = RedZoneBytes(thread);
  std::vector<std::byte>& stack = capture->stack;
  stack.resize(capture->red_zone_bytes + wanted);
  stack.resize(ProcessMemory(thread.tid).ReadSome(capture->stack_begin(), stack));
  stack.shrink_to_fit();
  capture->more = stack.size() == capture->red_zone_bytes + max_bytes;
}

LiveStack CopyThread(const WaitingThread& thread, size_t max_bytes) {
  if (thread.on_cpu) return {.missing = NoUserStack::kOnCpu};
  if (thread.is_kernel) return {.missing = NoUserStack::kKernelThread};
  if (thread.is_32_bit && kHostMachine.also == nullptr) return {.missing = NoUserStack::k32BitCode};
  if (!thread.has_user) return {.missing = NoUserStack::kUnreadable};
  LiveStack live;
  live.capture.process = thread.process;
  live.capture.tid = thread.tid;
  live.capture.at_ns = NowNs(CLOCK_MONOTONIC);
  live.capture.registers = thread.registers;
  live.capture.in_syscall = thread.in_syscall;
  live.capture.is_32_bit = thread.is_32_bit;
  CopyStack(thread, max_bytes, &live.capture);
  if (live.capture.stack.size() <= live.capture.red_zone_bytes) live.missing = NoUserStack::kUnreadable;
  return live;
}

bool HasNotRun(const WaitingThread& before, const std::optional<WaitingThread>& now) {
  return now.has_value() && now->process == before.process && !now->on_cpu && now->switches == before.switches;
}

}  // namespace

std::vector<LiveStack> ReadLiveStacks(const std::vector<WaitingThread>& threads, size_t max_bytes,
                                      const FindThreadFunction& find, const DescribeFunction& describe,
                                      Runtime* runtime) {
  std::vector<LiveStack> stacks;
  std::optional<ProcessVersion> version;
  const ProcessMemory memory(threads.empty() ? 0 : threads.front().tid);
  const std::unique_ptr<InterpreterReading> interpreter =
      runtime != nullptr ? runtime->ReadInterpreter(memory) : nullptr;
  for (const WaitingThread& thread : threads) {
    LiveStack& stack = stacks.emplace_back(CopyThread(thread, max_bytes));
    const bool may_interpret = stack.missing == NoUserStack::kNone && !thread.is_32_bit;
    if (interpreter != nullptr && may_interpret) stack.interpreted = interpreter->Read(thread.tid);
    // One version is that of all: whatever their stacks need has been mapped since before they were listed.
    if (!version.has_value()) version = describe(thread.tid);
  }
  // One by one: a process may have thousands, and each of them is listed with its kernel stack.
  for (size_t i = 0; i < threads.size(); ++i) {
    LiveStack& live = stacks[i];
    if (live.missing == NoUserStack::kOnCpu || live.missing == NoUserStack::kKernelThread) continue;
    if (!version.has_value() || version->process != threads[i].process ||
        !HasNotRun(threads[i], find(threads[i].tid))) {
      live = {.missing = NoUserStack::kStale};
    } else {
      live.capture.code = version->code;
    }
  }
  return stacks;
}

}  // namespace offcpu
