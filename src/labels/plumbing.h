// Functions of the kernel that say nothing about a wait, by name. Pure functions.
#ifndef OFFCPU_LABELS_PLUMBING_H_
#define OFFCPU_LABELS_PLUMBING_H_

#include <string_view>

namespace offcpu {

// How a system call is entered and left, and the scheduler: every wait goes through them. The page has the same list,
// html/page/plumbing.mjs.
bool IsPlumbing(std::string_view kernel_function);

// A function of the scheduler or of the kernel's locks. The kernel leaves these out where it lists the stack of a
// thread that waits (its section .sched.text).
bool IsSchedulerCode(std::string_view kernel_function);

}  // namespace offcpu

#endif  // OFFCPU_LABELS_PLUMBING_H_
