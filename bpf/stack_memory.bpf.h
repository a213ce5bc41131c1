/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * Where a thread's stack lies, and what of it may be touched. A stack is the mapping that the stack pointer
 * is in, and those that continue it: the kernel splits a mapping of which a part is locked, named, or left
 * out of core dumps. A capture leaves it only for a piece that a walk has asked for, where a signal handler
 * has a stack of its own, and never for what lies above by chance: that may be anybody's, memory whose pages
 * another program serves (or does not), a file of a mount that hangs. It never touches a device, whose reads
 * may have effects. Pages that are not resident are faulted in only in the stack, and where the kernel alone
 * brings them: in private memory without a file.
 */
#ifndef OFFCPU_BPF_STACK_MEMORY_BPF_H_
#define OFFCPU_BPF_STACK_MEMORY_BPF_H_

#include "counters.bpf.h"
#include "code_sequence.bpf.h"
#include "mm_tree.bpf.h"
#include "task.bpf.h"

/* Memory of which a page may be more than bytes, or may be brought by others than the kernel. */
#define VM_OF_OTHERS (VM_SHARED | VM_MAYSHARE | VM_IO | VM_PFNMAP | VM_MIXEDMAP | VM_HUGETLB)

static __always_inline bool is_plain_memory(const struct mm_reader *reader)
{
	__u64 served_by = 0;

	if (reader->mapping.flags & VM_OF_OTHERS || reader->mapping.file || reader->mapping.ops)
		return false;
	if (bpf_core_field_exists(((struct vm_area_struct *)0)->vm_userfaultfd_ctx.ctx))
		READ_FIELD(served_by, struct vm_area_struct, reader->pointer, vm_userfaultfd_ctx.ctx);
	return !served_by;
}

/* In which mappings of one stack are alike. */
#define VM_OF_STACK (VM_READ | VM_WRITE | VM_EXEC | VM_STACK)
#define STACK_MAPPINGS 16
#define STEPS_A_STACK_MAPPING (TREE_LEVELS + 2)

/* How many mappings have been taken, and of which flags, is kept with the reader. Verifiers of older kernels
 * look at a callback of bpf_loop once, with what the first call of it finds on the stack, and cut off what
 * that does not come to. */
struct stack_search {
	struct mm_reader *reader;
	struct stack_mapping *stack;
};

/* Does the mapping that was read last continue the stack? */
static __always_inline bool continues_stack(const struct stack_search *search)
{
	const struct mapping_read *read = &search->reader->mapping;

	return read->begin == search->stack->end &&
	       !((read->flags ^ search->reader->stack_flags) & VM_OF_STACK) &&
	       is_plain_memory(search->reader);
}

/* Takes the mapping that was read last. False: the stack ends with it, or before it. */
static __always_inline bool take_stack_mapping(struct stack_search *search)
{
	const struct mapping_read *read = &search->reader->mapping;
	struct stack_mapping *stack = search->stack;

	if (search->reader->stack_mappings && !continues_stack(search))
		return false;
	stack->end = read->end;
	if (!search->reader->stack_mappings) {
		stack->begin = read->begin;
		stack->may_fault = is_plain_memory(search->reader);
		search->reader->stack_flags = read->flags;
		if (read->flags & (VM_IO | VM_PFNMAP))
			stack->end = read->begin;
	}
	return ++search->reader->stack_mappings < STACK_MAPPINGS && stack->may_fault;
}

/* bpf_loop calls this for each level of the tree on the way to a mapping, and for the mapping; 1 ends it. */
static long search_stack(__u32 index, struct stack_search *search)
{
	enum tree_step step = step_down(search->reader);

	if (step == TREE_GOES_ON)
		return 0;
	if (step != TREE_AT_SLOT || !read_mapping(search->reader) || !take_stack_mapping(search))
		return 1;
	seek(search->reader, search->stack->end);
	return 0;
}

/* Looks for the stack of `task` that `address` lies in; if it is not found, its begin and its end are 0. */
static __always_inline void find_stack(struct task_struct *task, struct mm_reader *reader, __u64 address,
				       struct stack_mapping *stack)
{
	struct stack_search search = {.reader = reader, .stack = stack};

	stack->begin = stack->end = 0;
	reader->stack_mappings = 0;
	begin_reader(reader, task);
	seek(reader, address);
	bpf_loop(STEPS_A_STACK_MAPPING * STACK_MAPPINGS, search_stack, &search, 0);
}

static __always_inline bool is_in_stack(const struct stack_mapping *stack, __u64 sp)
{
	return sp >= stack->begin && sp < stack->end;
}

/*
 * Looks for the stack that `address` of the current task lies in, which is noted as its own or as the other
 * one. A global function, so that the verifier goes through it once.
 */
__noinline int find_mapping(struct mm_reader *reader, __u64 address, __u32 is_other)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct task_state *state = bpf_task_storage_get(&tasks, task, 0, 0);
	struct stack_mapping *mapping;

	if (!state || !reader)
		return 0;
	mapping = is_other ? &state->other : &state->stack;
	mapping->sequence = code_sequence(task);
	find_stack(task, reader, address, mapping);
	return 0;
}

/*
 * How far the stack of the current task may be read from `sp` on; not at all if that is in a device. Mappings
 * that somebody is changing cannot be looked at: then the stack is where it was last. If nothing is known, it
 * is the page of `sp`. A function, as others here are, so that what it needs of the stack is not its
 * caller's.
 */
static __noinline __u64 stack_end(struct task_state *state, struct task_struct *task,
				  struct mm_reader *reader, __u64 sp)
{
	struct stack_mapping *stack = &state->stack, before = *stack;
	__u64 sequence = code_sequence(task);

	if (!is_in_stack(stack, sp) || !sequence || stack->sequence != sequence) {
		find_mapping(reader, sp, false);
		if (stack->begin && stack->begin == stack->end)
			return sp;
		if (!is_in_stack(stack, sp))
			*stack = before;
	}
	if (is_in_stack(stack, sp))
		return stack->end;
	count(WIRE_COUNT_STACK_UNKNOWN);
	return (sp | (WIRE_PAGE_BYTES - 1)) + 1;
}

/* How far the mapping that `address` of the current task lies in may be read; 0: that is not known, or it is
 * a device. */
static __always_inline __u64 end_of_mapping(struct task_state *state, struct task_struct *task,
					    struct mm_reader *reader, __u64 address)
{
	struct stack_mapping *other = &state->other;
	__u64 sequence = code_sequence(task);

	if (is_in_stack(&state->stack, address))
		return state->stack.end;
	if (!is_in_stack(other, address) || !sequence || other->sequence != sequence)
		find_mapping(reader, address, true);
	return is_in_stack(other, address) ? other->end : 0;
}

/* How much of the red zone below `sp` lies in the same page: what need not be looked at by itself. */
static __always_inline __u32 red_zone_of_page(__u64 sp)
{
	__u64 below = sp & (WIRE_PAGE_BYTES - 1);

	return below < WIRE_RED_ZONE_BYTES ? below : WIRE_RED_ZONE_BYTES;
}

/* How much of it lies in the stack of the current task, as far as that is known. */
static __always_inline __u32 red_zone_bytes(const struct task_state *state, __u64 sp)
{
	__u64 below;

	if (!is_in_stack(&state->stack, sp))
		return red_zone_of_page(sp);
	below = sp - state->stack.begin;
	return below < WIRE_RED_ZONE_BYTES ? below : WIRE_RED_ZONE_BYTES;
}

/* Has nothing been mapped or unmapped since the stack was found to be plain memory? */
static __always_inline bool may_fault_now(const struct task_state *state, struct task_struct *task)
{
	return state->stack.may_fault && state->stack.sequence &&
	       code_sequence(task) == state->stack.sequence;
}

/*
 * Makes `wanted` bytes of the current task's stack resident. May sleep while the kernel reads swapped pages,
 * and so holds nothing meanwhile.
 */
static __always_inline void fault_in(const struct task_state *state, struct task_struct *task, __u32 wanted)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
	__u64 address = BPF_CORE_READ(regs, sp), end = address + wanted;
	__u8 byte;

	if (end > state->stack.end)
		end = state->stack.end;
	for (int i = 0; i <= WIRE_STACK_MAX_BYTES / WIRE_PAGE_BYTES; i++) {
		if (address >= end)
			break;
		if (bpf_probe_read_user(&byte, sizeof(byte), (void *)address)) {
			if (!may_fault_now(state, task) ||
			    bpf_copy_from_user(&byte, sizeof(byte), (void *)address))
				break;
			count(WIRE_COUNT_PAGE_FAULTED_IN);
		}
		address = (address & ~(WIRE_PAGE_BYTES - 1ULL)) + WIRE_PAGE_BYTES;
	}
}

#endif /* OFFCPU_BPF_STACK_MEMORY_BPF_H_ */
