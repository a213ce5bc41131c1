/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * Which code was mapped when a stack was captured. A stack is worth nothing if the libraries below its addresses were
 * exchanged before somebody looks: dlclose and dlopen may put another one at the same place. So every capture carries
 * the sequence number of the address space and, where the kernel lets a program walk mappings, a hash of the
 * executable ones. Equal hashes mean equal code; nothing else does, because a sequence may return to where it was.
 */
#ifndef OFFCPU_BPF_CODE_BPF_H_
#define OFFCPU_BPF_CODE_BPF_H_

#include "kernel_stack.bpf.h"
#include "state.bpf.h"

#define VMAS_MAX 2048 /* beyond this many mappings the hash is 0: unknown */

extern int bpf_iter_task_vma_new(struct bpf_iter_task_vma *it, struct task_struct *task, __u64 address) __ksym __weak;
extern struct vm_area_struct *bpf_iter_task_vma_next(struct bpf_iter_task_vma *it) __ksym __weak;
extern void bpf_iter_task_vma_destroy(struct bpf_iter_task_vma *it) __ksym __weak;

/* mm->mm_lock_seq, or 0 where the kernel keeps none. */
static __always_inline __u64 code_sequence(struct task_struct *task)
{
	struct mm_struct *mm = BPF_CORE_READ(task, mm);

	if (!mm)
		return 0;
	if (bpf_core_field_exists(mm->mm_lock_seq.sequence))
		return 1 + (__u64)BPF_CORE_READ(mm, mm_lock_seq.sequence);
	if (bpf_core_field_exists(((struct mm_struct___counter *)mm)->mm_lock_seq))
		return 1 + (__u64)(__u32)BPF_CORE_READ((struct mm_struct___counter *)mm, mm_lock_seq);
	return 0;
}

static __always_inline __u64 hash_vma(__u64 hash, struct vm_area_struct *vma)
{
	struct inode *inode = BPF_CORE_READ(vma, vm_file, f_inode);

	hash = mix(hash, vma->vm_start);
	hash = mix(hash, vma->vm_end);
	hash = mix(hash, vma->vm_pgoff);
	hash = mix(hash, BPF_CORE_READ(inode, i_ino));
	return mix(hash, BPF_CORE_READ(inode, i_sb, s_dev));
}

/* 0 if the mappings cannot be walked now. */
static __always_inline __u64 code_hash(struct task_struct *task)
{
	__u64 hash = 0x13198a2e03707344ULL;
	struct bpf_iter_task_vma it;
	struct vm_area_struct *vma;
	bool any = false;
	/* 0, but not known to be so: with a known value the verifier would check every turn of the loop apart. */
	__u32 seen = control.zero;

	bpf_iter_task_vma_new(&it, task, 0);
	while ((vma = bpf_iter_task_vma_next(&it))) {
		if (++seen > VMAS_MAX)
			break;
		if (!(vma->vm_flags & VM_EXEC))
			continue;
		any = true;
		hash = hash_vma(hash, vma);
	}
	bpf_iter_task_vma_destroy(&it);
	return any && seen <= VMAS_MAX ? hash | 1 : 0;
}

/* Walks the mappings only if one of them has changed since this thread asked last. */
static __always_inline void fill_code(struct wire_code *code, struct task_struct *task, struct task_state *state)
{
	__u64 sequence = code_sequence(task);

	if (config.has_vma_iter && (!sequence || sequence != state->code.sequence || !state->code.hash)) {
		state->code.hash = code_hash(task);
		/* A change under way during the walk must not be remembered as seen. */
		state->code.sequence = code_sequence(task) == sequence ? sequence : 0;
	}
	code->sequence = sequence;
	code->hash = state->code.hash;
}

#endif /* OFFCPU_BPF_CODE_BPF_H_ */
