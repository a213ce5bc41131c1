// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
/* The BPF programs at which a thread leaves the CPU, and at which it is back. */
#include "clock.bpf.h"
#include "counters.bpf.h"
#include "filter.bpf.h"
#include "interval.bpf.h"
#include "kernel_stack.bpf.h"
#include "ledger.bpf.h"
#include "sampled_cpu.bpf.h"
#include "sampling.bpf.h"
#include "stamp.bpf.h"
#include "sums.bpf.h"
#include "task.bpf.h"
#include "this_cpu.bpf.h"
#include "timing.bpf.h"
#include "user_stack.bpf.h"
#include "user_walk.bpf.h"
#include "wakers.bpf.h"

/* After the end. */
static __always_inline void count_gone(struct task_struct *task, __u32 task_flags)
{
	__u64 start = recording_start(), end = control.end_ns + control.clock_offset;
	const struct stamp *stamp;

	if (control.phase != WIRE_ENDED || !(task_flags & TASK_DEAD))
		return;
	stamp = find_stamp(task);
	if (!stamp || (!stamp->out_ns && stamp->has_run))
		return;
	if (stamp->out_ns > start)
		start = stamp->out_ns;
	if (start < end)
		count_ns(WIRE_COUNT_GONE_AT_END, end - start);
}

/* Counts the last wait of a thread whose arrival no program saw. The kernel knows when it came, and how long
 * a new thread had waited until then. */
static __always_inline void count_untold_arrival(struct task_struct *task, const struct stamp *stamp)
{
	__u64 arrived = task->sched_info.last_arrival, out = stamp->out_ns, start = recording_start();

	if (!config.ends_at_switch || control.phase != WIRE_RECORDING || selection_may_change() ||
	    task->sched_info.pcount != stamp->arrivals + 1)
		return;
	if (!out && !stamp->arrivals)
		out = arrived - task->sched_info.run_delay;
	if (out < start)
		out = start;
	if (out < arrived)
		count_ns(WIRE_COUNT_ARRIVAL_UNTOLD, arrived - out);
}

static __always_inline void stamp_departure(struct task_struct *task, struct stamp *stamp, __u64 now,
					    __u32 task_flags)
{
	stamp->out_ns = now;
	stamp->out_run_delay = task->sched_info.run_delay;
	stamp->out_state = task_flags;
	stamp->knows_state = 1;
	stamp->was_throttled = !task_flags && is_throttled(task);
	stamp->was_moved = 0;
	stamp->arrivals = task->sched_info.pcount;
	stamp->has_run = 1;
}

/* A function of its own, as are others that few switches come to: what most of them run lies together then,
 * and is in the CPU's cache sooner. */
static __noinline void leave_closely(struct task_struct *task, __u64 now, __u32 task_flags)
{
	struct stamp *stamp;

	if (control.phase >= WIRE_ENDED) {
		book_late_end(task, task_flags);
		count_gone(task, task_flags);
		return;
	}
	book_run(task, now, task_flags);
	stamp = find_stamp(task) ?: late_stamp(task);
	if (!stamp) /* made at fork and when recording began: an allocation failed */
		return;
	if (stamp->out_ns || !stamp->has_run)
		count_untold_arrival(task, stamp);
	stamp_departure(task, stamp, now, task_flags);
}

static __always_inline void leave(struct task_struct *task, __u64 now, __u32 task_flags)
{
	struct stamp *stamp = config.ledger || control.phase != WIRE_RECORDING ? NULL : placed_stamp(task);

	if (stamp && !stamp->out_ns && stamp->has_run)
		stamp_departure(task, stamp, now, task_flags);
	else
		leave_closely(task, now, task_flags);
}

/* What was found when the thread left: see keep_user_stack. */
static __always_inline struct user_side take_user_stack(struct task_struct *task, struct task_state *state)
{
	struct user_side side = {.no_user = WIRE_NO_USER_NOT_SEEN_LEAVING};

	if (task->flags & PF_KERNELS_OWN)
		side.no_user = WIRE_NO_USER_KERNEL_THREAD;
	else if (!config.can_read_user)
		side.no_user = WIRE_NO_USER_UNSUPPORTED;
	if (!state)
		return side;
	side.cookie = state->cookie;
	side.user_stack = state->left_stack;
	if (state->left_no_user)
		side.no_user = state->left_no_user;
	state->cookie = state->left_stack = state->left_no_user = 0;
	return side;
}

/* Only a wait that somebody has to end has a waker. */
static __always_inline bool waits_for_waker(const struct stamp *stamp, const struct times *times)
{
	return waker_config.enabled && stamp->knows_state && stamp->out_state &&
	       times->runnable_ns < times->waited_ns;
}

/* Is it recorded? What is not is counted, or stood for by what is. */
static __always_inline bool is_kept(struct task_struct *task, struct wire_account *account,
				    struct stamp *stamp, struct times *times)
{
	if (times->waited_ns < config.min_wait_ns) {
		lose(account, WIRE_COUNT_BELOW_MIN_WAIT, times->waited_ns);
		return false;
	}
	if (config.max_wait_ns && times->waited_ns > config.max_wait_ns) {
		lose(account, WIRE_COUNT_ABOVE_MAX_WAIT, times->waited_ns);
		return false;
	}
	if (config.kinds && !(config.kinds & (1u << kind_of_wait(stamp, system_call(task))))) {
		lose(account, WIRE_COUNT_OTHER_KIND, times->waited_ns);
		return false;
	}
	times->sample_ns = sample_wait(task, stamp, times->waited_ns);
	if (times->sample_ns == NOT_SAMPLED) {
		count_own_ns(WIRE_COUNT_NOT_SAMPLED, times->waited_ns);
		count_left_out_of(stamp->user);
		book_wait(account, times->waited_ns - times->runnable_ns, times->runnable_ns);
		return false;
	}
	count_wait_of(stamp->user);
	return true;
}

/* One walk in so many is proven by a capture, too. */
static __always_inline bool is_proof_due(void)
{
	return config.proof_odds && next_random(this_cpu()) <= ~0U / config.proof_odds;
}

/* Before a capture is asked for, which may be made at once: see user_stack_of. */
static __always_inline void note_walked(struct task_struct *task, struct task_state *state, __u64 user_stack)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);

	state->walked.cookie = 0;
	state->walked.pc = user_pc(regs);
	state->walked.sp = user_sp(regs);
	state->walked.user_stack = user_stack;
}

/* Gets the user stack of the current thread, which is in the kernel: by a walk that ends at a stack that is
 * known, else by a capture. */
static __always_inline struct user_side walked_or_captured(struct task_struct *task, struct task_state *state,
							   __u64 now, bool is_long)
{
	bool may_walk = config.walks_user && state && !state->cookie && !(task->flags & PF_KERNELS_OWN);
	__u64 walked = may_walk ? walked_user_stack(state) : 0;
	bool is_known = walked && is_known_stack(walked);
	struct user_side side = {.user_stack = walked};

	if (walked)
		count_own_ns(is_known ? WIRE_COUNT_USER_WALKED : WIRE_COUNT_USER_WALK_UNKNOWN, 0);
	if (is_known && !is_proof_due())
		return side;
	if (state)
		note_walked(task, state, walked);
	side = user_stack_of(task, state, now, is_long, CONTEXT_SWITCH);
	if (is_known && !side.cookie)
		side.user_stack = walked;
	return side;
}

/* The user stack, found now if the thread is the current one, else when it left. */
static __always_inline struct user_side user_side_of(struct task_struct *task, struct task_state *state,
						     const struct times *times, enum presence presence)
{
	return presence == IS_CURRENT
		       ? walked_or_captured(task, state, times->end_ns, times->waited_ns >= LONG_WAIT_NS)
		       : take_user_stack(task, state);
}

/* A thread that is coming to a CPU, and what is known of the wait that it ends. */
struct arrival {
	struct task_struct *task;
	enum presence presence;
	struct task_state *state; /* NULL: its storage could not be made */
	struct stamp *stamp;
	struct wire_account *account; /* NULL: it has none */
	struct times times;
};

/* Finds what was kept of the thread when it left. False: there is nothing, which is counted unless the kernel
 * hides where it left. */
static __always_inline bool find_departure(struct arrival *arrival)
{
	struct task_struct *task = arrival->task;

	arrival->state =
		arrival->presence == IS_CURRENT ? make_state(task) : bpf_task_storage_get(&tasks, task, 0, 0);
	arrival->stamp = stamp_of(task, arrival->state);
	if (!arrival->stamp && task->sched_info.pcount <= this_arrival(arrival->presence))
		arrival->stamp = late_stamp(task);
	if (arrival->stamp)
		return true;
	if (!has_free_place(task)) /* else it was never seen leaving: the kernel hides it */
		count(WIRE_COUNT_NO_STORAGE);
	return false;
}

/* Takes the wait's times from the stamp, which is used up then, and books the stretch in the account. False:
 * the thread has run in between without being recorded, so the wait's length is not known. */
static __always_inline bool take_times(struct arrival *arrival)
{
	struct task_struct *task = arrival->task;
	struct stamp *stamp = arrival->stamp;
	__u64 now = arrival_ns(task, stamp, arrival->presence);

	arrival->account = account_at_arrival(task, stamp->out_ns, arrival->presence);
	stamp->has_run = 1;
	if (!is_first_arrival(task, stamp, arrival->presence)) {
		stamp->out_ns = 0;
		lose(arrival->account, WIRE_COUNT_JOINED_AWAY, skip_unseen(arrival->account, task, now));
		return false;
	}
	arrival->times = interval_times(task, stamp, now, arrival->presence);
	if (stamp->was_moved)
		count_ns(WIRE_COUNT_QUEUE_TIME_UNKNOWN, arrival->times.waited_ns);
	stamp->out_ns = 0;
	end_stretch(arrival->account, task, now, arrival->times.waited_ns);
	return true;
}

/* Tells user space of a wait that is recorded: with its waker if that is known, in a sum, or by itself. */
static __always_inline void tell_wait(void *ctx, struct arrival *arrival)
{
	struct task_struct *task = arrival->task;
	int syscall = system_call(task);
	__u32 kind = kind_of_wait(arrival->stamp, syscall);
	__u64 stack = stack_of_wait(ctx, task, arrival->presence);
	struct user_side side = user_side_of(task, arrival->state, &arrival->times, arrival->presence);
	struct wake *wake = take_wake(task, arrival->presence);

	if (waits_for_waker(arrival->stamp, &arrival->times)) {
		if (wake) {
			send_woken(task, arrival->account, &arrival->times, stack, side, kind, syscall, wake);
			return;
		}
		count_ns(WIRE_COUNT_WAKER_UNKNOWN, arrival->times.waited_ns);
	}
	if (sum_interval(task, &arrival->times, stack, side, kind, syscall))
		return;
	send_interval(task, arrival->account, &arrival->times, stack, side, kind, syscall);
}

/* The thread runs again. */
static __always_inline void come_back(void *ctx, struct task_struct *task, enum presence presence)
{
	struct arrival arrival = {.task = task, .presence = presence};

	if (!find_departure(&arrival))
		return;
	/* Whether a thread is in a control group is known only of the current one: it was not when it left.
	 */
	if (presence == ABOUT_TO_RUN && cgroups_matter() && !arrival.stamp->out_ns)
		return;
	if (take_times(&arrival) && is_kept(task, arrival.account, arrival.stamp, &arrival.times))
		tell_wait(ctx, &arrival);
	else
		take_wake(task, presence);
}

/* Is the arrival of a thread over before sched_exit_tp? Kernels of some sandboxes hide tasks from BPF
 * programs, which are not called where such a one leaves: who comes then is seen at sched_exit_tp only. */
static __always_inline bool was_told(struct task_struct *task)
{
	struct wire_cpu *cpu = this_cpu();

	return cpu ? cpu->told_tid == (__u32)task->pid : config.ends_at_switch;
}

/* Before recording begins: what was stamped until here is over. */
static __always_inline void note_arrival(struct task_struct *task, __u64 now)
{
	struct stamp *stamp = find_stamp(task);

	note_early_arrival(task, now);
	if (!stamp)
		return;
	stamp->out_ns = 0;
	stamp->has_run = 1;
}

/* Recording has ended. Before the thread is listed it may call execve: its wait was not the new program's. */
static __always_inline void note_late_arrival(struct task_struct *task)
{
	struct task_state *state = bpf_task_storage_get(&tasks, task, 0, 0);

	if (state && !state->late_exec_id)
		state->late_exec_id = task->self_exec_id + 1;
}

static __always_inline void end_wait(void *ctx, struct task_struct *task, enum presence presence)
{
	struct wire_cpu *cpu = this_cpu();

	begin_timing(cpu ? &cpu->arrivals : NULL);
	come_back(ctx, task, presence);
	end_timing(cpu ? &cpu->arrivals : NULL);
}

static __always_inline void arrive(void *ctx, struct task_struct *task, __u64 now, enum presence presence)
{
	if (control.phase == WIRE_RECORDING)
		end_wait(ctx, task, presence);
	else if (control.phase < WIRE_ENDED)
		note_arrival(task, now);
	else
		note_late_arrival(task);
}

static __noinline void arrive_at_switch(void *ctx, struct task_struct *task, __u64 now)
{
	arrive(ctx, task, now, ABOUT_TO_RUN);
}

/* Nothing more has to be done of the wait that `next` ends. */
static __always_inline bool is_passed_over_at_switch(struct task_struct *next, struct wire_cpu *cpu,
						     __u64 now)
{
	struct stamp *place;

	if (!cpu || !config.samples_at_switch || control.phase != WIRE_RECORDING)
		return false;
	place = placed_stamp(next);
	return place && is_passed_over(next, place, cpu, now);
}

/* Walks the stack that `next` waited at, if that is recorded, as long as all of it is there. */
static __always_inline void keep_stack_of_wait(struct task_struct *next, struct wire_cpu *cpu)
{

	if (!config.keeps_stacks || control.phase != WIRE_RECORDING)
		return;
	begin_timing(cpu ? &cpu->kernel_stacks : NULL);
	keep_stack(next);
	end_timing(cpu ? &cpu->kernel_stacks : NULL);
}

/* Kernels that cannot defer captures: the user memory of a thread that is coming back is out of reach, so its
 * stack is found when it leaves, while it still is the current one. */
static __noinline int keep_user_stack(struct task_struct *task, __u64 now)
{
	struct task_state *state = bpf_task_storage_get(&tasks, task, 0, 0);
	struct user_side side;

	if (!state)
		return 0;
	state->cookie = 0; /* of a wait that was left out: it has not taken what was found for it */
	side = walked_or_captured(task, state, now, false);
	state->cookie = side.cookie;
	state->left_stack = side.user_stack;
	state->left_no_user = side.no_user;
	return 0;
}

/* Ends the wait that `next` comes back from here, as far as that can be. */
static __always_inline void end_wait_at_switch(void *ctx, struct task_struct *next, struct wire_cpu *cpu,
					       __u64 now)
{
	bool is_recorded = task_is_recorded(next),
	     is_over = is_recorded && is_passed_over_at_switch(next, cpu, now);

	if (is_recorded && !is_over && config.ends_at_switch)
		arrive_at_switch(ctx, next, now);
	else if (is_recorded && !is_over)
		keep_stack_of_wait(next, cpu);
	if (cpu && (is_over || config.ends_at_switch))
		cpu->told_tid = next->pid;
}

/* Lets go of a thread that is dead, recorded or not: its number will be another's. */
static __always_inline void forget(struct task_struct *task)
{
	if (control.phase < WIRE_ENDED)
		release_stamp(task);
	settle_dead(task);
}

static __always_inline void switch_threads(void *ctx, struct wire_cpu *cpu, struct task_struct *prev,
					   struct task_struct *next, __u32 prev_state)
{
	struct moment at = moment_of_switch(prev);

	learn_clock_offset(at.clock);
	note_idle(prev, next);
	note_stolen(at);
	note_departure(prev, prev_state);
	/* Leaving is noted before recording begins: who is back after that has been away for all of it so
	 * far. */
	if (current_is_recorded(prev)) {
		leave(prev, departure_ns(prev, at), prev_state);
		if (config.ends_at_switch && control.phase == WIRE_RECORDING)
			keep_user_stack(prev, at.clock);
	} else if (control.phase == WIRE_RECORDING && is_selected_unseen(prev)) {
		count(WIRE_COUNT_UNSEEN);
	}
	if (prev_state & TASK_DEAD)
		forget(prev);
	if (cpu)
		cpu->told_tid = cpu->sampled_tid = 0;
	end_wait_at_switch(ctx, next, cpu, at.clock);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(sched_switch, bool preempt, struct task_struct *prev, struct task_struct *next,
	     unsigned int prev_state)
{
	struct wire_cpu *cpu = this_cpu();

	begin_timing(cpu ? &cpu->switches : NULL);
	switch_threads(ctx, cpu, prev, next, preempt ? 0 : prev_state);
	end_timing(cpu ? &cpu->switches : NULL);
	return 0;
}

/* Loaded only where there is task work, too. */
SEC("?tp_btf/sched_exit_tp")
int BPF_PROG(sched_exit, bool is_switch)
{
	struct task_struct *task = bpf_get_current_task_btf();

	if (OFFCPU_TASK_WORK_ARGS && is_switch && !was_told(task) && current_is_recorded(task))
		arrive(ctx, task, scheduler_clock(task), IS_CURRENT);
	return 0;
}
