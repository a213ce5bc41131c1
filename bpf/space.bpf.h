/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * What is kept of a process, with its first thread: what is known of its code, and what captures have taken
 * of its threads' time.
 */
#ifndef OFFCPU_BPF_SPACE_BPF_H_
#define OFFCPU_BPF_SPACE_BPF_H_

#include "config.bpf.h"
#include "untrusted.bpf.h"

/* What captures have taken of the time of a process's threads. */
struct process_time {
	__u64 since_ns;
	__u64 spent_ns;	    /* since then */
	__u64 off_until_ns; /* no captures are made before; 0: it was never switched off */
};

/* What is known of a process's code, stored with its first thread. Only the holder of `busy` writes it. */
struct space {
	__u64 mm; /* of which this is known, and of which of the process's programs */
	__u64 exec_id;
	__u64 sequence; /* code_sequence() at which the hash was right last; 0: `hash` is being written */
	__u64 hash;
	__u64 exec_pages; /* mm->exec_vm */
	__u32 busy;
	__u32 has_own_code;	  /* that is of no file */
	struct process_time time; /* see watchdog.bpf.h */
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct space);
} spaces SEC(".maps");

/* 7.3 trusts no pointer to another task without these where a program may sleep, and takes every global
 * function for one that may be called there. */
#if OFFCPU_TASK_WORK_ARGS
extern void bpf_rcu_read_lock(void) __ksym;
extern void bpf_rcu_read_unlock(void) __ksym;
#else
#define bpf_rcu_read_lock() ((void)0)
#define bpf_rcu_read_unlock() ((void)0)
#endif

/* NULL: there is no memory for it, or, where nothing may be allocated, none yet. */
static __always_inline struct space *space_of(struct task_struct *task, bool may_be_nmi)
{
	struct task_struct *leader;
	struct space *space = NULL;

	bpf_rcu_read_lock();
	leader = task->group_leader;
	if (leader)
		space = bpf_task_storage_get(&spaces, leader, 0,
					     may_be_nmi ? 0 : BPF_LOCAL_STORAGE_GET_F_CREATE);
	bpf_rcu_read_unlock();
	return space;
}

static __always_inline bool is_of(const struct space *space, struct task_struct *task)
{
	return space->mm == (__u64)untrusted(task)->mm && space->exec_id == task->self_exec_id;
}

#endif /* OFFCPU_BPF_SPACE_BPF_H_ */
