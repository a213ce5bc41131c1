/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * Users, who share the budget of recording: what has been recorded of each, and the T that its short waits
 * are sampled with. A user is who started a program, not who a set-user-ID program runs as.
 */
#ifndef OFFCPU_BPF_USERS_BPF_H_
#define OFFCPU_BPF_USERS_BPF_H_

#include "config.bpf.h"
#include "untrusted.bpf.h"

/* Each of these has a place of its own. */
enum {
	PLACE_OF_ROOT,
	PLACE_OF_KERNEL, /* its threads, as any user may keep them busy: root's waits do not pay for that */
	PLACES_OF_THEIR_OWN,
};

/* WIRE_USERS of each CPU that there may be: its size is set before loading. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, WIRE_USERS);
	__type(key, __u32);
	__type(value, struct wire_user);
} users SEC(".maps");

/* The place of a thread's user. Which users share one follows from a number that no program can learn. */
static __always_inline __u32 user_of(struct task_struct *task)
{
	__u32 uid = untrusted(task)->cred->uid.val;
	__u64 mixed = (uid ^ config.user_salt) * 0x9e3779b97f4a7c15ULL >> 32; /* 32 bits */

	if (task->flags & PF_KTHREAD)
		return PLACE_OF_KERNEL;
	if (!uid)
		return PLACE_OF_ROOT;
	return PLACES_OF_THEIR_OWN + (mixed * (WIRE_USERS - PLACES_OF_THEIR_OWN) >> 32);
}

static __always_inline __u64 threshold_of(__u32 user)
{
	barrier_var(user); /* else the compiler knows the bound, and the verifier does not */
	return control.sample_ns[user & (WIRE_USERS - 1)];
}

/* NULL: there are more CPUs than the kernel had said. */
static __always_inline struct wire_user *recorded_of(__u32 user)
{
	__u32 key = bpf_get_smp_processor_id() * WIRE_USERS + (user & (WIRE_USERS - 1));

	return bpf_map_lookup_elem(&users, &key);
}

/* With preemption off and in no interrupt, as the next two. */
static __always_inline void count_wait_of(__u32 user)
{
	struct wire_user *recorded = recorded_of(user);

	if (recorded)
		recorded->waits++;
}

static __always_inline void count_left_out_of(__u32 user)
{
	struct wire_user *recorded = recorded_of(user);

	if (recorded)
		recorded->left_out++;
}

static __always_inline void count_capture_of(__u32 user)
{
	struct wire_user *recorded = recorded_of(user);

	if (recorded)
		recorded->captures++;
}

/* In any context of a process. */
static __always_inline void count_lifecycle_of(__u32 user)
{
	struct wire_user *recorded = recorded_of(user);

	if (recorded)
		__sync_fetch_and_add(&recorded->lifecycles, 1);
}

#endif /* OFFCPU_BPF_USERS_BPF_H_ */
