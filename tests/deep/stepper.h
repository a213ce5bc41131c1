// Runs a program one instruction at a time and knows its stack at each of them without any table: what calls have
// pushed and returns have not taken yet. Needs the right to trace; x86-64, the main thread only. Quick only for a
// thread that is bound to one CPU, which the program is then, too: a step must not wake another CPU. One thread.
//
// Told apart by the instruction that was executed: a call adds the address that it pushed; a return, and a jump to an
// address in a register or in memory, ends all frames whose return address now lies below the stack pointer (so that
// longjmp and exceptions end as many as they do); any other jump, also one into another function, keeps them. The
// delivery of a signal adds the interrupted instruction and what the kernel pushes; rt_sigreturn takes both back.
#ifndef OFFCPU_TESTS_DEEP_STEPPER_H_
#define OFFCPU_TESTS_DEEP_STEPPER_H_

#include <sys/types.h>
#include <sys/user.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "process/memory.h"
#include "process/registers.h"

namespace offcpu::integration {

class Stepper {
 public:
  // The program at its entry point, or with `from_loader` at that of its dynamic linker. Null if that cannot be done.
  static std::unique_ptr<Stepper> Start(const std::vector<std::string>& words, bool from_loader);
  ~Stepper();
  Stepper(const Stepper&) = delete;
  Stepper& operator=(const Stepper&) = delete;

  // Executes an instruction, or delivers a signal. False when the program has ended or `error` is set.
  bool Step();

  pid_t pid() const { return pid_; }
  Registers registers() const;
  // The pc and all return addresses and interrupted instructions, leaf first.
  std::vector<uint64_t> Stack() const;
  // How many of these are as they were pushed, leaf first: a program may put other addresses in the place of return
  // addresses, as exceptions do right before they leave the frames.
  size_t Untouched() const;
  // Has the last step ended frames other than by the return of the innermost?
  bool left_frames() const { return left_frames_; }
  // May executable mappings have changed in the last step?
  bool changed_code() const { return changed_code_; }
  uint64_t steps() const { return steps_; }
  int exit_code() const { return exit_code_; }
  const std::string& error() const { return error_; }

 private:
  enum class Kind : uint8_t { kOther, kCall, kReturn, kIndirectJump, kSystemCall, kUnknown };
  struct Entry {
    uint64_t pc = 0;
    uint64_t slot = 0;  // where the return address lies; of an interrupted instruction, the ucontext
    bool interrupted = false;
    // Where an interrupted instruction's handler has a stack of its own.
    uint64_t other_begin = 0;
    uint64_t other_end = 0;
  };

  explicit Stepper(pid_t pid) : pid_(pid), memory_(pid) {}
  bool RunTo(uint64_t address);
  bool Resume(int signal);
  bool AfterInstruction(const user_regs_struct& before);
  bool EnterHandler(const user_regs_struct& before);
  bool Return(const user_regs_struct& before);
  size_t EndFrames();  // how many
  Kind KindAt(uint64_t pc);
  bool Fail(const std::string& error);

  pid_t pid_;
  ProcessMemory memory_;
  user_regs_struct now_ = {};
  std::vector<Entry> entries_;  // outermost first
  absl::flat_hash_map<uint64_t, Kind> kinds_;
  int pending_signal_ = 0;
  bool left_frames_ = false;
  bool changed_code_ = false;
  uint64_t steps_ = 0;
  int exit_code_ = -1;
  std::string error_;
};

}  // namespace offcpu::integration

#endif  // OFFCPU_TESTS_DEEP_STEPPER_H_
