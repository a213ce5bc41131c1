/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * Reads the mappings of a process from the kernel's maple tree itself, without a lock: at a switch, with
 * interrupts off, the kernel's iterators refuse, and 6.1 has none. Each read may fail or find what is just
 * being changed. A mapping counts if it is one of the process and holds the address that led to it; several
 * of them count together if code_sequence() was the same before and after.
 *
 * A node has 32 words (include/linux/maple_tree.h): its parent, the pivots, and a slot more than these. A
 * pivot is the last address of its slot; one that is 0, behind the first, ends them. A pointer to a node has
 * the node's type in its lower bits. The recorder has checked that this kernel's types say the same.
 */
#ifndef OFFCPU_BPF_MM_TREE_BPF_H_
#define OFFCPU_BPF_MM_TREE_BPF_H_

#include "untrusted.bpf.h"

#define NODE_WORDS 32
#define NODE_PIVOTS 15
#define NODE_ARANGE_PIVOTS 9
#define NODE_LEAF 1 /* enum maple_type */
#define NODE_RANGE 2
#define NODE_ARANGE 3
#define NODE_LOWER_BITS 255ULL
#define TREE_LEVELS 8
#define NO_ADDRESS_BELOW 4096 /* such a slot is empty */

/* A mapping as it was read. Addresses of kernel objects are numbers: what lies there may be gone. */
struct mapping_read {
	__u64 begin, end;
	__u64 flags;
	__u64 page_offset; /* in the file */
	__u64 file, ops;
	__u64 mm;
};

/* Where a reader of a tree is. */
struct mm_reader {
	__u64 node[NODE_WORDS];
	__u64 first, last; /* addresses that the node is of */
	__u64 address;	   /* that is looked for */
	__u64 slot_last;   /* of the slot that `address` is in */
	__u64 pointer;	   /* to the node to be read, or what is in the slot; 0: to the root */
	__u64 mm;
	struct mapping_read mapping;
	__u32 type; /* of the node */
	__u8 has_node;
	/* Used only by code that reads the mappings of a stack: see stack_memory.bpf.h. */
	__u64 stack_flags;
	__u32 stack_mappings;
};

enum tree_step { TREE_GOES_ON, TREE_AT_SLOT, TREE_FAILED };

static __always_inline void begin_reader(struct mm_reader *reader, struct task_struct *task)
{
	reader->mm = (__u64)untrusted(task)->mm;
	reader->has_node = 0;
	reader->pointer = 0;
}

/* What has been read serves again where `address` is in the same node. */
static __always_inline void seek(struct mm_reader *reader, __u64 address)
{
	reader->address = address;
	if (reader->has_node && address >= reader->first && address <= reader->last)
		return;
	reader->has_node = 0;
	reader->pointer = 0;
}

static __always_inline bool read_node(struct mm_reader *reader)
{
	struct mm_struct *mm = (struct mm_struct *)reader->mm;
	__u64 pointer = reader->pointer;

	if (!mm)
		return false;
	if (!pointer) {
		reader->first = 0;
		reader->last = ~0ULL;
		bpf_core_read(&reader->pointer, sizeof(reader->pointer), &mm->mm_mt.ma_root);
		pointer = reader->pointer;
	}
	reader->type = pointer >> 3 & 15;
	/* Bit 1 marks the root unless the tree is a single mapping, bit 2 every node. */
	if (!(pointer & 6) || pointer <= NO_ADDRESS_BELOW || reader->type < NODE_LEAF ||
	    reader->type > NODE_ARANGE)
		return false;
	return !bpf_probe_read_kernel(reader->node, sizeof(reader->node),
				      (void *)(pointer & ~NODE_LOWER_BITS));
}

static __always_inline __u32 pivots_of(const struct mm_reader *reader)
{
	return reader->type == NODE_ARANGE ? NODE_ARANGE_PIVOTS : NODE_PIVOTS;
}

/* How many pivots are below the address. Without a branch, or the verifier would go all the ways that there
 * are: the highest bit of a difference says that it is negative. */
static __always_inline __u32 slot_of(const struct mm_reader *reader)
{
	const __u64 lower = ~(1ULL << 63);
	__u64 below = 0, address = reader->address - 1, pivots = pivots_of(reader);

	for (__u64 i = 0; i < NODE_PIVOTS; i++)
		below += ((((reader->node[1 + i] - 1) & lower) - address) & (i - pivots)) >> 63;
	barrier_var(below);
	return below & 15;
}

/* A level down, or into the slot of the leaf that the address is in: what it holds is `pointer` then. */
static __always_inline enum tree_step step_down(struct mm_reader *reader)
{
	__u32 slot, pivots;
	__u64 pivot;

	if (!reader->has_node) {
		reader->has_node = 1;
		return read_node(reader) ? TREE_GOES_ON : TREE_FAILED;
	}
	slot = slot_of(reader);
	pivots = pivots_of(reader);
	pivot = slot < pivots ? reader->node[(1 + slot) & (NODE_WORDS - 1)] : 0;
	reader->slot_last = pivot ?: reader->last;
	reader->pointer = reader->node[(1 + pivots + slot) & (NODE_WORDS - 1)];
	if (reader->type == NODE_LEAF)
		return TREE_AT_SLOT;
	if (slot)
		reader->first = reader->node[slot] + 1;
	reader->last = reader->slot_last;
	reader->has_node = 0;
	return TREE_GOES_ON;
}

/* Reads the mapping that the slot holds. False: there is none, or no longer this one. */
static __always_inline bool read_mapping(struct mm_reader *reader)
{
	struct mapping_read *mapping = &reader->mapping;
	__u64 pointer = reader->pointer;

	if (pointer <= NO_ADDRESS_BELOW || pointer & 3)
		return false;
	READ_FIELD(mapping->begin, struct vm_area_struct, pointer, vm_start);
	READ_FIELD(mapping->end, struct vm_area_struct, pointer, vm_end);
	READ_FIELD(mapping->flags, struct vm_area_struct, pointer, vm_flags);
	READ_FIELD(mapping->page_offset, struct vm_area_struct, pointer, vm_pgoff);
	READ_FIELD(mapping->file, struct vm_area_struct, pointer, vm_file);
	READ_FIELD(mapping->ops, struct vm_area_struct, pointer, vm_ops);
	READ_FIELD(mapping->mm, struct vm_area_struct, pointer, vm_mm);
	return mapping->mm == reader->mm && reader->address >= mapping->begin &&
	       reader->address < mapping->end;
}

/* bpf_loop calls this for each level of the tree; 1 ends it. */
static long find_slot(__u32 index, struct mm_reader **reader)
{
	enum tree_step step = step_down(*reader);

	if (step == TREE_FAILED)
		(*reader)->pointer = 0;
	return step == TREE_GOES_ON ? 0 : 1;
}

/* Reads the mapping that holds `address`. False: there is none, or it could not be read. */
static __always_inline bool read_mapping_at(struct mm_reader *reader, __u64 address)
{
	seek(reader, address);
	bpf_loop(2 * TREE_LEVELS, find_slot, &reader, 0);
	return reader->has_node && reader->type == NODE_LEAF && read_mapping(reader);
}

/* On to the slot behind. False: that was the last one. */
static __always_inline bool seek_next(struct mm_reader *reader)
{
	if (reader->slot_last == ~0ULL)
		return false;
	seek(reader, reader->slot_last + 1);
	return true;
}

#endif /* OFFCPU_BPF_MM_TREE_BPF_H_ */
