/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* Kernel stacks: taken, cut, named by a hash of their frames, and sent once a name. */
#ifndef OFFCPU_BPF_KERNEL_STACK_BPF_H_
#define OFFCPU_BPF_KERNEL_STACK_BPF_H_

#include "counters.bpf.h"
#include "kernel_walk.bpf.h"
#include "stack_definition.bpf.h"

#define SCRATCH_SLOTS 4
#define GLUE_FRAMES                                                                                          \
	8 /* at most this many frames of BPF and tracepoint glue lie above the scheduler's frame */

/* An interrupt's program may run in the middle of another one on this CPU: each takes a slot of its own. */
struct scratch {
	__u64 depth;
	struct stack_definition slots[SCRATCH_SLOTS];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct scratch);
} scratches SEC(".maps");

/* The number of a slot on this CPU, to be given back; SCRATCH_SLOTS or more, counted: as many programs as
 * there are slots have been interrupted. */
static __always_inline __u64 claim_slot(struct scratch *scratch)
{
	__u64 index = __sync_fetch_and_add(&scratch->depth, 1);

	if (index >= SCRATCH_SLOTS)
		count(WIRE_COUNT_NO_SCRATCH);
	return index;
}

static __always_inline void release_slot(struct scratch *scratch)
{
	__sync_fetch_and_add(&scratch->depth, -1);
}

/* How many of a slot's frames lie above the scheduler's: the profiler's own and the tracepoint's. Behind
 * `frames` the slot has those of an earlier stack. */
static __always_inline __u32 glue_frames(const struct stack_definition *slot, __u32 frames)
{
	for (__u32 i = 0; i < GLUE_FRAMES; i++) {
		__u64 address = slot->frames[i];

		if (i >= frames)
			break;
		if (address >= config.schedule_begin && address < config.schedule_end)
			return i;
		if (address >= config.schedule_tail_begin && address < config.schedule_tail_end)
			return i;
	}
	return 0;
}

/* Drops the glue from the frames of a slot of this CPU, closes the gap and returns the name of what is left.
 * A global function, so that the verifier does not go through the loop for each number of glue frames, and
 * through what comes behind it for each end of the loop. */
__noinline __u64 cut_and_hash(__u32 index, __u32 frames, __u32 glue)
{
	__u32 zero = 0, kept = frames > glue ? frames - glue : 0;
	struct scratch *scratch = bpf_map_lookup_elem(&scratches, &zero);
	struct wire_hash hash = wire_hash_begin(hash_key(), WIRE_HASH_KERNEL_STACK);
	struct stack_definition *slot;

	if (!scratch || index >= SCRATCH_SLOTS)
		return 0;
	slot = &scratch->slots[index];
	for (__u32 i = 0; i < WIRE_KERNEL_FRAMES; i++) {
		__u32 from = i + glue;

		barrier_var(from); /* else the bound is checked of one register, and another one used */
		if (i >= kept || from >= WIRE_KERNEL_FRAMES)
			break;
		slot->frames[i] = slot->frames[from];
		wire_hash_add(&hash, slot->frames[i]);
	}
	slot->head.count = kept;
	return wire_hash_end(hash);
}

/* Where the frames are taken from. */
enum stack_source {
	STACK_OF_CONTEXT, /* of the current task, from where the program was called */
	STACK_OF_TASK,	  /* of a task that is off the CPU */
	STACK_OF_SAMPLE,  /* of the current task, where an interrupt met it; may be in an NMI */
};

/* Fills the slot's frames and returns how many there are; 0, counted: the kernel gave none. */
static __always_inline __u32 take_frames(struct stack_definition *slot, void *ctx, struct task_struct *task,
					 enum stack_source source)
{
	long bytes = source == STACK_OF_TASK ? bpf_get_task_stack(task, slot->frames, sizeof(slot->frames), 0)
					     : bpf_get_stack(ctx, slot->frames, sizeof(slot->frames), 0);

	if (bytes > 0)
		return (__u64)bytes / sizeof(__u64);
	count(WIRE_COUNT_KERNEL_STACK_FAILED);
	return 0;
}

/* Nothing that was walked can be believed any more. */
static __always_inline void end_kernel_walks(void)
{
	control.kernel_walk_differs = 1;
	count_ns(WIRE_COUNT_KERNEL_WALK_DIFFERS, 0);
}

/* Is a walked stack what the helper tells? Asked of each that is new or guessed, and of all where they are
 * checked. Rows of a module may be those of one that has been there before. Others that are wrong once may be
 * wrong again: no more walks. */
static __always_inline bool is_proven(struct walk_memory *memory, struct task_struct *task, bool is_new)
{
	if (!memory->walk.is_guessed && !walk_config.checks_all && !is_new)
		return true;
	if (agrees_with_helper(task, memory))
		return true;
	if (memory->walk.is_guessed)
		return false;
	if (memory->walk.left_text && !walk_config.checks_all) {
		forget_rows_of_walk();
		return false;
	}
	end_kernel_walks();
	return false;
}

/* What the rows of modules and guesses have led to may be another stack the next time. */
static __always_inline bool may_be_remembered(const struct kernel_walk *walk)
{
	return config.keeps_stacks && !walk->is_guessed && !walk->left_text;
}

/* The id of a task's stack by the kernel's rows; 0: that cannot be done. */
static __always_inline __u64 walked_stack_id(struct task_struct *task)
{
	struct walk_memory *memory = walk_kernel(task);
	__u64 id;
	bool is_new;

	if (!memory)
		return 0;
	id = memory->walked.head.id;
	is_new = !is_sent(id, false);
	if (!is_proven(memory, task, is_new))
		return 0;
	count_own_ns(WIRE_COUNT_KERNEL_WALKED, 0);
	if (is_new)
		send_once(&memory->walked, false);
	if (may_be_remembered(&memory->walk))
		keep_kernel_memo(task, &memory->made, id);
	return id;
}

/* The id of the stack of so many frames in a slot of this CPU, which is sent if it has not been. A global
 * function, so that the verifier goes through it once. */
__noinline __u64 name_frames(__u32 index, __u32 frames, __u32 source)
{
	__u32 zero = 0;
	struct scratch *scratch = bpf_map_lookup_elem(&scratches, &zero);
	struct stack_definition *slot;
	bool is_sample = source == STACK_OF_SAMPLE;

	if (!scratch || index >= SCRATCH_SLOTS)
		return 0;
	slot = &scratch->slots[index];
	/* A sample's stack begins where the thread was interrupted, which may be in the scheduler. All
	 * addresses are taken for those to return to, and looked up one before. */
	if (is_sample)
		slot->frames[0]++;
	/* What the helper tells of another task has nothing of the scheduler. */
	slot->head.id =
		cut_and_hash(index, frames, source == STACK_OF_CONTEXT ? glue_frames(slot, frames) : 0);
	send_once(slot, is_sample);
	return slot->head.id;
}

/* The id of a kernel stack, or 0, counted. */
static __always_inline __u64 kernel_stack_id(void *ctx, struct task_struct *task, enum stack_source source)
{
	__u32 zero = 0, frames;
	struct scratch *scratch = bpf_map_lookup_elem(&scratches, &zero);
	__u64 index, id = 0;

	if (!scratch)
		return 0;
	index = claim_slot(scratch);
	if (index < SCRATCH_SLOTS) {
		frames = take_frames(&scratch->slots[index], ctx, task, source);
		id = frames ? name_frames(index, frames, source) : 0;
	}
	release_slot(scratch);
	return id;
}

/* Where every wait is recorded, its stack is walked at sched_switch, as long as all of it is there, and used
 * at sched_exit_tp. */
struct kept_stack {
	__u64 id; /* 0: none */
	__u32 tid;
	__u32 reserved;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct kept_stack);
} kept_stacks SEC(".maps");

/* The same, without a walk if the stack is one that was walked before; where walks are checked, these are
 * too. */
static __always_inline __u64 remembered_or_walked_id(struct task_struct *task)
{
	__u64 remembered = may_walk_kernel() ? remembered_kernel_stack(task) : 0, walked;

	if (remembered && !walk_config.checks_all) {
		count_own_ns(WIRE_COUNT_KERNEL_WALKED, 0);
		return remembered;
	}
	walked = walked_stack_id(task);
	if (remembered && walked && walked != remembered)
		end_kernel_walks();
	return walked;
}

static __always_inline void keep_stack(struct task_struct *next)
{
	__u32 zero = 0;
	struct kept_stack *kept = bpf_map_lookup_elem(&kept_stacks, &zero);

	if (!kept)
		return;
	kept->tid = next->pid;
	kept->id = remembered_or_walked_id(next);
}

static __always_inline __u64 take_kept_stack(struct task_struct *task)
{
	__u32 zero = 0;
	struct kept_stack *kept = bpf_map_lookup_elem(&kept_stacks, &zero);
	__u64 id;

	if (!kept || kept->tid != (__u32)task->pid)
		return 0;
	id = kept->id;
	kept->id = 0;
	return id;
}

/* The id of the stack at which `task` left the CPU: at sched_exit_tp, or at sched_switch. */
static __always_inline __u64 stack_of_wait(void *ctx, struct task_struct *task, enum presence presence)
{
	__u64 id;

	if (presence == IS_CURRENT) {
		id = config.keeps_stacks ? take_kept_stack(task) : 0;
		return id ?: kernel_stack_id(ctx, task, STACK_OF_CONTEXT);
	}
	id = walk_config.enabled ? walked_stack_id(task) : 0;
	if (walk_config.enabled && !id)
		count_own_ns(WIRE_COUNT_KERNEL_NOT_WALKED, 0);
	return id ?: kernel_stack_id(ctx, task, STACK_OF_TASK);
}

#endif /* OFFCPU_BPF_KERNEL_STACK_BPF_H_ */
