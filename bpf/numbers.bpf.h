/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * The numbers of processes and threads as user space has them. They are those of the kernel, unless user
 * space runs in a pid namespace of its own, as in a container: there a process has a number only if it is in
 * that namespace or in one below it, and /proc shows no other processes.
 */
#ifndef OFFCPU_BPF_NUMBERS_BPF_H_
#define OFFCPU_BPF_NUMBERS_BPF_H_

#include "config.bpf.h"
#include "untrusted.bpf.h"

struct numbers {
	__u32 tgid, tid;
};

/* Where the kernel has the number of `pid` in the namespace of a level, which is not below its own. */
static __always_inline __u64 number_at(const struct pid *pid, __u32 level)
{
	return address_of(pid) + bpf_core_field_offset(struct pid, numbers) +
	       level * bpf_core_type_size(struct upid);
}

/* Learns the pid namespace of the current thread, which is user space's, for own_number_of. */
SEC("?raw_tp")
int BPF_PROG(learn_namespace)
{
	const struct pid *pid = untrusted(bpf_get_current_task_btf())->thread_pid;
	__u64 namespace = 0;

	if (!pid)
		return 0;
	READ_FIELD(namespace, struct upid, number_at(pid, pid->level), ns);
	control.pid_level = pid->level;
	control.pid_namespace = namespace;
	return 1;
}

/* In that namespace. 0: it has none there. */
static __always_inline __u32 own_number_of(const struct pid *pid)
{
	__u32 level = control.pid_level, number = 0;
	__u64 namespace = 0;

	if (!pid || pid->level < level)
		return 0;
	READ_FIELD(namespace, struct upid, number_at(pid, level), ns);
	if (namespace == control.pid_namespace)
		READ_FIELD(number, struct upid, number_at(pid, level), nr);
	return number;
}

/* The thread must not have been released. */
static __noinline __u32 own_tgid_of(struct task_struct *task)
{
	return own_number_of(untrusted(task)->group_leader->thread_pid);
}

static __noinline __u32 own_tid_of(struct task_struct *task)
{
	return own_number_of(untrusted(task)->thread_pid);
}

#endif /* OFFCPU_BPF_NUMBERS_BPF_H_ */
