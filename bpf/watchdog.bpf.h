/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * Captures take time of the threads that they are made in. It is measured, but for captures
 * that were preempted, whose time cannot be separated from that of others. A process whose threads have lost
 * more than their share in a second has no captures for a while.
 */
#ifndef OFFCPU_BPF_WATCHDOG_BPF_H_
#define OFFCPU_BPF_WATCHDOG_BPF_H_

#include "budget.bpf.h"
#include "counters.bpf.h"
#include "space.bpf.h"

#define SWITCHED_OFF_NS (10 * NS_PER_SECOND)

/* Where the thread slept for a page, the time is the thread's loss, but hardly any of it CPU time. */
static __always_inline void count_capture_time(__u64 ns, bool slept)
{
	__u32 id = WIRE_COUNT_CAPTURE_LONGEST;
	struct wire_counter *longest = bpf_map_lookup_elem(&counters, &id);

	if (!slept)
		count_ns(WIRE_COUNT_CAPTURE_TIME, ns);
	if (longest && longest->ns < ns)
		longest->ns = ns;
}

/* Books a capture of the current task, which began at `began`, by bpf_ktime_get_ns(), when the task had been
 * preempted and slept so often. A global function, so that the verifier goes through it once. */
__noinline int book_capture(__u64 began, __u64 preempted, __u64 slept, __u32 context)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct space *space = space_of(task, context == CONTEXT_SAMPLE);
	__u64 now = bpf_ktime_get_ns(), ns = now - began;

	/* What others had the CPU for in between is not the capture's. */
	if (BPF_CORE_READ(task, nivcsw) != preempted)
		return 0;
	count_capture_time(ns, BPF_CORE_READ(task, nvcsw) != slept);
	if (!space)
		return 0;
	if (now - space->time.since_ns > NS_PER_SECOND) {
		space->time.since_ns = now;
		space->time.spent_ns = 0;
	}
	__sync_fetch_and_add(&space->time.spent_ns, ns);
	if (space->time.spent_ns > config.process_ns_per_second && now >= space->time.off_until_ns) {
		space->time.off_until_ns = now + SWITCHED_OFF_NS;
		count(WIRE_COUNT_SWITCHED_OFF);
	}
	return 0;
}

/* Has the process of the task no captures now? */
static __always_inline bool is_switched_off(struct task_struct *task)
{
	struct space *space = space_of(task, true);

	return space && space->time.off_until_ns && bpf_ktime_get_ns() < space->time.off_until_ns;
}

#endif /* OFFCPU_BPF_WATCHDOG_BPF_H_ */
