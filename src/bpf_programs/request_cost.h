// What asking for a capture costs a thread, besides the capture itself: an interrupt of the CPU by itself, and a task
// work. That depends on the machine: a microsecond, or tens of them where a hypervisor has to send the interrupt. So it
// is measured, in the thread that calls.
#ifndef OFFCPU_BPF_PROGRAMS_REQUEST_COST_H_
#define OFFCPU_BPF_PROGRAMS_REQUEST_COST_H_

#include <cstdint>

struct bpf_program;

namespace offcpu {

// With the program `ask_for_nothing`, loaded. Takes a millisecond or two. 0 where it cannot be measured.
uint64_t MeasureRequestNs(const bpf_program* program);

}  // namespace offcpu

#endif  // OFFCPU_BPF_PROGRAMS_REQUEST_COST_H_
