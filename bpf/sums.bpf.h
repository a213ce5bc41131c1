/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * Short intervals that are alike are added up where they end, and sent in one record: where every wait is
 * recorded, most of them repeat, and a record of each would cost more than all the rest. What needs a record
 * of its own is not added up: a long wait, one that was sampled or has a waker, one that lies in two time
 * buckets of time or in two windows.
 *
 * Each CPU has places of its own, which nobody else writes, two for each sum to be in. A sum that has to make
 * room for another one is sent; what stays is sent by flush_sums, which the recorder runs on that CPU. No
 * addition is lost: a sum that cannot be sent stays.
 */
#ifndef OFFCPU_BPF_SUMS_BPF_H_
#define OFFCPU_BPF_SUMS_BPF_H_

#include "interval.bpf.h"

/* A sum, and what keeps it apart from others beside the interval's own fields. */
struct sum_place {
	struct wire_sum sum;
	__u64 time_bucket; /* of time, that all of its intervals lie in; scheduler's clock */
	__u64 since_ns;	   /* the cut that they lie behind; 0: before it */
	__u64 bucket;	   /* of the times that they waited for a CPU */
};

/* WIRE_SUM_PLACES of each CPU that there may be; its size is set before loading, one if nothing is added up.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct sum_place);
} sums SEC(".maps");

/* Set while a program is at a place of this CPU: flush_sums may interrupt it. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} sums_busy SEC(".maps");

/* A sum may be in two places: `way` 0 and 1. */
static __always_inline struct sum_place *sum_place_of(__u32 place, __u32 way)
{
	__u32 index = bpf_get_smp_processor_id() * WIRE_SUM_PLACES + ((place & (WIRE_SUM_PLACES - 1)) ^ way);

	return bpf_map_lookup_elem(&sums, &index);
}

static __always_inline __u64 time_bucket_ns(void)
{
	return config.sum_ns ?: NS_PER_SECOND;
}

/* The last instant of a time bucket belongs to it. */
static __always_inline __u64 time_bucket_that_ends(__u64 ns)
{
	return (ns - 1) / time_bucket_ns();
}

/* How many of the bounds it is longer than. */
static __always_inline __u64 run_queue_bucket(__u64 runnable_ns)
{
	__u64 bucket = 0;

	for (int i = 0; i < WIRE_SUM_BOUNDS; i++)
		bucket += runnable_ns > config.run_queue_bounds_ns[i];
	return bucket;
}

/* May an interval that ends in `time_bucket` be added up with others? */
static __always_inline bool can_be_summed(const struct times *times, __u64 kernel_stack,
					  struct user_side side, __u64 time_bucket)
{
	__u64 begin = times->end_ns - times->waited_ns, cut = control.cut_ns;

	return config.sums && side.user_stack && !side.cookie && kernel_stack && !times->sample_ns &&
	       times->waited_ns && times->waited_ns < WIRE_SUM_MOST_NS &&
	       begin >= time_bucket * time_bucket_ns() && (begin >= cut || times->end_ns <= cut);
}

/* What intervals that are added up have in common, beside their thread's process. */
struct sum_key {
	__u64 kernel_stack;
	struct user_side side;
	__u32 kind;
	int syscall;
	__u64 time_bucket, since_ns, bucket;
};

static __always_inline bool is_comm(const char *comm, struct task_struct *task)
{
	const __u64 *words = (const __u64 *)comm, *now = (const __u64 *)task->comm;

	return words[0] == now[0] && words[1] == now[1];
}

static __always_inline bool is_sum_of(const struct sum_place *place, struct task_struct *task,
				      const struct sum_key *key)
{
	const struct wire_interval *sum = &place->sum.interval;

	return place->sum.count && sum->user_stack == key->side.user_stack &&
	       sum->kernel_stack == key->kernel_stack && place->bucket == key->bucket &&
	       sum->process.tgid == tgid_of(task) && sum->kind == key->kind && sum->syscall == key->syscall &&
	       place->time_bucket == key->time_bucket && place->since_ns == key->since_ns &&
	       (!config.per_thread || sum->process.tid == tid_of(task)) &&
	       sum->process.exec_id == task->self_exec_id &&
	       sum->process.start_ns == process_start_ns(task) && sum->cgroup == control_group_of(task) &&
	       is_comm(sum->comm, task);
}

/* False: it is there still. */
static __always_inline bool send_sum(struct sum_place *place)
{
	if (!place->sum.count)
		return true;
	if (bpf_ringbuf_output(&intervals, &place->sum, sizeof(place->sum), BPF_RB_NO_WAKEUP))
		return false;
	place->sum.count = 0;
	return true;
}

static __always_inline void begin_sum(struct sum_place *place, struct task_struct *task,
				      const struct times *times, const struct sum_key *key)
{
	struct wire_interval *interval = &place->sum.interval;

	fill_interval(interval, task, times, key->kernel_stack, key->side, key->kind, key->syscall);
	interval->type = WIRE_SUM;
	interval->blocked_ns = interval->runnable_ns = 0;
	place->sum.longest_ns = place->sum.longest_runnable_ns = 0;
	place->time_bucket = key->time_bucket;
	place->since_ns = key->since_ns;
	place->bucket = key->bucket;
}

static __always_inline void add_to_sum(struct wire_sum *sum, const struct times *times)
{
	sum->count++;
	sum->interval.end_ns = times->end_ns;
	sum->interval.blocked_ns += times->waited_ns - times->runnable_ns;
	sum->interval.runnable_ns += times->runnable_ns;
	if (times->waited_ns > sum->longest_ns)
		sum->longest_ns = times->waited_ns;
	if (times->runnable_ns > sum->longest_runnable_ns)
		sum->longest_runnable_ns = times->runnable_ns;
}

/* The one of two places, neither of which holds this sum, that is free or was used less lately. */
static __always_inline struct sum_place *place_to_clear(struct sum_place *first, struct sum_place *second)
{
	if (!first->sum.count)
		return first;
	if (!second->sum.count)
		return second;
	return first->sum.interval.end_ns < second->sum.interval.end_ns ? first : second;
}

/* False: other sums are in both places, and cannot be sent. */
static __always_inline bool sum_in(struct sum_place *first, struct sum_place *second,
				   struct task_struct *task, const struct times *times,
				   const struct sum_key *key)
{
	struct sum_place *place;

	if (is_sum_of(first, task, key)) {
		add_to_sum(&first->sum, times);
		return true;
	}
	if (is_sum_of(second, task, key)) {
		add_to_sum(&second->sum, times);
		return true;
	}
	place = place_to_clear(first, second);
	if (!send_sum(place))
		return false;
	begin_sum(place, task, times, key);
	add_to_sum(&place->sum, times);
	return true;
}

/* Adds an interval of the current thread to its sum. False: it has to be sent by itself. */
static __always_inline bool sum_interval(struct task_struct *task, const struct times *times,
					 __u64 kernel_stack, struct user_side side, __u32 kind, int syscall)
{
	struct sum_key key = {.kernel_stack = kernel_stack, .side = side, .kind = kind, .syscall = syscall};
	struct sum_place *first, *second;
	__u32 zero = 0, place, *busy;
	bool is_summed;

	key.time_bucket = time_bucket_that_ends(times->end_ns);
	if (!can_be_summed(times, kernel_stack, side, key.time_bucket))
		return false;
	key.since_ns = times->end_ns > control.cut_ns ? control.cut_ns : 0;
	key.bucket = run_queue_bucket(times->runnable_ns);
	place = wire_place(kernel_stack, side.user_stack, (__u64)task->tgid << 32 | kind << 16 | key.bucket);
	first = sum_place_of(place, 0);
	second = sum_place_of(place, 1);
	busy = bpf_map_lookup_elem(&sums_busy, &zero);
	if (!first || !second || !busy)
		return false;
	*(volatile __u32 *)busy = 1;
	barrier();
	is_summed = sum_in(first, second, task, times, &key);
	barrier();
	*(volatile __u32 *)busy = 0;
	return is_summed;
}

struct flush {
	__u32 cpu;
	__u32 left;
};

/* Sends the sum in one place; bpf_loop calls it for each. */
static long flush_place(__u32 index, struct flush *flush)
{
	__u32 key = flush->cpu * WIRE_SUM_PLACES + index;
	struct sum_place *place = bpf_map_lookup_elem(&sums, &key);

	if (place && !send_sum(place))
		flush->left++;
	return 0;
}

/* Sends the sums of the CPU that its argument names, which is this one unless that one is offline, and
 * returns how many are there still. */
SEC("?raw_tp")
int BPF_PROG(flush_sums, __u64 cpu)
{
	struct flush flush = {.cpu = cpu};
	__u32 zero = 0, *busy = bpf_map_lookup_elem(&sums_busy, &zero);

	if (!busy || (*busy && flush.cpu == bpf_get_smp_processor_id()))
		return WIRE_SUM_PLACES;
	bpf_loop(WIRE_SUM_PLACES, flush_place, &flush, 0);
	return (int)flush.left;
}

#endif /* OFFCPU_BPF_SUMS_BPF_H_ */
