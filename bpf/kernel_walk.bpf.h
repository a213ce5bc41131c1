/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * Walks the kernel stack of a thread that is off the CPU, from where it was switched out, by the kernel's own
 * rows. The kernel's helper for such threads leaves out all functions that schedule or lock, and so what the
 * thread waits for. At sched_switch, where the thread that comes has not run yet, everything is still there
 * that was pushed when it left.
 *
 * The frames of each stack that is new are compared with the helper's. A single difference ends the walks for
 * good: see wire_control.
 */
#ifndef OFFCPU_BPF_KERNEL_WALK_BPF_H_
#define OFFCPU_BPF_KERNEL_WALK_BPF_H_

#include "counters.bpf.h"
#include "kernel_memo.bpf.h"
#include "machine.bpf.h"
#include "orc.bpf.h"
#include "stack_definition.bpf.h"

#define WALK_BYTES 8192 /* of a stack, at most */
#define WALK_WORDS (WALK_BYTES / 8)

struct kernel_walk {
	__u64 begin; /* address of the first word */
	__u64 top;   /* offset of the user's registers, with which a stack begins */
	__u64 pc;
	__u64 sp, bp; /* offsets */
	__u64 bp_at;  /* where bp was saved, if it has not been read yet: it may be anything until then */
	struct wire_hash hash; /* of the frames */
	__u32 count;
	__u8 is_interrupted; /* pc is where it was interrupted, no return address */
	__u8 is_complete;
	__u8 is_guessed; /* there was code without rows: only the helper's word tells that the frames are
			    right */
	__u8 left_text;	 /* there was code of modules, which come and go */
	__u8 failed;
};

/* All of it lies here and not on the program's stack, where the verifier would follow each value. */
struct walk_memory {
#if !OFFCPU_TASK_WORK_ARGS
	__u64 words[WALK_WORDS];
#endif
	struct stack_definition walked;
	__u64 helpers_frames[WIRE_KERNEL_FRAMES];
	__u64 equal; /* of the helper's frames */
	struct kernel_walk walk;
	struct kernel_memo made; /* of the walk */
};

/* At sched_switch only, which nothing of ours interrupts that walks. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct walk_memory);
} walk_memories SEC(".maps");

static __always_inline struct walk_memory *walk_memory(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&walk_memories, &zero);
}

/* Fails if the offset is not on the stack. */
static __always_inline __u64 read_stack(struct walk_memory *memory, __u64 offset)
{
	if (offset & 7 || offset > WALK_BYTES - 8 || offset >= memory->walk.top) {
		memory->walk.failed = 1;
		return 0;
	}
#if OFFCPU_TASK_WORK_ARGS
	return *(const volatile __u64 *)bpf_rdonly_cast((const void *)(memory->walk.begin + offset), 0);
#else
	return memory->words[(offset >> 3) & (WALK_WORDS - 1)];
#endif
}

static __always_inline __u64 stack_word(struct walk_memory *memory, __u64 offset)
{
	__u64 word = read_stack(memory, offset);

	note_kernel_word(&memory->made, offset, word);
	return word;
}

/* The offset that a word tells, which is an address on the stack. */
static __always_inline __u64 stack_place(struct walk_memory *memory, __u64 offset)
{
	__u64 place = read_stack(memory, offset) - memory->walk.begin;

	note_kernel_word(&memory->made, offset | IS_PLACE, place);
	return place;
}

static __always_inline __u64 kernel_frame_pointer(struct walk_memory *memory)
{
	struct kernel_walk *walk = &memory->walk;

	if (walk->bp_at)
		walk->bp = stack_place(memory, walk->bp_at);
	walk->bp_at = 0;
	return walk->bp;
}

static __always_inline __u64 cfa_of(struct walk_memory *memory, __u64 row)
{
	struct kernel_walk *walk = &memory->walk;

	switch (orc_cfa_of(row)) {
	case ORC_CFA_SP:
		return walk->sp + orc_cfa_offset(row);
	case ORC_CFA_BP:
		return kernel_frame_pointer(memory) + orc_cfa_offset(row);
	case ORC_CFA_AT_BP:
		return stack_place(memory, kernel_frame_pointer(memory) + orc_cfa_offset(row));
	default:
		walk->failed = 1;
		return 0;
	}
}

/* Over the registers that the kernel has stored at `regs`: those of user mode are the end. */
static __always_inline void walk_interrupt(struct walk_memory *memory, __u64 regs)
{
	struct kernel_walk *walk = &memory->walk;

	if (regs == walk->top) {
		walk->is_complete = 1;
		return;
	}
	walk->pc = stack_word(memory, regs + REGS_IP);
	walk->bp_at = regs + REGS_BP;
	walk->sp = stack_place(memory, regs + REGS_SP);
	walk->is_interrupted = 1;
	if (walk->sp <= regs)
		walk->failed = 1;
}

static __always_inline void walk_call(struct walk_memory *memory, __u64 row, __u64 cfa)
{
	struct kernel_walk *walk = &memory->walk;

	if (cfa <= walk->sp) {
		walk->failed = 1;
		return;
	}
	walk->pc = stack_word(memory, cfa - 8);
	if (orc_bp_of(row) == ORC_BP_AT_CFA)
		walk->bp_at = cfa + orc_bp_offset(row);
	else if (orc_bp_of(row) == ORC_BP_AT_BP)
		walk->bp_at = kernel_frame_pointer(memory) + orc_bp_offset(row);
	walk->sp = cfa;
	walk->is_interrupted = orc_is_signal(row);
}

/* Has a tracer of functions taken the place of the return address? The kernel knows the real one. */
static __always_inline bool is_trampoline(__u64 pc)
{
	return pc == orc_config.trampolines[0] || pc == orc_config.trampolines[1];
}

/* False: there is no room. */
static __always_inline bool keep_kernel_frame(struct walk_memory *memory, __u32 index)
{
	barrier_var(index); /* as in cut_and_hash */
	if (index >= WIRE_KERNEL_FRAMES)
		return false;
	memory->walked.frames[index] = memory->walk.pc;
	wire_hash_add(&memory->walk.hash, memory->walk.pc);
	memory->walk.count = index + 1;
	return true;
}

/* Goes on to the caller; bpf_loop calls it until it returns 1. */
static long walk_kernel_frame(__u32 index, struct walk_memory **context)
{
	struct walk_memory *memory = *context;
	struct kernel_walk *walk = &memory->walk;
	__u64 address = walk->is_interrupted ? walk->pc : walk->pc - 1, cfa;
	__u64 row = orc_row(address);
	enum orc_type type = orc_type_of(row);

	if (!lies_in(address, &orc_config.text))
		walk->left_text = 1;
	if (type == ORC_TYPE_NONE) {
		walk->is_guessed = 1;
		row = frame_pointer_row();
		type = ORC_TYPE_CALL;
	}
	if (!row || is_trampoline(walk->pc) || !keep_kernel_frame(memory, index)) {
		walk->failed = 1;
		return 1;
	}
	if (type == ORC_TYPE_END_OF_STACK) {
		walk->is_complete = 1;
		return 1;
	}
	cfa = cfa_of(memory, row);
	if (type == ORC_TYPE_REGS)
		walk_interrupt(memory, cfa);
	else if (type == ORC_TYPE_CALL)
		walk_call(memory, row, cfa);
	else
		walk->failed = 1;
	return walk->failed || walk->is_complete;
}

/* Is a function left out by the kernel's helper? */
static __always_inline bool is_left_out(__u64 address)
{
	return lies_in(address, &orc_config.sched_text) || lies_in(address, &orc_config.lock_text);
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
	if (equal == comparison->helpers_count && equal >= orc_config.max_frames)
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
	return orc_config.rows && !control.kernel_walk_differs;
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
	*walk = (struct kernel_walk){.begin = begin, .top = bytes, .sp = SWITCHED_OUT_BYTES};
	walk->hash = wire_hash_begin(hash_key(), WIRE_HASH_KERNEL_STACK);
	begin_kernel_memo(&memory->made, bytes);
	walk->bp_at = SWITCHED_OUT_BP;
	walk->pc = stack_word(memory, SWITCHED_OUT_IP);
	if (walk->pc == orc_config.ret_from_fork)
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
	__u64 begin = task->thread.sp;

	return memory && walk_words(begin, address_of_regs(task) - begin) ? memory : NULL;
}

/* Forgets the rows of one frame; bpf_loop calls it until it returns 1. */
static long forget_row_of_frame(__u32 index, struct walk_memory **context)
{
	__u64 pc;

	if (index >= WIRE_KERNEL_FRAMES)
		return 1;
	pc = (*context)->walked.frames[index];
	forget_orc_row(pc);
	forget_orc_row(pc - 1);
	return 0;
}

/* Forgets the rows of the walk in this CPU's memory. A global function, as above. */
__noinline int forget_rows_of_walk(void)
{
	struct walk_memory *memory = walk_memory();

	if (memory)
		bpf_loop(memory->walked.head.count, forget_row_of_frame, &memory, 0);
	return 0;
}

/* What the kernel's helper tells of the stack of `task`, which has been walked: is it the same? Where the
 * helper cannot tell, because it is at work on this CPU already, a walk by rows is believed. */
static __always_inline bool agrees_with_helper(struct task_struct *task, struct walk_memory *memory)
{
	long bytes = bpf_get_task_stack(task, memory->helpers_frames, sizeof(memory->helpers_frames), 0);

	if (bytes < 0)
		return !memory->walk.is_guessed;
	if (memory->walked.frames[0] == orc_config.ret_from_fork + 1)
		return true;
	return is_as_helper_says((__u64)bytes / sizeof(__u64));
}

#endif /* OFFCPU_BPF_KERNEL_WALK_BPF_H_ */
