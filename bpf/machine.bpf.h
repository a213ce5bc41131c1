/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * What is x86-64: the registers that a capture carries, the numbers of system calls, and what distinguishes
 * user mode from the kernel. Nothing else here depends on the machine, but the fields of pt_regs in
 * kernel_types.h.
 */
#ifndef OFFCPU_BPF_MACHINE_BPF_H_
#define OFFCPU_BPF_MACHINE_BPF_H_

#include "config.bpf.h"
#include "untrusted.bpf.h"

#define TS_COMPAT 0x2 /* in a 32-bit system call */
#define CS_PRIVILEGE 3
#define USER32_CS 0x23 /* GDT_ENTRY_DEFAULT_USER32_CS, of user mode */

/* Offsets in pt_regs. */
#define REGS_BP 32
#define REGS_IP 128
#define REGS_SP 152

/* What lies at the stack pointer of a thread that was switched out (struct inactive_task_frame). */
#define SWITCHED_OUT_BP 40
#define SWITCHED_OUT_IP 48
#define SWITCHED_OUT_BYTES 56

#define SYS_SCHED_YIELD 24
#define SYS_SCHED_YIELD_32 (158 | WIRE_32_BIT_CALL)
#define SYS_CLONE 56
#define SYS_FORK 57
#define SYS_VFORK 58
#define SYS_CLONE3 435

/* The numbers of 32-bit system calls have other meanings. */
static __always_inline bool is_in_compat_call(struct task_struct *task)
{
	return BPF_CORE_READ(task, thread_info.status) & TS_COMPAT;
}

static __always_inline bool is_fork_call(long syscall)
{
	return syscall == SYS_CLONE || syscall == SYS_FORK || syscall == SYS_VFORK || syscall == SYS_CLONE3;
}

static __always_inline void fill_registers(__u64 *registers, const struct pt_regs *regs)
{
	registers[0] = regs->ax;
	registers[1] = regs->dx;
	registers[2] = regs->cx;
	registers[3] = regs->bx;
	registers[4] = regs->si;
	registers[5] = regs->di;
	registers[6] = regs->bp;
	registers[7] = regs->sp;
	registers[8] = regs->r8;
	registers[9] = regs->r9;
	registers[10] = regs->r10;
	registers[11] = regs->r11;
	registers[12] = regs->r12;
	registers[13] = regs->r13;
	registers[14] = regs->r14;
	registers[15] = regs->r15;
	registers[16] = regs->ip;
}

/* Where the user's registers of a task are stored. */
static __always_inline __u64 address_of_regs(struct task_struct *task)
{
	return address_of((void *)bpf_task_pt_regs(task));
}

/* Does it run code of i386? Its registers are where those of x86-64 are, with zeros above. */
static __always_inline bool is_32_bit(const struct pt_regs *regs)
{
	return BPF_CORE_READ((struct pt_regs *)regs, cs) == USER32_CS;
}

/* rcx and r11 are void then. */
static __always_inline bool is_in_syscall(const struct pt_regs *regs)
{
	return (long)regs->orig_ax >= 0;
}

/*
 * See wire_interval. The kernel's entries set orig_ax to -1 for interrupts and faults, with and without an
 * error code. Numbers of 32-bit system calls have other meanings, and are marked so; the registers of a
 * kernel thread or of a worker of io_uring are nobody's, or those of who made it.
 */
static __always_inline int system_call(struct task_struct *task)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);

	if (task->flags & PF_KERNELS_OWN)
		return -1;
	if (task->thread_info.status & TS_COMPAT)
		return (int)regs->orig_ax | WIRE_32_BIT_CALL;
	return (int)regs->orig_ax;
}

#endif /* OFFCPU_BPF_MACHINE_BPF_H_ */
