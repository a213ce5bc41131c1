/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * Which waits are recorded. T is a time that the recorder sets for each user: 0 as long as recording all
 * waits of all users keeps its budget. A wait of length t below T is sampled with the probability t / T, and
 * stands for T / t waits of its length then; longer ones are all recorded. Sums are right on average whatever
 * T is, as T is set without looking at the wait. Each record of a sampled wait says which T it was sampled
 * with.
 *
 * Most waits that are left out are left out at sched_switch, by the stamp of the thread alone.
 */
#ifndef OFFCPU_BPF_SAMPLING_BPF_H_
#define OFFCPU_BPF_SAMPLING_BPF_H_

#include "clock.bpf.h"
#include "task.bpf.h"
#include "this_cpu.bpf.h"
#include "users.bpf.h"

#define NOT_SAMPLED (~0ULL)

/* Is a wait sampled with this random number? T is a second at most. */
static __always_inline bool is_sampled(__u64 waited_ns, __u64 sample_ns, __u32 random)
{
	return waited_ns >= sample_ns || random < (waited_ns << 32) / sample_ns;
}

/* Is the wait that `task` ends now left out, as far as its stamp tells? It tells of a wait that began in this
 * recording and has not been interrupted by a run that was not seen. Where it is sampled, its CPU notes that:
 * a wait is asked for once. */
static __always_inline bool is_passed_over(struct task_struct *task, struct stamp *stamp,
					   struct wire_cpu *cpu, __u64 now)
{
	__u64 sample_ns = threshold_of(stamp->user), waited_ns = now - stamp->out_ns;

	if (waited_ns >= sample_ns || stamp->out_ns < recording_start() ||
	    task->sched_info.pcount != stamp->arrivals)
		return false;
	if (is_sampled(waited_ns, sample_ns, next_random(cpu))) {
		cpu->sampled_tid = task->pid;
		cpu->sampled_ns = sample_ns;
		return false;
	}
	stamp->out_ns = 0;
	cpu->passed_over.count++;
	cpu->passed_over.ns += waited_ns;
	return true;
}

/* The T that a wait of `task` was sampled with, 0 if it is recorded without being sampled, or NOT_SAMPLED. */
static __always_inline __u64 sample_wait(struct task_struct *task, struct stamp *stamp, __u64 waited_ns)
{
	struct wire_cpu *cpu = this_cpu();
	__u64 sample_ns;

	stamp->user = user_of(task);
	if (cpu && cpu->sampled_tid == (__u32)task->pid) {
		cpu->sampled_tid = 0;
		return cpu->sampled_ns;
	}
	sample_ns = threshold_of(stamp->user);
	if (waited_ns >= sample_ns)
		return 0;
	return is_sampled(waited_ns, sample_ns, next_random(cpu)) ? sample_ns : NOT_SAMPLED;
}

#endif /* OFFCPU_BPF_SAMPLING_BPF_H_ */
