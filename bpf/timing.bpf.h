/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * What parts of the programs take, told by timing a few of their runs: a clock read at each run would cost as
 * much as what is measured. Used in one context a part, as nothing here is atomic.
 */
#ifndef OFFCPU_BPF_TIMING_BPF_H_
#define OFFCPU_BPF_TIMING_BPF_H_

#include "this_cpu.bpf.h"

/* When this run began, for end_timing; 0: it is not timed. */
static __always_inline __u64 begin_timing(struct wire_timing *timing)
{
	if (!timing || timing->untimed--)
		return 0;
	timing->untimed = WIRE_TIMED_EVERY - 1;
	return bpf_ktime_get_ns();
}

static __always_inline void end_timing(struct wire_timing *timing, __u64 began)
{
	if (!timing || !began)
		return;
	timing->timed_ns += bpf_ktime_get_ns() - began;
	timing->timed++;
}

#endif /* OFFCPU_BPF_TIMING_BPF_H_ */
