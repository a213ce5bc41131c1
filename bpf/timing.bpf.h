/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * What parts of the programs take, estimated by timing a few of their runs: a clock read at each run would
 * cost as much as what is measured. Used in one context a part, as nothing here is atomic.
 */
#ifndef OFFCPU_BPF_TIMING_BPF_H_
#define OFFCPU_BPF_TIMING_BPF_H_

#include "this_cpu.bpf.h"

/* NULL: nothing is timed. When a run began is kept beside its sums: older kernels have little stack left. */
static __always_inline void begin_timing(struct wire_timing *timing)
{
	if (!timing || timing->untimed--)
		return;
	timing->untimed = WIRE_TIMED_EVERY - 1;
	timing->began_ns = bpf_ktime_get_ns();
}

static __always_inline void end_timing(struct wire_timing *timing)
{
	if (!timing || !timing->began_ns)
		return;
	timing->timed_ns += bpf_ktime_get_ns() - timing->began_ns;
	timing->timed++;
	timing->began_ns = 0;
}

#endif /* OFFCPU_BPF_TIMING_BPF_H_ */
