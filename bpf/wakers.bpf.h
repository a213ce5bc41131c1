/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * Wakers: which thread, or interrupt, ended the wait of a thread, where it was then, and who had woken that
 * thread before, if that was what the first one waited for.
 *
 * A wake is noted when it is made, in the waker's own context, because only then is it known where the waker
 * was. It belongs to one wait of one thread, which is known by its number. A wake that finds its thread on
 * its way to sleep may end that wait or keep it from beginning; in the second case nobody asks for the wake,
 * and the one that ends the thread's next wait is noted over it. All is copied at once, so that nothing that
 * the waker does later changes it.
 *
 * An interrupt that wakes is recognized by its frames: the thread that it has interrupted has nothing to do
 * with it.
 */
#ifndef OFFCPU_BPF_WAKERS_BPF_H_
#define OFFCPU_BPF_WAKERS_BPF_H_

#include "filter.bpf.h"
#include "kernel_stack.bpf.h"
#include "task.bpf.h"
#include "user_stack.bpf.h"

const volatile struct wire_waker_config waker_config SEC(".rodata.wakers") = {};

/* What woke a thread, recorded or not. Each part has one writer at a time: a waker holds the thread's lock.
 */
struct wake {
	__u64 out_ns;	/* when it went to sleep last, or was first seen; CLOCK_MONOTONIC */
	__u64 switches; /* which of its waits the wake ended, see switches_of */
	__u32 leaving;	/* it had not left its CPU yet: maybe the one after that */
	__u32 fresh;	/* no interval has had it yet */
	struct wire_woken_interval record;
	struct wire_waker wakers[WIRE_WAKERS]; /* the waker first */
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct wake);
} wakes SEC(".maps");

/* Never under a lock of the scheduler: an allocation might wake somebody. */
static __always_inline void make_wake(struct task_struct *task)
{
	struct wake *wake;

	if (!waker_config.enabled)
		return;
	wake = bpf_task_storage_get(&wakes, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (wake && !wake->out_ns)
		wake->out_ns = bpf_ktime_get_ns();
}

static __always_inline void note_departure(struct task_struct *task, __u32 task_flags)
{
	struct wake *wake;

	if (!waker_config.enabled || !task_flags)
		return;
	wake = bpf_task_storage_get(&wakes, task, 0, 0);
	if (wake)
		wake->out_ns = bpf_ktime_get_ns();
}

enum origin {
	ORIGIN_UNKNOWN,
	ORIGIN_THREAD,
	ORIGIN_INTERRUPT,
};

/* What the frames of a waker's kernel stack say: those from `begin` to `end` are its own. */
struct waker_frames {
	const struct stack_definition *slot;
	__u32 begin;
	__u32 end;
	__u32 softirq_end;
	__u8 is_interrupt;
	__u8 is_backlog;
};

/* Looks at one frame; bpf_loop calls it from the leaf outwards, until it returns 1. */
static long look_at_frame(__u32 index, struct waker_frames *frames)
{
	__u64 address;

	if (index >= WIRE_KERNEL_FRAMES)
		return 1;
	address = frames->slot->frames[index];
	if (index < GLUE_FRAMES && lies_in(address, &waker_config.try_to_wake_up))
		frames->begin = index;
	if (lies_in(address, &waker_config.softirqs[0]) || lies_in(address, &waker_config.softirqs[1]))
		frames->softirq_end = index + 1;
	if (lies_in(address, &waker_config.backlog))
		frames->is_backlog = 1;
	for (int i = 0; i < WIRE_INTERRUPT_ENTRIES; i++) {
		if (!lies_in(address, &waker_config.interrupts[i]))
			continue;
		frames->is_interrupt = 1;
		frames->end = index + 1;
		return 1;
	}
	return 0;
}

/*
 * Softirqs may run in whichever thread lets them, which means nothing, but for the packets of the host to
 * itself: these are delivered as a part of sending them.
 */
static __always_inline __u32 look_at_frames(struct waker_frames *frames, __u32 count,
					    struct task_struct *waker)
{
	bool is_kernel = !waker->pid || waker->flags & PF_KTHREAD;

	frames->end = count;
	bpf_loop(count, look_at_frame, frames, 0);
	if (frames->is_interrupt)
		return ORIGIN_INTERRUPT;
	if (frames->softirq_end && (is_kernel || !frames->is_backlog)) {
		frames->end = frames->softirq_end;
		return ORIGIN_INTERRUPT;
	}
	if (!waker->pid)
		return ORIGIN_INTERRUPT;
	return count < waker_config.max_frames ? ORIGIN_THREAD
					       : ORIGIN_UNKNOWN; /* an entry may lie further out */
}

/* Where the current task is, for the first waker of a wake: its origin, and the id of its kernel stack. */
static __always_inline __u32 waker_stack(void *ctx, struct task_struct *waker, __u64 *id)
{
	__u32 zero = 0, origin = ORIGIN_UNKNOWN, count;
	struct scratch *scratch = bpf_map_lookup_elem(&scratches, &zero);
	struct waker_frames frames = {};
	struct stack_definition *slot;
	__u64 index;

	if (!scratch)
		return origin;
	index = claim_slot(scratch);
	if (index >= SCRATCH_SLOTS)
		goto out;
	frames.slot = slot = &scratch->slots[index];
	count = take_frames(slot, ctx, waker, STACK_OF_CONTEXT);
	if (count)
		origin = look_at_frames(&frames, count, waker);
	if (origin != ORIGIN_UNKNOWN) {
		*id = slot->head.id = cut_and_hash(index, frames.end, frames.begin);
		send_once(slot, false);
	}
out:
	release_slot(scratch);
	return origin;
}

/* The user stack of the waker, which is the current task, a thread in its own context. */
static __always_inline struct user_side waker_user_side(struct task_struct *waker, struct task_struct *wakee,
							__u64 now, __u64 waited_ns)
{
	struct user_side side = {.no_user = WIRE_NO_USER_KERNEL_THREAD};
	struct task_state *state;

	if (waker->flags & PF_KERNELS_OWN)
		return side;
	side.no_user = WIRE_NO_USER_NOT_ASKED;
	if (waited_ns < config.min_wait_ns || !task_is_recorded(wakee) || !tgid_of(waker))
		return side;
	side.no_user = WIRE_NO_USER_NO_BUFFER;
	state = bpf_task_storage_get(&tasks, waker, 0, 0);
	if (!state)
		return side;
	return user_stack_of(waker, state, now, waited_ns >= LONG_WAIT_NS, CONTEXT_WAKER);
}

/* Puts behind the waker those who had woken it, as long as the wakee waited for them too. Returns how many
 * there are then. */
static __always_inline __u32 add_chain(struct wake *wake, struct task_struct *waker, __u64 since_ns)
{
	struct wake *before = bpf_task_storage_get(&wakes, waker, 0, 0);

	if (!before) {
		count(WIRE_COUNT_WAKER_CUT);
		return 1;
	}
	for (__u32 i = 1; i < WIRE_WAKERS; i++) {
		if (i > before->record.count || before->wakers[i - 1].at_ns <= since_ns)
			return i;
		wake->wakers[i] = before->wakers[i - 1];
	}
	return WIRE_WAKERS;
}

static __always_inline void note_wake(void *ctx, struct task_struct *wakee, struct wake *wake)
{
	struct task_struct *waker = bpf_get_current_task_btf();
	struct wire_waker *first = &wake->wakers[0];
	__u64 now = bpf_ktime_get_ns(), since_ns;
	struct user_side side = {};
	__u32 origin;

	wake->leaving = !!wakee->on_cpu;
	wake->switches = switches_of(wakee);
	wake->fresh = 1;
	wake->record.count = 0;
	since_ns = wake->leaving ? now : wake->out_ns;
	first->at_ns = now;
	first->flags = 0;
	origin = waker_stack(ctx, waker, &first->kernel_stack);
	if (origin == ORIGIN_UNKNOWN)
		return;
	if (origin == ORIGIN_INTERRUPT) {
		__builtin_memset(&first->process, 0, sizeof(first->process));
		__builtin_memset(first->comm, 0, sizeof(first->comm));
		first->flags = WIRE_WAKER_INTERRUPT;
		first->cookie = 0;
		first->no_user = WIRE_NO_USER_KERNEL_THREAD;
		wake->record.count = 1;
		return;
	}
	fill_process(&first->process, waker);
	if (!first->process.tgid) /* all that user space cannot see are one */
		__builtin_memset(&first->process, 0, sizeof(first->process));
	bpf_probe_read_kernel_str(first->comm, sizeof(first->comm), &waker->comm);
	side = waker_user_side(waker, wakee, now, now > since_ns ? now - since_ns : 0);
	first->cookie = side.cookie;
	first->no_user = side.cookie ? WIRE_USER_PENDING : side.no_user;
	wake->record.count = first->process.tgid ? add_chain(wake, waker, since_ns) : 1;
}

/* The wake that ended the wait that `task` comes back from, if one is known to have done so. Once a wake. */
static __always_inline struct wake *take_wake(struct task_struct *task, enum presence presence)
{
	struct wake *wake;
	__u64 switches;
	bool is_fresh;

	if (!waker_config.enabled)
		return NULL;
	wake = bpf_task_storage_get(&wakes, task, 0,
				    presence == IS_CURRENT ? BPF_LOCAL_STORAGE_GET_F_CREATE : 0);
	if (!wake)
		return NULL;
	is_fresh = wake->fresh;
	wake->fresh = 0;
	if (!is_fresh || !wake->record.count)
		return NULL;
	switches = switches_of(task);
	if (wake->switches != switches && !(wake->leaving && wake->switches + 1 == switches))
		return NULL;
	return wake;
}

#endif /* OFFCPU_BPF_WAKERS_BPF_H_ */
