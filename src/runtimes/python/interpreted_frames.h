// The frames that a thread of CPython runs, from its state. Those that one call of the evaluation loop runs are a run;
// an address in the native frame of that call tells them: the loop keeps a record of its own there (to 3.11), or the
// frame that stands for the caller in C (from 3.12 on).
//
// A pure function of the memory. Needs the thread not to run meanwhile; takes every byte as hostile.
#ifndef OFFCPU_RUNTIMES_PYTHON_INTERPRETED_FRAMES_H_
#define OFFCPU_RUNTIMES_PYTHON_INTERPRETED_FRAMES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "process/memory.h"
#include "runtimes/interpreted_stack.h"
#include "runtimes/python/layout.h"

namespace offcpu {

inline constexpr size_t kMaxPythonFrames = 1 << 16;  // of a thread, with those that stand for callers in C

struct PythonFrame {
  uint64_t code = 0;         // the code object
  uint64_t instruction = 0;  // the address of the one that it is at
  bool is_generator = false;
};

struct PythonFrames {
  std::vector<PythonFrame> frames;   // leaf first
  std::vector<InterpretedRun> runs;  // with all of their frames
};

// Nothing: they cannot be read, are too many, or do not agree with each other.
std::optional<PythonFrames> ReadPythonFrames(const PythonLayout& layout, const Memory& memory, uint64_t thread_state);

}  // namespace offcpu

#endif  // OFFCPU_RUNTIMES_PYTHON_INTERPRETED_FRAMES_H_
