/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * Copies of what is resident of the current thread's stack: from its red zone upwards, and pieces, where its
 * walks have needed what is further away. Nothing here faults.
 */
#ifndef OFFCPU_BPF_STACK_COPY_BPF_H_
#define OFFCPU_BPF_STACK_COPY_BPF_H_

#include "buffers.bpf.h"
#include "stack_memory.bpf.h"

/* What a thread's captures take. Written by the walker: a hint, so that a tid may be reused. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, __u32); /* tid */
	__type(value, struct wire_stack_hint);
} stack_hints SEC(".maps");

/* Says what lies above what was copied: `end` is where the mapping of it ends. */
static __always_inline __u32 what_is_above(__u64 copied_to, __u64 wanted_to, __u64 end, bool is_known)
{
	if (copied_to >= wanted_to)
		return WIRE_ABOVE_MORE;
	return copied_to >= end && is_known ? WIRE_ABOVE_END : WIRE_ABOVE_UNREAD;
}

/* bpf_loop calls this for each page; 1 ends it. */
static long copy_page(__u32 index, struct capture_buffer **buffer)
{
	struct stack_copy *copy = &(*buffer)->copy;
	__u32 bytes = copy->bytes, chunk = WIRE_PAGE_BYTES - (copy->from & (WIRE_PAGE_BYTES - 1));

	if (bytes >= copy->take || bytes > WIRE_COPY_MAX_BYTES)
		return 1;
	if (chunk > copy->take - bytes)
		chunk = copy->take - bytes;
	barrier_var(chunk); /* else the bound is checked of other registers: too much for 6.1 */
	if (chunk > WIRE_PAGE_BYTES)
		return 1;
	if (bpf_probe_read_user((*buffer)->record.stack + bytes, chunk, (void *)copy->from))
		return 1;
	copy->bytes = bytes + chunk;
	copy->from += chunk;
	return 0;
}

/* Copies `bytes` more from `from` on, or as many as are resident at its front. */
static __always_inline void copy_resident(struct capture_buffer *buffer, __u64 from, __u32 bytes)
{
	buffer->copy.from = from;
	buffer->copy.take = buffer->copy.bytes + bytes;
	bpf_loop(bytes / WIRE_PAGE_BYTES + 2, copy_page, &buffer, 0);
}

/* Copies the red zone below the stack pointer, and `bytes` from there upwards, as the first of a stack. The
 * red zone may be all that another page is needed for, and that one need not be resident. */
static __always_inline void copy_top(struct capture_buffer *buffer, __u64 sp, __u32 red_zone, __u32 bytes)
{
	buffer->copy.bytes = 0;
	buffer->copy.begin = sp - red_zone;
	copy_resident(buffer, sp - red_zone, red_zone + bytes);
	if (red_zone && !buffer->copy.bytes) {
		buffer->copy.begin = sp;
		copy_resident(buffer, sp, bytes);
	}
	buffer->copy.end = buffer->copy.begin + buffer->copy.bytes;
}

/* Copies the piece that begins at `begin`, or what of it lies behind what is copied already. */
static __always_inline void copy_piece(struct capture_buffer *buffer, struct wire_piece *piece, __u64 begin,
				       struct task_state *state, struct task_struct *task)
{
	struct stack_copy *copy = &buffer->copy;
	__u64 end, mapping_end;

	copy->piece_end = begin + WIRE_PIECE_BYTES;
	if (begin >= copy->begin && begin < copy->end)
		begin = copy->end;
	copy->mapping_end = end_of_mapping(state, task, &buffer->code.list.look.reader, begin);
	end = copy->piece_end;
	mapping_end = copy->mapping_end;
	if (begin >= end || begin >= mapping_end)
		return;
	piece->begin = begin;
	piece->bytes = copy->bytes;
	copy_resident(buffer, begin, (end < mapping_end ? end : mapping_end) - begin);
	piece->bytes = copy->bytes - piece->bytes;
	piece->above = what_is_above(piece->begin + piece->bytes, copy->piece_end, copy->mapping_end, true);
}

/* Copies the pieces that the walker has asked for, behind the copy from the stack pointer upwards. A
 * function, so that what it needs of the stack is not its caller's. */
static __noinline int copy_pieces(struct capture_buffer *buffer, struct task_state *state,
				  struct task_struct *task)
{
	struct wire_piece *pieces = buffer->record.head.pieces;
	struct wire_stack_hint *hint;
	__u32 tid = tid_of(task);

	for (__u32 i = 0; i < WIRE_PIECES; i++)
		pieces[i].begin = 0;
	hint = bpf_map_lookup_elem(&stack_hints, &tid);
	if (!hint)
		return 0;
	for (__u32 i = 0; i < WIRE_PIECES; i++) {
		if (i < hint->pieces &&
		    buffer->copy.bytes <= WIRE_STACK_MAX_BYTES + WIRE_RED_ZONE_BYTES + i * WIRE_PIECE_BYTES)
			copy_piece(buffer, &pieces[i], hint->begins[i], state, task);
	}
	return 0;
}

#endif /* OFFCPU_BPF_STACK_COPY_BPF_H_ */
