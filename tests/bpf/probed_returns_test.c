/* Copies of stacks on which a probe of returns has replaced return addresses. */
#include "tests/bpf/capture_script.h"

#define TRAMPOLINE 0x7fffffffe000ULL

static struct return_instance instances[3];
static struct uprobe_task probed;
static struct xol_area area;

/* The current thread, with so many functions whose returns are probed, at these offsets of its stack. */
static struct task_struct *new_probed(__u32 count, const __u64 *offsets)
{
	struct task_struct *task = new_captured(7);

	for (__u32 i = 0; i < count; i++) {
		instances[i] = (struct return_instance){.stack = SP + offsets[i],
							.orig_ret_vaddr = 0x400000 + i,
							.next = i + 1 < count ? &instances[i + 1] : NULL};
		host_write_word(task, SP + offsets[i], TRAMPOLINE);
	}
	area.vaddr = TRAMPOLINE;
	task->mm->uprobes_state.xol_area = &area;
	probed.return_instances = count ? &instances[0] : NULL;
	task->utask = &probed;
	return task;
}

static __u64 captured_word(__u64 offset)
{
	const struct wire_capture *head = capture_record(host_records(&captures) - 1);
	__u64 word;

	__builtin_memcpy(&word, (const char *)(head + 1) + head->red_zone_bytes + offset, sizeof(word));
	return word;
}

static void capture_it(void)
{
	EXPECT_EQ(send_capture(1, 4096, CONTEXT_SWITCH, false), WIRE_USER_PENDING);
}

TEST(ProbedReturns, AreWhatTheyWere)
{
	const __u64 offsets[] = {24, 0, 4088};

	new_probed(3, offsets);
	capture_it();
	for (__u32 i = 0; i < 3; i++)
		EXPECT_EQ(captured_word(offsets[i]), 0x400000 + i);
	EXPECT_EQ(captured_word(8), word_of_address(SP + 8));
}

TEST(ProbedReturns, ThoseThatWereNotCopiedAreLeftAlone)
{
	const __u64 offsets[] = {4096, 8192, 12288};

	new_probed(3, offsets);
	instances[0].stack = SP + 4092; /* only half of it is in the copy */
	instances[1].stack = SP - 8;
	instances[2].stack = ~0ULL;
	capture_it();
	expect_bytes(capture_record(0) + 1, SP, 4096);
}

/* A longjmp has passed it, and another function has written there since. */
TEST(ProbedReturns, WhatIsNoTrampolineStays)
{
	const __u64 offsets[] = {24, 32};
	struct task_struct *task = new_probed(2, offsets);

	host_write_word(task, SP + 24, 0x1234);
	capture_it();
	EXPECT_EQ(captured_word(24), 0x1234);
	EXPECT_EQ(captured_word(32), 0x400001);
}

TEST(ProbedReturns, ThreadWithoutOnesIsCapturedAsItIs)
{
	new_probed(0, NULL);
	capture_it();
	expect_bytes(capture_record(0) + 1, SP, 4096);
}

/* The kernel has no probes. */
TEST(ProbedReturns, KernelMayHaveNone)
{
	const __u64 offsets[] = {24};

	new_probed(1, offsets);
	host_hide_field("task->utask");
	capture_it();
	EXPECT_EQ(captured_word(24), TRAMPOLINE);
}
