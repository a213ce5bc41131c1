// At every single instruction of a program, of its libraries and of the dynamic linker, the walk is held against what
// calls and returns have made of the stack (stepper.h). No caller may be wrong. Where a walk ends early, the reason is
// one of docs/unwinding.md, and rare. By SFrame alone, which not every library has, only what is found is judged.
#ifndef OFFCPU_TESTS_DEEP_SINGLE_STEP_H_
#define OFFCPU_TESTS_DEEP_SINGLE_STEP_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "unwind/user_stack.h"

namespace offcpu::integration {

constexpr char kDefaultOrder[] = "sframe,eh_frame,fp";

struct SteppedProgram {
  std::string name;  // in the directory of the targets
  std::string argument;
  bool from_loader = false;
};

// What of the instructions is not walked to the end, over all programs.
struct StepTally {
  uint64_t instructions = 0;
  uint64_t without_rows = 0;  // in assembler code that has no table
  uint64_t rewritten = 0;
  std::map<EndReason, uint64_t> missing;  // in code made by a compiler
};

class HeldWalk;

class SingleStep : public testing::Test {
 protected:
  // Side by side, each on a CPU with the thread that steps it.
  void Check(const std::vector<SteppedProgram>& programs, const std::vector<std::string>& orders);
  void ExpectRare() const;

 private:
  void CheckOne(const SteppedProgram& program, const std::vector<std::string>& orders);
  void Report(const SteppedProgram& program, const HeldWalk& held);

  std::mutex mutex_;  // for all below
  StepTally tally_;
};

}  // namespace offcpu::integration

#endif  // OFFCPU_TESTS_DEEP_SINGLE_STEP_H_
