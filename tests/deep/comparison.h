// Holds the stacks of a stopped process, as offcpu reads them from outside, against those that elfutils or gdb reads of
// the same instant. Prints every stack that differs.
#ifndef OFFCPU_TESTS_DEEP_COMPARISON_H_
#define OFFCPU_TESTS_DEEP_COMPARISON_H_

#include <sys/types.h>

#include <cstdint>

#include "tests/harness/real_program.h"

namespace offcpu::integration {

enum class Reference { kElfutils, kGdb };

struct Tally {
  uint64_t threads = 0;
  uint64_t identical = 0;
  uint64_t longer = 0;    // than the reference, by frames that were called
  uint64_t shorter = 0;   // than the reference, and not called complete
  uint64_t complete = 0;  // are said to be
  uint64_t wrong = 0;     // of those: another caller, frames that nobody has called, or frames that are missing

  void Add(const Tally& other);
};

// Compares the stacks of a program's threads, once as many as it says wait.
Tally CompareAll(const RealProgram& program, Reference reference = Reference::kElfutils);

}  // namespace offcpu::integration

#endif  // OFFCPU_TESTS_DEEP_COMPARISON_H_
