/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * Which code was mapped when a stack was captured. A stack is worth nothing if the libraries below its
 * addresses were exchanged before somebody looks: dlclose and dlopen may put another one at the same place.
 * So every capture carries the sequence number of the address space and, where the kernel lets a program walk
 * mappings, a hash of the executable ones. Equal hashes mean equal code. What a hash stands for is sent once,
 * so that a stack can be walked even if the process has changed or ended before anybody looks.
 */
#ifndef OFFCPU_BPF_CODE_BPF_H_
#define OFFCPU_BPF_CODE_BPF_H_

#include "kernel_stack.bpf.h"
#include "state.bpf.h"

#define VMAS_MAX 2048 /* beyond this many mappings the hash is 0: unknown */

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
	struct mm_struct *mm = BPF_CORE_READ(task, mm);

	if (!mm)
		return 0;
	if (bpf_core_field_exists(mm->mm_lock_seq.sequence)) {
		__u32 sequence = BPF_CORE_READ(mm, mm_lock_seq.sequence);

		return sequence & 1 ? 0 : 1 + (__u64)sequence; /* odd: a change is under way */
	}
	if (bpf_core_field_exists(((struct mm_struct___counter *)mm)->mm_lock_seq))
		return 1 + (__u64)(__u32)BPF_CORE_READ((struct mm_struct___counter *)mm, mm_lock_seq);
	return 0;
}

struct code_list {
	struct wire_code_list head;
	struct wire_mapping mappings[WIRE_MAPPINGS];
};

static __always_inline __u64 modified_ns(struct inode *inode)
{
	if (bpf_core_field_exists(inode->i_mtime_sec))
		return BPF_CORE_READ(inode, i_mtime_sec) * NS_PER_SECOND + BPF_CORE_READ(inode, i_mtime_nsec);
	return BPF_CORE_READ((struct inode___timespec *)inode, __i_mtime.tv_sec) * NS_PER_SECOND +
	       BPF_CORE_READ((struct inode___timespec *)inode, __i_mtime.tv_nsec);
}

static __always_inline void fill_mapping(struct wire_mapping *mapping, struct vm_area_struct *vma)
{
	struct file *file = vma->vm_file;
	struct inode *inode;

	mapping->begin = vma->vm_start;
	mapping->end = vma->vm_end;
	mapping->offset = mapping->inode = mapping->device = mapping->modified_ns = 0;
	if (!file)
		return;
	inode = BPF_CORE_READ(file, f_inode);
	mapping->offset = (__u64)vma->vm_pgoff * WIRE_PAGE_BYTES;
	mapping->inode = BPF_CORE_READ(inode, i_ino);
	mapping->device = BPF_CORE_READ(inode, i_sb, s_dev) | (__u64)BPF_CORE_READ(inode, i_generation) << 32;
	mapping->modified_ns = modified_ns(inode);
}

static __always_inline __u64 hash_mapping(__u64 hash, const struct wire_mapping *mapping)
{
	hash = mix(hash, mapping->begin);
	hash = mix(hash, mapping->end);
	hash = mix(hash, mapping->offset);
	hash = mix(hash, mapping->inode);
	hash = mix(hash, mapping->device);
	return mix(hash, mapping->modified_ns);
}

static __always_inline void append_mapping(struct code_list *list, const struct wire_mapping *mapping)
{
	__u32 index = list->head.count;

	if (index >= WIRE_MAPPINGS)
		return;
	list->mappings[index] = *mapping;
	list->head.count = index + 1;
}

/*
 * Walks the executable mappings of `task`, hands each to `list` or `seq` if there is one, and returns their
 * hash; 0 if they cannot be walked now.
 */
static __always_inline __u64 walk_code(struct task_struct *task, struct code_list *list, struct seq_file *seq)
{
	__u64 hash = 0x13198a2e03707344ULL;
	/* 0, but not known to be so: with a known value the verifier would check every turn of the loop
	 * apart. For the same reason the number of listed mappings is kept in memory. */
	__u32 seen = control.zero, written = control.zero;
	struct bpf_iter_task_vma it;
	struct vm_area_struct *vma;
	bool any = false;

	if (list)
		list->head.count = 0;
	bpf_iter_task_vma_new(&it, task, 0);
	while ((vma = bpf_iter_task_vma_next(&it))) {
		struct wire_mapping mapping;

		if (++seen > VMAS_MAX)
			break;
		if (!(vma->vm_flags & VM_EXEC))
			continue;
		fill_mapping(&mapping, vma);
		hash = hash_mapping(hash, &mapping);
		if (seq && written < WIRE_MAPPINGS) { /* what one read of the iterator holds */
			bpf_seq_write(seq, &mapping, sizeof(mapping));
			written++;
		}
		if (list)
			append_mapping(list, &mapping);
		any = true;
	}
	bpf_iter_task_vma_destroy(&it);
	if (!any || seen > VMAS_MAX)
		return 0;
	hash |= 1;
	if (list) {
		list->head.type = WIRE_CODE;
		list->head.hash = hash;
	}
	return hash;
}

static __always_inline void send_code_once(struct code_list *list, bool may_be_nmi)
{
	__u64 hash = list->head.hash;
	__u32 bytes = sizeof(list->head) + list->head.count * sizeof(struct wire_mapping);

	if (is_sent(hash, may_be_nmi) || bytes > sizeof(*list))
		return;
	if (bpf_ringbuf_output(&intervals, list, bytes, BPF_RB_NO_WAKEUP))
		count(WIRE_COUNT_DEFINITION_DELAYED);
	else
		note_sent(hash, may_be_nmi);
}

/* Of the current task, into `list`. A global function, so that the verifier goes through the loop once. */
__noinline int list_code(struct code_list *list)
{
	if (!list)
		return 0;
	list->head.hash = 0;
	if (config.has_vma_iter)
		walk_code(bpf_get_current_task_btf(), list, NULL);
	return 0;
}

/* Walks the mappings only if one of them has changed since this thread asked last. `list` is memory to do it
 * in. */
static __always_inline void fill_code(struct wire_code *code, struct task_struct *task,
				      struct task_state *state, struct code_list *list, bool may_be_nmi)
{
	__u64 sequence = code_sequence(task);

	if (config.has_vma_iter && (!sequence || sequence != state->code.sequence || !state->code.hash)) {
		list_code(list);
		state->code.hash = list->head.hash;
		/* A change under way during the walk must not be remembered as seen. */
		state->code.sequence = code_sequence(task) == sequence ? sequence : 0;
		if (state->code.hash)
			send_code_once(list, may_be_nmi);
	}
	code->sequence = sequence;
	code->hash = state->code.hash;
}

#endif /* OFFCPU_BPF_CODE_BPF_H_ */
