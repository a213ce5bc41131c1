/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * An interval: its times, from the stamp of its thread's departure and the thread's arrival, and the record
 * of it.
 */
#ifndef OFFCPU_BPF_INTERVAL_BPF_H_
#define OFFCPU_BPF_INTERVAL_BPF_H_

#include "clock.bpf.h"
#include "counters.bpf.h"
#include "ledger.bpf.h"
#include "rings.bpf.h"
#include "task.bpf.h"
#include "user_stack.bpf.h"
#include "wakers.bpf.h"

struct times {
	__u64 end_ns;
	__u64 waited_ns;
	__u64 runnable_ns;
	__u64 sample_ns; /* T that it was sampled with; 0: it was not */
};

/* How often a thread that has just come to a CPU for the first time is counted to have done so. */
static __always_inline __u64 this_arrival(enum presence presence)
{
	return presence == IS_CURRENT;
}

/* Has it not run since its state was written? One that was preempted on its way to sleep is not counted at
 * all. */
static __always_inline bool is_first_arrival(struct task_struct *task, const struct stamp *stamp,
					     enum presence presence)
{
	return task->sched_info.pcount - stamp->arrivals <= this_arrival(presence);
}

/* What lies before the recording is not counted. A thread without a stamp has been off since before it, or
 * has never run before. */
static __always_inline struct times interval_times(struct task_struct *task, const struct stamp *stamp,
						   __u64 now, enum presence presence)
{
	__u64 run_delay = run_delay_of(task, now, presence);
	struct times times = {.end_ns = now};
	__u64 out = stamp->out_ns, delay = run_delay - stamp->out_run_delay, start = recording_start();

	if (!out && task->sched_info.pcount <= this_arrival(presence)) {
		/* The clock of its CPU may be of before the start. */
		if (now > start)
			times.waited_ns = run_delay < now - start ? run_delay : now - start;
		times.runnable_ns = times.waited_ns;
		return times;
	}
	if (out < start) /* its waiting for a CPU came last, and is cut below */
		out = now < start ? now : start;
	if (now < out) {
		count(WIRE_COUNT_CLOCK_BACKWARDS);
		return times;
	}
	times.waited_ns = now - out;
	times.runnable_ns = delay < times.waited_ns ? delay : times.waited_ns;
	if (stamp->was_moved) /* the kernel has booked its sleep as waiting for a CPU */
		times.runnable_ns = 0;
	if (stamp->knows_state && !stamp->out_state)
		times.runnable_ns = times.waited_ns;
	return times;
}

static __always_inline void fill_interval(struct wire_interval *record, struct task_struct *task,
					  const struct times *times, __u64 kernel_stack,
					  struct user_side side, __u32 kind, int syscall)
{
	record->kind = kind;
	record->cookie = side.cookie;
	record->user_stack = side.user_stack;
	record->no_user = side.cookie || side.user_stack ? WIRE_USER_PENDING : side.no_user;
	record->kernel_stack = kernel_stack;
	record->end_ns = times->end_ns;
	record->blocked_ns = times->waited_ns - times->runnable_ns;
	record->runnable_ns = times->runnable_ns;
	record->syscall = syscall;
	record->sample_ns = times->sample_ns;
	record->switches = switches_of(task);
	record->cgroup = control_group_of(task);
	fill_process_at_switch(&record->process, task);
	/* All of it, as is_comm compares: the kernel has zeros behind a name, a place of sums another's. */
	bpf_probe_read_kernel(record->comm, sizeof(record->comm), &task->comm);
}

static __always_inline void lose_unsent(struct wire_account *account, const struct times *times, __u64 bytes)
{
	lose(account,
	     ring_is_full(&intervals, bytes) ? WIRE_COUNT_INTERVAL_RING_FULL : WIRE_COUNT_INTERVAL_RING_BUSY,
	     times->waited_ns);
}

static __always_inline void send_interval(struct task_struct *task, struct wire_account *account,
					  const struct times *times, __u64 kernel_stack,
					  struct user_side side, __u32 kind, int syscall)
{
	struct wire_interval *record = bpf_ringbuf_reserve(&intervals, sizeof(*record), 0);

	if (!record)
		return lose_unsent(account, times, sizeof(*record));
	fill_interval(record, task, times, kernel_stack, side, kind, syscall);
	record->type = WIRE_INTERVAL;
	submit_record(&intervals, record);
	book_wait(account, times->waited_ns - times->runnable_ns, times->runnable_ns);
}

/* With the wake that ended it, which holds the memory for the whole record. */
static __always_inline void send_woken(struct task_struct *task, struct wire_account *account,
				       const struct times *times, __u64 kernel_stack, struct user_side side,
				       __u32 kind, int syscall, struct wake *wake)
{
	__u64 bytes = sizeof(wake->record) + wake->record.count * sizeof(wake->wakers[0]);

	barrier_var(bytes); /* as in cut_and_hash */
	if (bytes > sizeof(wake->record) + sizeof(wake->wakers))
		return;
	fill_interval(&wake->record.interval, task, times, kernel_stack, side, kind, syscall);
	wake->record.interval.type = WIRE_WOKEN_INTERVAL;
	if (output_record(&intervals, &wake->record, bytes))
		return lose_unsent(account, times, bytes);
	book_wait(account, times->waited_ns - times->runnable_ns, times->runnable_ns);
}

#endif /* OFFCPU_BPF_INTERVAL_BPF_H_ */
