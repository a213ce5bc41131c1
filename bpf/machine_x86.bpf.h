/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* What is x86-64: a part of machine.bpf.h. */
#ifndef OFFCPU_BPF_MACHINE_X86_BPF_H_
#define OFFCPU_BPF_MACHINE_X86_BPF_H_

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

#define PAGE_BYTES 4096ULL
#define CALLS_PUSH 1 /* the return address: the word below the CFA */

/* Where a signal trampoline has the interrupted thread's registers, from its stack pointer. */
#define CONTEXT_FP 120
#define CONTEXT_SP 160
#define CONTEXT_PC 168
#define CONTEXT_RA 0 /* no register */

/* The numbers of 32-bit system calls have other meanings. */
static __always_inline bool is_in_compat_call(struct task_struct *task)
{
	return BPF_CORE_READ(task, thread_info.status) & TS_COMPAT;
}

/* The same of a task that the verifier trusts. */
static __always_inline bool entered_by_compat_call(struct task_struct *task)
{
	return task->thread_info.status & TS_COMPAT;
}

static __always_inline bool is_fork_call(long syscall)
{
	return syscall == SYS_CLONE || syscall == SYS_FORK || syscall == SYS_VFORK || syscall == SYS_CLONE3;
}

/* The number of the call that the registers were stored at. The kernel's entries set it to -1 for interrupts
 * and faults, with and without an error code. */
static __always_inline int call_number(const struct pt_regs *regs)
{
	return (int)regs->orig_ax;
}

/* The same of registers by a pointer that may be any. */
static __always_inline long call_number_at(const struct pt_regs *regs)
{
	return BPF_CORE_READ(regs, orig_ax);
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

static __always_inline __u64 user_pc(const struct pt_regs *regs)
{
	return regs->ip;
}

static __always_inline __u64 user_sp(const struct pt_regs *regs)
{
	return regs->sp;
}

static __always_inline __u64 user_fp(const struct pt_regs *regs)
{
	return regs->bp;
}

/* Where calls leave the return address: no register. */
static __always_inline __u64 user_ra(const struct pt_regs *regs)
{
	return 0;
}

/* Does it run code of i386? Its registers are where those of x86-64 are, with zeros above. */
static __always_inline bool is_32_bit(const struct pt_regs *regs)
{
	return BPF_CORE_READ((struct pt_regs *)regs, cs) == USER32_CS;
}

/* Can nothing walk the stack of such code? */
#define REFUSES_32_BIT 0

/* rcx and r11 are void then. */
static __always_inline bool is_in_syscall(const struct pt_regs *regs)
{
	return (long)regs->orig_ax >= 0;
}

static __always_inline bool was_in_user_mode(const struct bpf_perf_event_data *ctx)
{
	return ctx->cs & CS_PRIVILEGE;
}

static __always_inline __u64 sampled_pc(const struct bpf_perf_event_data *ctx)
{
	return ctx->ip;
}

/* Where the stack of a thread that is off the CPU begins. */
static __always_inline __u64 switched_out_sp(struct task_struct *task)
{
	return task->thread.sp;
}

/* Is its first frame so far from there? All that a walk begins with is on the stack. */
static __always_inline bool is_switched_out_in(struct task_struct *task, __u32 frame)
{
	return true;
}

/* Which of the kernel's vDSOs a process has. */
static __always_inline __u64 vdso_of(struct mm_struct *mm)
{
	return (__u64)BPF_CORE_READ(mm, context.vdso_image);
}

/* Return addresses are not signed. */
#define PLAIN_KERNEL_WORD(word) (word)
#define PLAIN_USER_ADDRESS(address) (address)

#endif /* OFFCPU_BPF_MACHINE_X86_BPF_H_ */
