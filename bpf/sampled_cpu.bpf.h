/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* Whether the sampling event of a CPU fired as often as it should have. */
#ifndef OFFCPU_BPF_SAMPLED_CPU_BPF_H_
#define OFFCPU_BPF_SAMPLED_CPU_BPF_H_

#include "counters.bpf.h"

/* What a CPU's clock has to be compared with. */
struct sampled_cpu {
	__u64 last_ns;	     /* the event fired; CLOCK_MONOTONIC, as the others */
	__u64 idle_since_ns; /* 0: it is not idle */
	__u64 idle_ns;	     /* since last_ns */
	__s64 rest_ns;	     /* time until last_ns that no counted period covers; negative: they cover more */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct sampled_cpu);
} sampled_cpus SEC(".maps");

static __noinline void note_edge_of_idle(bool was_idle, bool is_idle)
{
	__u32 zero = 0;
	struct sampled_cpu *cpu = bpf_map_lookup_elem(&sampled_cpus, &zero);
	__u64 now = bpf_ktime_get_ns();

	if (!cpu)
		return;
	if (was_idle && cpu->idle_since_ns)
		cpu->idle_ns += now - cpu->idle_since_ns;
	cpu->idle_since_ns = is_idle ? now : 0;
}

/* At sched_switch. */
static __always_inline void note_idle(const struct task_struct *prev, const struct task_struct *next)
{
	if (control.clock_period_ns && (!prev->pid || !next->pid))
		note_edge_of_idle(!prev->pid, !next->pid);
}

/*
 * An event of the CPU's clock fires at multiples of its period. One that does not is late by a period or
 * more: because the hypervisor took the CPU, or could not call the program, because the kernel was changing a
 * map for a process. One that is late by less is followed by one that comes so much sooner: rest_ns carries
 * that on, and a CPU has at most one too many counted. While a CPU is idle nothing is missed.
 */
static __always_inline void count_missed(void)
{
	__u64 now = bpf_ktime_get_ns(), period = control.clock_period_ns, periods = 1, more, idle;
	__s64 elapsed_ns;
	__u32 zero = 0, id = WIRE_COUNT_SAMPLE_MISSED;
	struct sampled_cpu *cpu = bpf_map_lookup_elem(&sampled_cpus, &zero);
	struct wire_counter *missed = bpf_map_lookup_elem(&counters, &id);

	if (!cpu || !missed || !period)
		return;
	elapsed_ns = now - cpu->last_ns + cpu->rest_ns;
	if (elapsed_ns > (__s64)period)
		periods = ((__u64)elapsed_ns + period / 2) / period;
	cpu->rest_ns = cpu->last_ns ? elapsed_ns - (__s64)(periods * period) : 0;
	more = periods - 1;
	idle = cpu->idle_ns / period;
	more -= idle < more ? idle : more;
	if (cpu->last_ns && !cpu->idle_since_ns && more) {
		__sync_fetch_and_add(&missed->count, more);
		__sync_fetch_and_add(&missed->ns, more * period);
	}
	cpu->last_ns = now;
	cpu->idle_ns = 0;
	if (cpu->idle_since_ns)
		cpu->idle_since_ns = now;
}

#endif /* OFFCPU_BPF_SAMPLED_CPU_BPF_H_ */
