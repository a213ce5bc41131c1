/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* What of the kernel's types differs between machines, on AArch64: a part of kernel_types.h. */
#ifndef OFFCPU_BPF_KERNEL_TYPES_ARM64_H_
#define OFFCPU_BPF_KERNEL_TYPES_ARM64_H_

typedef struct {
	void *vdso;	    /* where it is mapped */
	atomic64_t tlb_gen; /* of x86 only */
} mm_context_t;

struct thread_info {
	unsigned long flags; /* TIF_32BIT */
};

struct cpu_context {
	unsigned long fp, sp, pc;
};

struct thread_struct {
	struct cpu_context cpu_context; /* of the kernel, where it was switched out */
};

struct frame_record_meta {
	unsigned long record[2];
	unsigned long type;
};

struct pt_regs {
	unsigned long regs[31];
	unsigned long sp, pc, pstate;
	int syscallno;
	struct frame_record_meta stackframe; /* 6.13 and later */
};

struct pt_regs___until_6_12 {
	unsigned long stackframe[2];
};

#endif /* OFFCPU_BPF_KERNEL_TYPES_ARM64_H_ */
