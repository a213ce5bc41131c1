// A stack of this very program, as a capture brings it: registers and a copy of the bytes above the stack pointer.
#ifndef OFFCPU_TESTS_BENCHMARK_CAPTURE_H_
#define OFFCPU_TESTS_BENCHMARK_CAPTURE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "process/machine.h"

namespace offcpu {

struct Captured {
  Registers registers;
  std::vector<std::byte> stack;  // from the stack pointer on

  uint64_t begin() const { return kHostMachine.SpOf(registers); }
  uint64_t end() const { return begin() + stack.size(); }
};

// A stack of about 20 frames, all of a thread of its own, so that it ends where the thread began.
const Captured& TwentyFrames();

}  // namespace offcpu

#endif  // OFFCPU_TESTS_BENCHMARK_CAPTURE_H_
