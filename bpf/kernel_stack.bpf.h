/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* Kernel stacks: taken, cut, named by a hash of their frames, and sent once a name. */
#ifndef OFFCPU_BPF_KERNEL_STACK_BPF_H_
#define OFFCPU_BPF_KERNEL_STACK_BPF_H_

#include "counters.bpf.h"
#include "rings.bpf.h"
#include "sent.bpf.h"

#define SCRATCH_SLOTS 4
#define GLUE_FRAMES                                                                                          \
	8 /* at most this many frames of BPF and tracepoint glue lie above the scheduler's frame */

struct scratch_slot {
	struct wire_kernel_stack head;
	__u64 frames[WIRE_KERNEL_FRAMES];
};

/* An interrupt's program may run in the middle of another one on this CPU: each takes a slot of its own. */
struct scratch {
	__u64 depth;
	struct scratch_slot slots[SCRATCH_SLOTS];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct scratch);
} scratches SEC(".maps");

/* NULL, counted: as many programs as there are slots have been interrupted on this CPU. To be given back. */
static __always_inline struct scratch_slot *claim_slot(struct scratch *scratch)
{
	__u64 index = __sync_fetch_and_add(&scratch->depth, 1);

	if (index < SCRATCH_SLOTS)
		return &scratch->slots[index];
	count(WIRE_COUNT_NO_SCRATCH);
	return NULL;
}

/* Also where claim_slot gave none. */
static __always_inline void release_slot(struct scratch *scratch)
{
	__sync_fetch_and_add(&scratch->depth, -1);
}

/* How many frames lie above the scheduler's: the profiler's own and the tracepoint's. */
static __always_inline __u32 glue_frames(const struct scratch_slot *slot)
{
	for (__u32 i = 0; i < GLUE_FRAMES; i++) {
		__u64 address = slot->frames[i];

		if (address >= config.schedule_begin && address < config.schedule_end)
			return i;
		if (address >= config.schedule_tail_begin && address < config.schedule_tail_end)
			return i;
	}
	return 0;
}

/* Drops the glue, closes the gap and returns the name of what is left. */
static __always_inline __u64 cut_and_hash(struct scratch_slot *slot, __u32 frames, __u32 glue)
{
	__u32 kept = frames > glue ? frames - glue : 0;
	__u64 hash = 0x243f6a8885a308d3ULL;

	for (__u32 i = 0; i < WIRE_KERNEL_FRAMES; i++) {
		__u32 from = i + glue;

		if (i >= kept || from >= WIRE_KERNEL_FRAMES)
			break;
		slot->frames[i] = slot->frames[from];
		hash = mix(hash, slot->frames[i]);
	}
	slot->head.count = kept;
	return hash ? hash : 1;
}

static __always_inline void send_once(struct scratch_slot *slot, bool may_be_nmi)
{
	__u64 id = slot->head.id;
	__u32 bytes = sizeof(slot->head) + slot->head.count * sizeof(__u64);

	if (is_sent(id, may_be_nmi) || bytes > sizeof(*slot))
		return;
	slot->head.type = WIRE_KERNEL_STACK;
	if (bpf_ringbuf_output(&intervals, slot, bytes, BPF_RB_NO_WAKEUP))
		count(WIRE_COUNT_DEFINITION_DELAYED);
	else
		note_sent(id, may_be_nmi);
}

/* Where the frames are taken from. */
enum stack_source {
	STACK_OF_CONTEXT, /* of the current task, from where the program was called */
	STACK_OF_TASK,	  /* of a task that is off the CPU */
	STACK_OF_SAMPLE,  /* of the current task, where an interrupt met it; may be in an NMI */
};

/* Fills the slot's frames and returns how many there are; 0, counted: the kernel gave none. */
static __always_inline __u32 take_frames(struct scratch_slot *slot, void *ctx, struct task_struct *task,
					 enum stack_source source)
{
	long bytes = source == STACK_OF_TASK ? bpf_get_task_stack(task, slot->frames, sizeof(slot->frames), 0)
					     : bpf_get_stack(ctx, slot->frames, sizeof(slot->frames), 0);

	if (bytes > 0)
		return (__u64)bytes / sizeof(__u64);
	count(WIRE_COUNT_KERNEL_STACK_FAILED);
	return 0;
}

/* The id of the slot's stack of that many frames, which is sent if it has not been. */
static __always_inline __u64 name_frames(struct scratch_slot *slot, __u32 frames, enum stack_source source)
{
	bool is_sample = source == STACK_OF_SAMPLE;

	/* A sample's stack begins where the thread was interrupted, which may be in the scheduler. All
	 * addresses are taken for those to return to, and looked up one before. */
	if (is_sample)
		slot->frames[0]++;
	slot->head.id = cut_and_hash(slot, frames, is_sample ? 0 : glue_frames(slot));
	send_once(slot, is_sample);
	return slot->head.id;
}

/* The id of a kernel stack, or 0, counted. */
static __always_inline __u64 kernel_stack_id(void *ctx, struct task_struct *task, enum stack_source source)
{
	__u32 zero = 0, frames;
	struct scratch *scratch = bpf_map_lookup_elem(&scratches, &zero);
	struct scratch_slot *slot;
	__u64 id = 0;

	if (!scratch)
		return 0;
	slot = claim_slot(scratch);
	frames = slot ? take_frames(slot, ctx, task, source) : 0;
	if (slot && frames)
		id = name_frames(slot, frames, source);
	release_slot(scratch);
	return id;
}

#endif /* OFFCPU_BPF_KERNEL_STACK_BPF_H_ */
