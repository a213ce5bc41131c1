/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * Lists of code that have been seen whole, by their hash, for all processes that have the same: where each
 * mapping begins, and its name by itself. So whether code is what it was can be asked of the mappings that
 * are known to be code, one by one, and of those alone that a stack needs.
 */
#ifndef OFFCPU_BPF_KNOWN_LISTS_BPF_H_
#define OFFCPU_BPF_KNOWN_LISTS_BPF_H_

#include "code_list.bpf.h"

/* A power of 2. With two places for each: more kinds of programs than a host has, but for build machines. */
#define KNOWN_LISTS 512

struct known_list {
	__u64 hash; /* 0: it is being written */
	__u32 busy; /* by its writer */
	__u32 count;
	__u64 begins[WIRE_MAPPINGS]; /* ascending */
	__u64 names[WIRE_MAPPINGS];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, KNOWN_LISTS);
	__type(key, __u32);
	__type(value, struct known_list);
} known_lists SEC(".maps");

static __always_inline struct known_list *list_place(__u64 hash, __u32 way)
{
	__u32 index = (hash ^ way) & (KNOWN_LISTS - 1);

	return bpf_map_lookup_elem(&known_lists, &index);
}

static __always_inline bool is_list_of(const struct known_list *list, __u64 hash)
{
	return *(volatile __u64 *)&list->hash == hash;
}

/* NULL: it is not kept. What is read of it counts if it is_list_of() the hash afterwards. */
static __always_inline const struct known_list *known_list_of(__u64 hash)
{
	struct known_list *first = list_place(hash, 0), *second = list_place(hash, 1);

	if (first && is_list_of(first, hash))
		return first;
	return second && is_list_of(second, hash) ? second : NULL;
}

/* A list that has been found right. Those with more mappings than are listed are not known whole. */
static __always_inline void keep_list(const struct code_list *list)
{
	__u64 hash = list->head.hash;
	struct known_list *place = list_place(hash, 0), *second = list_place(hash, 1);

	if (!hash || list->head.count >= WIRE_MAPPINGS || known_list_of(hash))
		return;
	if (place && place->hash && second && !second->hash)
		place = second;
	if (!place || __sync_val_compare_and_swap(&place->busy, 0, 1))
		return;
	*(volatile __u64 *)&place->hash = 0;
	barrier();
	place->count = list->head.count;
	for (__u32 i = 0; i < WIRE_MAPPINGS; i++) {
		place->begins[i] = list->mappings[i].begin;
		place->names[i] = list->names[i];
	}
	barrier();
	*(volatile __u64 *)&place->hash = hash;
	__sync_lock_test_and_set(&place->busy, 0);
}

#endif /* OFFCPU_BPF_KNOWN_LISTS_BPF_H_ */
