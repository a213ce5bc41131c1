/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * Making a capture of the current thread: its user registers, the resident top of its stack, and the version
 * of its code, sent under a cookie.
 */
#ifndef OFFCPU_BPF_CAPTURE_BPF_H_
#define OFFCPU_BPF_CAPTURE_BPF_H_

#include "budget.bpf.h"
#include "code.bpf.h"
#include "counters.bpf.h"
#include "machine.bpf.h"
#include "probed_returns.bpf.h"
#include "rings.bpf.h"
#include "stack_copy.bpf.h"
#include "stack_memory.bpf.h"
#include "task.bpf.h"

#define TRY_AGAIN 0x100 /* beside every wire_no_user */

/* Was this stack walked, too, and the thread left where it was since? */
static __always_inline void tell_walked(struct wire_capture *head, const struct walked *walked)
{
	bool is_same = walked->cookie == head->cookie && walked->pc == head->registers[WIRE_REGISTER_PC] &&
		       walked->sp == head->registers[WIRE_REGISTER_SP];

	head->walked = is_same ? walked->user_stack : 0;
	head->walked_code = walked->code_hash;
}

/*
 * Copies what is resident of the current task's stack from its red zone upwards, page by page. Returns a
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
	__u32 bytes, red_zone, take = wanted, result = WIRE_NO_USER_UNREADABLE;
	struct capture_record *record;
	__u64 sp, end;

	if (!buffer || !state) {
		refund(wanted, context);
		return WIRE_NO_USER_NO_BUFFER;
	}
	record = &buffer->record;
	record->head.at_ns = bpf_ktime_get_ns();
	fill_registers(record->head.registers, regs);
	record->head.in_syscall = is_in_syscall(regs);
	record->head.is_32_bit = is_32_bit(regs);
	if (REFUSES_32_BIT && record->head.is_32_bit) {
		refund(wanted, context);
		result = WIRE_NO_USER_32_BIT;
		goto out;
	}
	tell_code(&buffer->code, context);
	sp = record->head.registers[WIRE_REGISTER_SP];
	end = stack_end(state, task, &buffer->code.list.look.reader, sp);
	if (end - sp < take)
		take = end - sp;
	red_zone = record->head.is_32_bit || end <= sp ? 0 : red_zone_bytes(state, sp);
	copy_top(buffer, sp, red_zone, take);
	restore_returns(buffer, task);
	red_zone = sp - buffer->copy.begin;
	bytes = buffer->copy.bytes > red_zone ? buffer->copy.bytes - red_zone : 0;
	if (is_first_try && bytes < take && may_fault_now(state, task)) {
		result = TRY_AGAIN;
		goto out;
	}
	/* What was being changed before may be at rest now. */
	if (config.reads_mappings && !buffer->code.code.hash && !buffer->code.code.sequence)
		tell_code(&buffer->code, context);
	if (config.reads_mappings && !buffer->code.code.hash)
		count(WIRE_COUNT_CODE_UNKNOWN);
	if (context == CONTEXT_SWITCH) /* a sample may have interrupted a walk */
		see_code(state, task, buffer->code.code.sequence, buffer->code.code.hash);
	if (bytes < wanted)
		refund(wanted - bytes, context);
	if (!bytes || bytes > WIRE_STACK_MAX_BYTES)
		goto out;
	record->head.type = WIRE_CAPTURE;
	record->head.cookie = cookie;
	record->head.code = buffer->code.code;
	tell_walked(&record->head, &state->walked);
	record->head.red_zone_bytes = red_zone;
	record->head.stack_bytes = buffer->copy.bytes;
	record->head.above = what_is_above(sp + bytes, sp + wanted, end, state->stack.end == end);
	fill_process(&record->head.process, task);
	copy_pieces(buffer, state, task);
	bytes = buffer->copy.bytes;
	if (bytes > WIRE_COPY_MAX_BYTES)
		goto out;
	result = WIRE_USER_PENDING;
	if (output_record(&captures, record, sizeof(record->head) + bytes)) {
		count(ring_is_full(&captures, sizeof(record->head) + bytes) ? WIRE_COUNT_CAPTURE_RING_FULL
									    : WIRE_COUNT_CAPTURE_RING_BUSY);
		result = WIRE_NO_USER_RING_FULL;
	}
out:
	release_buffer(buffer);
	return result;
}

#endif /* OFFCPU_BPF_CAPTURE_BPF_H_ */
