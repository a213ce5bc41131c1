/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* Kernel stacks: taken, cut, named by a hash of their frames, and sent once a name. */
#ifndef OFFCPU_BPF_KERNEL_STACK_BPF_H_
#define OFFCPU_BPF_KERNEL_STACK_BPF_H_

#include "state.bpf.h"

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

/* Names whose frames have been sent. Whoever throws a definition away deletes the name here. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 65536);
	__type(key, __u64);
	__type(value, __u8);
} sent SEC(".maps");

static __always_inline __u64 mix(__u64 hash, __u64 value)
{
	hash = (hash ^ value) * 0x9e3779b97f4a7c15ULL;
	return hash ^ (hash >> 29);
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

/*
 * The same for programs that may run in an NMI: the LRU's locks could be held by what they interrupted. A
 * place holds one name and is written by plain stores; whoever finds another name in it sends once more.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, WIRE_SENT_PLACES);
	__type(key, __u32);
	__type(value, __u64);
} sent_places SEC(".maps");

static __always_inline bool is_sent(__u64 id, bool may_be_nmi)
{
	__u32 key = id % WIRE_SENT_PLACES;
	__u64 *place;

	if (bpf_map_lookup_elem(&sent, &id))
		return true;
	if (!may_be_nmi)
		return false;
	place = bpf_map_lookup_elem(&sent_places, &key);
	return place && *place == id;
}

static __always_inline void note_sent(__u64 id, bool may_be_nmi)
{
	__u32 key = id % WIRE_SENT_PLACES;
	__u64 *place;
	__u8 one = 1;

	if (!may_be_nmi) {
		bpf_map_update_elem(&sent, &id, &one, BPF_ANY);
		return;
	}
	place = bpf_map_lookup_elem(&sent_places, &key);
	if (place)
		*place = id;
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

/* The id of a kernel stack, or 0, counted. */
static __always_inline __u64 kernel_stack_id(void *ctx, struct task_struct *task, enum stack_source source)
{
	__u32 zero = 0;
	struct scratch *scratch = bpf_map_lookup_elem(&scratches, &zero);
	struct scratch_slot *slot;
	__u64 index, id = 0;
	long bytes;

	if (!scratch)
		return 0;
	index = __sync_fetch_and_add(&scratch->depth, 1);
	if (index >= SCRATCH_SLOTS) {
		count(WIRE_COUNT_NO_SCRATCH);
		goto out;
	}
	slot = &scratch->slots[index];
	if (source == STACK_OF_TASK)
		bytes = bpf_get_task_stack(task, slot->frames, sizeof(slot->frames), 0);
	else
		bytes = bpf_get_stack(ctx, slot->frames, sizeof(slot->frames), 0);
	if (bytes <= 0) {
		count(WIRE_COUNT_KERNEL_STACK_FAILED);
		goto out;
	}
	/* A sample's stack begins where the thread was interrupted, which may be in the scheduler. All
	 * addresses are taken for those to return to, and looked up one before. */
	if (source == STACK_OF_SAMPLE)
		slot->frames[0]++;
	id = cut_and_hash(slot, (__u64)bytes / sizeof(__u64),
			  source == STACK_OF_SAMPLE ? 0 : glue_frames(slot));
	slot->head.id = id;
	send_once(slot, source == STACK_OF_SAMPLE);
out:
	__sync_fetch_and_add(&scratch->depth, -1);
	return id;
}

#endif /* OFFCPU_BPF_KERNEL_STACK_BPF_H_ */
