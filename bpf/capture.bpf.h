/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * Making a capture of the current thread: its user registers, the resident top of its stack, and the version
 * of its code, sent under a cookie.
 */
#ifndef OFFCPU_BPF_CAPTURE_BPF_H_
#define OFFCPU_BPF_CAPTURE_BPF_H_

#include "buffers.bpf.h"
#include "budget.bpf.h"
#include "code.bpf.h"
#include "counters.bpf.h"
#include "machine.bpf.h"
#include "rings.bpf.h"
#include "stack_memory.bpf.h"
#include "task.bpf.h"

/* Says what lies above what was copied: `end` is where the stack's mapping ends. */
static __always_inline __u32 what_is_above(__u64 copied_to, __u64 wanted_to, __u64 end, bool is_known)
{
	if (copied_to >= wanted_to)
		return WIRE_ABOVE_MORE;
	return copied_to >= end && is_known ? WIRE_ABOVE_END : WIRE_ABOVE_UNREAD;
}

struct stack_copy {
	struct capture_record *record;
	__u64 sp;
	__u32 bytes, take; /* copied, and to be copied */
};

/* Of bpf_loop; 1 ends it. */
static long copy_page(__u32 index, struct stack_copy *copy)
{
	__u32 bytes = copy->bytes, chunk = WIRE_PAGE_BYTES - ((copy->sp + bytes) & (WIRE_PAGE_BYTES - 1));

	if (bytes >= copy->take || bytes > WIRE_STACK_MAX_BYTES)
		return 1;
	if (chunk > copy->take - bytes)
		chunk = copy->take - bytes;
	barrier_var(chunk); /* else the bound is checked of other registers: too much for 6.1 */
	if (chunk > WIRE_PAGE_BYTES)
		return 1;
	if (bpf_probe_read_user(copy->record->stack + bytes, chunk, (void *)(copy->sp + bytes)))
		return 1;
	copy->bytes = bytes + chunk;
	return 0;
}

#define TRY_AGAIN 0x100 /* beside every wire_no_user */

/*
 * Copies what is resident of the current task's stack from the stack pointer upwards, page by page. Returns a
 * wire_no_user; WIRE_USER_PENDING: the capture is on its way; TRY_AGAIN, of a first try only: there is a page
 * that is not resident and may be faulted in. A global function, so that the verifier goes through it once
 * and not from every place that it is called at.
 */
__noinline int send_capture(__u64 cookie, __u32 wanted, __u32 context, __u32 is_first_try)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct task_state *state = bpf_task_storage_get(&tasks, task, 0, 0);
	struct capture_buffer *buffer = state ? claim_buffer() : NULL;
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
	__u32 bytes, take = wanted, result = WIRE_NO_USER_UNREADABLE;
	struct capture_record *record;
	struct stack_copy copy = {};
	__u64 sp, end;

	if (!buffer || !state) {
		refund(wanted, context);
		return WIRE_NO_USER_NO_BUFFER;
	}
	record = &buffer->record;
	fill_registers(record->head.registers, regs);
	record->head.in_syscall = is_in_syscall(regs);
	/* First: on some kernels one walk of the mappings is all there is, and it may find the stack too. */
	tell_code(&buffer->code, context);
	sp = record->head.registers[7];
	end = stack_end(state, task, sp);
	if (end - sp < take)
		take = end - sp;
	copy.record = record;
	copy.sp = sp;
	copy.take = take;
	bpf_loop(WIRE_STACK_MAX_BYTES / WIRE_PAGE_BYTES + 1, copy_page, &copy, 0);
	bytes = copy.bytes;
	if (is_first_try && bytes < take && may_fault_now(state, task)) {
		result = TRY_AGAIN;
		goto out;
	}
	/* What was being changed before may be at rest now. */
	if (config.has_vma_iter && !buffer->code.code.hash && !buffer->code.code.sequence)
		tell_code(&buffer->code, context);
	if (config.has_vma_iter && !buffer->code.code.hash)
		count(WIRE_COUNT_CODE_UNKNOWN);
	if (bytes < wanted)
		refund(wanted - bytes, context);
	if (!bytes || bytes > WIRE_STACK_MAX_BYTES)
		goto out;
	record->head.type = WIRE_CAPTURE;
	record->head.cookie = cookie;
	record->head.code = buffer->code.code;
	record->head.stack_bytes = bytes;
	record->head.above = what_is_above(sp + bytes, sp + wanted, end, state->stack.end == end);
	fill_process(&record->head.process, task);
	result = WIRE_USER_PENDING;
	if (bpf_ringbuf_output(&captures, record, sizeof(record->head) + bytes, BPF_RB_NO_WAKEUP)) {
		count(ring_is_full(&captures, sizeof(record->head) + bytes) ? WIRE_COUNT_CAPTURE_RING_FULL
									    : WIRE_COUNT_CAPTURE_RING_BUSY);
		result = WIRE_NO_USER_RING_FULL;
	}
out:
	release_buffer(buffer);
	return result;
}

#endif /* OFFCPU_BPF_CAPTURE_BPF_H_ */
