/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* Counters of what happened and of what was lost, with the time that it stands for. `wire.h` names them. */
#ifndef OFFCPU_BPF_COUNTERS_BPF_H_
#define OFFCPU_BPF_COUNTERS_BPF_H_

#include "config.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, WIRE_COUNTERS);
	__type(key, __u32);
	__type(value, struct wire_counter);
} counters SEC(".maps");

/* Atomic, because an interrupt may count on the same CPU in between. */
static __always_inline void count_ns(__u32 id, __u64 ns)
{
	struct wire_counter *counter = bpf_map_lookup_elem(&counters, &id);

	if (!counter)
		return;
	__sync_fetch_and_add(&counter->count, 1);
	__sync_fetch_and_add(&counter->ns, ns);
}

/* Counts without atomics: only for counters that change with preemption off, and in no interrupt. */
static __always_inline void count_own_ns(__u32 id, __u64 ns)
{
	struct wire_counter *counter = bpf_map_lookup_elem(&counters, &id);

	if (!counter)
		return;
	counter->count++;
	counter->ns += ns;
}

static __always_inline void count(__u32 id)
{
	count_ns(id, 0);
}

#endif /* OFFCPU_BPF_COUNTERS_BPF_H_ */
