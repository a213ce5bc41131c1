/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * Captures: the user registers and the top of the user stack, under the cookie of a stay in the kernel.
 *
 * Asked for once a stay and made by task work, when the thread is about to return to user mode and may take
 * page faults. While that is pending, later intervals of the thread carry the same cookie: it cannot have
 * been back in user mode in between. Where there is no task work, or its budget is spent, the resident part
 * of the stack is copied at once, under a cookie that names this one interval.
 */
#ifndef OFFCPU_BPF_CAPTURE_BPF_H_
#define OFFCPU_BPF_CAPTURE_BPF_H_

#include "budget.bpf.h"
#include "code.bpf.h"
#include "stack_memory.bpf.h"
#include "state.bpf.h"
#include "watchdog.bpf.h"

/* From here on a wait gets a larger window and may use the last quarter of a budget. */
#define LONG_WAIT_NS 1000000ULL
#define REQUESTS 16384
#define TRY_AGAIN 0x100 /* beside every wire_no_user */

/* A page of slack lets the verifier see that a page may be copied to any offset in use. */
struct capture_record {
	struct wire_capture head;
	__u8 stack[WIRE_STACK_MAX_BYTES + WIRE_PAGE_BYTES];
};

struct thread_record {
	struct wire_thread head;
	__u64 frames[WIRE_KERNEL_FRAMES];
};

/* A copy may sleep, so it cannot use the CPU's own memory: whoever sets `busy` owns the buffer. */
struct capture_buffer {
	__u64 busy;
	struct code_work code;
	struct thread_record thread;
	struct capture_record record;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 8); /* set before loading, see wire_config */
	__type(key, __u32);
	__type(value, struct capture_buffer);
} buffers SEC(".maps");

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

/* How many bytes a thread's stack has needed so far. Written by the walker: a hint, so that a tid may be
 * reused. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, __u32); /* tid */
	__type(value, __u32);
} windows SEC(".maps");

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

/* A wait may be its thread's only one, without a second try: after a long wait, and while the budget is rich,
 * the first try takes more. */
static __always_inline __u32 window_bytes(__u32 tid, bool is_generous)
{
	__u32 *hint = bpf_map_lookup_elem(&windows, &tid);
	__u32 bytes = is_generous ? WIRE_STACK_GENEROUS_BYTES : WIRE_STACK_MIN_BYTES;

	if (hint && *hint > bytes)
		bytes = *hint;
	return bytes > WIRE_STACK_MAX_BYTES ? WIRE_STACK_MAX_BYTES : bytes;
}

/* Claims a buffer, starting at this CPU's own; NULL if all are in use. */
static __always_inline struct capture_buffer *claim_buffer(void)
{
	__u32 first = bpf_get_smp_processor_id();

	for (__u32 i = 0; i < 8; i++) {
		__u32 key = (first + i) % (config.buffers ?: 1);
		struct capture_buffer *buffer = bpf_map_lookup_elem(&buffers, &key);

		if (buffer && !__sync_val_compare_and_swap(&buffer->busy, 0, 1))
			return buffer;
	}
	return NULL;
}

static __always_inline void release_buffer(struct capture_buffer *buffer)
{
	__sync_lock_test_and_set(&buffer->busy, 0);
}

static __always_inline void fill_registers(__u64 *registers, const struct pt_regs *regs)
{
	registers[0] = BPF_CORE_READ(regs, ax);
	registers[1] = BPF_CORE_READ(regs, dx);
	registers[2] = BPF_CORE_READ(regs, cx);
	registers[3] = BPF_CORE_READ(regs, bx);
	registers[4] = BPF_CORE_READ(regs, si);
	registers[5] = BPF_CORE_READ(regs, di);
	registers[6] = BPF_CORE_READ(regs, bp);
	registers[7] = BPF_CORE_READ(regs, sp);
	registers[8] = BPF_CORE_READ(regs, r8);
	registers[9] = BPF_CORE_READ(regs, r9);
	registers[10] = BPF_CORE_READ(regs, r10);
	registers[11] = BPF_CORE_READ(regs, r11);
	registers[12] = BPF_CORE_READ(regs, r12);
	registers[13] = BPF_CORE_READ(regs, r13);
	registers[14] = BPF_CORE_READ(regs, r14);
	registers[15] = BPF_CORE_READ(regs, r15);
	registers[16] = BPF_CORE_READ(regs, ip);
}

/* rcx and r11 are void then. */
static __always_inline bool is_in_syscall(const struct pt_regs *regs)
{
	return (long)BPF_CORE_READ(regs, orig_ax) >= 0;
}

/* Says what lies above what was copied: `end` is where the stack's mapping ends. */
static __always_inline __u32 what_is_above(__u64 copied_to, __u64 wanted_to, __u64 end, bool is_known)
{
	if (copied_to >= wanted_to)
		return WIRE_ABOVE_MORE;
	return copied_to >= end && is_known ? WIRE_ABOVE_END : WIRE_ABOVE_UNREAD;
}

struct stack_copy {
	struct capture_record *record;
	__u64 sp;
	__u32 bytes, take; /* copied, and to be copied */
};

/* Of bpf_loop; 1 ends it. */
static long copy_page(__u32 index, struct stack_copy *copy)
{
	__u32 bytes = copy->bytes, chunk = WIRE_PAGE_BYTES - ((copy->sp + bytes) & (WIRE_PAGE_BYTES - 1));

	if (bytes >= copy->take || bytes > WIRE_STACK_MAX_BYTES)
		return 1;
	if (chunk > copy->take - bytes)
		chunk = copy->take - bytes;
	barrier_var(chunk); /* else the bound is checked of other registers: too much for 6.1 */
	if (chunk > WIRE_PAGE_BYTES)
		return 1;
	if (bpf_probe_read_user(copy->record->stack + bytes, chunk, (void *)(copy->sp + bytes)))
		return 1;
	copy->bytes = bytes + chunk;
	return 0;
}

/*
 * Copies what is resident of the current task's stack from the stack pointer upwards, page by page. Returns a
 * wire_no_user; WIRE_USER_PENDING: the capture is on its way; TRY_AGAIN, of a first try only: there is a page
 * that is not resident and may be faulted in. A global function, so that the verifier goes through it once
 * and not from every place that it is called at.
 */
__noinline int send_capture(__u64 cookie, __u32 wanted, __u32 context, __u32 is_first_try)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct task_state *state = bpf_task_storage_get(&tasks, task, 0, 0);
	struct capture_buffer *buffer = state ? claim_buffer() : NULL;
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
	__u32 bytes, take = wanted, result = WIRE_NO_USER_UNREADABLE;
	struct capture_record *record;
	struct stack_copy copy = {};
	__u64 sp, end;

	if (!buffer || !state) {
		refund(wanted, context);
		return WIRE_NO_USER_NO_BUFFER;
	}
	record = &buffer->record;
	fill_registers(record->head.registers, regs);
	record->head.in_syscall = is_in_syscall(regs);
	/* First: on some kernels one walk of the mappings is all there is, and it may find the stack too. */
	tell_code(&buffer->code, context);
	sp = record->head.registers[7];
	end = stack_end(state, task, sp);
	if (end - sp < take)
		take = end - sp;
	copy.record = record;
	copy.sp = sp;
	copy.take = take;
	bpf_loop(WIRE_STACK_MAX_BYTES / WIRE_PAGE_BYTES + 1, copy_page, &copy, 0);
	bytes = copy.bytes;
	if (is_first_try && bytes < take && may_fault_now(state, task)) {
		result = TRY_AGAIN;
		goto out;
	}
	/* What was being changed before may be at rest now. */
	if (config.has_vma_iter && !buffer->code.code.hash && !buffer->code.code.sequence)
		tell_code(&buffer->code, context);
	if (config.has_vma_iter && !buffer->code.code.hash)
		count(WIRE_COUNT_CODE_UNKNOWN);
	if (bytes < wanted)
		refund(wanted - bytes, context);
	if (!bytes || bytes > WIRE_STACK_MAX_BYTES)
		goto out;
	record->head.type = WIRE_CAPTURE;
	record->head.cookie = cookie;
	record->head.code = buffer->code.code;
	record->head.stack_bytes = bytes;
	record->head.above = what_is_above(sp + bytes, sp + wanted, end, state->stack.end == end);
	fill_process(&record->head.process, task);
	result = WIRE_USER_PENDING;
	if (bpf_ringbuf_output(&captures, record, sizeof(record->head) + bytes, BPF_RB_NO_WAKEUP)) {
		count(ring_is_full(&captures, sizeof(record->head) + bytes) ? WIRE_COUNT_CAPTURE_RING_FULL
									    : WIRE_COUNT_CAPTURE_RING_BUSY);
		result = WIRE_NO_USER_RING_FULL;
	}
out:
	release_buffer(buffer);
	return result;
}

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

/* Runs in the thread itself on its way to user mode; sleeps where the stack must be faulted in. Its own waits
 * carry the cookie too, which is why it is cleared last. */
static int on_return_to_user(struct bpf_map *map, void *key, void *value)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct task_state *state = bpf_task_storage_get(&tasks, task, 0, 0);
	struct request *request = value;
	__u64 cookie = *(__u64 *)key, began = bpf_ktime_get_ns(), preempted = BPF_CORE_READ(task, nivcsw);
	__u32 no_user, context = (cookie >> 46) & 3;

	if (!state || !task->mm) {
		no_user = WIRE_NO_USER_EXITING;
	} else if ((__u64)task->mm != request->mm) {
		no_user = WIRE_NO_USER_EXEC;
	} else {
		no_user = send_capture(cookie, request->wanted_bytes, context, true);
		if (no_user == TRY_AGAIN) {
			fault_in(state, task, request->wanted_bytes);
			no_user = send_capture(cookie, request->wanted_bytes, context, false);
		}
	}
	book_capture(began, preempted, context);
	if (no_user != WIRE_USER_PENDING)
		send_failure(cookie, no_user);
	if (state && state->cookie == cookie)
		state->cookie = 0;
	bpf_map_delete_elem(&requests, &cookie);
	return 0;
}

static __always_inline bool request_capture(struct task_struct *task, __u64 cookie, __u32 wanted)
{
	struct request fresh = {.mm = (__u64)task->mm, .wanted_bytes = wanted}, *request;

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
	return config.has_task_work &&
	       !(task->flags & (PF_EXITING | PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER));
}

struct user_side {
	__u64 cookie;
	__u32 no_user;
};

static __always_inline __u64 new_cookie(struct budget *budget, __u32 context)
{
	return ((__u64)bpf_get_smp_processor_id() << 48) | ((__u64)context << 46) | ++budget->cookies;
}

/* Decides how the user stack of an event of `task`, the current one, comes about. */
static __always_inline struct user_side user_stack_of(struct task_struct *task, struct task_state *state,
						      __u64 now, bool is_long, enum context context)
{
	/* Only a pending request proves that the thread has not been back in user mode. */
	struct user_side side = {.cookie = config.has_task_work ? state->cookie : 0};
	__u32 key = context;
	struct budget *budget = bpf_map_lookup_elem(&budgets, &key);
	bool is_published = false;
	__u64 earned, began;
	__u32 wanted;

	if (side.cookie)
		return side;
	side.no_user = WIRE_NO_USER_KERNEL_THREAD;
	if (task->flags & PF_KTHREAD)
		return side;
	side.no_user = WIRE_NO_USER_UNSUPPORTED;
	if (!config.can_read_user || !budget)
		return side;
	if (!task->mm) {
		side.no_user = WIRE_NO_USER_EXITING;
		return side;
	}
	side.no_user = WIRE_NO_USER_SWITCHED_OFF;
	if (is_switched_off())
		return side;
	earned = earned_ns(&budget->last_ns, now);
	earn(&budget->task_work_ns, earned);
	earn(&budget->bytes_ns, earned);
	wanted = window_bytes(task->pid, is_long || budget->bytes_ns > NS_PER_SECOND / 2);
	side.no_user = WIRE_NO_USER_BUDGET;
	if (!spend(&budget->bytes_ns, price_ns(wanted, context), is_long))
		return side;
	side.cookie = new_cookie(budget, context);
	if (can_run_task_work(task) && spend(&budget->task_work_ns, task_work_price_ns(context), is_long)) {
		/* Set before the request: it may be served before this returns. An event of another context
		 * may have been quicker since the look at it above. */
		__u64 other = __sync_val_compare_and_swap(&state->cookie, 0, side.cookie);

		if (other)
			side.cookie = other;
		if (other || request_capture(task, side.cookie, wanted))
			return side;
		is_published = true;
		state->cookie = 0;
	}
	began = bpf_ktime_get_ns();
	side.no_user = send_capture(side.cookie, wanted, context, false);
	book_capture(began, BPF_CORE_READ(task, nivcsw), context);
	if (side.no_user == WIRE_USER_PENDING) {
		count(WIRE_COUNT_COPIED_AT_ONCE);
		return side;
	}
	if (is_published) /* another context's event may have taken it */
		send_failure(side.cookie, side.no_user);
	side.cookie = 0;
	return side;
}

#endif /* OFFCPU_BPF_CAPTURE_BPF_H_ */
