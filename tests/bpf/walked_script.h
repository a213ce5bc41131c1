/* A thread whose stack can be walked by rows: a leaf in the first mapping of code, with a frame of 16 bytes,
 * below an outermost frame in the second. */
#ifndef OFFCPU_TESTS_BPF_WALKED_SCRIPT_H_
#define OFFCPU_TESTS_BPF_WALKED_SCRIPT_H_

#include "tests/bpf/code_script.h"

#define WALKED_SP (STACK + 0x1000) /* see new_process */
#define WALKED_LEAF (CODE(0) + 0x10)
#define WALKED_CALLER (CODE(1) + 0x20)
/* See wire_row_cfa. */
#define ROW_OF_16_BYTES (1ULL << 63 | (16 / 8) << 4)
#define ROW_OUTERMOST (1ULL << 63 | 2)

static inline void tell_row_of(__u64 code_hash, __u64 address, __u64 word)
{
	const __u64 key = wire_user_row_key(wire_user_rows_begin(settings->hash_key, code_hash), address);
	const __u32 index = key >> 40 & 16383;
	struct wire_user_row_bucket *bucket = host_value(&user_rows, &index, 0);

	bucket->rows[0] = (struct wire_user_row){.check = key ^ word, .row = word};
}

/* The current thread, of a process with so many mappings of code, which is known. */
static inline struct task_struct *new_walked(__u32 mappings)
{
	struct task_struct *task = new_process(7);

	for (__u32 i = 0; i < mappings; i++)
		map_code(task, i);
	host_regs(task)->ip = WALKED_LEAF;
	host_write_word(task, WALKED_SP + 8, WALKED_CALLER);
	told_code(CONTEXT_SWITCH);
	tell_row_of(hash_of_code(mappings), WALKED_LEAF, ROW_OF_16_BYTES);
	tell_row_of(hash_of_code(mappings), WALKED_CALLER - 1, ROW_OUTERMOST);
	return task;
}

/* The name of its stack. */
static inline __u64 walked_name(__u32 mappings)
{
	struct mixture mixture = {};

	mix_in(&mixture, OF_USER_STACK);
	mix_in(&mixture, hash_of_code(mappings));
	mix_in(&mixture, WALKED_LEAF);
	mix_in(&mixture, WALKED_CALLER);
	return name_of(&mixture);
}

#endif /* OFFCPU_TESTS_BPF_WALKED_SCRIPT_H_ */
