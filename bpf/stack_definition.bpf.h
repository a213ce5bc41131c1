/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* The frames of a kernel stack under their name, sent once. */
#ifndef OFFCPU_BPF_STACK_DEFINITION_BPF_H_
#define OFFCPU_BPF_STACK_DEFINITION_BPF_H_

#include "counters.bpf.h"
#include "rings.bpf.h"
#include "sent.bpf.h"

struct stack_definition {
	struct wire_kernel_stack head;
	__u64 frames[WIRE_KERNEL_FRAMES];
};

static __always_inline void send_once(struct stack_definition *stack, bool may_be_nmi)
{
	__u64 id = stack->head.id;
	__u32 bytes = sizeof(stack->head) + stack->head.count * sizeof(__u64);

	if (is_sent(id, may_be_nmi) || bytes > sizeof(*stack))
		return;
	stack->head.type = WIRE_KERNEL_STACK;
	if (bpf_ringbuf_output(&intervals, stack, bytes, BPF_RB_NO_WAKEUP))
		count(WIRE_COUNT_DEFINITION_DELAYED);
	else
		note_sent(id, may_be_nmi);
}

#endif /* OFFCPU_BPF_STACK_DEFINITION_BPF_H_ */
