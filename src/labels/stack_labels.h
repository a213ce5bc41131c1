// What stacks, chains of wakers, threads, programs and waits are called in all formats. The frames of a stack are
// outermost first, with what is missing named in brackets where it would be. Names come from files of the target, so
// they are made printable (utf8.h).
//
//   [truncated: REASON]       the callers of the frame below are not known
//   [guessed end]             the frame below seems to have no callers, but nothing proves that
//   [no user stack: REASON]   instead of the whole user stack
//   [unknown kernel stack]    its frames were lost
//   [other]                   all stacks that found no place in the table
#ifndef OFFCPU_LABELS_STACK_LABELS_H_
#define OFFCPU_LABELS_STACK_LABELS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "classify/wait_cause.h"
#include "profile/named_profile.h"

namespace offcpu {

std::vector<std::string> UserLabels(const NamedUserStack& stack);
// Empty if there is no kernel stack: the thread was in user mode. Only the functions that the kernel's symbol table
// has, not those that were inlined: so stacks compare whether the kernel's debug file was there or not.
std::vector<std::string> KernelLabels(const NamedKernelStack& stack);

// A chain of wakers as labels: for each waker the way back from where it woke, behind kWakerMark, to the name of its
// thread, and to its process if that is to be named; [interrupt] instead. All chains that found no place are [other].
inline constexpr std::string_view kWakerMark = "--";
inline constexpr std::string_view kInterrupt = "[interrupt]";
struct WakerNaming {
  std::vector<std::string> (*user)(const NamedUserStack& stack) = UserLabels;
  std::vector<std::string> (*kernel)(const NamedKernelStack& stack) = KernelLabels;
  std::string (*process)(const ProcessInfo& process) = nullptr;  // null: it is not named
};
std::vector<std::string> WakerLabels(const NamedProfile& profile, const WakerChain& chain,
                                     const WakerNaming& naming = {});

// The one of KernelLabels that says most: every wait ends in the scheduler, what called it says more. Empty of none.
std::string KernelLeaf(const std::vector<std::string>& labels);

// What stands for the frames that a user stack lacks, or ""; it is all that there is of one that is missing.
std::string EndLabel(const NamedUserStack& stack);
// What stands for the frames of a kernel stack that is not known, or "".
std::string MissingLabel(const NamedKernelStack& stack);

// The name of a thread or a program; of a process with its pid.
std::string ThreadLabel(std::string_view comm);
std::string ProgramLabel(const ProcessInfo& process);
std::string ProcessLabel(const ProcessInfo& process);

// "lock in futex", "page fault".
std::string WaitLabel(std::string_view cause, int32_t syscall);

}  // namespace offcpu

#endif  // OFFCPU_LABELS_STACK_LABELS_H_
