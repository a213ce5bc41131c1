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

static inline struct task_state *storage_of(struct task_struct *task)
{
	return bpf_task_storage_get(&tasks, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
}

#endif /* OFFCPU_TESTS_BPF_LISTING_H_ */
