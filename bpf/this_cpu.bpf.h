/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * What most switches touch of a CPU, in one line of its cache. Used with preemption off and in no interrupt.
 */
#ifndef OFFCPU_BPF_THIS_CPU_BPF_H_
#define OFFCPU_BPF_THIS_CPU_BPF_H_

#include "config.bpf.h"

/* Not a map per CPU: there the way to a value is a second memory access. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE); /* so that the first one begins a page */
	__uint(max_entries, 1);		   /* set before loading */
	__type(key, __u32);
	__type(value, struct wire_cpu);
} cpus SEC(".maps");

/* NULL: there are more CPUs than the kernel had said. */
static __always_inline struct wire_cpu *this_cpu(void)
{
	__u32 cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&cpus, &cpu);
}

/* A random number. The kernel's takes a call, which is dear at every switch. xorshift64*, from S. Vigna, An
 * experimental exploration of Marsaglia's xorshift generators, 2016. */
static __always_inline __u32 next_random(struct wire_cpu *cpu)
{
	__u64 x;

	if (!cpu)
		return bpf_get_prandom_u32();
	x = cpu->random ?: (__u64)bpf_get_prandom_u32() << 32 | bpf_get_prandom_u32() | 1;
	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	cpu->random = x;
	return x * 0x2545f4914f6cdd1dULL >> 32;
}

#endif /* OFFCPU_BPF_THIS_CPU_BPF_H_ */
