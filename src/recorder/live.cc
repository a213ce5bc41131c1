#include "recorder/live.h"

#include <utility>

#include "process/memory.h"
#include "process/now.h"

namespace offcpu {
namespace {

// As much from the stack pointer upwards as there is; the end of the mapping cuts it.
std::vector<std::byte> CopyStack(const WaitingThread& thread, size_t max_bytes) {
  std::vector<std::byte> stack(max_bytes);
  stack.resize(ProcessMemory(thread.tid).ReadSome(thread.registers.sp(), stack));
  stack.shrink_to_fit();
  return stack;
}

LiveStack CopyThread(const WaitingThread& thread, size_t max_bytes) {
  if (thread.on_cpu) return {.missing = NoUserStack::kOnCpu};
  if (thread.is_kernel) return {.missing = NoUserStack::kKernelThread};
  if (!thread.has_user) return {.missing = NoUserStack::kUnreadable};
  LiveStack live;
  live.capture.process = thread.process;
  live.capture.tid = thread.tid;
  live.capture.at_ns = NowNs(CLOCK_MONOTONIC);
  live.capture.registers = thread.registers;
  live.capture.in_syscall = thread.in_syscall;
  live.capture.is_32_bit = thread.is_32_bit;
  live.capture.stack = CopyStack(thread, max_bytes);
  live.capture.more = live.capture.stack.size() == max_bytes;
  if (live.capture.stack.empty()) live.missing = NoUserStack::kUnreadable;
  return live;
}

bool HasNotRun(const WaitingThread& before, const std::optional<WaitingThread>& now) {
  return now.has_value() && now->process == before.process && !now->on_cpu && now->switches == before.switches;
}

}  // namespace

std::vector<LiveStack> ReadLiveStacks(const std::vector<WaitingThread>& threads, size_t max_bytes,
                                      const FindThreadFunction& find, const DescribeFunction& describe) {
  std::vector<LiveStack> stacks;
  std::optional<ProcessVersion> version;
  for (const WaitingThread& thread : threads) {
    stacks.push_back(CopyThread(thread, max_bytes));
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
