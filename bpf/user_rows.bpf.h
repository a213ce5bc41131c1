/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * What the walker has told of user stacks: the unwind rows of stacks that it has walked to their outermost
 * frame, and the ids of these stacks. It alone writes, while BPF programs read, so there are no locks: a row
 * that is half written has another key. What finds no place takes that of something older.
 *
 * A key is made of an address and of the hash of the code that is mapped. So a row is never used for other
 * code, and processes of one user that have mapped the same code share its rows.
 */
#ifndef OFFCPU_BPF_USER_ROWS_BPF_H_
#define OFFCPU_BPF_USER_ROWS_BPF_H_

#include "config.bpf.h"

/* Both have their sizes set before loading; a single bucket where user stacks are not walked. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct wire_user_row_bucket);
} user_rows SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct wire_user_stack_bucket);
} user_stacks SEC(".maps");

/* The word of the row with this key; 0: there is none. */
static __always_inline __u64 user_row(__u64 key)
{
	__u32 index = wire_bucket(key, WIRE_USER_ROW_BUCKETS);
	struct wire_user_row_bucket *bucket = bpf_map_lookup_elem(&user_rows, &index);

	if (!bucket)
		return 0;
	for (int i = 0; i < WIRE_BUCKET_ROWS; i++) {
		__u64 row = *(volatile __u64 *)&bucket->rows[i].row;

		if ((*(volatile __u64 *)&bucket->rows[i].check ^ row) == key)
			return row;
	}
	return 0;
}

static __always_inline bool is_known_stack(__u64 id)
{
	__u32 index = wire_bucket(id, WIRE_USER_STACK_BUCKETS);
	struct wire_user_stack_bucket *bucket = bpf_map_lookup_elem(&user_stacks, &index);

	if (!bucket)
		return false;
	for (int i = 0; i < WIRE_BUCKET_STACKS; i++)
		if (*(volatile __u64 *)&bucket->ids[i] == id)
			return true;
	return false;
}

static __always_inline enum wire_row_cfa row_cfa(__u64 row)
{
	return row & 3;
}

static __always_inline enum wire_row_fp row_fp(__u64 row)
{
	return row >> 2 & 3;
}

static __always_inline __s64 row_cfa_offset(__u64 row)
{
	return ((__s64)(row << (64 - WIRE_ROW_CFA_BITS - WIRE_ROW_CFA_SHIFT)) >> (64 - WIRE_ROW_CFA_BITS)) *
	       8;
}

static __always_inline __s64 row_fp_offset(__u64 row)
{
	return ((__s64)(row << (64 - WIRE_ROW_FP_BITS - WIRE_ROW_FP_SHIFT)) >> (64 - WIRE_ROW_FP_BITS)) * 8;
}

/* 0: it is in its register. */
static __always_inline __s64 row_ra_offset(__u64 row)
{
#if WIRE_ROW_RA_BITS
	return ((__s64)(row << (64 - WIRE_ROW_RA_BITS - WIRE_ROW_RA_SHIFT)) >> (64 - WIRE_ROW_RA_BITS)) * 8;
#else
	return -8;
#endif
}

/* How many words below the frame pointer the stack's name has one; 0: it has none. */
static __always_inline __u64 row_shown(__u64 row, int which)
{
	return row >> (WIRE_ROW_SHOWN_SHIFT + which * WIRE_ROW_SHOWN_BITS) & ((1 << WIRE_ROW_SHOWN_BITS) - 1);
}

static __always_inline __u64 version_address(__u64 row)
{
	return row & ((1ULL << WIRE_VERSION_ADDRESS_BITS) - 1);
}

/* In bytes, behind version_address(). */
static __always_inline __u64 version_offset(__u64 row)
{
	return (row >> WIRE_VERSION_ADDRESS_BITS & ((1 << WIRE_VERSION_OFFSET_BITS) - 1)) * 4;
}

#endif /* OFFCPU_BPF_USER_ROWS_BPF_H_ */
