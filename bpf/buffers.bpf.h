/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * Memory for what does not fit on a BPF program's stack and is used where the program may sleep, so that it
 * cannot be the CPU's own: the program that sets `busy` owns the buffer.
 */
#ifndef OFFCPU_BPF_BUFFERS_BPF_H_
#define OFFCPU_BPF_BUFFERS_BPF_H_

#include "code.bpf.h"

/* A page of slack lets the verifier see that a page may be copied to any offset in use. */
struct capture_record {
	struct wire_capture head;
	__u8 stack[WIRE_COPY_MAX_BYTES + WIRE_PAGE_BYTES]; /* and the pieces of it */
};

struct thread_record {
	struct wire_thread head;
	__u64 frames[WIRE_KERNEL_FRAMES];
};

/* How far the copy of a stack is. */
struct stack_copy {
	__u64 from;		      /* the next byte */
	__u32 bytes, take;	      /* how many the record holds, and is to hold */
	__u64 begin, end;	      /* what was copied around the stack pointer and upwards */
	__u64 piece_end, mapping_end; /* of a piece, kept here because the stack has no room */
};

struct capture_buffer {
	__u64 busy;
	struct stack_copy copy;
	struct code_work code;
	struct thread_record thread;
	struct capture_record record;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 8); /* set before loading, see wire_config */
	__type(key, __u32);
	__type(value, struct capture_buffer);
} buffers SEC(".maps");

/* Claims a buffer, starting at this CPU's own; NULL if all are in use. */
static __always_inline struct capture_buffer *claim_buffer(void)
{
	__u32 first = bpf_get_smp_processor_id();

	for (__u32 i = 0; i < 8; i++) {
		__u32 key = (first + i) % (config.buffers ?: 1);
		struct capture_buffer *buffer = bpf_map_lookup_elem(&buffers, &key);

		if (buffer && !__sync_val_compare_and_swap(&buffer->busy, 0, 1))
			return buffer;
	}
	return NULL;
}

static __always_inline void release_buffer(struct capture_buffer *buffer)
{
	__sync_lock_test_and_set(&buffer->busy, 0);
}

#endif /* OFFCPU_BPF_BUFFERS_BPF_H_ */
