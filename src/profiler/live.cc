#include "profiler/live.h"

#include <algorithm>
#include <utility>

#include "process/memory.h"

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
  if (!thread.has_user) return {.missing = NoUserStack::kExiting};
  LiveStack live;
  live.capture.process = thread.process;
  live.capture.tid = thread.tid;
  live.capture.registers = thread.registers;
  live.capture.in_syscall = thread.in_syscall;
  live.capture.stack = CopyStack(thread, max_bytes);
  live.capture.more = live.capture.stack.size() == max_bytes;
  if (live.capture.stack.empty()) live.missing = NoUserStack::kUnreadable;
  return live;
}

bool HasNotRun(const WaitingThread& before, const std::vector<WaitingThread>& now) {
  const auto same = [&before](const WaitingThread& thread) { return thread.tid == before.tid; };
  const auto after = std::find_if(now.begin(), now.end(), same);
  return after != now.end() && after->process == before.process && !after->on_cpu && after->switches == before.switches;
}

}  // namespace

std::vector<LiveStack> ReadLiveStacks(const std::vector<WaitingThread>& threads, size_t max_bytes,
                                      const ListThreadsFunction& list, const DescribeFunction& describe) {
  std::vector<LiveStack> stacks;
  std::optional<ProcessVersion> version;
  for (const WaitingThread& thread : threads) {
    stacks.push_back(CopyThread(thread, max_bytes));
    if (!version.has_value()) version = describe(thread.tid);
  }
  if (threads.empty()) return stacks;
  const std::vector<WaitingThread> now = list(threads.front().process.pid);
  for (size_t i = 0; i < threads.size(); ++i) {
    LiveStack& live = stacks[i];
    if (live.missing == NoUserStack::kOnCpu) continue;
    if (!HasNotRun(threads[i], now) || !version.has_value() || version->process != threads[i].process) {
      live = {.missing = NoUserStack::kStale};
    } else {
      live.capture.code = version->code;
    }
  }
  return stacks;
}

}  // namespace offcpu
