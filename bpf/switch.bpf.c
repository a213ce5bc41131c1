// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
/* The BPF programs at which a thread leaves the CPU, and at which it is back. */
#include "clock.bpf.h"
#include "counters.bpf.h"
#include "draw.bpf.h"
#include "filter.bpf.h"
#include "interval.bpf.h"
#include "kernel_stack.bpf.h"
#include "ledger.bpf.h"
#include "sampled_cpu.bpf.h"
#include "task.bpf.h"
#include "user_stack.bpf.h"
#include "wakers.bpf.h"

/* After the end. */
static __always_inline void count_gone(struct task_struct *task, __u32 task_flags)
{
	__u64 start = recording_start(), end = control.end_ns + control.clock_offset;
	const struct task_state *state;

	if (control.phase != WIRE_ENDED || !(task_flags & TASK_DEAD))
		return;
	state = bpf_task_storage_get(&tasks, task, 0, 0);
	if (!state || (!state->out_ns && state->has_run))
		return;
	if (state->out_ns > start)
		start = state->out_ns;
	if (start < end)
		count_ns(WIRE_COUNT_GONE_AT_END, end - start);
}

static __always_inline void leave(struct task_struct *task, bool preempt, __u32 task_flags)
{
	__u64 now = departure_ns(task);
	struct task_state *state;

	if (preempt)
		task_flags = 0;
	if (control.phase >= WIRE_ENDED) {
		book_late_end(task, task_flags);
		count_gone(task, task_flags);
		return;
	}
	book_run(task, now, task_flags);
	state = bpf_task_storage_get(&tasks, task, 0, 0);
	if (!state) /* made at fork and when recording began: an allocation failed */
		return;
	state->out_ns = now;
	state->out_run_delay = task->sched_info.run_delay;
	state->out_state = task_flags;
	state->knows_state = 1;
	state->arrivals = task->sched_info.pcount;
	state->has_run = 1;
}

/* Made when the thread left: see capture_at_leave. */
static __always_inline struct user_side user_stack_at_leave(struct task_struct *task,
							    struct task_state *state)
{
	struct user_side side = {.cookie = state->cookie};

	if (task->flags & PF_KTHREAD)
		side.no_user = WIRE_NO_USER_KERNEL_THREAD;
	else
		side.no_user = config.can_read_user ? WIRE_NO_USER_BUDGET : WIRE_NO_USER_UNSUPPORTED;
	state->cookie = 0;
	return side;
}

/* Only a wait that somebody has to end has a waker. */
static __always_inline bool waits_for_waker(const struct task_state *state, const struct times *times)
{
	return waker_config.enabled && state->knows_state && state->out_state &&
	       times->runnable_ns < times->waited_ns;
}

/* Is it recorded? What is not is counted, or stood for by what is. */
static __always_inline bool is_kept(struct task_struct *task, struct wire_account *account,
				    const struct task_state *state, struct times *times)
{
	if (times->waited_ns < config.min_wait_ns) {
		lose(account, WIRE_COUNT_BELOW_MIN_WAIT, times->waited_ns);
		return false;
	}
	if (config.max_wait_ns && times->waited_ns > config.max_wait_ns) {
		lose(account, WIRE_COUNT_ABOVE_MAX_WAIT, times->waited_ns);
		return false;
	}
	if (config.kinds && !(config.kinds & (1u << kind_of_wait(state, system_call(task))))) {
		lose(account, WIRE_COUNT_OTHER_KIND, times->waited_ns);
		return false;
	}
	times->sample_ns = draw(task, times->waited_ns, times->end_ns);
	if (times->sample_ns == NOT_DRAWN) {
		count_ns(WIRE_COUNT_NOT_DRAWN, times->waited_ns);
		book_wait(account, times->waited_ns - times->runnable_ns, times->runnable_ns);
		return false;
	}
	return true;
}

/* The thread runs again: at sched_exit_tp, where `task` is the current one, or, on kernels without it, at
 * sched_switch, where it is about to be and its user memory is out of reach. */
static __always_inline void come_back(void *ctx, struct task_struct *task)
{
	struct task_state *state = bpf_task_storage_get(
		&tasks, task, 0, config.has_exit_tp ? BPF_LOCAL_STORAGE_GET_F_CREATE : 0);
	struct wire_account *account;
	struct user_side side;
	struct times times;
	struct wake *wake;
	__u64 now, stack;
	int syscall;

	if (!state) {
		count(WIRE_COUNT_NO_STORAGE);
		return;
	}
	if (!config.has_exit_tp && cgroups_matter() && !state->out_ns)
		return; /* whether a thread is in a cgroup is known only of the current one: it was not when
			   it left */
	now = arrival_ns(task, state);
	account = account_at_arrival(task, now, state->out_ns);
	state->has_run = 1;
	if (!is_first_arrival(task, state)) {
		state->out_ns = 0;
		lose(account, WIRE_COUNT_JOINED_AWAY, skip_unseen(account, task, now));
		take_wake(task);
		return;
	}
	times = interval_times(task, state, now, run_delay_of(task, now));
	state->out_ns = 0;
	end_stretch(account, task, now, times.waited_ns);
	if (!is_kept(task, account, state, &times)) {
		take_wake(task);
		return;
	}
	syscall = system_call(task);
	/* At which `task` left the CPU: it is the current one, or the one that is about to run. */
	stack = kernel_stack_id(ctx, task, config.has_exit_tp ? STACK_OF_CONTEXT : STACK_OF_TASK);
	side = config.has_exit_tp
		       ? user_stack_of(task, state, now, times.waited_ns >= LONG_WAIT_NS, CONTEXT_SWITCH)
		       : user_stack_at_leave(task, state);
	wake = take_wake(task);
	if (waits_for_waker(state, &times)) {
		if (wake) {
			send_woken(task, account, &times, stack, side, kind_of_wait(state, syscall), syscall,
				   wake);
			return;
		}
		count_ns(WIRE_COUNT_WAKER_UNKNOWN, times.waited_ns);
	}
	send_interval(task, account, &times, stack, side, kind_of_wait(state, syscall), syscall);
}

/* Before recording begins: what was stamped until here is over. */
static __always_inline void note_arrival(struct task_struct *task)
{
	struct task_state *state = bpf_task_storage_get(&tasks, task, 0, 0);

	note_early_arrival(task, scheduler_clock(task));
	if (!state)
		return;
	state->out_ns = 0;
	state->has_run = 1;
}

static __always_inline void arrive(void *ctx, struct task_struct *task)
{
	if (control.phase >= WIRE_ENDED)
		return;
	if (control.phase == WIRE_RECORDING)
		come_back(ctx, task);
	else
		note_arrival(task);
}

/* Kernels without sched_exit_tp: the length of the wait is not known yet, so every sleep may cost a capture.
 */
static __always_inline void capture_at_leave(struct task_struct *task)
{
	struct task_state *state = bpf_task_storage_get(&tasks, task, 0, 0);

	if (state && task->mm && config.can_read_user)
		state->cookie = user_stack_of(task, state, state->out_ns, false, CONTEXT_SWITCH).cookie;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(sched_switch, bool preempt, struct task_struct *prev, struct task_struct *next,
	     unsigned int prev_state)
{
	learn_clock_offset(scheduler_clock(prev));
	note_stolen(prev);
	note_idle(prev, next);
	note_departure(prev, preempt, prev_state);
	/* Leaving is noted before recording begins: who is back after that has been away for all of it so
	 * far. */
	if (current_is_recorded(prev)) {
		leave(prev, preempt, prev_state);
		if (!config.has_exit_tp && control.phase == WIRE_RECORDING)
			capture_at_leave(prev);
	}
	if (!config.has_exit_tp && task_is_recorded(next))
		arrive(ctx, next);
	return 0;
}

SEC("?tp_btf/sched_exit_tp")
int BPF_PROG(sched_exit, bool is_switch)
{
	struct task_struct *task = bpf_get_current_task_btf();

	if (is_switch && current_is_recorded(task))
		arrive(ctx, task);
	return 0;
}
