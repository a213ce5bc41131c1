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

/* After a failed reservation: was the ring full, or only locked by the program that this context interrupted?
 * The kernel never fills a ring to its last byte. */
static __always_inline bool ring_is_full(void *ring, __u64 wanted)
{
	return bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA) + taken_in_ring(wanted) >=
	       bpf_ringbuf_query(ring, BPF_RB_RING_SIZE);
}

/* How many bytes had ever been written to the ring then. */
static __always_inline __u64 *last_wake_up_by(void *ring)
{
	return ring == &captures ? &control.woken_by_captures : &control.woken_by_intervals;
}

/*
 * How a record is sent by which `more` bytes come into the ring. User space looks at the rings by time,
 * rarely where little comes, and is woken when a quarter of a ring is taken and as much has come since it was
 * woken last. Two records that come at once may both miss the other: the next one wakes then, and without a
 * next one the ring does not fill.
 */
static __always_inline __u64 wake_up(void *ring, __u64 more)
{
	__u64 quarter = bpf_ringbuf_query(ring, BPF_RB_RING_SIZE) / 4;

	if (bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA) + more < quarter ||
	    bpf_ringbuf_query(ring, BPF_RB_PROD_POS) + more - *last_wake_up_by(ring) < quarter)
		return BPF_RB_NO_WAKEUP;
	return BPF_RB_FORCE_WAKEUP;
}

static __always_inline void note_woken(void *ring, __u64 flags)
{
	if (flags == BPF_RB_FORCE_WAKEUP)
		*last_wake_up_by(ring) = bpf_ringbuf_query(ring, BPF_RB_PROD_POS);
}

/* Sends what was reserved. */
static __always_inline void submit_record(void *ring, void *record)
{
	__u64 flags = wake_up(ring, 0);

	bpf_ringbuf_submit(record, flags);
	note_woken(ring, flags);
}

/* 0, or an error: there is no room. */
static __always_inline long output_record(void *ring, void *record, __u64 bytes)
{
	__u64 flags = wake_up(ring, taken_in_ring(bytes));
	long error = bpf_ringbuf_output(ring, record, bytes, flags);

	if (!error)
		note_woken(ring, flags);
	return error;
}

#endif /* OFFCPU_BPF_RINGS_BPF_H_ */
