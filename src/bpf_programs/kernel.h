// What the running kernel offers to the BPF programs, found out before they are loaded.
#ifndef OFFCPU_BPF_PROGRAMS_KERNEL_H_
#define OFFCPU_BPF_PROGRAMS_KERNEL_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "bpf/wire.h"
#include "bpf_programs/kernel_ranges.h"

namespace offcpu {

struct KernelFeatures {
  bool switch_tp = false;       // sched_switch with the state in which the thread leaves: 5.18 and later
  bool task_iter = false;       // an iterator over one thread or all: 6.1 and later
  bool exit_tp = false;         // sched_exit_tp: 6.16 and later
  bool rq_clock = false;        // se.cfs_rq->rq: CONFIG_FAIR_GROUP_SCHED
  bool delays_dequeue = false;  // threads that have gone to sleep may stay in their CPU's queue: 6.12 and later
  int task_work_arguments = 0;  // of the kfunc that schedules task work: 5 (6.18), 4 (7.x), 0: none
  bool mm_tree = false;         // the tree of a process's mappings, in a form that is known: 6.1 and later
  bool can_read_user = false;   // false where such a read can deadlock the machine: 5.19 to 6.3, unless it was mended
  KernelRanges ranges;
  // BPF programs can walk the kernel's stacks: on x86-64 by its unwind tables, if their form is known (6.4 and later),
  // on AArch64 by frame records.
  bool kernel_walk = false;
  wire_orc_registers orc_registers = {};  // of that form

  // On a real-time kernel a thread queues task work. One of higher priority may be ahead of it, back in user mode
  // already.
  bool real_time = false;

  // Captures are asked for where a wait has ended, and only there.
  bool can_defer() const { return task_work_arguments != 0 && exit_tp && !real_time; }
};

// FailedPrecondition if the kernel has no BTF, or does not account for waiting.
absl::StatusOr<KernelFeatures> ProbeKernel();

}  // namespace offcpu

#endif  // OFFCPU_BPF_PROGRAMS_KERNEL_H_
