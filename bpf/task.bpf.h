/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * A thread: what is kept of it from its first event to its end, who it is, and what its last departure from
 * the CPU says of its wait.
 */
#ifndef OFFCPU_BPF_TASK_BPF_H_
#define OFFCPU_BPF_TASK_BPF_H_

#include "config.bpf.h"
#include "machine.bpf.h"
#include "numbers.bpf.h"
#include "untrusted.bpf.h"

/* The mapping that a thread's stack pointer was in at its last capture, with those that continue it. */
struct stack_mapping {
	__u64 begin, end; /* equal: none is known, or it is a device */
	__u64 sequence;	  /* code_sequence() then */
	__u64 may_fault;  /* its pages come from the kernel alone */
};

/* The code of a thread's process as a walk of its stack has seen it last. */
struct code_seen {
	__u64 sequence; /* code_sequence() then; 0: it has not been seen */
	__u64 mm, exec_id;
	__u64 hash;
};

/* A stack as it was walked where its capture was asked for, to be compared. */
struct walked {
	__u64 cookie; /* of the capture */
	__u64 pc, sp; /* of the leaf: a signal that stops the thread may have a handler called then */
	__u64 user_stack;
	__u64 code_hash; /* that the stack was walked by */
};

/* A thread's last departure from the CPU. */
struct stamp {
	__u64 out_ns; /* when it left, scheduler's clock; 0: no stamp */
	__u64 out_run_delay;
	/* How often it had come to a CPU when it left, or when it was first seen: one more now means that it
	 * has not run in between. A thread may be recorded at some of its events only, where a filter depends
	 * on what changes. */
	__u64 arrivals;
	__u32 tid;	    /* in the array: whose it is; 0: nobody's */
	__u32 user;	    /* its place among users, when that was looked at last: see users.bpf.h */
	__u32 out_state;    /* TASK_*; 0: it was runnable */
	__u8 knows_state;   /* out_state is set: by its leaving, its creation, or when it was first seen */
	__u8 has_run;	    /* since it was first seen, and before recording ended */
	__u8 was_throttled; /* when it left */
	__u8 was_moved;	    /* to another CPU's queue while it slept: see was_moved_asleep() */
};

/* A thread, from its first event to its end. Written by its own events only, which never overlap, but for
 * samples and wakes, which touch the cookie and `stack`. */
struct task_state {
	struct stamp stamp;	/* where it is not in the array, see stamp.bpf.h */
	__u64 process_start_ns; /* see process_start_ns() */
	struct numbers numbers; /* see tgid_of() */
	/* Names the kernel entry whose capture is pending; without task work, the wait that it left for,
	 * whose stack was copied then; 0: none. */
	__u64 cookie;
	__u64 left_stack; /* without task work: id of the user stack that it left with, as in user_side */
	/* One more than the `switches` of the wait that was last listed for its length; 0: none was. */
	__u64 listed_wait;
	struct stack_mapping stack;
	struct stack_mapping
		other; /* that a piece of its stack was in, where a handler has a stack of its own */
	struct code_seen code;
	struct walked walked;
	__u32 listed_pass;  /* by which pass it was */
	__u32 left_no_user; /* as left_stack */
	/* One more than its program's number when it came back from the wait that recording ended in; 0: it
	 * has not since. */
	__u64 late_exec_id;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct task_state);
} tasks SEC(".maps");

/* The thread of an event. */
enum presence {
	ABOUT_TO_RUN, /* at sched_switch, before the kernel books its arrival: its user memory is out of reach
		       */
	IS_CURRENT,
};

/* Notes what can be read of a thread only until it is released. */
static __always_inline void note_process(struct task_state *state, struct task_struct *task)
{
	state->process_start_ns = untrusted(task)->group_leader->start_boottime;
	if (!config.own_pids)
		return;
	state->numbers.tgid = own_tgid_of(task);
	state->numbers.tid = own_tid_of(task);
}

/* NULL: the kernel has no memory, or is making storage for another program on this CPU. */
static __always_inline struct task_state *make_state(struct task_struct *task)
{
	struct task_state *state = bpf_task_storage_get(&tasks, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);

	if (state && !state->process_start_ns && task->thread_pid)
		note_process(state, task);
	return state;
}

/* The number of its process as user space has it; 0: it has none there. */
static __always_inline __u32 tgid_of(struct task_struct *task)
{
	struct task_state *state;

	if (!config.own_pids)
		return task->tgid;
	if (task->thread_pid)
		return own_tgid_of(task);
	state = bpf_task_storage_get(&tasks, task, 0, 0);
	return state ? state->numbers.tgid : 0;
}

/* Likewise of the thread itself. */
static __always_inline __u32 tid_of(struct task_struct *task)
{
	struct task_state *state;

	if (!config.own_pids)
		return task->pid;
	if (task->thread_pid)
		return own_tid_of(task);
	state = bpf_task_storage_get(&tasks, task, 0, 0);
	return state ? state->numbers.tid : 0;
}

/* When its process began, which tells it from others that have its number. A thread that ends is released
 * before its last run, and from then on keeps no leader: where that one was may be another thread. */
static __always_inline __u64 process_start_ns(struct task_struct *task)
{
	struct task_state *state;
	__u64 start_ns;

	if (!task->thread_pid) {
		state = bpf_task_storage_get(&tasks, task, 0, 0);
		return state ? state->process_start_ns : 0;
	}
	start_ns = untrusted(task)->group_leader->start_boottime;
	barrier_var(start_ns); /* else one instruction reads it from either, which the verifier refuses */
	return start_ns;
}

/* The thread must not have been released. */
static __always_inline void fill_process(struct wire_process *process, struct task_struct *task)
{
	process->start_ns = untrusted(task)->group_leader->start_boottime;
	process->exec_id = task->self_exec_id;
	process->tgid = tgid_of(task);
	process->tid = tid_of(task);
}

/* The same for any thread: at a switch it may have been released. */
static __always_inline void fill_process_at_switch(struct wire_process *process, struct task_struct *task)
{
	fill_process(process, task);
	process->start_ns = process_start_ns(task);
}

/* The id of its control group in the hierarchy of version 2; 0 on kernels without control groups. */
static __always_inline __u64 control_group_of(struct task_struct *task)
{
	if (!bpf_core_field_exists(task->cgroups))
		return 0;
	return untrusted(task)->cgroups->dfl_cgrp->kn->id;
}

/* How often it has ever left a CPU, counted by the kernel. */
static __always_inline __u64 switches_of(struct task_struct *task)
{
	return task->nvcsw + task->nivcsw;
}

static __always_inline __u32 kind_of(__u32 out_state, int syscall)
{
	if (!out_state)
		return syscall == SYS_SCHED_YIELD || syscall == SYS_SCHED_YIELD_32 ? WIRE_KIND_YIELDED
										   : WIRE_KIND_PREEMPTED;
	if (out_state & TASK_INTERRUPTIBLE)
		return WIRE_KIND_SLEEPING;
	if (out_state & TASK_UNINTERRUPTIBLE)
		return out_state & TASK_NOLOAD ? WIRE_KIND_OTHER : WIRE_KIND_DISK;
	if (out_state & TASK_STOPPED_OR_TRACED)
		return WIRE_KIND_STOPPED;
	return WIRE_KIND_OTHER;
}

/* Linux 6.12 and later leave some threads in the queue of their CPU that have gone to sleep. */
static __always_inline bool sleeps_in_queue(struct task_struct *task)
{
	return bpf_core_field_exists(task->se.sched_delayed) && task->se.sched_delayed;
}

/* Has a thread that is first seen been moved to another CPU's queue while it slept? From then on the kernel
 * takes it for one that waits for a CPU, until it runs again. */
static __always_inline bool was_moved_asleep(struct task_struct *task)
{
	__u32 state = BPF_CORE_READ(task, __state);

	if (!(state & (TASK_INTERRUPTIBLE | TASK_UNINTERRUPTIBLE | TASK_STOPPED_OR_TRACED)))
		return false;
	return task->sched_info.last_queued && (!task->on_rq || sleeps_in_queue(task));
}

#define MAX_RT_PRIO 100 /* include/linux/sched/prio.h: less is real time */

static __always_inline __u32 kind_of_wait(const struct stamp *stamp, int syscall)
{
	if (stamp->knows_state && !stamp->out_state && stamp->was_throttled)
		return WIRE_KIND_THROTTLED;
	return stamp->knows_state ? kind_of(stamp->out_state, syscall) : WIRE_KIND_OTHER;
}

/* Has the control group of a thread that is leaving a CPU used up its CPU time (cpu.max)? From 6.18 on
 * threads are throttled, before that the queues of their groups. */
static __always_inline bool is_throttled(struct task_struct *task)
{
	struct task_struct___throttled *throttled = (void *)task;

	if (bpf_core_field_exists(throttled->throttled))
		return throttled->throttled;
	if (!bpf_core_field_exists(task->se.cfs_rq->throttle_count) || task->prio < MAX_RT_PRIO)
		return false;
	return untrusted(task)->se.cfs_rq->throttle_count > 0;
}

#endif /* OFFCPU_BPF_TASK_BPF_H_ */
