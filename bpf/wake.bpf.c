// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
/* The BPF program at which a thread is woken. */
#include "timing.bpf.h"
#include "wakers.bpf.h"

/* In the waker, under the lock of the thread that is woken. */
SEC("?tp_btf/sched_waking")
int BPF_PROG(sched_waking, struct task_struct *wakee)
{
	struct wire_cpu *cpu;
	struct wake *wake;

	if (control.phase != WIRE_RECORDING)
		return 0;
	cpu = this_cpu();
	begin_timing(cpu ? &cpu->wakes : NULL);
	wake = bpf_task_storage_get(&wakes, wakee, 0, 0);
	if (wake)
		note_wake(ctx, wakee, wake);
	end_timing(cpu ? &cpu->wakes : NULL);
	return 0;
}
