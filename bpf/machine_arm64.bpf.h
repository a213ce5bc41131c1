/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* What is AArch64: a part of machine.bpf.h. */
#ifndef OFFCPU_BPF_MACHINE_ARM64_BPF_H_
#define OFFCPU_BPF_MACHINE_ARM64_BPF_H_

#define TIF_32BIT (1UL << 22)
#define PSR_MODE_MASK 0xf /* 0: user mode */
#define PSR_MODE32_BIT 0x10

#define FRAME_POINTER 29 /* registers */
#define LINK_REGISTER 30

#define SYS_SCHED_YIELD 124
#define SYS_SCHED_YIELD_32 (158 | WIRE_32_BIT_CALL)
#define SYS_CLONE 220
#define SYS_CLONE3 435

#define PAGE_BYTES ((__u64)config.page_bytes) /* 4, 16 or 64 KiB */
#define CALLS_PUSH 0			      /* they leave the return address in the link register */

/* Where a signal trampoline has the interrupted thread's registers, from its stack pointer: behind a siginfo
 * of 128 bytes is the struct ucontext, in which they are at 184. */
#define CONTEXT_REGISTER(number) (128 + 184 + 8 * (number))
#define CONTEXT_FP CONTEXT_REGISTER(FRAME_POINTER)
#define CONTEXT_RA CONTEXT_REGISTER(LINK_REGISTER)
#define CONTEXT_SP CONTEXT_REGISTER(31)
#define CONTEXT_PC CONTEXT_REGISTER(32)

/* The numbers of 32-bit system calls have other meanings. A thread runs either kind of code for as long as it
 * runs its program. */
static __always_inline bool is_in_compat_call(struct task_struct *task)
{
	return BPF_CORE_READ(task, thread_info.flags) & TIF_32BIT;
}

/* The same of a task that the verifier trusts. */
static __always_inline bool entered_by_compat_call(struct task_struct *task)
{
	return task->thread_info.flags & TIF_32BIT;
}

static __always_inline bool is_fork_call(long syscall)
{
	return syscall == SYS_CLONE || syscall == SYS_CLONE3;
}

/* The number of the call that the registers were stored at. The kernel's entries set it to -1 for interrupts
 * and faults.
 */
static __always_inline int call_number(const struct pt_regs *regs)
{
	return regs->syscallno;
}

/* The same of registers by a pointer that may be any. */
static __always_inline long call_number_at(const struct pt_regs *regs)
{
	return BPF_CORE_READ(regs, syscallno);
}

static __always_inline void fill_registers(__u64 *registers, const struct pt_regs *regs)
{
#pragma unroll
	for (int i = 0; i <= LINK_REGISTER; i++)
		registers[i] = regs->regs[i];
	registers[WIRE_REGISTER_SP] = regs->sp;
	registers[WIRE_REGISTER_PC] = regs->pc;
}

static __always_inline __u64 user_pc(const struct pt_regs *regs)
{
	return regs->pc;
}

static __always_inline __u64 user_sp(const struct pt_regs *regs)
{
	return regs->sp;
}

static __always_inline __u64 user_fp(const struct pt_regs *regs)
{
	return regs->regs[FRAME_POINTER];
}

/* Where calls leave the return address. */
static __always_inline __u64 user_ra(const struct pt_regs *regs)
{
	return regs->regs[LINK_REGISTER];
}

/* Does it run code of AArch32? */
static __always_inline bool is_32_bit(const struct pt_regs *regs)
{
	return BPF_CORE_READ((struct pt_regs *)regs, pstate) & PSR_MODE32_BIT;
}

/* Can nothing walk the stack of such code? */
#define REFUSES_32_BIT 1

/* x0 is void then. */
static __always_inline bool is_in_syscall(const struct pt_regs *regs)
{
	return regs->syscallno >= 0;
}

static __always_inline bool was_in_user_mode(const struct bpf_perf_event_data *ctx)
{
	return !(ctx->pstate & PSR_MODE_MASK);
}

static __always_inline __u64 sampled_pc(const struct bpf_perf_event_data *ctx)
{
	return ctx->pc;
}

/* Where the stack of a thread that is off the CPU begins. */
static __always_inline __u64 switched_out_sp(struct task_struct *task)
{
	return task->thread.cpu_context.sp;
}

/* Is its first frame so far from there? Threads are switched out at one place of the kernel only. */
static __always_inline bool is_switched_out_in(struct task_struct *task, __u32 frame)
{
	return (__u32)(task->thread.cpu_context.fp - switched_out_sp(task)) == frame;
}

/* Which of the kernel's vDSOs a process has: there is one. */
static __always_inline __u64 vdso_of(struct mm_struct *mm)
{
	return 0;
}

/* A return address may be signed, in bits that all addresses of kernel code have set, and those of user code
 * have not. Of one that is not signed, and of other words that are compared, nothing is lost by that. */
#define PLAIN_KERNEL_WORD(word) ((word) | 0xffff000000000000ULL)
#define PLAIN_USER_ADDRESS(address) ((address)&0x0000ffffffffffffULL)

#endif /* OFFCPU_BPF_MACHINE_ARM64_BPF_H_ */
