/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * How the user stack of an event comes about: by the capture of the kernel entry that is pending, by one that
 * is asked for now, or, where there is no task work or its budget is spent, by a copy at once, under a cookie
 * that names this one interval.
 */
#ifndef OFFCPU_BPF_USER_STACK_BPF_H_
#define OFFCPU_BPF_USER_STACK_BPF_H_

#include "budget.bpf.h"
#include "capture.bpf.h"
#include "request.bpf.h"
#include "task.bpf.h"
#include "users.bpf.h"
#include "watchdog.bpf.h"

/* From here on a wait gets a larger stack copy and may use the last quarter of a budget. */
#define LONG_WAIT_NS 1000000ULL

/* A wait may be its thread's only one, without a second try: after a long wait, and while the budget is rich,
 * the first try takes more. */
static __always_inline __u32 hinted_bytes(__u32 tid, bool is_generous)
{
	struct wire_stack_hint *hint = bpf_map_lookup_elem(&stack_hints, &tid);
	__u32 bytes = is_generous ? WIRE_STACK_GENEROUS_BYTES : WIRE_STACK_MIN_BYTES;

	if (hint && hint->bytes > bytes)
		bytes = hint->bytes;
	return bytes > WIRE_STACK_MAX_BYTES ? WIRE_STACK_MAX_BYTES : bytes;
}

static __always_inline __u32 piece_bytes(__u32 tid)
{
	struct wire_stack_hint *hint = bpf_map_lookup_elem(&stack_hints, &tid);

	return hint ? hint->pieces * WIRE_PIECE_BYTES : 0;
}

struct user_side {
	__u64 cookie;
	__u64 user_stack; /* id of the stack, which has been walked: there is no capture */
	__u32 no_user;
};

static __always_inline __u64 new_cookie(struct budget *budget, __u32 context)
{
	return ((__u64)bpf_get_smp_processor_id() << 48) | ((__u64)context << 46) | ++budget->cookies;
}

/* Decides how the user stack of an event of the current thread comes about. Without a state the cookie stands
 * for this event alone, and the capture makes one. */
static __always_inline struct user_side user_stack_of(struct task_struct *task, struct task_state *state,
						      __u64 now, bool is_long, enum context context)
{
	/* Only a pending request proves that the thread has not been back in user mode. */
	struct user_side side = {.cookie = state && config.has_task_work ? state->cookie : 0};
	__u32 key = context;
	struct budget *budget = bpf_map_lookup_elem(&budgets, &key);
	bool is_published = false;
	__u64 earned, began;
	__u32 wanted, paid, tid;

	if (side.cookie)
		return side;
	side.no_user = WIRE_NO_USER_KERNEL_THREAD;
	if (task->flags & PF_KERNELS_OWN)
		return side;
	side.no_user = WIRE_NO_USER_UNSUPPORTED;
	if (!config.can_read_user || !budget)
		return side;
	if (!untrusted(task)->mm) {
		side.no_user = WIRE_NO_USER_EXITING;
		return side;
	}
	earned = earned_ns(&budget->last_ns, now);
	earn(&budget->task_work_ns, earned);
	earn(&budget->bytes_ns, earned);
	side.no_user = WIRE_NO_USER_BUDGET; /* first what is quickly checked, where most are refused */
	if (!can_spend(budget->bytes_ns, price_ns(WIRE_STACK_MIN_BYTES), is_long))
		return side;
	side.no_user = WIRE_NO_USER_SWITCHED_OFF;
	if (is_switched_off(task))
		return side;
	tid = tid_of(task);
	wanted = hinted_bytes(tid, is_long || budget->bytes_ns > NS_PER_SECOND / 2);
	side.no_user = WIRE_NO_USER_BUDGET;
	paid = wanted + piece_bytes(tid);
	if (!spend(&budget->bytes_ns, price_ns(paid), is_long))
		return side;
	side.cookie = new_cookie(budget, context);
	if (context == CONTEXT_SWITCH && state)
		state->walked.cookie = side.cookie; /* what was walked was noted before */
	if (context == CONTEXT_SWITCH)
		count_capture_of(user_of(task));
	if (can_run_task_work(task) && spend(&budget->task_work_ns, task_work_price_ns(), is_long)) {
		/* Set before the request: it may be served before this returns. An event of another context
		 * may have been quicker since the look at it above. */
		__u64 other = state ? __sync_val_compare_and_swap(&state->cookie, 0, side.cookie) : 0;

		if (other) {
			side.cookie = other;
			refund(paid, context);
			earn(&budget->task_work_ns, task_work_price_ns());
			return side;
		}
		if (request_capture(task, side.cookie, wanted))
			return side;
		is_published = state;
		if (state)
			state->cookie = 0;
	}
	began = bpf_ktime_get_ns();
	side.no_user = send_capture(side.cookie, wanted, context, false);
	book_capture(began, BPF_CORE_READ(task, nivcsw), BPF_CORE_READ(task, nvcsw), context);
	if (side.no_user == WIRE_USER_PENDING) {
		count(WIRE_COUNT_COPIED_AT_ONCE);
		return side;
	}
	if (is_published) /* another context's event may have taken it */
		send_failure(side.cookie, side.no_user);
	side.cookie = 0;
	return side;
}

#endif /* OFFCPU_BPF_USER_STACK_BPF_H_ */
