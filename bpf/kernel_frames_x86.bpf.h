/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* The frames of a kernel stack by the kernel's own rows, see orc.bpf.h: a part of kernel_frames.bpf.h. */
#ifndef OFFCPU_BPF_KERNEL_FRAMES_X86_BPF_H_
#define OFFCPU_BPF_KERNEL_FRAMES_X86_BPF_H_

#include "orc.bpf.h"

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

/* Goes on to the caller; bpf_loop calls it until it returns 1. */
static long walk_kernel_frame(__u32 index, struct walk_memory **context)
{
	struct walk_memory *memory = *context;
	struct kernel_walk *walk = &memory->walk;
	__u64 address = walk->is_interrupted ? walk->pc : walk->pc - 1, cfa;
	__u64 row = orc_row(address);
	enum orc_type type = orc_type_of(row);

	if (!lies_in(address, &walk_config.text))
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

/* Notes of `task` what is not on its stack: nothing. */
static __always_inline void note_switched_out(struct walk_memory *memory, struct task_struct *task)
{
}

static __always_inline void begin_kernel_frames(struct walk_memory *memory)
{
	memory->walk.sp = SWITCHED_OUT_BYTES;
	memory->walk.bp_at = SWITCHED_OUT_BP;
	memory->walk.pc = stack_word(memory, SWITCHED_OUT_IP);
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

#endif /* OFFCPU_BPF_KERNEL_FRAMES_X86_BPF_H_ */
