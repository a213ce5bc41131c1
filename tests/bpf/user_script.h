/*
 * User code that tests make up, by the unwind rows that the walker tells of it (see wire.h), and a thread
 * whose stack has literal words. Its process has mapped one file, at an address that its code hash does not
 * tell: it is a literal.
 */
#ifndef OFFCPU_TESTS_BPF_USER_SCRIPT_H_
#define OFFCPU_TESTS_BPF_USER_SCRIPT_H_

#include "tests/bpf/mixing.h"

#define CODE_HASH 0x1234567890abcdefULL
#define STACK 0x7ffc00000000ULL /* the mapping of the stack */
#define STACK_BYTES 0x20000ULL
#define STACK_END (STACK + STACK_BYTES)
#define LEAF 0x400000ULL

/* Rules of a row: see wire_row_cfa and wire_row_fp. */
enum { CFA_SP = 0, CFA_FP = 1, CFA_NONE = 2, CFA_CONTEXT = 3, FP_SAME = 0, FP_AT_CFA = 4, FP_LOST = 8 };
#define GUESS (1ULL << 62)
#define CUT (~0ULL)

static inline __u64 user_row_word(__u64 rules, __s64 cfa_offset, __s64 fp_offset)
{
	return 1ULL << 63 | rules | ((__u64)(cfa_offset / 8) & 0xffffff) << 4 |
	       ((__u64)(fp_offset / 8) & 0xffffff) << 28;
}

/* The same of AArch64, where the return address is anywhere; at 0: in its register. */
static inline __u64 arm64_row_word(__u64 rules, __s64 cfa_offset, __s64 fp_offset, __s64 ra_offset)
{
	return 1ULL << 63 | rules | ((__u64)(cfa_offset / 8) & 0xfffff) << 4 |
	       ((__u64)(fp_offset / 8) & 0xffff) << 24 | ((__u64)(ra_offset / 8) & 0xfff) << 40;
}

/* The key of a row of this code for an address, and the name of a user stack. */
static inline __u64 user_key(__u64 code_hash, __u64 address)
{
	struct mixture mixture = {};

	mix_in(&mixture, OF_USER_ROWS);
	mix_in(&mixture, code_hash);
	return (name_of(&mixture) ^ address) * 0x9e3779b97f4a7c15ULL;
}

static inline __u64 user_id(const __u64 *frames, __u32 count)
{
	struct mixture mixture = {};

	mix_in(&mixture, OF_USER_STACK);
	mix_in(&mixture, CODE_HASH);
	mix_in_all(&mixture, frames, count);
	return name_of(&mixture);
}

static inline struct wire_user_row_bucket *bucket_of(__u64 key)
{
	__u32 index = (key >> 40) & 16383;

	return host_value(&user_rows, &index, 0);
}

/* Tells the word of a row for one address, in the first free place of its bucket, or in the last one. */
static inline void tell_word(__u64 address, __u64 word)
{
	__u64 key = user_key(CODE_HASH, address);
	struct wire_user_row_bucket *bucket = bucket_of(key);
	__u32 i = 0;

	while (i < 3 && bucket->rows[i].row && (bucket->rows[i].check ^ bucket->rows[i].row) != key)
		i++;
	bucket->rows[i] = (struct wire_user_row){.check = key ^ word, .row = word};
}

static inline void tell_row(__u64 address, __u64 rules, __s64 cfa_offset, __s64 fp_offset)
{
	tell_word(address, user_row_word(rules, cfa_offset, fp_offset));
}

/* The same for the return address behind a call: it is looked up one before. */
static inline void tell_caller(__u64 address, __u64 rules, __s64 cfa_offset, __s64 fp_offset)
{
	tell_row(address - 1, rules, cfa_offset, fp_offset);
}

struct user_thread {
	struct task_struct *task;
	struct task_state *state;
	struct pt_regs *regs;
};

/* Makes the code of the mappings that there are known. */
static inline void know_code(struct user_thread thread)
{
	see_code(thread.state, thread.task, 1 + (__u64)thread.task->mm->mm_lock_seq.sequence, CODE_HASH);
}

/* The current thread, whose stack is resident from its stack pointer on, and whose code is known. */
static inline struct user_thread new_user_thread(int pid, __u64 sp)
{
	struct user_thread thread = {.task = host_new_process(pid)};

	host_run_on(thread.task, 0);
	settings->reads_mappings = 1;
	host_map(thread.task, STACK, STACK_END, VM_WRITE | VM_STACK);
	for (__u64 page = sp & ~(HOST_PAGE - 1); page < STACK_END; page += HOST_PAGE)
		host_memory(thread.task, page);
	thread.state = bpf_task_storage_get(&tasks, thread.task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	thread.regs = host_regs(thread.task);
#if defined(__TARGET_ARCH_x86)
	thread.regs->ip = LEAF;
#else
	thread.regs->pc = LEAF;
#endif
	thread.regs->sp = sp;
	know_code(thread);
	return thread;
}

/* What the walk of the current thread's stack comes to. */
static inline __u64 walked_id(struct user_thread thread)
{
	return walked_user_stack(thread.state);
}

#endif /* OFFCPU_TESTS_BPF_USER_SCRIPT_H_ */
