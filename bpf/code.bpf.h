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
#include "code_list.bpf.h"
#include "known_lists.bpf.h"

/* What a capture may look at, so that it takes some 40 us at most. */
#define TARGET_VMAS 256

/* What was found out of the code of a task, and memory to find it out in. */
struct code_work {
	struct wire_code code;
	struct code_list list;
};

/* The pages of a process that may be executed and not written, as the kernel counts them. */
static __always_inline __u64 exec_pages(struct task_struct *task)
{
	return BPF_CORE_READ(task, mm, exec_vm);
}

/* `list` was right at `sequence`. If another writer is at it, that one's is as good. */
static __always_inline void remember_code(struct space *space, struct task_struct *task, __u64 sequence,
					  const struct code_list *list)
{
	struct mm_struct *mm = untrusted(task)->mm;

	if (!mm || __sync_val_compare_and_swap(&space->busy, 0, 1))
		return;
	/* Readers take the hash for that of `sequence` only if they find that before and after it. */
	*(volatile __u64 *)&space->sequence = 0;
	space->mm = (__u64)mm;
	space->exec_id = task->self_exec_id;
	space->exec_pages = exec_pages(task);
	space->has_own_code = list->has_own_code;
	*(volatile __u64 *)&space->hash = list->head.hash;
	*(volatile __u64 *)&space->sequence = sequence;
	__sync_lock_test_and_set(&space->busy, 0);
	keep_list(list);
}

/* Notes that `hash` is still right at `sequence`. A program that writes meanwhile has a hash of its own. */
static __always_inline void renew_code(struct space *space, struct task_struct *task, __u64 hash,
				       __u64 sequence)
{
	if (__sync_val_compare_and_swap(&space->busy, 0, 1))
		return;
	if (space->hash == hash && is_of(space, task))
		*(volatile __u64 *)&space->sequence = sequence;
	__sync_lock_test_and_set(&space->busy, 0);
}

/*
 * Does the current thread, which has just forked a process, still know its own code? If the child has
 * mappings of its own, the fork has locked all of the thread's once, and changed none. If nothing else has
 * locked them since the thread saw its code last, what it saw is still true.
 */
static __always_inline bool knows_code_after_fork(struct task_struct *task, struct task_struct *child,
						  struct space *space)
{
	bool has_locked = untrusted(child)->mm != untrusted(task)->mm;
	struct task_state *state = bpf_task_storage_get(&tasks, task, 0, 0);
	__u64 sequence = code_sequence(task);
	struct code_seen *seen;

	if (!state || !sequence)
		return false;
	seen = &state->code;
	if (seen->mm != (__u64)untrusted(task)->mm || seen->exec_id != task->self_exec_id || !seen->hash ||
	    seen->hash != space->hash)
		return false;
	if (seen->sequence != sequence && (!has_locked || sequence_after_lock(seen->sequence) != sequence))
		return false;
	seen->sequence = sequence;
	renew_code(space, task, seen->hash, sequence);
	return true;
}

/*
 * A new process has the code of the one that forked it, until something is mapped. It may have ended before
 * anybody looks at it, and have more mappings than are looked at in a target. If its parent's are known to be
 * what they were, so are its own: a fork may leave mappings out, but then no code is there. Code that is of
 * no file becomes its own. Then, and if that is not known, it has to be found true at its first capture.
 */
static __always_inline void inherit_code(struct task_struct *parent, struct task_struct *child)
{
	struct space *known, *space;
	struct mm_struct *mm = untrusted(child)->mm;

	if (!config.reads_mappings || child->pid != child->tgid || !mm)
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
	space->has_own_code = known->has_own_code;
	if (knows_code_after_fork(parent, child, known) && !known->has_own_code)
		space->sequence = code_sequence(child);
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

/* Where the mapping begins that is looked for; 0: there is no further one. */
static __always_inline __u64 wanted_begin(const struct code_list *list)
{
	const struct known_list *known;
	__u32 index = list->head.count;

	if (index >= WIRE_MAPPINGS)
		return 0;
	if (!list->known_hash)
		return index < list->wanted ? list->mappings[index].begin : 0;
	known = known_list_of(list->known_hash);
	return known && index < known->count ? known->begins[index] : 0;
}

/* Is the mapping that was looked for there, and executable? */
static __always_inline bool has_come_to_code(struct mm_reader *reader, enum tree_step step)
{
	return step == TREE_AT_SLOT && read_mapping(reader) && reader->mapping.begin == reader->address &&
	       reader->mapping.flags & VM_EXEC;
}

/* bpf_loop calls this for each level of the tree on the way to a mapping, and for the mapping; 1 ends it. */
static long hash_wanted_mapping(__u32 index, struct code_walk *code)
{
	struct code_list *list = code->list;
	enum tree_step step = step_down(&list->look.reader);
	__u64 begin;

	if (step == TREE_GOES_ON)
		return 0;
	if (!has_come_to_code(&list->look.reader, step))
		return 1;
	take_mapping(list, code->task);
	begin = wanted_begin(list);
	list->is_over = !begin;
	if (list->is_over)
		return 1;
	seek(&list->look.reader, begin);
	return 0;
}

/* Looks for mappings of code one by one, those of the list that `known_hash` names or, where it is 0, those
 * that are listed, and lists them as they are now. Is their hash `hash`? */
static __always_inline bool wanted_code_is_there(struct task_struct *task, struct code_list *list, __u64 hash)
{
	struct code_walk code = {.task = task, .list = list};
	__u64 begin;

	list->head.count = 0;
	list->is_over = false;
	begin = wanted_begin(list);
	if (!begin)
		return false;
	begin_code_hash(list, task);
	begin_reader(&list->look.reader, task);
	seek(&list->look.reader, begin);
	bpf_loop(STEPS_A_MAPPING * WIRE_MAPPINGS, hash_wanted_mapping, &code, 0);
	return list->is_over && end_code_hash(list) == hash;
}

/*
 * Is the code of `task` what it was when `space` was filled? Then it is listed. All of its mappings are there
 * and the same, and the kernel counts no more executable pages than it did. Pages that may be written, too,
 * it does not count: a new mapping of that kind is found missing by the walk of a stack that needs it.
 */
static __always_inline bool known_code_is_there(const struct space *space, struct task_struct *task,
						struct code_list *list)
{
	list->known_hash = space->hash;
	list->sequence = code_sequence(task);
	if (!list->known_hash || !list->sequence || exec_pages(task) != space->exec_pages)
		return false;
	return wanted_code_is_there(task, list, list->known_hash) && was_not_changed(task, list->sequence);
}

/* Asks that of the current task. A global function, so that the verifier goes through the loop once. */
__noinline int code_is_as_before(struct code_list *list)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct space *space = space_of(task, true);

	return list && space && known_code_is_there(space, task, list);
}

/* Lists the code of the current task. A global function for the same reason. */
__noinline int list_code(struct code_list *list)
{
	if (list)
		walk_code(bpf_get_current_task_btf(), list, TARGET_VMAS);
	return 0;
}

/* Pays for a look at so many mappings, or counts that it is left out. A function, so that what it needs of
 * the stack is not its caller's. */
static __noinline bool may_look_at(__u32 mappings, __u32 context)
{
	bool may = spend_mappings(mappings, context);

	if (!may)
		count(WIRE_COUNT_MAPPINGS_BUDGET);
	return may;
}

/* The hash by the mappings that are known to be executable; 0: there have been changes among them. */
static __always_inline __u64 hash_of_known(struct task_struct *task, struct space *space, __u64 sequence,
					   struct code_list *list, __u32 context)
{
	__u64 hash = space->hash;
	const struct known_list *known = is_of(space, task) ? known_list_of(hash) : NULL;

	if (!known || !may_look_at(known->count, context) || !code_is_as_before(list))
		return 0;
	renew_code(space, task, hash, sequence);
	return hash;
}

/* Remembers what was found of the code of the current task, and sends it once. A function for the same
 * reason. */
static __noinline int keep_code(struct space *space, struct task_struct *task, __u64 sequence,
				struct code_list *list, __u32 context)
{
	remember_code(space, task, sequence, list);
	send_code_once(list, context == CONTEXT_SAMPLE);
	return 0;
}

/* The hash by all mappings; 0: they are too many to be looked at here. */
static __always_inline __u64 hash_of_all(struct task_struct *task, struct space *space, __u64 sequence,
					 struct code_list *list, __u32 context)
{
	__u32 mappings = BPF_CORE_READ(task, mm, map_count);

	if (mappings > TARGET_VMAS || !may_look_at(mappings, context))
		return 0;
	list_code(list);
	if (list->head.hash)
		keep_code(space, task, sequence, list, context);
	return list->head.hash;
}

static __always_inline void fill_code(struct wire_code *code, struct task_struct *task, struct space *space,
				      struct code_list *list, enum context context)
{
	if (is_of(space, task)) {
		__u64 known = space->sequence;

		code->hash = hash_at(space, code->sequence);
		if (!code->hash && is_forking(untrusted(task)->mm, known)) {
			code->sequence = known;
			code->hash = hash_at(space, known);
		}
	}
	/* While mappings are being changed, nothing can be said of them. */
	if (!code->hash && code->sequence)
		code->hash = hash_of_known(task, space, code->sequence, list, context);
	if (!code->hash && code->sequence)
		code->hash = hash_of_all(task, space, code->sequence, list, context);
}

/* Walks of the thread's stack go by it from now on: mappings that may be written are found later than the
 * sequence number changes, and then one number has had two hashes. */
static __always_inline void see_code(struct task_state *state, struct task_struct *task, __u64 sequence,
				     __u64 hash)
{
	state->code.hash = hash;
	state->code.mm = (__u64)untrusted(task)->mm;
	state->code.exec_id = task->self_exec_id;
	state->code.sequence = hash ? sequence : 0;
}

/* Fills in the current task's code. A global function, so that the verifier goes through it once. */
__noinline int tell_code(struct code_work *work, __u32 context)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct space *space = config.reads_mappings ? space_of(task, context == CONTEXT_SAMPLE) : NULL;

	if (!work)
		return 0;
	work->code.sequence = code_sequence(task);
	work->code.hash = 0;
	if (space && untrusted(task)->mm)
		fill_code(&work->code, task, space, &work->list, context);
	return 0;
}

#endif /* OFFCPU_BPF_CODE_BPF_H_ */
