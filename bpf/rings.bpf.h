/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* The two ways to user space: intervals with definitions, and captures. */
#ifndef OFFCPU_BPF_RINGS_BPF_H_
#define OFFCPU_BPF_RINGS_BPF_H_

#include "config.bpf.h"

/* Sizes of both rings are set before loading. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} intervals SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} captures SEC(".maps");

/* After a failed reservation: was the ring full, or only locked by whom this context interrupted? A record
 * takes whole words, one of them for its header, and the kernel never fills a ring to its last byte. */
static __always_inline bool ring_is_full(void *ring, __u64 wanted)
{
	__u64 taken = (wanted + 8 + 7) & ~7ULL;

	return bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA) + taken >=
	       bpf_ringbuf_query(ring, BPF_RB_RING_SIZE);
}

#endif /* OFFCPU_BPF_RINGS_BPF_H_ */
