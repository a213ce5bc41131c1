// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
/*
 * On-CPU samples: what a thread does when its CPU's sampling event fires, by the same stacks as its waits.
 * The program runs in an interrupt, where the event is one of the hardware in an NMI, and may find any other
 * program of ours half done on its CPU: it shares nothing with them but what is atomic, and never takes a
 * lock that they could hold.
 *
 * A thread in user mode is in no kernel entry before the interrupt, which begins one. One in the kernel is in
 * a kernel entry already, whose cookie it has or gets.
 */
#include "clock.bpf.h"
#include "counters.bpf.h"
#include "filter.bpf.h"
#include "kernel_stack.bpf.h"
#include "machine.bpf.h"
#include "rings.bpf.h"
#include "sampled_cpu.bpf.h"
#include "task.bpf.h"
#include "user_stack.bpf.h"

static __always_inline void send_sample(struct task_struct *task, __u64 now, __u64 kernel_stack,
					struct user_side side, bool in_user, bool in_entry)
{
	struct wire_sample *record = bpf_ringbuf_reserve(&intervals, sizeof(*record), 0);

	if (!record) {
		count_ns(ring_is_full(&intervals, sizeof(*record)) ? WIRE_COUNT_SAMPLE_RING_FULL
								   : WIRE_COUNT_SAMPLE_RING_BUSY,
			 control.sample_period_ns);
		return;
	}
	record->type = WIRE_SAMPLE;
	record->cookie = side.cookie;
	record->no_user = side.cookie ? WIRE_USER_PENDING : side.no_user;
	record->kernel_stack = kernel_stack;
	record->at_ns = now;
	record->syscall = in_user || in_entry ? -1 : system_call(task);
	record->in_user = in_user;
	record->cgroup = control_group_of(task);
	fill_process(&record->process, task);
	bpf_probe_read_kernel_str(record->comm, sizeof(record->comm), &task->comm);
	submit_record(&intervals, record);
}

/* Each stands for milliseconds: its stack is worth as much as that of a long wait. In the code by which the
 * kernel is entered the user's registers may not have been stored yet: those of the kernel entry before are
 * there. */
static __always_inline void take_sample(void *ctx, struct task_struct *task, bool in_user, bool in_entry)
{
	__u64 now = scheduler_clock(task), kernel_stack = 0;
	struct user_side side = {.no_user = WIRE_NO_USER_UNREADABLE};
	struct task_state *state;

	if (!current_is_recorded(task))
		return;
	state = bpf_task_storage_get(&tasks, task, 0, 0);
	if (!state) { /* made at fork and when recording began: an allocation failed */
		count_ns(WIRE_COUNT_SAMPLE_NO_STORAGE, control.sample_period_ns);
		return;
	}
	if (!in_user)
		kernel_stack = kernel_stack_id(ctx, task, STACK_OF_SAMPLE);
	if (!in_entry)
		side = user_stack_of(task, state, now, true, CONTEXT_SAMPLE);
	send_sample(task, now, kernel_stack, side, in_user, in_entry);
}

SEC("?perf_event")
int sample(struct bpf_perf_event_data *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();

	if (control.phase != WIRE_RECORDING)
		return 0;
	count_ns(WIRE_COUNT_SAMPLE, ctx->sample_period);
	count_missed();
	take_sample(ctx, task, was_in_user_mode(ctx),
		    sampled_pc(ctx) - config.entry_begin < config.entry_end - config.entry_begin);
	return 0;
}

/* The same body in real NMIs of machines without a PMU: for tests only. */
SEC("?tp_btf/nmi_handler")
int BPF_PROG(sample_nmi, void *handler, __s64 delta_ns, int handled)
{
	struct task_struct *task = bpf_get_current_task_btf();

	if (control.phase != WIRE_RECORDING)
		return 0;
	count(WIRE_COUNT_SAMPLE);
	take_sample(ctx, task, false, false);
	return 0;
}
