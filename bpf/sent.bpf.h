/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * Which definitions (kernel stacks, lists of code) user space has been sent. Definitions are named by a hash
 * of what they say (see wire_hash.h). Only a send that succeeded is noted.
 */
#ifndef OFFCPU_BPF_SENT_BPF_H_
#define OFFCPU_BPF_SENT_BPF_H_

#include "config.bpf.h"

/* Names whose frames have been sent. When the recorder throws a definition away, it deletes the name here. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 65536);
	__type(key, __u64);
	__type(value, __u8);
} sent SEC(".maps");

/*
 * The same names, found faster, and for programs that may run in an NMI, where the LRU's locks could be held
 * by what they interrupted. A place holds one name and is written by plain stores. If it holds another name,
 * the map knows; a name that only an NMI has sent and that has lost its place is sent again.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, WIRE_SENT_PLACES);
	__type(key, __u32);
	__type(value, __u64);
} sent_places SEC(".maps");

static __always_inline bool is_sent(__u64 id, bool may_be_nmi)
{
	__u32 key = id % WIRE_SENT_PLACES;
	__u64 *place;

	place = bpf_map_lookup_elem(&sent_places, &key);
	if (place && *place == id)
		return true;
	if (!bpf_map_lookup_elem(&sent, &id))
		return false;
	if (place && !may_be_nmi)
		*place = id;
	return true;
}

static __always_inline void note_sent(__u64 id, bool may_be_nmi)
{
	__u32 key = id % WIRE_SENT_PLACES;
	__u64 *place;
	__u8 one = 1;

	if (!may_be_nmi) {
		bpf_map_update_elem(&sent, &id, &one, BPF_ANY);
		return;
	}
	place = bpf_map_lookup_elem(&sent_places, &key);
	if (place)
		*place = id;
}

#endif /* OFFCPU_BPF_SENT_BPF_H_ */
