/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * Return addresses that a probe of returns has replaced. Where somebody probes what a function returns
 * (uretprobes), the kernel has put the address of its own trampoline in the place of the return address, and
 * keeps a list of what was there. A copy of the stack gets those back, so that it says what the program's own
 * calls have pushed.
 */
#ifndef OFFCPU_BPF_PROBED_RETURNS_BPF_H_
#define OFFCPU_BPF_PROBED_RETURNS_BPF_H_

#include "buffers.bpf.h"
#include "untrusted.bpf.h"

#define PROBED_RETURNS 64 /* the kernel lets a thread have no more: MAX_URETPROBE_DEPTH */

struct return_search {
	struct capture_buffer *buffer;
	__u64 instance; /* struct return_instance; 0: there is no further one */
	__u64 trampoline;
};

/* bpf_loop calls this for each of them, from the innermost one on; 1 ends it. One that a longjmp has passed
 * is still in the list: then something else lies there. */
static long restore_return(__u32 index, struct return_search *search)
{
	struct capture_buffer *buffer = search->buffer;
	__u64 instance = search->instance, place = 0, original = 0, offset;
	__u64 *word;

	if (!instance)
		return 1;
	READ_FIELD(place, struct return_instance, instance, stack);
	READ_FIELD(original, struct return_instance, instance, orig_ret_vaddr);
	READ_FIELD(search->instance, struct return_instance, instance, next);
	offset = place - buffer->copy.begin;
	barrier_var(offset);
	if (offset > WIRE_COPY_MAX_BYTES || offset + sizeof(*word) > buffer->copy.bytes)
		return 0;
	word = (__u64 *)(buffer->record.stack + offset);
	if (*word == search->trampoline)
		*word = original;
	return 0;
}

/* Puts them into the copy that begins below the stack pointer of `task`, the current one. A function, so that
 * what it needs of the stack is not its caller's. */
static __noinline int restore_returns(struct capture_buffer *buffer, struct task_struct *task)
{
	struct return_search search = {.buffer = buffer};

	if (!bpf_core_field_exists(task->utask))
		return 0;
	search.instance = (__u64)BPF_CORE_READ(task, utask, return_instances);
	if (!search.instance)
		return 0;
	search.trampoline = BPF_CORE_READ(task, mm, uprobes_state.xol_area, vaddr);
	bpf_loop(PROBED_RETURNS, restore_return, &search, 0);
	return 0;
}

#endif /* OFFCPU_BPF_PROBED_RETURNS_BPF_H_ */
