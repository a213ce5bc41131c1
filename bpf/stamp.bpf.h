/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * Where the stamps of threads are. A thread's storage takes a call of the kernel to be found, which is dear
 * at every switch, so where nothing else of it is needed at most switches, stamps lie in an array by thread
 * number. A place there belongs to one thread from when the thread is first seen to its last switch; threads
 * whose place is taken have their stamps in their storage.
 */
#ifndef OFFCPU_BPF_STAMP_BPF_H_
#define OFFCPU_BPF_STAMP_BPF_H_

#include "task.bpf.h"

/* A line of a cache: places are touched at every switch, and with many threads few of them are in a cache. */
#define PLACE_BYTES 64
_Static_assert(sizeof(struct stamp) <= PLACE_BYTES, "a stamp has a line of a cache");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE); /* so that the first place begins a page */
	__uint(max_entries, 1);		   /* set before loading, up to WIRE_STAMPS */
	__type(key, __u32);
	__uint(value_size, PLACE_BYTES);
} stamps SEC(".maps");

static __always_inline struct stamp *place_of(struct task_struct *task)
{
	__u32 key = task->pid & (WIRE_STAMPS - 1); /* a constant: the address follows from the thread alone */

	return config.has_stamps ? bpf_map_lookup_elem(&stamps, &key) : NULL;
}

/* NULL: it has none in the array. */
static __always_inline struct stamp *placed_stamp(struct task_struct *task)
{
	struct stamp *place = place_of(task);

	return place && place->tid == (__u32)task->pid ? place : NULL;
}

/* NULL: `state` is NULL, and there is none in the array. */
static __always_inline struct stamp *stamp_of(struct task_struct *task, struct task_state *state)
{
	struct stamp *place = placed_stamp(task);

	if (place)
		return place;
	return state ? &state->stamp : NULL;
}

/* NULL: nothing is known of the thread. */
static __always_inline struct stamp *find_stamp(struct task_struct *task)
{
	struct stamp *place = placed_stamp(task);

	return place ?: stamp_of(task, bpf_task_storage_get(&tasks, task, 0, 0));
}

static __always_inline void clear_stamp(struct stamp *stamp)
{
	stamp->out_ns = stamp->out_run_delay = stamp->arrivals = 0;
	stamp->user = stamp->out_state = 0;
	stamp->knows_state = stamp->has_run = stamp->was_throttled = stamp->was_moved = 0;
}

/* For a thread that is first seen, and whose number nobody else has. */
static __always_inline void claim_stamp(struct task_struct *task, bool is_new)
{
	struct stamp *place = place_of(task);
	__u32 tid = task->pid;

	if (!place)
		return;
	if (is_new && place->tid == tid) /* of a thread whose end was not recorded */
		clear_stamp(place);
	else
		__sync_val_compare_and_swap(&place->tid, 0, tid);
}

/* Gives a stamp to a thread whose creation was not seen: the kernel leaves out a BPF program on a CPU where a
 * thread was preempted in it. */
static __always_inline struct stamp *late_stamp(struct task_struct *task)
{
	claim_stamp(task, true);
	return placed_stamp(task);
}

static __always_inline bool has_free_place(struct task_struct *task)
{
	struct stamp *place = place_of(task);

	return place && !place->tid;
}

/* Frees the stamp of `task`, which has left the CPU for good. */
static __noinline void release_stamp(struct task_struct *task)
{
	struct stamp *place = placed_stamp(task);

	if (!place)
		return;
	clear_stamp(place);
	__sync_lock_test_and_set(&place->tid, 0);
}

#endif /* OFFCPU_BPF_STAMP_BPF_H_ */
