/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* Which threads are recorded: decided before anything about a thread is stored. */
#ifndef OFFCPU_BPF_FILTER_BPF_H_
#define OFFCPU_BPF_FILTER_BPF_H_

#include "task.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, __u32);   /* tgid, as user space has it: so are all numbers here */
	__type(value, __u64); /* when the process was made, boot clock; 0: it was there, and was asked for */
} pids SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, __u32);   /* tgid */
	__type(value, __u64); /* as in pids */
} excluded_pids SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, __u32);
	__type(value, __u8);
} tids SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32); /* effective ones */
	__type(value, __u8);
} uids SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, WIRE_GLOBS);
	__type(key, __u32);
	__type(value, struct wire_glob);
} globs SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_CGROUP_ARRAY);
	__uint(max_entries, WIRE_CGROUPS);
	__type(key, __u32);
	__type(value, __u32);
} cgroups SEC(".maps");

/* Every state keeps itself alive where the next symbol has a star before it, and moves on where the byte
 * fits. */
static __always_inline bool glob_matches(const struct wire_glob *glob, const char *name)
{
	__u32 states = 1;

	for (int i = 0; i < WIRE_COMM_BYTES; i++) {
		__u8 byte = name[i];

		if (!byte)
			break;
		states = ((states & glob->symbol[byte]) << 1) | (states & glob->star);
	}
	return states & glob->accept;
}

static __always_inline bool any_glob_matches(const char *name, __u32 begin, __u32 count)
{
	for (__u32 i = 0; i < WIRE_GLOBS; i++) {
		__u32 key = begin + i;
		const struct wire_glob *glob;

		if (i >= count)
			break;
		glob = bpf_map_lookup_elem(&globs, &key);
		if (glob && glob_matches(glob, name))
			return true;
	}
	return false;
}

static __always_inline bool comm_is_recorded(struct task_struct *task)
{
	char name[WIRE_COMM_BYTES] = {};

	bpf_probe_read_kernel_str(name, sizeof(name), &task->comm);
	if (config.globs && !any_glob_matches(name, 0, config.globs))
		return false;
	return !config.excluded_globs || !any_glob_matches(name, config.globs, config.excluded_globs);
}

static __always_inline bool current_is_below(__u32 begin, __u32 count)
{
	for (__u32 i = 0; i < WIRE_CGROUPS; i++) {
		if (i >= count)
			break;
		if (bpf_current_task_under_cgroup(&cgroups, begin + i) == 1)
			return true;
	}
	return false;
}

static __always_inline bool current_cgroup_is_recorded(void)
{
	if (config.cgroups && !current_is_below(0, config.cgroups))
		return false;
	return !config.excluded_cgroups || !current_is_below(config.cgroups, config.excluded_cgroups);
}

static __always_inline bool uid_is_recorded(struct task_struct *task)
{
	__u32 uid = BPF_CORE_READ(task, cred, euid.val);

	return bpf_map_lookup_elem(&uids, &uid);
}

static __always_inline bool is_in(void *set, __u32 number)
{
	return bpf_map_lookup_elem(set, &number);
}

static __always_inline bool kind_of_task_is_recorded(struct task_struct *task)
{
	return config.kernel_threads || !(task->flags & PF_KTHREAD);
}

/* No filter but cgroups, which the kernel can tell of the current task only, leaves it out. */
static __noinline bool is_selected(struct task_struct *task)
{
	if (config.filter_pids && !is_in(&pids, tgid_of(task)))
		return false;
	if (config.exclude_pids && is_in(&excluded_pids, tgid_of(task)))
		return false;
	if (config.filter_tids && !is_in(&tids, tid_of(task)))
		return false;
	if (config.filter_uids && !uid_is_recorded(task))
		return false;
	return (!config.globs && !config.excluded_globs) || comm_is_recorded(task);
}

/* Idle threads have the number 0, and so have threads that user space cannot see. */
static __always_inline bool may_be_selected(struct task_struct *task)
{
	__u32 tgid = tgid_of(task);

	return tgid && tgid != config.own_tgid && kind_of_task_is_recorded(task);
}

static __always_inline bool task_is_recorded(struct task_struct *task)
{
	return may_be_selected(task) && (!config.selects || is_selected(task));
}

static __always_inline bool cgroups_matter(void)
{
	return config.cgroups || config.excluded_cgroups;
}

/* May a thread that was not recorded when it came to its CPU be recorded when it leaves? */
static __always_inline bool selection_may_change(void)
{
	return cgroups_matter() || config.globs || config.excluded_globs || config.filter_uids ||
	       config.command_tgid;
}

static __always_inline bool current_is_recorded(struct task_struct *task)
{
	if (!may_be_selected(task))
		return false;
	return !config.selects || (is_selected(task) && (!cgroups_matter() || current_cgroup_is_recorded()));
}

/* Is the current thread, which is not recorded, one that was asked for by what it is, and that user space has
 * no number of? */
static __always_inline bool is_selected_unseen(struct task_struct *task)
{
	bool by_what_it_is = config.globs || config.cgroups || config.filter_uids;

	if (!config.own_pids || !by_what_it_is || !task->pid || !kind_of_task_is_recorded(task))
		return false;
	return !tgid_of(task) && is_selected(task) && (!cgroups_matter() || current_cgroup_is_recorded());
}

#endif /* OFFCPU_BPF_FILTER_BPF_H_ */
