/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * A number that is another one once the mappings of a process have changed, by what each kernel counts. So
 * what was read of several mappings is of one moment if the number was the same before and after, and what is
 * known of them is true as long as it stays the same.
 */
#ifndef OFFCPU_BPF_CODE_SEQUENCE_BPF_H_
#define OFFCPU_BPF_CODE_SEQUENCE_BPF_H_

#include "machine.bpf.h"
#include "untrusted.bpf.h"

/* Does somebody hold the lock of all mappings for writing? Not known of real-time kernels. */
static __always_inline bool is_being_changed(struct mm_struct *mm)
{
	return !bpf_core_field_exists(mm->mmap_lock.count) || BPF_CORE_READ(mm, mmap_lock.count.counter) & 1;
}

/*
 * For kernels that do not count changes of mappings. A mapping that is added changes nothing that is known:
 * none of its addresses were code. One that code has run in has pages present, whose removal flushes caches
 * of addresses. So what shows no change is code that was reclaimed page by page, then unmapped, and replaced
 * by as many pages: of the process itself, on purpose.
 */
static __always_inline __u64 sequence_of_flushes(struct mm_struct *mm)
{
	if (!bpf_core_field_exists(mm->context.tlb_gen))
		return 0;
	return 1 + (wire_mixture(BPF_CORE_READ(mm, context.tlb_gen.counter), BPF_CORE_READ(mm, exec_vm),
				 (__u64)BPF_CORE_READ(mm, total_vm) << 32 | BPF_CORE_READ(mm, map_count)) >>
		    1);
}

/* 0 while mappings change, and where the kernel tells nothing. */
static __always_inline __u64 code_sequence(struct task_struct *task)
{
	struct mm_struct *mm = untrusted(task)->mm;

	if (!mm)
		return 0;
	if (bpf_core_field_exists(mm->mm_lock_seq.sequence)) {
		__u32 sequence = mm->mm_lock_seq.sequence;

		return sequence & 1 ? 0 : 1 + (__u64)sequence; /* odd: a change is under way */
	}
	if (is_being_changed(mm))
		return 0;
	if (bpf_core_field_exists(((struct mm_struct___counter *)mm)->mm_lock_seq))
		return 1 + (__u64)(__u32)((struct mm_struct___counter *)mm)->mm_lock_seq;
	return sequence_of_flushes(mm);
}

/* What code_sequence() becomes by one lock of all mappings, if nothing else takes it; 0: that does not show.
 */
static __always_inline __u64 sequence_after_lock(__u64 sequence)
{
	return bpf_core_field_exists(((struct mm_struct *)0)->mm_lock_seq.sequence) && sequence ? sequence + 2
												: 0;
}

/* Since the number was `before`. */
static __always_inline bool was_not_changed(struct task_struct *task, __u64 before)
{
	return before && code_sequence(task) == before;
}

/*
 * Is the only change since `known`, an earlier code_sequence(), a fork that is under way? It holds the lock
 * of all mappings and changes none of them.
 */
static __noinline bool is_forking(struct mm_struct *mm, __u64 known)
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
	syscall = call_number_at(regs);
	if (!is_fork_call(syscall))
		return false;
	return (__u32)BPF_CORE_READ(mm, mm_lock_seq.sequence) == (__u32)known;
}

#endif /* OFFCPU_BPF_CODE_SEQUENCE_BPF_H_ */
