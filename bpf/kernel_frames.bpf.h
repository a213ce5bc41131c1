/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * A walk of a kernel stack that is under way, and the step from a frame to its caller, in a header for each
 * machine: by the kernel's tables on x86-64, by frame records on AArch64.
 */
#ifndef OFFCPU_BPF_KERNEL_FRAMES_BPF_H_
#define OFFCPU_BPF_KERNEL_FRAMES_BPF_H_

#include "counters.bpf.h"
#include "kernel_memo.bpf.h"
#include "machine.bpf.h"
#include "stack_definition.bpf.h"

const volatile struct wire_kernel_walk_config walk_config SEC(".rodata.walk") = {};

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
	__u64 equal;		/* of the helper's frames */
	__u64 from_fp, from_pc; /* of the thread, on machines that keep them beside the stack */
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

/* The word there, without a signature if it is an address. */
static __always_inline __u64 stack_word(struct walk_memory *memory, __u64 offset)
{
	__u64 word = PLAIN_KERNEL_WORD(read_stack(memory, offset));

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

/* Has a tracer of functions taken the place of the return address? The kernel knows the real one. */
static __always_inline bool is_trampoline(__u64 pc)
{
	return pc == walk_config.trampolines[0] || pc == walk_config.trampolines[1];
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

#if defined(__TARGET_ARCH_x86)
#include "kernel_frames_x86.bpf.h"
#elif defined(__TARGET_ARCH_arm64)
#include "kernel_frames_arm64.bpf.h"
#endif

#endif /* OFFCPU_BPF_KERNEL_FRAMES_BPF_H_ */
