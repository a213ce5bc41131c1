/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * Captures: the user registers and the top of the user stack, under the cookie of a kernel entry.
 *
 * Asked for once a kernel entry and made by task work, when the thread is about to return to user mode and
 * may take page faults. While that is pending, later intervals of the thread carry the same cookie: it cannot
 * have been back in user mode in between. Where there is no task work, or its budget is spent, the resident
 * part of the stack is copied at once, under a cookie that names this one interval.
 */
#ifndef OFFCPU_BPF_REQUEST_BPF_H_
#define OFFCPU_BPF_REQUEST_BPF_H_

#include "budget.bpf.h"
#include "capture.bpf.h"
#include "counters.bpf.h"
#include "rings.bpf.h"
#include "task.bpf.h"
#include "watchdog.bpf.h"

#define REQUESTS 16384

/* By cookie, so that nothing here is ever taken for something older. */
struct request {
	struct bpf_task_work work;
	__u64 mm; /* the address space that the cookie's stack lies in */
	__u64 wanted_bytes;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, REQUESTS);
	__type(key, __u64);
	__type(value, struct request);
} requests SEC(".maps");

#if OFFCPU_TASK_WORK_ARGS == 5
extern int bpf_task_work_schedule_resume_impl(struct task_struct *task, struct bpf_task_work *work, void *map,
					      int (*callback)(struct bpf_map *, void *, void *),
					      void *aux) __ksym __weak;
#define schedule_task_work(task, work, map, callback)                                                        \
	bpf_task_work_schedule_resume_impl(task, work, map, callback, NULL)
#elif OFFCPU_TASK_WORK_ARGS == 4
extern int bpf_task_work_schedule_resume(struct task_struct *task, struct bpf_task_work *work, void *map,
					 int (*callback)(struct bpf_map *, void *, void *)) __ksym __weak;
#define schedule_task_work(task, work, map, callback) bpf_task_work_schedule_resume(task, work, map, callback)
#else
/* Never called: config.has_task_work is false. */
#define schedule_task_work(task, work, map, callback) ((void)(task), (void)(work), (void)(callback), -1)
#endif

static __always_inline void send_failure(__u64 cookie, __u32 no_user)
{
	struct wire_capture_failed *record = bpf_ringbuf_reserve(&intervals, sizeof(*record), 0);

	if (!record) {
		count(WIRE_COUNT_CAPTURE_ANSWER_LOST);
		return;
	}
	record->type = WIRE_CAPTURE_FAILED;
	record->no_user = no_user;
	record->cookie = cookie;
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
}

/* What was asked for will not run, or too late to find the stack. */
static __always_inline void cancel_request(struct task_state *state, __u32 no_user)
{
	__u64 cookie = state->cookie;

	bpf_map_delete_elem(&requests, &cookie);
	send_failure(cookie, no_user);
	state->cookie = 0;
}

/* Where a program may sleep the kernel makes room for new storage in a recorder whose memory is used up: for
 * seconds, in the thread's time. It does not while RCU is read. */
static __always_inline struct task_state *state_without_sleep(struct task_struct *task)
{
	struct task_state *state;

	bpf_rcu_read_lock();
	state = bpf_task_storage_get(&tasks, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	bpf_rcu_read_unlock();
	return state;
}

/* Runs in the thread itself on its way to user mode; sleeps where the stack must be faulted in. Its own waits
 * carry the cookie too, which is why it is cleared last. */
static int on_return_to_user(struct bpf_map *map, void *key, void *value)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct task_state *state = state_without_sleep(task);
	struct request *request = value;
	__u64 preempted = BPF_CORE_READ(task, nivcsw), slept = BPF_CORE_READ(task, nvcsw);
	__u64 cookie = *(__u64 *)key, began = bpf_ktime_get_ns();
	__u32 no_user, context = (cookie >> 46) & 3;

	if (!state || !untrusted(task)->mm) {
		no_user = WIRE_NO_USER_EXITING;
	} else if ((__u64)untrusted(task)->mm != request->mm) {
		no_user = WIRE_NO_USER_EXEC;
	} else {
		no_user = send_capture(cookie, request->wanted_bytes, context, true);
		if (no_user == TRY_AGAIN) {
			fault_in(state, task, request->wanted_bytes);
			no_user = send_capture(cookie, request->wanted_bytes, context, false);
		}
	}
	book_capture(began, preempted, slept, context);
	if (no_user != WIRE_USER_PENDING)
		send_failure(cookie, no_user);
	if (state && state->cookie == cookie)
		state->cookie = 0;
	bpf_map_delete_elem(&requests, &cookie);
	return 0;
}

static __always_inline bool request_capture(struct task_struct *task, __u64 cookie, __u32 wanted)
{
	struct request fresh = {.mm = (__u64)untrusted(task)->mm, .wanted_bytes = wanted}, *request;

	if (bpf_map_update_elem(&requests, &cookie, &fresh, BPF_NOEXIST))
		goto refused;
	request = bpf_map_lookup_elem(&requests, &cookie);
	if (request && !schedule_task_work(task, &request->work, &requests, on_return_to_user)) {
		count(WIRE_COUNT_TASK_WORK);
		return true;
	}
	bpf_map_delete_elem(&requests, &cookie);
refused:
	count(WIRE_COUNT_TASK_WORK_REFUSED);
	return false;
}

static __always_inline bool can_run_task_work(struct task_struct *task)
{
	return config.has_task_work && !(task->flags & (PF_EXITING | PF_KERNELS_OWN));
}

#endif /* OFFCPU_BPF_REQUEST_BPF_H_ */
