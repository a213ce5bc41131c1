// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
/* The BPF program at which a thread is moved to another CPU. */
#include "stamp.bpf.h"
#include "task.bpf.h"

/* Under the lock of the queue that the thread is in. Loaded only where threads may sleep in one. */
SEC("?tp_btf/sched_migrate_task")
int BPF_PROG(sched_migrate_task, struct task_struct *task)
{
	struct stamp *stamp;

	if (!sleeps_in_queue(task) || control.phase >= WIRE_ENDED)
		return 0;
	stamp = find_stamp(task);
	if (stamp)
		stamp->was_moved = 1;
	return 0;
}
