/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * Which code was mapped when a stack was captured. A stack is worth nothing if the libraries below its
 * addresses were exchanged before somebody looks: dlclose and dlopen may put another one at the same place.
 * So every capture carries the sequence number of the address space and, where the kernel lets a program walk
 * mappings, a hash of the executable ones. Equal hashes mean equal code. What a hash stands for is sent once,
 * so that a stack can be walked even if the process has changed or ended before anybody looks.
 *
 * The hash is kept with the process. When the sequence number has changed, only the mappings that are known
 * to be executable are looked at again, and the kernel's own sum of executable pages tells that there is no
 * further one. All mappings of a process are walked in the target if there are few, else by describe_task,
 * in the time of who asks.
 */
#ifndef OFFCPU_BPF_CODE_BPF_H_
#define OFFCPU_BPF_CODE_BPF_H_

#include "budget.bpf.h"
#include "kernel_stack.bpf.h"
#include "stack_memory.bpf.h"
#include "state.bpf.h"
#include "vma_iter.bpf.h"

/* What a capture may look at, so that it takes some 40 us at most. An iterator that holds the lock of all
 * mappings goes faster from one to the next. */
#define TARGET_VMAS 128
#define TARGET_VMAS_LOCKED 256
#define KNOWN_MAPPINGS 64
/* And describe_task, which takes the time of who asks, but keeps its CPU meanwhile: so more of them, at some
 * 300 ns each, only once a second. Of even more mappings the hash is 0: unknown. */
#define DESCRIBED_VMAS 8192
#define DESCRIBED_VMAS_MAX 131072

/* Of a process, with its first thread: what is known of its code. Written by whoever holds `busy`. */
struct space {
	__u64 mm; /* of which this is known, and of which of the process's programs */
	__u64 exec_id;
	__u64 sequence; /* code_sequence() at which the hash was right last; 0: `hash` is being written */
	__u64 hash;
	__u64 exec_pages; /* mm->exec_vm */
	__u32 busy;
	__u32 count; /* executable mappings; more than KNOWN_MAPPINGS are not looked at again one by one */
	__u64 begins[KNOWN_MAPPINGS];
	struct process_time time; /* see watchdog.bpf.h */
	struct draw of_short, of_long;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct space);
} spaces SEC(".maps");

/* Kernels that have the iterator have these. 7.3 trusts no pointer to another task without them where a
 * program may sleep, and takes every global function for one that may be called there. */
#if OFFCPU_VMA_ITER
extern void bpf_rcu_read_lock(void) __ksym;
extern void bpf_rcu_read_unlock(void) __ksym;
#else
#define bpf_rcu_read_lock() ((void)0)
#define bpf_rcu_read_unlock() ((void)0)
#endif

/* NULL: there is no memory for it, or, where nothing may be allocated, none yet. */
static __always_inline struct space *space_of(struct task_struct *task, bool may_be_nmi)
{
	struct task_struct *leader;
	struct space *space = NULL;

	bpf_rcu_read_lock();
	leader = task->group_leader;
	if (leader)
		space = bpf_task_storage_get(&spaces, leader, 0,
					     may_be_nmi ? 0 : BPF_LOCAL_STORAGE_GET_F_CREATE);
	bpf_rcu_read_unlock();
	return space;
}

struct code_list {
	struct wire_code_list head;
	struct wire_mapping mappings[WIRE_MAPPINGS];
};

/* What was found out of the code of a task, and memory to find it out in. */
struct code_work {
	struct wire_code code;
	struct code_list list;
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

static __always_inline void fill_mapping(struct wire_mapping *mapping, struct vm_area_struct *vma)
{
	struct file *file = vma->vm_file;
	struct inode *inode;

	mapping->begin = vma->vm_start;
	mapping->end = vma->vm_end;
	mapping->offset = mapping->inode = mapping->device = mapping->changed_ns = 0;
	if (!file)
		return;
	inode = BPF_CORE_READ(file, f_inode);
	mapping->offset = (__u64)vma->vm_pgoff * WIRE_PAGE_BYTES;
	mapping->inode = BPF_CORE_READ(inode, i_ino);
	mapping->device = BPF_CORE_READ(inode, i_sb, s_dev) | (__u64)BPF_CORE_READ(inode, i_generation) << 32;
	mapping->changed_ns = changed_ns(inode);
}

#define HASH_OF_NO_CODE 0x13198a2e03707344ULL

static __always_inline __u64 hash_mapping(__u64 hash, const struct wire_mapping *mapping)
{
	hash = mix(hash, mapping->begin);
	hash = mix(hash, mapping->end);
	hash = mix(hash, mapping->offset);
	hash = mix(hash, mapping->inode);
	hash = mix(hash, mapping->device);
	return mix(hash, mapping->changed_ns);
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
 * Walks the mappings of `task`, at most `max` of them, lists the executable ones, and hashes them; hash 0 if
 * they cannot be walked now, or are too many, or changed meanwhile. With `state`, that of the current task,
 * it notes where the stack is.
 */
static __always_inline void walk_code(struct task_struct *task, struct code_list *list, __u32 max,
				      struct task_state *state)
{
	__u64 sp = state ? BPF_CORE_READ((struct pt_regs *)bpf_task_pt_regs(task), sp) : 0;
	__u64 hash = HASH_OF_NO_CODE, sequence = code_sequence(task);
	/* 0, but not known to be so: with a known value the verifier would check every turn of the loop
	 * apart. For the same reason the number of listed mappings is kept in memory. */
	__u32 seen = control.zero;
	struct bpf_iter_task_vma it;
	struct vm_area_struct *vma;
	bool any = false;

	list->head.hash = 0;
	list->head.count = 0;
	bpf_iter_task_vma_new(&it, task, 0);
	while ((vma = bpf_iter_task_vma_next(&it))) {
		struct wire_mapping mapping;

		if (++seen > max)
			break;
		if (state)
			note_stack(state, vma, sp, sequence);
		if (!(vma->vm_flags & VM_EXEC))
			continue;
		fill_mapping(&mapping, vma);
		hash = hash_mapping(hash, &mapping);
		append_mapping(list, &mapping);
		any = true;
	}
	bpf_iter_task_vma_destroy(&it);
	if (any && seen <= max && was_not_changed(task, sequence))
		list->head.hash = hash | 1;
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

static __always_inline bool is_of(const struct space *space, struct task_struct *task)
{
	return space->mm == (__u64)task->mm && space->exec_id == task->self_exec_id;
}

/* `list` was right at `sequence`. If another writer is at it, that one's is as good. */
static __always_inline void remember_code(struct space *space, struct task_struct *task, __u64 sequence,
					  const struct code_list *list)
{
	struct mm_struct *mm = task->mm;

	if (!mm || __sync_val_compare_and_swap(&space->busy, 0, 1))
		return;
	/* Readers take the hash for that of `sequence` only if they find that before and after it. */
	*(volatile __u64 *)&space->sequence = 0;
	space->mm = (__u64)mm;
	space->exec_id = task->self_exec_id;
	space->exec_pages = BPF_CORE_READ(mm, exec_vm);
	space->count = list->head.count;
	for (__u32 i = 0; i < KNOWN_MAPPINGS; i++)
		space->begins[i] = list->mappings[i].begin;
	*(volatile __u64 *)&space->hash = list->head.hash;
	*(volatile __u64 *)&space->sequence = sequence;
	__sync_lock_test_and_set(&space->busy, 0);
}

/*
 * A new process has the code of the one that forked it, until something is mapped. It may have ended before
 * anybody looks at it, and have more mappings than are looked at in a target. What it takes over has to be
 * found true at its first capture, because a fork may leave mappings out.
 */
static __always_inline void inherit_code(struct task_struct *parent, struct task_struct *child)
{
	struct space *known, *space;
	struct mm_struct *mm = child->mm;

	if (!config.has_vma_iter || child->pid != child->tgid || !mm)
		return;
	known = space_of(parent, true);
	if (!known || known->busy || !is_of(known, parent))
		return;
	space = space_of(child, false);
	if (!space || space->mm)
		return;
	space->exec_id = child->self_exec_id;
	space->exec_pages = known->exec_pages;
	space->hash = known->hash;
	space->count = known->count;
	for (__u32 i = 0; i < KNOWN_MAPPINGS; i++)
		space->begins[i] = known->begins[i];
	space->mm = (__u64)mm;
}

/* The hash that was right at `sequence`; 0: it is not known. */
static __always_inline __u64 hash_at(const struct space *space, __u64 sequence)
{
	__u64 hash;

	if (!sequence || *(volatile __u64 *)&space->sequence != sequence)
		return 0;
	hash = *(volatile __u64 *)&space->hash;
	return *(volatile __u64 *)&space->sequence == sequence ? hash : 0;
}

/* Hashes the mapping of `task` that begins at `begin`, as walk_code does; 0: there is none that is
 * executable. With `list`, it is listed too. */
static __always_inline __u64 hash_mapping_at(struct task_struct *task, __u64 begin, __u64 hash,
					     struct code_list *list)
{
	struct wire_mapping mapping = {};
	struct bpf_iter_task_vma it;
	struct vm_area_struct *vma;
	__u64 result = 0;

	bpf_iter_task_vma_new(&it, task, begin);
	vma = bpf_iter_task_vma_next(&it);
	if (vma && vma->vm_start == begin && vma->vm_flags & VM_EXEC) {
		fill_mapping(&mapping, vma);
		result = hash_mapping(hash, &mapping);
		if (list)
			append_mapping(list, &mapping);
	}
	bpf_iter_task_vma_destroy(&it);
	return result;
}

/*
 * Is the code of `task` what it was when `space` was filled? All of its mappings are there and the same, and
 * the kernel counts no more executable pages than it did. Pages that may be written, too, it does not count:
 * a new mapping of that kind is found missing by the walk of a stack that needs it.
 */
static __always_inline bool known_code_is_there(const struct space *space, struct task_struct *task,
						struct code_list *list)
{
	struct mm_struct *mm = task->mm;
	__u64 hash = HASH_OF_NO_CODE, sequence = code_sequence(task);

	if (!mm || !space->hash || BPF_CORE_READ(mm, exec_vm) != space->exec_pages)
		return false;
	for (__u32 i = 0; i < KNOWN_MAPPINGS; i++) {
		if (i >= space->count)
			break;
		hash = hash_mapping_at(task, space->begins[i], hash, list);
		if (!hash)
			return false;
	}
	return (hash | 1) == space->hash && BPF_CORE_READ(mm, exec_vm) == space->exec_pages &&
	       was_not_changed(task, sequence);
}

/* Of the current task. A global function, so that the verifier goes through the loop once. */
__noinline int code_is_as_before(void)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct space *space = space_of(task, true);

	return space && known_code_is_there(space, task, NULL);
}

static __always_inline __u32 max_target_mappings(void)
{
	return config.has_locking_vma_iter ? TARGET_VMAS_LOCKED : TARGET_VMAS;
}

/* Of the current task. A global function, as above. */
__noinline int list_code(struct code_list *list)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct task_state *state = bpf_task_storage_get(&tasks, task, 0, 0);

	if (list && state)
		walk_code(task, list, max_target_mappings(), state);
	return 0;
}

/* What is known is known again, as of `sequence`. Whoever is writing meanwhile has a hash of his own. */
static __always_inline void renew_code(struct space *space, struct task_struct *task, __u64 hash,
				       __u64 sequence)
{
	if (__sync_val_compare_and_swap(&space->busy, 0, 1))
		return;
	if (space->hash == hash && is_of(space, task))
		*(volatile __u64 *)&space->sequence = sequence;
	__sync_lock_test_and_set(&space->busy, 0);
}

/* The hash by the mappings that are known to be executable; 0: there have been changes among them. */
static __always_inline __u64 hash_of_known(struct task_struct *task, struct space *space, __u64 sequence,
					   __u32 context)
{
	__u64 hash = space->hash;

	/* With interrupts off a locking iterator can be used once. */
	if (config.has_locking_vma_iter || !is_of(space, task) || space->count > KNOWN_MAPPINGS)
		return 0;
	if (!spend_mappings(space->count, context)) {
		count(WIRE_COUNT_MAPPINGS_BUDGET);
		return 0;
	}
	if (!code_is_as_before())
		return 0;
	renew_code(space, task, hash, sequence);
	return hash;
}

/* The hash by all mappings; 0: they are too many to be looked at here. */
static __always_inline __u64 hash_of_all(struct task_struct *task, struct space *space, __u64 sequence,
					 struct code_list *list, __u32 context)
{
	__u32 mappings = BPF_CORE_READ(task, mm, map_count);

	if (mappings > max_target_mappings())
		return 0;
	if (!spend_mappings(mappings, context)) {
		count(WIRE_COUNT_MAPPINGS_BUDGET);
		return 0;
	}
	list_code(list);
	if (!list->head.hash)
		return 0;
	remember_code(space, task, sequence, list);
	send_code_once(list, context == CONTEXT_SAMPLE);
	return list->head.hash;
}

static __always_inline void fill_code(struct wire_code *code, struct task_struct *task, struct space *space,
				      struct code_list *list, enum context context)
{
	if (is_of(space, task)) {
		__u64 known = space->sequence;

		code->hash = hash_at(space, code->sequence);
		if (!code->hash && is_forking(task->mm, known)) {
			code->sequence = known;
			code->hash = hash_at(space, known);
		}
	}
	/* While somebody changes mappings they cannot be looked at; a lock keeps him waiting. */
	if (!code->hash && (code->sequence || config.has_locking_vma_iter))
		code->hash = hash_of_known(task, space, code->sequence, context);
	if (!code->hash && (code->sequence || config.has_locking_vma_iter))
		code->hash = hash_of_all(task, space, code->sequence, list, context);
}

/* Of the current task. A global function, so that the verifier goes through it once. */
__noinline int tell_code(struct code_work *work, __u32 context)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct space *space = config.has_vma_iter ? space_of(task, context == CONTEXT_SAMPLE) : NULL;

	if (!work)
		return 0;
	work->code.sequence = code_sequence(task);
	work->code.hash = 0;
	if (space && task->mm)
		fill_code(&work->code, task, space, &work->list, context);
	return 0;
}

#endif /* OFFCPU_BPF_CODE_BPF_H_ */
