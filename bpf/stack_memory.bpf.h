/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * Where a thread's stack lies, and what of it may be touched. A capture leaves the mapping that the stack
 * pointer is in only for a piece that a walk has asked for, where a signal handler has a stack of its own,
 * and never for what lies above by chance: that may be anybody's, memory whose pages another program serves
 * (or does not), a file of a mount that hangs. It never touches a device, whose reads may have effects. Pages
 * that are not resident are faulted in only in the stack pointer's own mapping, and where the kernel alone
 * brings them: in private memory without a file.
 */
#ifndef OFFCPU_BPF_STACK_MEMORY_BPF_H_
#define OFFCPU_BPF_STACK_MEMORY_BPF_H_

#include "counters.bpf.h"
#include "task.bpf.h"
#include "vma_iter.bpf.h"

/* Memory of which a page may be more than bytes, or may be brought by others than the kernel. */
#define VM_OF_OTHERS (VM_SHARED | VM_MAYSHARE | VM_IO | VM_PFNMAP | VM_MIXEDMAP | VM_HUGETLB)

static __always_inline bool is_plain_memory(struct vm_area_struct *vma)
{
	vma = untrusted_mapping(vma);
	if (vma->vm_flags & VM_OF_OTHERS || vma->vm_file || vma->vm_ops)
		return false;
	return !bpf_core_field_exists(vma->vm_userfaultfd_ctx.ctx) || !vma->vm_userfaultfd_ctx.ctx;
}

/* If `address` is in `vma`, that is the mapping of it. */
static __always_inline void note_mapping(struct stack_mapping *mapping, struct vm_area_struct *vma,
					 __u64 address, __u64 sequence)
{
	bool is_device = vma->vm_flags & (VM_IO | VM_PFNMAP);

	if (address < vma->vm_start || address >= vma->vm_end)
		return;
	mapping->begin = vma->vm_start;
	mapping->end = is_device ? vma->vm_start : vma->vm_end;
	mapping->may_fault = is_plain_memory(vma);
	mapping->sequence = sequence;
}

static __always_inline bool is_in_stack(const struct stack_mapping *stack, __u64 sp)
{
	return sp >= stack->begin && sp < stack->end;
}

struct mapping_search {
	struct stack_mapping *mapping;
	__u64 address, sequence;
};

/* Of bpf_find_vma. */
static long note_found(struct task_struct *task, struct vm_area_struct *vma, struct mapping_search *search)
{
	note_mapping(search->mapping, vma, search->address, search->sequence);
	return 0;
}

/*
 * Looks for the mapping that `address` of the current task lies in, which is noted as that of its stack or as
 * the other one. The iterator that takes each mapping by itself finds it whatever others are mapping, but not
 * with interrupts off; bpf_find_vma needs the lock of all mappings, if it is free. A global function, so that
 * the verifier goes through it once.
 */
__noinline int find_mapping(__u64 address, __u32 is_other)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct task_state *state = bpf_task_storage_get(&tasks, task, 0, 0);
	struct mapping_search search = {.address = address, .sequence = code_sequence(task)};
	struct bpf_iter_task_vma it;
	struct vm_area_struct *vma;

	if (!state)
		return 0;
	search.mapping = is_other ? &state->other : &state->stack;
	search.mapping->begin = search.mapping->end = 0;
	if (config.has_vma_iter && !config.has_locking_vma_iter) {
		bpf_iter_task_vma_new(&it, task, address);
		vma = bpf_iter_task_vma_next(&it);
		if (vma)
			note_mapping(search.mapping, vma, address, search.sequence);
		bpf_iter_task_vma_destroy(&it);
	}
	if (!is_in_stack(search.mapping, address))
		bpf_find_vma(task, address, note_found, &search, 0);
	return 0;
}

/*
 * How far the stack of the current task may be read from `sp` on. Mappings that somebody is changing cannot
 * be looked at: then the stack is where it was last. If nothing is known, it is the page of `sp`.
 */
static __always_inline __u64 stack_end(struct task_state *state, struct task_struct *task, __u64 sp)
{
	struct stack_mapping *stack = &state->stack, before = *stack;
	__u64 sequence = code_sequence(task);

	if (!is_in_stack(stack, sp) || !sequence || stack->sequence != sequence) {
		find_mapping(sp, false);
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
static __always_inline __u64 end_of_mapping(struct task_state *state, struct task_struct *task, __u64 address)
{
	struct stack_mapping *other = &state->other;
	__u64 sequence = code_sequence(task);

	if (is_in_stack(&state->stack, address))
		return state->stack.end;
	if (!is_in_stack(other, address) || !sequence || other->sequence != sequence)
		find_mapping(address, true);
	return is_in_stack(other, address) ? other->end : 0;
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
