/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * What differs between machines, in a header for each, under the same names: the registers that a capture
 * carries, the numbers of system calls, what distinguishes user mode from the kernel, where a thread was
 * switched out, and signatures of return addresses. Beside these headers, those of kernel_types.h and
 * kernel_frames.bpf.h, and numbers in wire.h, nothing here depends on the machine.
 */
#ifndef OFFCPU_BPF_MACHINE_BPF_H_
#define OFFCPU_BPF_MACHINE_BPF_H_

#include "config.bpf.h"
#include "untrusted.bpf.h"

#if defined(__TARGET_ARCH_x86)
#include "machine_x86.bpf.h"
#elif defined(__TARGET_ARCH_arm64)
#include "machine_arm64.bpf.h"
#endif

/* Where the user's registers of a task are stored. */
static __always_inline __u64 address_of_regs(struct task_struct *task)
{
	return address_of((void *)bpf_task_pt_regs(task));
}

/*
 * See wire_interval; negative: the thread came by an interrupt or a fault. The numbers of 32-bit system calls
 * have other meanings, and are marked so; the registers of a kernel thread or of a worker of io_uring are
 * nobody's, or those of who made it.
 */
static __always_inline int system_call(struct task_struct *task)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);

	if (task->flags & PF_KERNELS_OWN)
		return -1;
	if (entered_by_compat_call(task))
		return call_number(regs) | WIRE_32_BIT_CALL;
	return call_number(regs);
}

#endif /* OFFCPU_BPF_MACHINE_BPF_H_ */
