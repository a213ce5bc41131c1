/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * Walks of user stacks that have been made before. A walk follows from where it begins, from the rows of the
 * code that is mapped, and from the words that it reads. If all of these are the same again, so is the stack.
 * Threads wait at the same places most of the time; to compare words that are known takes a fraction of what
 * the walk takes, in which each frame has to wait for the one before.
 *
 * The version of code that the process has made while it runs is read anew each time.
 */
#ifndef OFFCPU_BPF_USER_MEMO_BPF_H_
#define OFFCPU_BPF_USER_MEMO_BPF_H_

#include "code_check.bpf.h"
#include "made_code.bpf.h"

#define MEMO_WORDS 96
#define MEMO_BYTES 4096 /* of the stack, a power of 2: where the words are that it read */

/* A walk, of any thread. */
struct user_memo {
	__u64 id; /* that it came to; 0: the memo is being made */
	__u64 code_hash;
	__u64 pc, sp, fp; /* where it began */
	__u64 ra;	  /* likewise; 0 on machines whose calls push it */
	__u64 begin;	  /* of what it may read of the stack, at `sp` or below */
	__u32 uses_fp;	  /* whether `fp` mattered */
	__u32 count;	  /* words that it read */
	__u32 bytes;	  /* from `begin` on, up to the last one of them */
	__u32 mappings;	  /* that its frames lie in, as far as they were looked at; 0: they were not looked at
			   */
	__u64 mapped_at[CHECKED_MAPPINGS];
	struct made_code made; /* that its frames lie in */
	__u64 values[MEMO_WORDS];
	__u16 offsets[MEMO_WORDS]; /* from `begin` */
};

/* Each CPU's own, so that no CPU writes what another one compares. A place keeps what came last. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct user_memo);
} user_memos SEC(".maps");

/* `word`: at `sp`; in a system call that is most often where the call was made from. */
static __always_inline struct user_memo *memo_of(__u64 code_hash, __u64 pc, __u64 sp, __u64 word)
{
	__u32 index = wire_place(code_hash ^ pc, sp, word) & (WIRE_USER_MEMOS - 1);

	return bpf_map_lookup_elem(&user_memos, &index);
}

static __always_inline void begin_memo(struct user_memo *memo, __u64 code_hash, __u64 pc, __u64 sp, __u64 fp,
				       __u64 ra, __u64 begin)
{
	memo->id = 0;
	memo->code_hash = code_hash;
	memo->pc = pc;
	memo->sp = sp;
	memo->fp = fp;
	if (!CALLS_PUSH)
		memo->ra = ra;
	memo->begin = begin;
	memo->uses_fp = memo->count = memo->bytes = memo->mappings = 0;
	begin_made_code(&memo->made);
}

/* A walk that reads more than there is room for has no memo. */
static __always_inline void note_word(struct user_memo *memo, __u64 address, __u64 value)
{
	__u64 offset = address - memo->begin;
	__u32 index = memo->count;

	if (index >= MEMO_WORDS || offset > MEMO_BYTES - 8) {
		memo->count = MEMO_WORDS + 1;
		return;
	}
	memo->values[index] = value;
	memo->offsets[index] = offset;
	memo->count = index + 1;
	if (offset + 8 > memo->bytes)
		memo->bytes = offset + 8;
}

/* Where the mappings are that hold its frames. */
static __always_inline void note_mappings(struct user_memo *memo, const struct code_check *check)
{
	for (__u32 i = 0; i < CHECKED_MAPPINGS; i++)
		memo->mapped_at[i] = check->begins[i];
	memo->mappings = check->count;
}

static __always_inline void end_memo(struct user_memo *memo, __u64 id)
{
	if (memo->count <= MEMO_WORDS && memo->made.count <= MADE_VERSIONS)
		memo->id = id;
}

/* Does the walk begin where this one did? */
static __always_inline bool begins_alike(const struct user_memo *memo, __u64 code_hash, __u64 pc, __u64 sp,
					 __u64 fp, __u64 ra, __u64 begin)
{
	return memo->id && memo->sp == sp && memo->pc == pc && memo->code_hash == code_hash &&
	       memo->begin == begin && (memo->fp == fp || !memo->uses_fp) && (CALLS_PUSH || memo->ra == ra);
}

/* Are the words that it read, of which `words` are a copy, the same? */
static __always_inline bool reads_alike(const struct user_memo *memo, const __u64 *words)
{
	__u64 differences = 0;

	for (__u32 i = 0; i < MEMO_WORDS; i++) {
		if (i >= memo->count)
			break;
		differences |= words[(memo->offsets[i] >> 3) & (MEMO_BYTES / 8 - 1)] ^ memo->values[i];
	}
	return !differences;
}

#endif /* OFFCPU_BPF_USER_MEMO_BPF_H_ */
