/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * Budgets: how many captures may be asked for by task work, how many bytes of stacks be copied, and how many
 * mappings be looked at, in a second on a CPU. What they are spent on, and what happens when they are spent,
 * is in capture.bpf.h and code.bpf.h.
 */
#ifndef OFFCPU_BPF_BUDGET_BPF_H_
#define OFFCPU_BPF_BUDGET_BPF_H_

#include "config.bpf.h"

/* Programs that may interrupt one another on a CPU. Those of one context never do. */
enum context {
	CONTEXT_SWITCH, /* of the scheduler, in the thread itself */
	CONTEXT_SAMPLE, /* an interrupt, an NMI where there is a PMU */
	CONTEXT_WAKER,	/* under a thread's lock, in the thread that wakes it */
	CONTEXTS,
};

/* All budgets are kept as the time it takes to earn them. Each context has its own: nothing here is atomic,
 * and none takes from another. */
struct budget {
	__u64 last_ns;
	__u64 task_work_ns;
	__u64 bytes_ns;
	__u64 mappings_last_ns; /* earned until then */
	__u64 mappings_ns;
	__u64 cookies; /* given out on this CPU in this context */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, CONTEXTS);
	__type(key, __u32); /* enum context */
	__type(value, struct budget);
} budgets SEC(".maps");

/* Time since the last call, at most a second: what a budget has earned. */
static __always_inline __u64 earned_ns(__u64 *last_ns, __u64 now)
{
	__u64 ns = now > *last_ns ? now - *last_ns : 0;

	*last_ns = now > *last_ns ? now : *last_ns;
	return ns > NS_PER_SECOND ? NS_PER_SECOND : ns;
}

static __always_inline void earn(__u64 *account_ns, __u64 ns)
{
	*account_ns = *account_ns + ns > NS_PER_SECOND ? NS_PER_SECOND : *account_ns + ns;
}

static __always_inline bool can_spend(__u64 account_ns, __u64 price, bool is_long)
{
	__u64 reserve = is_long ? 0 : NS_PER_SECOND / 4;

	return account_ns >= price + reserve;
}

static __always_inline bool spend(__u64 *account_ns, __u64 price, bool is_long)
{
	if (!can_spend(*account_ns, price, is_long))
		return false;
	*account_ns -= price;
	return true;
}

static __always_inline __u64 price_ns(__u64 bytes)
{
	return bytes * NS_PER_SECOND / (config.capture_bytes_per_second ?: 1);
}

static __always_inline __u64 task_work_price_ns(void)
{
	return NS_PER_SECOND / (config.task_works_per_second ?: 1);
}

/* Gives back what was paid for bytes that lie beyond the end of the stack, to the context that asked. */
static __always_inline void refund(__u32 bytes, __u32 context)
{
	struct budget *budget = bpf_map_lookup_elem(&budgets, &context);

	if (budget)
		__sync_fetch_and_add(&budget->bytes_ns, price_ns(bytes));
}

/* May so many mappings be looked at now? */
static __always_inline bool spend_mappings(__u32 mappings, __u32 context)
{
	struct budget *budget = bpf_map_lookup_elem(&budgets, &context);

	if (!budget)
		return false;
	earn(&budget->mappings_ns, earned_ns(&budget->mappings_last_ns, bpf_ktime_get_ns()));
	return spend(&budget->mappings_ns, mappings * (NS_PER_SECOND / (config.mappings_per_second ?: 1)),
		     true);
}

#endif /* OFFCPU_BPF_BUDGET_BPF_H_ */
