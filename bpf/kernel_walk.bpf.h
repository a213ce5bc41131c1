/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * Walks the kernel stack of a thread that is off the CPU, from where it was switched out. The kernel's helper
 * for such threads leaves out all functions that schedule or lock, and so what the thread waits for. At
 * sched_switch, where the thread that comes has not run yet, everything is still there that was pushed when
 * it left.
 *
 * The frames of each stack that is new are compared with the helper's. A single difference ends the walks for
 * good: see wire_control.
 */
#ifndef OFFCPU_BPF_KERNEL_WALK_BPF_H_
#define OFFCPU_BPF_KERNEL_WALK_BPF_H_

#include "kernel_frames.bpf.h"

/* Is a function left out by the kernel's helper? */
static __always_inline bool is_left_out(__u64 address)
{
	return lies_in(address, &walk_config.sched_text) || lies_in(address, &walk_config.lock_text);
}

struct comparison {
	struct walk_memory *memory;
	__u64 helpers_count;
	__u8 differs;
};

/* Compares one frame with the helper's; bpf_loop calls it until it returns 1. */
static long compare_frame(__u32 index, struct comparison *comparison)
{
	struct walk_memory *memory = comparison->memory;
	__u64 equal = memory->equal;

	if (index >= WIRE_KERNEL_FRAMES)
		return 1;
	if (is_left_out(memory->walked.frames[index]))
		return 0;
	if (equal == comparison->helpers_count && equal >= walk_config.max_frames)
		return 1; /* it tells no more of them */
	if (equal >= comparison->helpers_count || equal >= WIRE_KERNEL_FRAMES ||
	    memory->helpers_frames[equal] != memory->walked.frames[index]) {
		comparison->differs = 1;
		return 1;
	}
	memory->equal = equal + 1;
	return 0;
}

/* Are the walked frames those of the kernel's helper, apart from what it leaves out? A global function, so
 * that the verifier goes through it once. */
__noinline int is_as_helper_says(__u64 helpers_count)
{
	struct comparison comparison = {.memory = walk_memory(), .helpers_count = helpers_count};

	if (!comparison.memory)
		return 0;
	comparison.memory->equal = 0;
	bpf_loop(comparison.memory->walked.head.count, compare_frame, &comparison, 0);
	return !comparison.differs && comparison.memory->equal == helpers_count;
}

static __always_inline bool may_walk_kernel(void)
{
	return walk_config.enabled && !control.kernel_walk_differs;
}

/* A new thread has not been switched out: it begins there. All addresses are taken for those to return to,
 * and looked up one before. */
static __always_inline void begin_thread(struct walk_memory *memory)
{
	struct kernel_walk *walk = &memory->walk;

	memory->walked.frames[0] = walk->pc + 1;
	wire_hash_add(&walk->hash, walk->pc + 1);
	walk->count = 1;
	walk->is_complete = 1;
}

/* Walks the `bytes` of a stack from `begin` on, where its thread was switched out, and names it. Returns 0 if
 * it cannot be walked so. A global function, as above. */
__noinline int walk_words(__u64 begin, __u64 bytes)
{
	struct walk_memory *memory = walk_memory();
	struct kernel_walk *walk;

	if (!memory || bytes < SWITCHED_OUT_BYTES)
		return 0;
	/* Compared by itself, as in cut_and_hash. Before 6.8 the verifier checks this function although
	 * nothing calls it on such kernels. */
	barrier_var(bytes);
#if !OFFCPU_TASK_WORK_ARGS
	if (bytes > WALK_BYTES || bpf_probe_read_kernel(memory->words, bytes, (void *)begin))
		return 0;
#endif
	walk = &memory->walk;
	*walk = (struct kernel_walk){.begin = begin, .top = bytes};
	walk->hash = wire_hash_begin(hash_key(), WIRE_HASH_KERNEL_STACK);
	begin_kernel_memo(&memory->made, bytes);
	begin_kernel_frames(memory);
	if (walk->pc == walk_config.ret_from_fork)
		begin_thread(memory);
	else
		bpf_loop(WIRE_KERNEL_FRAMES, walk_kernel_frame, &memory, 0);
	memory->walked.head.count = walk->count;
	memory->walked.head.id = wire_hash_end(walk->hash);
	return walk->is_complete;
}

/* Walks the stack of `task`, which is off the CPU; NULL: it cannot be walked so. */
static __always_inline struct walk_memory *walk_kernel(struct task_struct *task)
{
	struct walk_memory *memory = may_walk_kernel() ? walk_memory() : NULL;
	__u64 begin = switched_out_sp(task);

	if (!memory)
		return NULL;
	note_switched_out(memory, task);
	return walk_words(begin, address_of_regs(task) - begin) ? memory : NULL;
}

/* What the kernel's helper tells of the stack of `task`, which has been walked: is it the same? Where the
 * helper cannot tell, because it is at work on this CPU already, a walk by rows is believed. */
static __always_inline bool agrees_with_helper(struct task_struct *task, struct walk_memory *memory)
{
	long bytes = bpf_get_task_stack(task, memory->helpers_frames, sizeof(memory->helpers_frames), 0);

	if (bytes < 0)
		return !memory->walk.is_guessed;
	if (memory->walked.frames[0] == walk_config.ret_from_fork + 1)
		return true;
	return is_as_helper_says((__u64)bytes / sizeof(__u64));
}

#endif /* OFFCPU_BPF_KERNEL_WALK_BPF_H_ */
