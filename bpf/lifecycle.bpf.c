// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
/* The BPF programs at which threads and processes begin, are given another program, and end. */
#include "code.bpf.h"
#include "counters.bpf.h"
#include "filter.bpf.h"
#include "ledger.bpf.h"
#include "request.bpf.h"
#include "rings.bpf.h"
#include "stamp.bpf.h"
#include "task.bpf.h"
#include "users.bpf.h"
#include "wakers.bpf.h"

/* A new process is in a set of processes if its parent is; what was known of its number was of another. */
static __always_inline void inherit(void *set, bool follow, struct task_struct *parent,
				    struct task_struct *child)
{
	__u32 parent_tgid = tgid_of(parent), tgid = tgid_of(child);
	__u64 start_ns = child->start_boottime;

	if (!follow || !bpf_map_lookup_elem(set, &parent_tgid))
		bpf_map_delete_elem(set, &tgid);
	else if (bpf_map_update_elem(set, &tgid, &start_ns, BPF_ANY))
		count(WIRE_COUNT_NOT_FOLLOWED);
}

/* A new process or thread: what is known of its numbers was of others, which have ended. */
static __always_inline void take_numbers(struct task_struct *parent, struct task_struct *child)
{
	__u32 tid = tid_of(child);

	if (config.filter_tids)
		bpf_map_delete_elem(&tids, &tid);
	if (child->pid != child->tgid)
		return;
	if (config.filter_pids)
		inherit(&pids, config.follow_forks, parent, child);
	if (config.exclude_pids)
		inherit(&excluded_pids, true, parent, child);
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(sched_process_fork, struct task_struct *parent, struct task_struct *child)
{
	struct stamp *stamp;

	take_numbers(parent, child);
	make_wake(child);
	if (!may_be_selected(child))
		return 0;
	inherit_code(parent, child);
	claim_stamp(child, true);
	stamp = stamp_of(child, make_state(child));
	if (stamp) {
		stamp->knows_state = 1; /* it wants to run */
		stamp->user = user_of(child);
	}
	open_account_at_fork(child);
	return 0;
}

static __always_inline void leave_set(void *set, struct task_struct *task)
{
	__u32 tgid = tgid_of(task);
	__u64 *start_ns = bpf_map_lookup_elem(set, &tgid);

	if (start_ns && *start_ns == task->start_boottime)
		bpf_map_delete_elem(set, &tgid);
}

/* Long after the last switch of all threads of a process, for its first thread, which is released last. By
 * then its number may be another's. One whose program was replaced by another thread has not ended. */
SEC("?tp_btf/sched_process_free")
int BPF_PROG(sched_process_free, struct task_struct *task)
{
	if (task->pid != task->tgid || task->signal->live.counter)
		return 0;
	leave_set(&pids, task);
	leave_set(&excluded_pids, task);
	return 0;
}

static __always_inline void send_lifecycle(__u32 type, struct task_struct *task)
{
	struct wire_lifecycle *record = bpf_ringbuf_reserve(&intervals, sizeof(*record), 0);

	if (!record) {
		count(WIRE_COUNT_LIFECYCLE_LOST);
		return;
	}
	record->type = type;
	record->reserved = 0;
	fill_process(&record->process, task);
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
	count_lifecycle_of(user_of(task));
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(sched_process_exec, struct task_struct *task, int old_pid, struct linux_binprm *binprm)
{
	struct task_state *state = bpf_task_storage_get(&tasks, task, 0, 0);
	struct wire_account *account = account_of(task, 0);
	__u32 tgid = tgid_of(task);
	__u64 given = 0;

	if (state) { /* its stack is another one, and so is what lies on it: execve may wait after the change
		      */
		note_process(state, task); /* a thread that is not the first takes that one's number */
		state->stack.begin = state->stack.end = 0;
		state->other.begin = state->other.end = 0;
		if (state->cookie)
			cancel_request(state, WIRE_NO_USER_EXEC);
	}
	if (control.phase != WIRE_RECORDING)
		return 0;
	if (tgid == config.command_tgid && !bpf_map_lookup_elem(&pids, &tgid)) {
		bpf_map_update_elem(&pids, &tgid, &given, BPF_ANY);
		begin_account(account, task);
	} else if (account) {
		renew_account(account, task, account->arrived_ns);
	}
	if (current_is_recorded(task))
		send_lifecycle(WIRE_EXEC, task);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(sched_process_exit, struct task_struct *task)
{
	struct task_state *state = bpf_task_storage_get(&tasks, task, 0, 0);

	if (state && state->cookie)
		cancel_request(state, WIRE_NO_USER_EXITING);
	if (!task->signal->live.counter && control.phase == WIRE_RECORDING && current_is_recorded(task))
		send_lifecycle(WIRE_EXIT, task);
	return 0;
}
