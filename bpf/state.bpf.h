/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* What the programs share: configuration, maps and counters. */
#ifndef OFFCPU_BPF_STATE_BPF_H_
#define OFFCPU_BPF_STATE_BPF_H_

#include "kernel_types.h"
#include "wire.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#define NS_PER_SECOND 1000000000ULL

const volatile struct wire_config config SEC(".rodata.config") = {};
struct wire_control control = {};

/* The mapping that a thread's stack pointer was in at its last capture. */
struct stack_mapping {
	__u64 begin, end; /* equal: none is known, or it is a device */
	__u64 sequence;	  /* code_sequence() then */
	__u64 may_fault;  /* its pages come from the kernel alone */
};

/* What captures have taken of the time of a process's threads. */
struct process_time {
	__u64 since_ns;
	__u64 spent_ns;	    /* since then */
	__u64 off_until_ns; /* no captures are made before; 0: it was never switched off */
};

/* What the draws of a process follow, see draw.bpf.h. */
struct draw {
	__u64 began_ns;	 /* the slice of time; scheduler's clock */
	__u64 sample_ns; /* T: shorter waits are drawn; 0: no slice has begun */
	__u32 drawn;	 /* in this slice */
	__u32 limit;	 /* from which on T doubles */
	__u64 slices;	 /* that this one is as long as */
};

/* A thread, from its first event to its end. Written by its own events only, which never overlap, but for
 * samples and wakes, which touch the cookie and `stack`. */
struct task_state {
	__u64 out_ns; /* when it left the CPU, scheduler's clock; 0: no stamp */
	__u64 out_run_delay;
	/* Of the stay whose capture is pending; without task work, of the wait that it left for, whose stack
	 * was copied then; 0: none. */
	__u64 cookie;
	__u64 listed_switches; /* the wait that was last listed for its length, and by which pass */
	/* How often it had come to a CPU when it left, or when it was first seen: one more now means that it
	 * has not run in between. A thread may be recorded at some of its events only, where a filter depends
	 * on what changes. */
	__u64 arrivals;
	struct stack_mapping stack;
	__u32 out_state;   /* TASK_*; 0: it was runnable */
	__u32 knows_state; /* out_state is set: by its leaving, its creation, or when it was first seen */
	__u32 listed_pass;
	__u32 has_run; /* since it was first seen, and before recording ended */
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct task_state);
} tasks SEC(".maps");

/* Sizes of both rings are set before loading. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} intervals SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} captures SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, WIRE_COUNTERS);
	__type(key, __u32);
	__type(value, struct wire_counter);
} counters SEC(".maps");

/* Atomic, because an interrupt may count on the same CPU in between. */
static __always_inline void count_ns(__u32 id, __u64 ns)
{
	struct wire_counter *counter = bpf_map_lookup_elem(&counters, &id);

	if (!counter)
		return;
	__sync_fetch_and_add(&counter->count, 1);
	__sync_fetch_and_add(&counter->ns, ns);
}

static __always_inline void count(__u32 id)
{
	count_ns(id, 0);
}

/* After a failed reservation: was the ring full, or only locked by whom this context interrupted? A record
 * takes whole words, one of them for its header, and the kernel never fills a ring to its last byte. */
static __always_inline bool ring_is_full(void *ring, __u64 wanted)
{
	__u64 taken = (wanted + 8 + 7) & ~7ULL;

	return bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA) + taken >=
	       bpf_ringbuf_query(ring, BPF_RB_RING_SIZE);
}

static __always_inline void fill_process(struct wire_process *process, struct task_struct *task)
{
	process->start_ns = BPF_CORE_READ(task, group_leader, start_boottime);
	process->exec_id = BPF_CORE_READ(task, self_exec_id);
	process->tgid = BPF_CORE_READ(task, tgid);
	process->tid = BPF_CORE_READ(task, pid);
}

/* The id of its control group in the hierarchy of version 2; 0 on kernels without control groups. */
static __always_inline __u64 control_group_of(struct task_struct *task)
{
	if (!bpf_core_field_exists(task->cgroups))
		return 0;
	return BPF_CORE_READ(task, cgroups, dfl_cgrp, kn, id);
}

/* The clock that the kernel books waiting with. The profiler's own time between two readings is not in it. */
static __always_inline __u64 scheduler_clock(struct task_struct *task)
{
	return config.has_rq_clock ? task->se.cfs_rq->rq->clock : bpf_ktime_get_ns();
}

/* How often it has ever left a CPU, counted by the kernel. */
static __always_inline __u64 switches_of(struct task_struct *task)
{
	return BPF_CORE_READ(task, nvcsw) + BPF_CORE_READ(task, nivcsw);
}

#endif /* OFFCPU_BPF_STATE_BPF_H_ */
