/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * Walks of kernel stacks that have been made before, as user_memo.bpf.h has them of user stacks. The kernel
 * moves the stack of each system call by a random number of bytes, which is one of a few: a stack is
 * remembered with its length.
 */
#ifndef OFFCPU_BPF_KERNEL_MEMO_BPF_H_
#define OFFCPU_BPF_KERNEL_MEMO_BPF_H_

#include "machine.bpf.h"
#include "sent.bpf.h"
#include "untrusted.bpf.h"

#define KERNEL_MEMO_WORDS 48
/* Beside an offset: the word there is an address on the stack, and its offset is noted. */
#define IS_PLACE 1

/* A walk, of any thread, by the kernel's own rows. */
struct kernel_memo {
	__u64 id;    /* that it came to; 0: there is none */
	__u64 bytes; /* of the stack */
	__u32 count; /* words that it read */
	__u32 frame; /* that it began with, see is_switched_out_in */
	__u64 values[KERNEL_MEMO_WORDS];
	__u16 offsets[KERNEL_MEMO_WORDS]; /* from where the thread was switched out */
};

/* Each CPU's own. A place keeps what came last. There is only one where walks are not remembered. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct kernel_memo);
} kernel_memos SEC(".maps");

static __always_inline struct kernel_memo *kernel_memo_of(struct task_struct *task, __u64 bytes)
{
	__u32 index = wire_place(bytes, system_call(task), 0) & (WIRE_KERNEL_MEMOS - 1);

	return bpf_map_lookup_elem(&kernel_memos, &index);
}

static __always_inline void begin_kernel_memo(struct kernel_memo *memo, __u64 bytes)
{
	memo->id = 0;
	memo->bytes = bytes;
	memo->count = 0;
}

/* A walk that reads more than there is room for has no memo. */
static __always_inline void note_kernel_word(struct kernel_memo *memo, __u64 offset, __u64 value)
{
	__u32 index = memo->count;

	if (!config.keeps_stacks)
		return;
	if (index >= KERNEL_MEMO_WORDS) {
		memo->count = KERNEL_MEMO_WORDS + 1;
		return;
	}
	memo->values[index] = value;
	memo->offsets[index] = offset;
	memo->count = index + 1;
}

static __always_inline void keep_kernel_memo(struct task_struct *task, struct kernel_memo *made, __u64 id)
{
	struct kernel_memo *memo = kernel_memo_of(task, made->bytes);

	if (!memo || made->count > KERNEL_MEMO_WORDS)
		return;
	made->id = id;
	bpf_probe_read_kernel(memo, sizeof(*memo), made);
}

#if OFFCPU_TASK_WORK_ARGS
/* Are the words of a stack that begins at `begin` those that the walk read? */
static __always_inline bool reads_kernel_alike(const struct kernel_memo *memo, __u64 begin)
{
	__u64 differences = 0;

	for (__u32 i = 0; i < KERNEL_MEMO_WORDS; i++) {
		__u64 offset, word;

		if (i >= memo->count)
			break;
		offset = memo->offsets[i];
		word = *(const volatile __u64 *)bpf_rdonly_cast((const void *)(begin + (offset & ~7ULL)), 0);
		differences |= (offset & IS_PLACE ? word - begin : PLAIN_KERNEL_WORD(word)) ^ memo->values[i];
	}
	return !differences;
}

/* The id of the stack of `task`, which is off the CPU, if it is one that was walked here before; else 0. */
static __always_inline __u64 remembered_kernel_stack(struct task_struct *task)
{
	__u64 begin = switched_out_sp(task), bytes = address_of_regs(task) - begin;
	const struct kernel_memo *memo = kernel_memo_of(task, bytes);

	if (!memo || !memo->id || memo->bytes != bytes || !is_switched_out_in(task, memo->frame) ||
	    !reads_kernel_alike(memo, begin))
		return 0;
	return is_sent(memo->id, false) ? memo->id : 0;
}
#else
#define remembered_kernel_stack(task) 0
#endif

#endif /* OFFCPU_BPF_KERNEL_MEMO_BPF_H_ */
