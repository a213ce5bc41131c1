/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* What of the kernel's types differs between machines, on x86-64: a part of kernel_types.h. */
#ifndef OFFCPU_BPF_KERNEL_TYPES_X86_H_
#define OFFCPU_BPF_KERNEL_TYPES_X86_H_

typedef struct {
	void *vdso; /* where it is mapped */
	const struct vdso_image *vdso_image;
	atomic64_t tlb_gen; /* grows with each flush */
} mm_context_t;

struct thread_info {
	unsigned int status; /* TS_COMPAT */
};

struct thread_struct {
	unsigned long sp; /* of the kernel, where it was switched out */
};

struct pt_regs {
	unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di;
	unsigned long orig_ax, ip;
	unsigned short cs; /* the lower bits, where a kernel has more */
	unsigned long flags, sp;
};

struct module_memory { /* since 6.4 */
	void *base;
	unsigned int size;
};

struct mod_arch_specific {
	unsigned int num_orcs;
	int *orc_unwind_ip;
	void *orc_unwind;
};

struct module {
	struct list_head list;
	struct module_memory mem[1]; /* the first is its text */
	struct mod_arch_specific arch;
};

#endif /* OFFCPU_BPF_KERNEL_TYPES_X86_H_ */
