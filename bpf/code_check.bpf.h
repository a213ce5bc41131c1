/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * Looks at the code of one stack alone. Where a process has mapped or unmapped anything since its code was
 * looked at, most often nothing of its code has changed: it has mapped data. To look at all of its code again
 * would cost more than a walk; to look at the few mappings that a stack's frames lie in costs less.
 */
#ifndef OFFCPU_BPF_CODE_CHECK_BPF_H_
#define OFFCPU_BPF_CODE_CHECK_BPF_H_

#include "known_lists.bpf.h"

/* Mappings that the frames of one stack may lie in. */
#define CHECKED_MAPPINGS 8

struct code_check {
	__u64 hash;	 /* of the code that the stack was walked by */
	__u64 sequence;	 /* code_sequence() when the check began */
	__u32 count;	 /* mappings that were found to be what they were */
	bool has_failed; /* a mapping is not there or another one, or there are too many */
	__u64 begins[CHECKED_MAPPINGS];
	__u64 ends[CHECKED_MAPPINGS];
	struct mapping_look look;
};

static __always_inline void begin_check(struct code_check *check, struct task_struct *task, __u64 hash,
					__u64 sequence)
{
	check->hash = hash;
	check->sequence = sequence;
	check->count = 0;
	check->has_failed = false;
	for (__u32 i = 0; i < CHECKED_MAPPINGS; i++)
		check->begins[i] = check->ends[i] = 0;
	begin_reader(&check->look.reader, task);
}

/* The place in the list of the mapping that begins at `begin`, or of another one. */
static __always_inline __u32 place_in_list(const struct known_list *list, __u64 begin)
{
	__u32 place = 0;

	for (__u32 half = WIRE_MAPPINGS / 2; half; half /= 2) {
		__u32 middle = (place + half) & (WIRE_MAPPINGS - 1);

		if (middle < list->count && list->begins[middle] <= begin)
			place = middle;
	}
	return place & (WIRE_MAPPINGS - 1);
}

/* Is the mapping that was read last in the list that `check` is of? */
static __always_inline bool is_in_list(struct code_check *check, struct task_struct *task)
{
	const struct known_list *list = known_list_of(check->hash);
	__u64 begin = check->look.reader.mapping.begin, name;
	__u32 place;

	if (!list)
		return false;
	fill_mapping(&check->look);
	name = name_of_mapping(&check->look, task);
	place = place_in_list(list, begin);
	return list->begins[place] == begin && list->names[place] == name && is_list_of(list, check->hash);
}

static __always_inline bool is_checked(const struct code_check *check, __u64 address)
{
	bool is_checked = false;

	for (__u32 i = 0; i < CHECKED_MAPPINGS; i++)
		is_checked |= address - check->begins[i] < check->ends[i] - check->begins[i];
	return is_checked;
}

/* Looks at the mapping of the current thread's process that `address` lies in. A global function, so that the
 * verifier goes through it once. */
__noinline int check_mapping(struct code_check *check, __u64 address)
{
	const struct mapping_read *mapping;
	__u32 place;

	if (!check)
		return 0;
	mapping = &check->look.reader.mapping;
	place = check->count;
	if (check->has_failed || is_checked(check, address))
		return 0;
	if (place >= CHECKED_MAPPINGS || !read_mapping_at(&check->look.reader, address) ||
	    !(mapping->flags & VM_EXEC) || !is_in_list(check, bpf_get_current_task_btf())) {
		check->has_failed = true;
		return 0;
	}
	check->begins[place] = mapping->begin;
	check->ends[place] = mapping->end;
	check->count = place + 1;
	return 0;
}

/* All mappings that were looked at are what they were, at one moment. */
static __always_inline bool holds(const struct code_check *check, struct task_struct *task)
{
	return !check->has_failed && was_not_changed(task, check->sequence);
}

#endif /* OFFCPU_BPF_CODE_CHECK_BPF_H_ */
