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

/* A record takes whole words, one of them for its header. */
static __always_inline __u64 taken_in_ring(__u64 bytes)
{
	return (bytes + 8 + 7) & ~7ULL;
}

/* After a failed reservation: was the ring full, or only locked by whom this context interrupted? The kernel
 * never fills a ring to its last byte. */
static __always_inline bool ring_is_full(void *ring, __u64 wanted)
{
	return bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA) + taken_in_ring(wanted) >=
	       bpf_ringbuf_query(ring, BPF_RB_RING_SIZE);
}

/* Records that come at once may each be told the fill with or without the others. */
#define WAKE_UP_SPAN 4096

/*
 * How a record of these bytes is sent. User space looks at the rings by time, rarely where little comes, and
 * is woken by the first records of each further quarter of a ring.
 */
static __always_inline __u64 wake_up(void *ring, __u64 bytes)
{
	__u64 quarter, after, taken = taken_in_ring(bytes);

	quarter = bpf_ringbuf_query(ring, BPF_RB_RING_SIZE) / 4; /* a power of two */
	after = bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA) + taken;
	return after >= quarter && (after & (quarter - 1)) < taken + WAKE_UP_SPAN ? BPF_RB_FORCE_WAKEUP
										  : BPF_RB_NO_WAKEUP;
}

#endif /* OFFCPU_BPF_RINGS_BPF_H_ */
