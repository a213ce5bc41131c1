/* What the tests of the iterators of list.bpf.c share: one thread is listed, and what was written of it is
 * looked at. A source includes this behind programs.h. */
#ifndef OFFCPU_TESTS_BPF_LISTING_H_
#define OFFCPU_TESTS_BPF_LISTING_H_

#include "tests/bpf/host/programs.h"

/* Runs an iterator's program for one thread. Returns what it has written, of `host.seq_bytes` bytes, or NULL.
 */
static inline const void *list_with(int (*iterator)(struct bpf_iter__task *), struct task_struct *task)
{
	struct bpf_iter_meta meta = {};
	struct bpf_iter__task ctx = {.meta = &meta, .task = task};

	host.seq_bytes = 0;
	iterator(&ctx);
	return host.seq_bytes ? host.seq : NULL;
}

/* What describe_task has written: mappings, and behind them the thread. */
struct description {
	const struct wire_mapping *mappings;
	__u32 count;
	const struct wire_task *task;
};

static inline struct description describe(struct task_struct *task)
{
	struct description told = {.mappings = list_with(describe_task, task)};

	if (!told.mappings)
		return told;
	told.count = (host.seq_bytes - sizeof(struct wire_task)) / sizeof(struct wire_mapping);
	told.task = (const struct wire_task *)(host.seq + host.seq_bytes - sizeof(struct wire_task));
	return told;
}

static inline struct task_state *storage_of(struct task_struct *task)
{
	return bpf_task_storage_get(&tasks, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
}

#endif /* OFFCPU_TESTS_BPF_LISTING_H_ */
