/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * The executable mappings of a process: walked, listed, and hashed, all of them or those that are known.
 * Equal hashes mean equal code. What a hash stands for is sent once.
 *
 * The user of the process is hashed, too: what is known of his code serves him alone. So whatever a
 * process has done to its pages since they were mapped, or while somebody looked at them, no other user's
 * stacks are walked by it. A process that goes over to another user keeps its hash until a capture finds that
 * something was mapped: its stacks lie in what its user before has mapped.
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
#include "code_sequence.bpf.h"
#include "mm_tree.bpf.h"
#include "stack_memory.bpf.h"

/* Between two mappings may be a gap, and for each leaf, which has at least eight slots, a walk goes down from
 * the root. */
#define SLOTS_A_MAPPING 5
#define SLOTS_MORE 64
/* From the root of the tree down to the slot of one mapping. */
#define STEPS_A_MAPPING (TREE_LEVELS + 2)

/* What is read of the file of a mapping. */
struct mapping_file {
	__u64 inode, super; /* addresses */
	__u64 seconds, ns;  /* when it was changed */
	__u32 short_ns, device, generation, reserved;
};

/* A look at one mapping after the other, and what it needs: a program's stack has no room for that. */
struct mapping_look {
	struct mm_reader reader;
	struct wire_mapping mapping; /* that was read last, as records have it */
	struct mapping_file file;
	struct wire_hash name; /* in the making */
};

struct code_list {
	struct wire_code_list head;
	struct wire_mapping mappings[WIRE_MAPPINGS];
	/* What walk_code saw, also of mappings that changed meanwhile. */
	__u64 seen_hash;  /* 0: none, or they are too many to be looked at again */
	__u64 seen_pages; /* as mm->exec_vm counts them */
	__u64 known_hash; /* of the known list whose mappings are looked for; 0: those of `mappings` are */
	__u64 sequence;	  /* when it began */
	/* In the making. */
	struct wire_hash hash;
	struct mapping_look look;
	__u64 names[WIRE_MAPPINGS]; /* of the mappings, each by itself */
	__u32 mappings_left;	    /* to be looked at */
	__u32 wanted;		    /* mappings of `mappings` that are looked for again */
	bool is_over;		    /* all of them have been looked at */
	bool has_code;		    /* any */
	bool has_own_code;	    /* that is of no file */
};

/* The owner of a file can set back the time at which it was modified, but not this one. */
static __always_inline void read_change(struct mapping_file *file)
{
	const __u32 ns_mask = (1 << 30) - 1; /* above it may be a flag */
	__u64 inode = file->inode;

	if (bpf_core_field_exists(((struct inode *)0)->i_ctime_sec)) {
		READ_FIELD(file->seconds, struct inode, inode, i_ctime_sec);
		READ_FIELD(file->short_ns, struct inode, inode, i_ctime_nsec);
		file->ns = file->short_ns;
	} else if (bpf_core_field_exists(((struct inode___timespec *)0)->__i_ctime)) {
		READ_FIELD(file->seconds, struct inode___timespec, inode, __i_ctime.tv_sec);
		READ_FIELD(file->ns, struct inode___timespec, inode, __i_ctime.tv_nsec);
	} else {
		READ_FIELD(file->seconds, struct inode___old, inode, i_ctime.tv_sec);
		READ_FIELD(file->ns, struct inode___old, inode, i_ctime.tv_nsec);
	}
	file->ns &= ns_mask;
}

/* Which of the kernel's it is, without an address of the kernel. */
static __always_inline __u64 name_of_vdso(__u64 image)
{
	struct wire_hash hash = wire_hash_begin(hash_key(), WIRE_HASH_VDSO);

	wire_hash_add(&hash, image);
	return wire_hash_end(hash);
}

/* The kernel's own mappings have no file, but operations; a program's have neither. */
static __always_inline void fill_without_file(struct wire_mapping *mapping, const struct mm_reader *reader)
{
	struct mm_struct *mm = (struct mm_struct *)reader->mm;

	if (!reader->mapping.ops || (__u64)BPF_CORE_READ(mm, context.vdso) != mapping->begin)
		return;
	mapping->device = WIRE_VDSO;
	mapping->offset = name_of_vdso(vdso_of(mm));
}

static __always_inline void fill_from_file(struct wire_mapping *mapping, struct mapping_file *file,
					   __u64 address)
{
	READ_FIELD(file->inode, struct file, address, f_inode);
	READ_FIELD(mapping->inode, struct inode, file->inode, i_ino);
	READ_FIELD(file->super, struct inode, file->inode, i_sb);
	READ_FIELD(file->device, struct super_block, file->super, s_dev);
	READ_FIELD(file->generation, struct inode, file->inode, i_generation);
	read_change(file);
	mapping->device = file->device | (__u64)file->generation << 32;
	mapping->changed_ns = file->seconds * NS_PER_SECOND + file->ns;
}

static __always_inline void fill_mapping(struct mapping_look *look)
{
	const struct mapping_read *read = &look->reader.mapping;
	struct wire_mapping *mapping = &look->mapping;

	mapping->begin = read->begin;
	mapping->end = read->end;
	mapping->offset = mapping->inode = mapping->device = mapping->changed_ns = 0;
	if (!read->file) {
		fill_without_file(mapping, &look->reader);
		return;
	}
	mapping->offset = read->page_offset * PAGE_BYTES;
	fill_from_file(mapping, &look->file, read->file);
}

/* Real user: root's process that acts for another user goes back and forth. Functions, as the next one is, so
 * that what they need of the stack is not their caller's. */
static __noinline int begin_code_hash(struct code_list *list, struct task_struct *task)
{
	list->has_code = list->has_own_code = false;
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

/* The name of the mapping that was read last, by what is in it. */
static __always_inline __u64 name_of_mapping(struct mapping_look *look, struct task_struct *task)
{
	const struct wire_mapping *mapping = &look->mapping;
	struct wire_hash *hash = &look->name;

	*hash = wire_hash_begin(hash_key(), WIRE_HASH_MAPPING);
	if (is_own_code(mapping))
		hash_process(hash, task);
	wire_hash_add(hash, mapping->begin);
	wire_hash_add(hash, mapping->end);
	wire_hash_add(hash, mapping->offset);
	wire_hash_add(hash, mapping->inode);
	wire_hash_add(hash, mapping->device);
	wire_hash_add(hash, mapping->changed_ns);
	barrier(); /* else more of it is kept on the stack than there is room for */
	return wire_hash_end(*hash);
}

static __always_inline void append_mapping(struct code_list *list, __u64 name)
{
	__u32 index = list->head.count;

	if (index >= WIRE_MAPPINGS)
		return;
	list->mappings[index] = list->look.mapping;
	list->names[index] = name;
	list->head.count = index + 1;
}

/* Hashes and lists the mapping that was read last. */
static __always_inline void take_mapping(struct code_list *list, struct task_struct *task)
{
	__u64 name;

	fill_mapping(&list->look);
	name = name_of_mapping(&list->look, task);
	wire_hash_add(&list->hash, name);
	list->has_code = true;
	list->has_own_code |= is_own_code(&list->look.mapping);
	append_mapping(list, name);
}

/* As mm->exec_vm counts it, which leaves out what may be written. */
static __always_inline __u64 exec_pages_of(const struct mapping_read *mapping)
{
	return (mapping->flags & (VM_EXEC | VM_WRITE | VM_STACK)) == VM_EXEC
		       ? (mapping->end - mapping->begin) / PAGE_BYTES
		       : 0;
}

struct code_walk {
	struct task_struct *task;
	struct code_list *list;
};

/* bpf_loop calls this for each level of the tree on the way to a leaf, and for each slot there; 1 ends it. */
static long walk_mapping(__u32 index, struct code_walk *walk)
{
	struct code_list *list = walk->list;
	struct mm_reader *reader = &list->look.reader;
	enum tree_step step = step_down(reader);

	if (step == TREE_GOES_ON)
		return 0;
	if (step == TREE_FAILED)
		return 1;
	if (reader->pointer) {
		if (!list->mappings_left--)
			return 1;
		if (!read_mapping(reader))
			return 1;
		if (reader->mapping.flags & VM_EXEC) {
			take_mapping(list, walk->task);
			list->seen_pages += exec_pages_of(&reader->mapping);
		}
	}
	list->is_over = !seek_next(reader);
	return list->is_over ? 1 : 0;
}

/*
 * Walks the mappings of `task`, at most `max` of them, lists the executable ones, and hashes them; hash 0 if
 * they cannot be walked now, or are too many, or changed meanwhile.
 */
static __always_inline void walk_code(struct task_struct *task, struct code_list *list, __u32 max)
{
	struct code_walk walk = {.task = task, .list = list};
	__u64 name;

	list->head.hash = 0;
	list->head.count = 0;
	list->seen_hash = 0;
	list->seen_pages = 0;
	list->sequence = code_sequence(task);
	list->mappings_left = max;
	list->is_over = false;
	begin_code_hash(list, task);
	begin_reader(&list->look.reader, task);
	seek(&list->look.reader, 1);
	bpf_loop(SLOTS_A_MAPPING * max + SLOTS_MORE, walk_mapping, &walk, 0);
	if (!list->is_over || !list->has_code)
		return;
	name = end_code_hash(list);
	list->seen_hash = list->head.count < WIRE_MAPPINGS ? name : 0;
	if (was_not_changed(task, list->sequence))
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

#endif /* OFFCPU_BPF_CODE_LIST_BPF_H_ */
