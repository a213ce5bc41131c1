/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * The executable mappings of a process: walked, listed, and hashed, all of them or those that are known.
 * Equal hashes mean equal code. What a hash stands for is sent once.
 *
 * The user of the process is hashed, too: what is known of his code serves him alone. So whatever a
 * process has done to its pages since they were mapped, or while somebody looked at them, no other user's
 * stacks are walked by it. A process that goes over to another user keeps its hash until something is mapped:
 * until then it has what its user before has mapped.
 *
 * Code that is of no file is one process's own: another one may have made other code at the same addresses.
 * So where there is such code, the process is hashed, too.
 */
#ifndef OFFCPU_BPF_CODE_LIST_BPF_H_
#define OFFCPU_BPF_CODE_LIST_BPF_H_

#include "budget.bpf.h"
#include "rings.bpf.h"
#include "counters.bpf.h"
#include "sent.bpf.h"
#include "space.bpf.h"
#include "stack_memory.bpf.h"
#include "vma_iter.bpf.h"

struct code_list {
	struct wire_code_list head;
	struct wire_mapping mappings[WIRE_MAPPINGS];
	/* What walk_code saw, also of mappings that changed meanwhile. */
	__u64 seen_hash;  /* 0: none, or they are too many to be looked at again */
	__u64 seen_pages; /* as mm->exec_vm counts them */
	__u64 sequence;	  /* when it began */
	/* In the making; here because the stack has no room. */
	struct wire_hash hash;
	struct wire_mapping mapping; /* that is looked at */
	bool is_missing;	     /* one of the mappings that are hashed again */
	bool has_own_code;	     /* that is of no file */
};

/* Whoever owns a file can set back the time at which it was modified, but not this one. */
static __always_inline __u64 changed_ns(struct inode *inode)
{
	const __u32 ns_mask = (1 << 30) - 1; /* above it may be a flag */

	if (bpf_core_field_exists(inode->i_ctime_sec))
		return BPF_CORE_READ(inode, i_ctime_sec) * NS_PER_SECOND +
		       (BPF_CORE_READ(inode, i_ctime_nsec) & ns_mask);
	return BPF_CORE_READ((struct inode___timespec *)inode, __i_ctime.tv_sec) * NS_PER_SECOND +
	       (BPF_CORE_READ((struct inode___timespec *)inode, __i_ctime.tv_nsec) & ns_mask);
}

/* The kernel's own mappings have no file, but operations; a program's have neither. */
static __always_inline bool is_vdso(struct vm_area_struct *vma)
{
	return (__u64)BPF_CORE_READ(vma, vm_mm, context.vdso) == vma->vm_start && BPF_CORE_READ(vma, vm_ops);
}

/* Which of the kernel's it is, without an address of the kernel. */
static __always_inline __u64 name_of_vdso(__u64 image)
{
	struct wire_hash hash = wire_hash_begin(hash_key(), WIRE_HASH_VDSO);

	wire_hash_add(&hash, image);
	return wire_hash_end(hash);
}

static __always_inline void fill_mapping(struct wire_mapping *mapping, struct vm_area_struct *vma)
{
	struct file *file = untrusted_mapping(vma)->vm_file;
	struct inode *inode;

	mapping->begin = vma->vm_start;
	mapping->end = vma->vm_end;
	mapping->offset = mapping->inode = mapping->device = mapping->changed_ns = 0;
	if (!file) {
		if (is_vdso(vma)) {
			mapping->device = WIRE_VDSO;
			mapping->offset = name_of_vdso((__u64)BPF_CORE_READ(vma, vm_mm, context.vdso_image));
		}
		return;
	}
	inode = BPF_CORE_READ(file, f_inode);
	mapping->offset = (__u64)vma->vm_pgoff * WIRE_PAGE_BYTES;
	mapping->inode = BPF_CORE_READ(inode, i_ino);
	mapping->device = BPF_CORE_READ(inode, i_sb, s_dev) | (__u64)BPF_CORE_READ(inode, i_generation) << 32;
	mapping->changed_ns = changed_ns(inode);
}

/* Real user: root's process that acts for another user goes back and forth. Functions, as the next one is, so
 * that what they need of the stack is not their caller's. */
static __noinline int begin_code_hash(struct code_list *list, struct task_struct *task)
{
	list->is_missing = list->has_own_code = false;
	list->hash = wire_hash_begin(hash_key(), WIRE_HASH_CODE);
	wire_hash_add(&list->hash, BPF_CORE_READ(task, group_leader, cred, uid.val));
	return 0;
}

static __noinline __u64 end_code_hash(const struct code_list *list)
{
	return wire_hash_end(list->hash);
}

static __always_inline bool is_own_code(const struct wire_mapping *mapping)
{
	return !mapping->inode && mapping->device != WIRE_VDSO;
}

/* Names the process for as long as the host runs. */
static __always_inline void hash_process(struct wire_hash *hash, struct task_struct *task)
{
	wire_hash_add(hash, task->tgid);
	wire_hash_add(hash, BPF_CORE_READ(task, group_leader, start_boottime));
}

static __always_inline void hash_mapping(struct wire_hash *hash, const struct wire_mapping *mapping,
					 struct task_struct *task)
{
	if (is_own_code(mapping))
		hash_process(hash, task);
	wire_hash_add(hash, mapping->begin);
	wire_hash_add(hash, mapping->end);
	wire_hash_add(hash, mapping->offset);
	wire_hash_add(hash, mapping->inode);
	wire_hash_add(hash, mapping->device);
	wire_hash_add(hash, mapping->changed_ns);
}

static __always_inline void append_mapping(struct code_list *list, const struct wire_mapping *mapping)
{
	__u32 index = list->head.count;

	if (index >= WIRE_MAPPINGS)
		return;
	list->mappings[index] = *mapping;
	list->head.count = index + 1;
}

/* Of mm->exec_vm, which leaves out what may be written. */
static __always_inline __u64 exec_pages_of(struct vm_area_struct *vma)
{
	return (vma->vm_flags & (VM_EXEC | VM_WRITE | VM_STACK)) == VM_EXEC
		       ? (vma->vm_end - vma->vm_start) / WIRE_PAGE_BYTES
		       : 0;
}

/*
 * Walks the mappings of `task`, at most `max` of them, lists the executable ones, and hashes them; hash 0 if
 * they cannot be walked now, or are too many, or changed meanwhile. With `state`, that of the current task,
 * it notes where the stack is.
 */
static __always_inline void walk_code(struct task_struct *task, struct code_list *list, __u32 max,
				      struct task_state *state)
{
	__u64 sp = state ? BPF_CORE_READ((struct pt_regs *)bpf_task_pt_regs(task), sp) : 0;
	__u64 sequence = code_sequence(task);
	/* 0, but not known to be so: with a known value the verifier would check every turn of the loop
	 * apart. For the same reason the number of listed mappings is kept in memory. */
	__u32 seen = control.zero;
	struct bpf_iter_task_vma it;
	struct vm_area_struct *vma;
	bool any = false;
	__u64 name;

	list->head.hash = 0;
	list->head.count = 0;
	list->seen_hash = 0;
	list->seen_pages = 0;
	list->sequence = sequence;
	begin_code_hash(list, task);
	bpf_iter_task_vma_new(&it, task, 0);
	while ((vma = bpf_iter_task_vma_next(&it))) {
		if (++seen > max)
			break;
		if (state)
			note_mapping(&state->stack, vma, sp, sequence);
		if (!(vma->vm_flags & VM_EXEC))
			continue;
		fill_mapping(&list->mapping, vma);
		hash_mapping(&list->hash, &list->mapping, task);
		append_mapping(list, &list->mapping);
		list->has_own_code |= is_own_code(&list->mapping);
		list->seen_pages += exec_pages_of(vma);
		any = true;
	}
	bpf_iter_task_vma_destroy(&it);
	if (!any || seen > max)
		return;
	name = end_code_hash(list);
	list->seen_hash = list->head.count < WIRE_MAPPINGS ? name : 0;
	if (was_not_changed(task, sequence))
		list->head.hash = name;
}

static __always_inline void send_code_once(struct code_list *list, bool may_be_nmi)
{
	__u64 hash = list->head.hash;
	__u32 bytes = sizeof(list->head) + list->head.count * sizeof(struct wire_mapping);

	if (is_sent(hash, may_be_nmi) || bytes > sizeof(*list))
		return;
	list->head.type = WIRE_CODE;
	/* The process may be gone before anybody looks by himself. */
	if (bpf_ringbuf_output(&intervals, list, bytes, BPF_RB_FORCE_WAKEUP))
		count(WIRE_COUNT_DEFINITION_DELAYED);
	else
		note_sent(hash, may_be_nmi);
}

/* Hashes the mapping of `task` that begins at `begin`, as walk_code does, and with `is_listed` lists it, too.
 * False: there is none that is executable. */
static __always_inline bool hash_mapping_at(struct task_struct *task, __u64 begin, struct code_list *list,
					    bool is_listed)
{
	struct bpf_iter_task_vma it;
	struct vm_area_struct *vma;
	bool is_there = false;

	bpf_iter_task_vma_new(&it, task, begin);
	vma = bpf_iter_task_vma_next(&it);
	if (vma && vma->vm_start == begin && vma->vm_flags & VM_EXEC) {
		fill_mapping(&list->mapping, vma);
		hash_mapping(&list->hash, &list->mapping, task);
		if (is_listed)
			append_mapping(list, &list->mapping);
		is_there = true;
	}
	bpf_iter_task_vma_destroy(&it);
	list->is_missing = !is_there;
	return is_there;
}

#endif /* OFFCPU_BPF_CODE_LIST_BPF_H_ */
