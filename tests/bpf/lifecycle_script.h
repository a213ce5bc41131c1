/* What the tests of the programs of lifecycle.bpf.c share. A source includes it behind programs.h. */
#ifndef OFFCPU_TESTS_BPF_LIFECYCLE_SCRIPT_H_
#define OFFCPU_TESTS_BPF_LIFECYCLE_SCRIPT_H_

#include "tests/bpf/host/programs.h"

static inline void add_to_set(void *set, __u32 key, __u64 value)
{
	bpf_map_update_elem(set, &key, &value, BPF_ANY);
}

/* The value of a number in a set; 0xdead: it is not there. */
static inline __u64 in_set(void *set, __u32 key)
{
	__u64 *value = host_value(set, &key, 0);

	return value ? *value : 0xdead;
}

#define NOT_THERE 0xdead

static inline struct task_state *storage_of(struct task_struct *task)
{
	return bpf_task_storage_get(&tasks, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
}

#endif /* OFFCPU_TESTS_BPF_LIFECYCLE_SCRIPT_H_ */
