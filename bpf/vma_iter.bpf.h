/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * Walking the mappings of a task, and telling whether they changed meanwhile. Some kernels' iterator holds
 * the lock of all mappings; that of others takes each mapping by itself and leaves out those that somebody is
 * changing. fork takes all of them, one after another, so there a walk counts only if the sequence number is
 * even and the same before and after.
 */
#ifndef OFFCPU_BPF_VMA_ITER_BPF_H_
#define OFFCPU_BPF_VMA_ITER_BPF_H_

#include "machine.bpf.h"
#include "untrusted.bpf.h"

#if OFFCPU_VMA_ITER
extern int bpf_iter_task_vma_new(struct bpf_iter_task_vma *it, struct task_struct *task,
				 __u64 address) __ksym __weak;
extern struct vm_area_struct *bpf_iter_task_vma_next(struct bpf_iter_task_vma *it) __ksym __weak;
extern void bpf_iter_task_vma_destroy(struct bpf_iter_task_vma *it) __ksym __weak;
#else
/* Never called: config.has_vma_iter is false. */
#define bpf_iter_task_vma_new(it, task, address) ((void)(it), (void)(task), -1)
#define bpf_iter_task_vma_next(it) ((void)(it), (struct vm_area_struct *)NULL)
#define bpf_iter_task_vma_destroy(it) ((void)(it))
#endif

/* mm->mm_lock_seq; 0 while it changes, and where the kernel keeps none. */
static __always_inline __u64 code_sequence(struct task_struct *task)
{
	struct mm_struct *mm = untrusted(task)->mm;

	if (!mm)
		return 0;
	if (bpf_core_field_exists(mm->mm_lock_seq.sequence)) {
		__u32 sequence = mm->mm_lock_seq.sequence;

		return sequence & 1 ? 0 : 1 + (__u64)sequence; /* odd: a change is under way */
	}
	if (bpf_core_field_exists(((struct mm_struct___counter *)mm)->mm_lock_seq))
		return 1 + (__u64)(__u32)((struct mm_struct___counter *)mm)->mm_lock_seq;
	return 0;
}

/* What code_sequence() becomes by one lock of all mappings, if nothing else takes it; 0: that does not show.
 */
static __always_inline __u64 sequence_after_lock(__u64 sequence)
{
	return bpf_core_field_exists(((struct mm_struct *)0)->mm_lock_seq.sequence) && sequence ? sequence + 2
												: 0;
}

/* After a walk, from when the sequence number was `before` on. */
static __always_inline bool was_not_changed(struct task_struct *task, __u64 before)
{
	return config.has_locking_vma_iter || (before && code_sequence(task) == before);
}

/*
 * Is the only change since `known`, an earlier code_sequence(), a fork that is under way? It holds the lock
 * of all mappings and changes none of them.
 */
static __always_inline bool is_forking(struct mm_struct *mm, __u64 known)
{
	struct task_struct *current = bpf_get_current_task_btf(), *owner;
	struct pt_regs *regs;
	long syscall;

	if (!bpf_core_field_exists(mm->mm_lock_seq.sequence) || !known ||
	    (__u32)BPF_CORE_READ(mm, mm_lock_seq.sequence) != (__u32)known)
		return false;
	owner = (struct task_struct *)(BPF_CORE_READ(mm, mmap_lock.owner.counter) & ~7ULL);
	if (!owner || is_in_compat_call(owner))
		return false;
	/* Registers lie at the same place of every kernel stack. */
	regs = (struct pt_regs *)((__u64)BPF_CORE_READ(owner, stack) + address_of_regs(current) -
				  (__u64)BPF_CORE_READ(current, stack));
	syscall = BPF_CORE_READ(regs, orig_ax);
	if (!is_fork_call(syscall))
		return false;
	return (__u32)BPF_CORE_READ(mm, mm_lock_seq.sequence) == (__u32)known;
}

#endif /* OFFCPU_BPF_VMA_ITER_BPF_H_ */
