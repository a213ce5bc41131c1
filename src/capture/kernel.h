// What the running kernel offers to the BPF programs, found out before they are loaded.
#ifndef OFFCPU_CAPTURE_KERNEL_H_
#define OFFCPU_CAPTURE_KERNEL_H_

#include <array>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace offcpu {

// Of a kernel function; both 0 if kallsyms does not tell.
struct AddressRange {
  uint64_t begin = 0;
  uint64_t end = 0;
};

// Kernel code by which the programs tell who wakes a thread.
struct WakerRanges {
  AddressRange try_to_wake_up;
  // Entered for interrupts and for nothing else: the entry stubs, and what stands for them on CPUs with FRED and on
  // Xen.
  std::array<AddressRange, 4> interrupts;
  std::array<AddressRange, 2> softirqs;  // what runs them
  AddressRange backlog;                  // the softirq that delivers the host's packets to itself

  // Without these a thread would be taken for the interrupt that it was interrupted by.
  bool can_tell() const { return interrupts[0].end != 0 && softirqs[0].end != 0; }
};

struct KernelFeatures {
  bool switch_tp = false;       // sched_switch with the state in which the thread leaves: 5.18 and later
  bool task_iter = false;       // an iterator over one thread or all: 6.1 and later
  bool exit_tp = false;         // sched_exit_tp: 6.16 and later
  bool rq_clock = false;        // se.cfs_rq->rq: CONFIG_FAIR_GROUP_SCHED
  int task_work_arguments = 0;  // of the kfunc that schedules task work: 5 (6.18), 4 (7.x), 0: none
  bool vma_iter = false;        // bpf_iter_task_vma kfuncs: 6.7 and later
  bool can_read_user = false;   // false from 5.19 to 6.3, where such a read can deadlock the machine, and before
  AddressRange schedule;        // __schedule
  AddressRange schedule_tail;
  WakerRanges wakers;

  // Captures are asked for where a wait has ended, and only there.
  bool can_defer() const { return task_work_arguments != 0 && exit_tp; }
};

// From the text of /proc/kallsyms.
WakerRanges FindWakerRanges(const std::string& kallsyms);

// FailedPrecondition if the kernel has no BTF, or does not account for waiting.
absl::StatusOr<KernelFeatures> ProbeKernel();

}  // namespace offcpu

#endif  // OFFCPU_CAPTURE_KERNEL_H_
