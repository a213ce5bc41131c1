/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * Where all the time of a thread went, off the CPU and on it: with the ledger only. Time on the CPU is what
 * the scheduler has charged, never the difference to something else, so that the terms can be checked against
 * the thread's life.
 *
 * Between two switches nothing is booked; a reader of the account adds the stretch that is going on. An
 * account that changes its program (or its number, which execve does to a thread that is not the first) is
 * sent, and begins anew at the last switch, because intervals are separate there, too.
 */
#ifndef OFFCPU_BPF_LEDGER_BPF_H_
#define OFFCPU_BPF_LEDGER_BPF_H_

#include "clock.bpf.h"
#include "counters.bpf.h"
#include "rings.bpf.h"
#include "task.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct wire_account);
} accounts SEC(".maps");

/* How far the clock that threads are charged by was behind the scheduler's at a CPU's last switch: interrupts
 * and the hypervisor took it. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} stolen SEC(".maps");

static __always_inline void note_stolen(struct moment at)
{
	__u32 zero = 0;
	__u64 *ns;

	if (!config.ledger || !config.has_rq_clock)
		return;
	ns = bpf_map_lookup_elem(&stolen, &zero);
	if (ns)
		*ns = at.clock - at.clock_task;
}

static __always_inline __u64 stolen_by_now(void)
{
	__u32 zero = 0;
	__u64 *ns = bpf_map_lookup_elem(&stolen, &zero);

	return ns ? *ns : 0;
}

static __always_inline struct wire_account *account_of(struct task_struct *task, __u64 flags)
{
	return config.ledger ? bpf_task_storage_get(&accounts, task, 0, flags) : NULL;
}

static __always_inline void name_account(struct wire_account *account, struct task_struct *task)
{
	account->type = WIRE_ACCOUNT;
	fill_process(&account->process, task);
	bpf_probe_read_kernel_str(account->comm, sizeof(account->comm), &task->comm);
}

static __always_inline void send_account(const struct wire_account *account)
{
	struct wire_account *record = bpf_ringbuf_reserve(&intervals, sizeof(*record), 0);

	if (!record) {
		count(WIRE_COUNT_ACCOUNT_LOST);
		return;
	}
	*record = *account;
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
}

/* Its program or number is another one than before: what was booked until `cut_ns` is the former's. */
static __always_inline void renew_account(struct wire_account *account, struct task_struct *task,
					  __u64 cut_ns)
{
	__u64 start = recording_start();

	if (account->process.exec_id == BPF_CORE_READ(task, self_exec_id) &&
	    account->process.tid == tid_of(task))
		return;
	if (cut_ns > start && cut_ns > account->since_ns) {
		account->until_ns = cut_ns;
		send_account(account);
		account->until_ns = 0;
		account->since_ns = cut_ns;
	}
	account->on_cpu_ns = account->stolen_ns = account->blocked_ns = account->runnable_ns = 0;
	__builtin_memset(account->lost_ns, 0, sizeof(account->lost_ns));
	name_account(account, task);
}

/* NULL: the kernel has no memory, or is making storage for another program on this CPU. */
static __always_inline struct wire_account *make_account(struct task_struct *task)
{
	struct wire_account *account = account_of(task, BPF_LOCAL_STORAGE_GET_F_CREATE);

	if (config.ledger && !account)
		count(WIRE_COUNT_ACCOUNT_LOST);
	else if (account && !__sync_val_compare_and_swap(&account->is_open, 0, 1))
		count(WIRE_COUNT_ACCOUNT_MADE);
	return account;
}

/* Notes that it was sent or listed, or that its thread is not recorded. The end of the thread and the listing
 * may both come here at once. */
static __always_inline void settle_account(struct wire_account *account)
{
	if (__sync_val_compare_and_swap(&account->is_open, 1, 0))
		count(WIRE_COUNT_ACCOUNT_SETTLED);
}

/* Before recording begins, of a thread that may be running meanwhile. */
static __always_inline void open_account(struct task_struct *task)
{
	struct wire_account *account;

	if (BPF_CORE_READ(task, __state) & TASK_DEAD)
		return;
	account = make_account(task);
	if (!account)
		return;
	name_account(account, task);
	account->exec_ns = BPF_CORE_READ(task, se.sum_exec_runtime);
	if (!task->on_cpu || !config.has_rq_clock)
		return;
	/* Up to exec_start it has been charged. */
	account->arrived_ns = BPF_CORE_READ(task, se.exec_start) + BPF_CORE_READ(task, se.cfs_rq, rq, clock) -
			      BPF_CORE_READ(task, se.cfs_rq, rq, clock_task);
}

/* After the end no account is made: it would have no time, and the listing might miss it. */
static __always_inline void open_account_at_fork(struct task_struct *child)
{
	struct wire_account *account = control.phase < WIRE_ENDED ? make_account(child) : NULL;

	if (!account)
		return;
	name_account(account, child);
	account->is_new = 1;
}

/* It is on a CPU since `now`. */
static __always_inline void note_arrival_in(struct wire_account *account, struct task_struct *task, __u64 now)
{
	account->arrived_ns = now;
	account->out_ns = 0;
	account->stolen_before_ns = stolen_by_now();
}

/* Before recording begins. */
static __always_inline void note_early_arrival(struct task_struct *task, __u64 now)
{
	struct wire_account *account = account_of(task, 0);

	if (!account)
		return;
	account->is_new = 0;
	account->exec_ns = task->se.sum_exec_runtime;
	note_arrival_in(account, task, now);
}

/* Returns the account of a thread that has come to a CPU. Makes one for the current thread if it has none:
 * nothing before the wait that ends is known then. */
static __always_inline struct wire_account *account_at_arrival(struct task_struct *task, __u64 out_ns,
							       enum presence presence)
{
	struct wire_account *account = account_of(task, 0);

	if (account) {
		renew_account(account, task, out_ns);
		return account;
	}
	account = presence == IS_CURRENT ? make_account(task) : NULL;
	if (!account)
		return NULL;
	name_account(account, task);
	account->is_new = 1;
	account->exec_ns = task->se.sum_exec_runtime;
	return account;
}

/* Its last events were not recorded. The time since the last one that was, on a CPU or off it; an account
 * that is new begins here. */
static __always_inline __u64 skip_unseen(struct wire_account *account, struct task_struct *task, __u64 now)
{
	__u64 seen = recording_start();

	if (!account)
		return 0;
	if (account->is_new)
		account->since_ns = now;
	account->is_new = 0;
	if (account->since_ns > seen)
		seen = account->since_ns;
	if (account->arrived_ns > seen)
		seen = account->arrived_ns;
	if (account->out_ns > seen)
		seen = account->out_ns;
	account->exec_ns = task->se.sum_exec_runtime;
	note_arrival_in(account, task, now);
	return now > seen ? now - seen : 0;
}

/* It has come to a CPU after a wait of `waited_ns`, with which an account that is new begins. */
static __always_inline void end_stretch(struct wire_account *account, struct task_struct *task, __u64 now,
					__u64 waited_ns)
{
	if (!account)
		return;
	if (account->is_new)
		account->since_ns = now - waited_ns;
	account->is_new = 0;
	note_arrival_in(account, task, now);
}

static __always_inline void close_account(struct wire_account *account, __u64 until_ns)
{
	account->until_ns = until_ns;
	send_account(account);
}

/* It has left the CPU, for good if it is dead. */
static __always_inline void book_run(struct task_struct *task, __u64 now, __u32 task_flags)
{
	struct wire_account *account = account_of(task, 0);
	__u64 start = recording_start(), charged, ran;

	if (!account)
		return;
	charged = task->se.sum_exec_runtime;
	if (control.phase == WIRE_RECORDING) {
		ran = charged - account->exec_ns;
		if (account->arrived_ns >= start)
			account->stolen_ns += stolen_by_now() - account->stolen_before_ns;
		else /* only what lies behind the start */
			ran -= start - account->arrived_ns < ran ? start - account->arrived_ns : ran;
		account->on_cpu_ns += ran;
	}
	account->exec_ns = charged;
	account->out_ns = now;
	if (task_flags & TASK_DEAD && control.phase == WIRE_RECORDING)
		close_account(account, now);
}

/* After the end, stamps and sums stay what they are until they are listed; this thread will not be. */
static __always_inline void book_late_end(struct task_struct *task, __u32 task_flags)
{
	struct wire_account *account = account_of(task, 0);

	if (!account || !(task_flags & TASK_DEAD))
		return;
	account->charged_ns = task->se.sum_exec_runtime;
	close_account(account, 0);
}

/* Settles the account of a thread that has left its last CPU, recorded or not. Called when it was sent. */
static __always_inline void settle_dead(struct task_struct *task)
{
	struct wire_account *account = account_of(task, 0);

	if (account)
		settle_account(account);
}

static __always_inline void book_wait(struct wire_account *account, __u64 blocked_ns, __u64 runnable_ns)
{
	if (!account)
		return;
	account->blocked_ns += blocked_ns;
	account->runnable_ns += runnable_ns;
}

/* Time that is left out of the profile for the reason that has the number of a counter. */
static __always_inline void lose(struct wire_account *account, __u32 reason, __u64 ns)
{
	count_ns(reason, ns);
	if (account && reason < WIRE_LOSSES)
		account->lost_ns[reason] += ns;
}

/* What interrupts and the hypervisor had taken from the CPU of `task` when the kernel last
 * brought its clocks up to date. */
static __always_inline __u64 stolen_at_reading(struct task_struct *task)
{
	if (!config.has_rq_clock)
		return 0;
	return BPF_CORE_READ(task, se.cfs_rq, rq, clock) - BPF_CORE_READ(task, se.cfs_rq, rq, clock_task);
}

/* What it has been charged, and will be for the time since the last tick of a CPU that it is on. */
static __always_inline __u64 charged_by_now(struct task_struct *task, __u64 stolen_ns)
{
	__u64 charged = BPF_CORE_READ(task, se.sum_exec_runtime), since = BPF_CORE_READ(task, se.exec_start);
	__u64 now = bpf_ktime_get_ns() + control.clock_offset;

	if (!task->on_cpu || !config.has_rq_clock)
		return charged;
	now -= stolen_ns;
	return now > since ? charged + (now - since) : charged;
}

/* It is recorded from here on, where it runs: what was before is nobody's. */
static __always_inline void begin_account(struct wire_account *account, struct task_struct *task)
{
	__u64 now = bpf_ktime_get_ns() + control.clock_offset, stolen_ns = stolen_at_reading(task);

	if (!account)
		return;
	__builtin_memset(account, 0, sizeof(*account));
	account->is_open = 1;
	name_account(account, task);
	account->since_ns = now;
	account->exec_ns = charged_by_now(task, stolen_ns);
	note_arrival_in(account, task, now);
	/* The reading that exec_ns was made with: with another one, what it is charged and what is stolen
	 * would not add up to the time that passes. */
	account->stolen_before_ns = stolen_ns;
}

#endif /* OFFCPU_BPF_LEDGER_BPF_H_ */
