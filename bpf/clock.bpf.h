/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * The scheduler's clock, which the kernel books waiting with, and what it read when a thread left a CPU or
 * came to one. The time that BPF programs take between two readings is not in it.
 */
#ifndef OFFCPU_BPF_CLOCK_BPF_H_
#define OFFCPU_BPF_CLOCK_BPF_H_

#include "task.bpf.h"

/* The clock that the kernel books waiting with. The profiler's own time between two readings is not in it. */
static __always_inline __u64 scheduler_clock(struct task_struct *task)
{
	return config.has_rq_clock ? untrusted(task)->se.cfs_rq->rq->clock : bpf_ktime_get_ns();
}

/* A CPU's clocks at a switch, for the thread that leaves and the one that comes. Only under the lock of the
 * runqueue, which sched_switch holds, are they of one moment. */
struct moment {
	__u64 clock;	  /* the scheduler's */
	__u64 clock_task; /* which threads are charged by; 0: it is not known */
};

static __always_inline struct moment moment_of_switch(struct task_struct *prev)
{
	struct moment at = {};
	struct rq *rq;

	if (!config.has_rq_clock) {
		at.clock = bpf_ktime_get_ns();
		return at;
	}
	rq = untrusted(prev)->se.cfs_rq->rq;
	at.clock = rq->clock;
	at.clock_task = rq->clock_task;
	return at;
}

/* When `task`, which is leaving, was last charged for the CPU. Looking for somebody else to run there may
 * have taken long since, and is part of its wait. */
static __always_inline __u64 departure_ns(struct task_struct *task, struct moment at)
{
	__u64 charged = task->se.exec_start;

	if (charged > at.clock_task) /* which is 0 where it is not known */
		return at.clock;
	return at.clock - (at.clock_task - charged);
}

static __always_inline __u64 arrival_ns(struct task_struct *task, const struct stamp *stamp,
					enum presence presence)
{
	__u64 arrived = task->sched_info.last_arrival;

	/* An arrival that was not counted left no time either. */
	if (presence == ABOUT_TO_RUN || !config.has_rq_clock || arrived < stamp->out_ns)
		return scheduler_clock(task);
	return arrived;
}

/* run_delay with this wait in it. */
static __always_inline __u64 run_delay_of(struct task_struct *task, __u64 now, enum presence presence)
{
	__u64 queued = task->sched_info.last_queued;

	if (presence == IS_CURRENT || !queued || now <= queued)
		return task->sched_info.run_delay;
	return task->sched_info.run_delay + (now - queued);
}

/* What to add to CLOCK_MONOTONIC to get the scheduler's clock; 0 where that one is not read. The clock stands
 * still between two updates, so that a difference may be too small, by up to milliseconds, and never too
 * large: the largest one of all switches before recording begins is kept. */
static __always_inline void learn_clock_offset(__u64 scheduler_ns)
{
	__u64 known = control.clock_offset, offset;

	if (!config.has_rq_clock || !scheduler_ns || control.phase != WIRE_WAITING)
		return;
	offset = scheduler_ns - bpf_ktime_get_ns();
	if (!known || (__s64)(offset - known) > 0)
		__sync_val_compare_and_swap(&control.clock_offset, known, offset);
}

static __always_inline __u64 recording_start(void)
{
	return control.start_ns;
}

#endif /* OFFCPU_BPF_CLOCK_BPF_H_ */
