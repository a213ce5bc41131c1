/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * The frames of a kernel stack by the records that all of the kernel's code keeps, of the caller's record and
 * the return address: a part of kernel_frames.bpf.h. The last record lies in the user's registers. Where an
 * exception has come in between, its registers hold a record: up to 6.12 that of a call from where the
 * exception was taken, later one of zeros with a type behind it.
 */
#ifndef OFFCPU_BPF_KERNEL_FRAMES_ARM64_BPF_H_
#define OFFCPU_BPF_KERNEL_FRAMES_ARM64_BPF_H_

#define SWITCHED_OUT_BYTES 0 /* nothing lies on the stack of a new thread */
#define RECORD_BYTES 16
#define META_TYPE_PT_REGS 2 /* FRAME_META_TYPE_PT_REGS: behind a record of zeros */

/* Where registers have their record. */
static __always_inline __u64 record_in_regs(void)
{
	if (bpf_core_field_exists(((struct pt_regs *)0)->stackframe))
		return bpf_core_field_offset(struct pt_regs, stackframe);
	return bpf_core_field_offset(struct pt_regs___until_6_12, stackframe);
}

/* Goes on to what an exception has interrupted, whose registers have the record at `record`. */
static __always_inline void walk_exception(struct walk_memory *memory, __u64 record)
{
	__u64 type = read_stack(memory, record + RECORD_BYTES), regs = record - record_in_regs();
	struct kernel_walk *walk = &memory->walk;

	note_kernel_word(&memory->made, record + RECORD_BYTES, PLAIN_KERNEL_WORD(type));
	if (type != META_TYPE_PT_REGS || record < record_in_regs()) {
		walk->failed = 1;
		return;
	}
	walk->pc = stack_word(memory, regs + bpf_core_field_offset(struct pt_regs, pc));
	walk->bp = stack_place(memory, regs + bpf_core_field_offset(struct pt_regs, regs) +
					       FRAME_POINTER * sizeof(__u64));
	walk->is_interrupted = 1;
}

/* Goes on to the caller; bpf_loop calls it until it returns 1. */
static long walk_kernel_frame(__u32 index, struct walk_memory **context)
{
	struct walk_memory *memory = *context;
	struct kernel_walk *walk = &memory->walk;
	__u64 record = walk->bp, caller;

	if (!lies_in(walk->pc, &walk_config.text))
		walk->left_text = 1;
	if (is_trampoline(walk->pc) || !keep_kernel_frame(memory, index)) {
		walk->failed = 1;
		return 1;
	}
	if (record == walk->top + record_in_regs()) {
		walk->is_complete = 1;
		return 1;
	}
	if (record < walk->sp) { /* they lie above each other */
		walk->failed = 1;
		return 1;
	}
	walk->sp = record + RECORD_BYTES;
	caller = read_stack(memory, record + sizeof(__u64));
	note_kernel_word(&memory->made, record + sizeof(__u64), PLAIN_KERNEL_WORD(caller));
	if (caller) {
		walk->pc = PLAIN_KERNEL_WORD(caller);
		walk->bp = stack_place(memory, record);
		walk->is_interrupted = 0;
	} else {
		walk_exception(memory, record);
	}
	return walk->failed != 0;
}

/* Notes of `task` what is not on its stack. */
static __always_inline void note_switched_out(struct walk_memory *memory, struct task_struct *task)
{
	memory->from_fp = task->thread.cpu_context.fp;
	memory->from_pc = task->thread.cpu_context.pc;
}

static __always_inline void begin_kernel_frames(struct walk_memory *memory)
{
	struct kernel_walk *walk = &memory->walk;

	walk->pc = memory->from_pc;
	walk->bp = memory->from_fp - walk->begin;
	memory->made.frame = walk->bp;
}

/* There are no rows. */
static __always_inline void forget_rows_of_walk(void)
{
}

#endif /* OFFCPU_BPF_KERNEL_FRAMES_ARM64_BPF_H_ */
