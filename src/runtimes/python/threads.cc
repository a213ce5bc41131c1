#include "runtimes/python/threads.h"

namespace offcpu {
namespace {

// False: the list cannot be read, is too long, or does not agree with itself.
bool AddThreads(const PythonLayout& layout, const Memory& memory, uint64_t interpreter, PythonThreads* threads) {
  std::optional<uint64_t> thread = memory.ReadValue<uint64_t>(interpreter + layout.threads);
  uint64_t previous = 0;
  while (thread && *thread != 0) {
    const uint64_t state = *thread;
    if (threads->size() == kMaxPythonThreads ||
        memory.ReadValue<uint64_t>(state + layout.thread_previous) != previous ||
        memory.ReadValue<uint64_t>(state + layout.thread_interpreter) != interpreter)
      return false;
    const std::optional<uint64_t> number = memory.ReadValue<uint64_t>(state + layout.thread_number);
    if (!number) return false;
    threads->emplace(*number, state);
    previous = state;
    thread = memory.ReadValue<uint64_t>(state + layout.thread_next);
  }
  return thread.has_value();
}

}  // namespace

std::optional<PythonThreads> ReadPythonThreads(const PythonLayout& layout, const Memory& memory) {
  PythonThreads threads;
  std::optional<uint64_t> interpreter = memory.ReadValue<uint64_t>(layout.runtime + layout.interpreters);
  for (size_t count = 0; interpreter && *interpreter != 0; ++count) {
    if (count == kMaxInterpreters || !AddThreads(layout, memory, *interpreter, &threads)) return std::nullopt;
    interpreter = memory.ReadValue<uint64_t>(*interpreter + layout.interpreter_next);
  }
  if (!interpreter) return std::nullopt;
  return threads;
}

}  // namespace offcpu
