// What Go's pprof is to show of our functions: names that it does not cut at a dot, and stacks that end where a thread
// waits and not in the scheduler, which every wait ends in. Pure functions.
#ifndef OFFCPU_PPROF_PPROF_FUNCTIONS_H_
#define OFFCPU_PPROF_PPROF_FUNCTIONS_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "profile/named_profile.h"

namespace offcpu {

// "f" of "f.constprop.0": of that pprof's graph would show a box "0". The whole name is the system_name then.
std::string_view ShownFunction(std::string_view name);

// For drop_frames of pprof's format: the functions of the scheduler that readers are to take off the leaves of stacks
// of this profile, or "". pprof takes off, with the first function that has such a name, all that it called, whatever
// that is. So a name is not among them if a function of a program has it too, or if there are wakers, whose stacks lie
// below those of the waits. Where an interrupt came in below such a function, that function has another name.
//
// None of them is one that says the cause of a wait (classify/wait_cause.h): a file that pprof has written again has
// lost them.
std::string DropFrames(const NamedProfile& profile);

// The frame at which an interrupt or a fault entered the kernel: what it interrupted begins behind it. Without one, the
// number of frames.
size_t BeginOfInterrupted(const NamedKernelStack& stack);

// Where the thread waits: the first frame, from the leaf outwards, that is none of the scheduler's. 0 if all are.
size_t BeginOfWait(const NamedKernelStack& stack);

// One of those that drop_frames may name, and how it is shown where it was interrupted: "schedule [interrupted]". The
// whole name is the system_name then.
bool IsOfScheduler(std::string_view name);
std::string InterruptedFunction(std::string_view name);

}  // namespace offcpu

#endif  // OFFCPU_PPROF_PPROF_FUNCTIONS_H_
