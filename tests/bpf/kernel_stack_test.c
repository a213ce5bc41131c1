/* Kernel stacks as the kernel's helpers tell them: cut, named and sent; and where the stack of a wait comes
 * from. */
#include "tests/bpf/kernel_script.h"

#define SCHEDULE 0x5000ULL
#define TAIL 0x6000ULL

/* The helper tells `glue` frames, then this one, then 0x100, 0x101 and so on, `count` in all. */
static void context_tells(__u32 glue, __u64 frame, __u32 count)
{
	for (__u32 i = 0; i < count; i++)
		host.context_frames[i] = i < glue ? 0x10 + i : i == glue ? frame : 0x100 + i - glue - 1;
	host.context_count = count;
}

static void begin_schedule(void)
{
	settings->schedule_begin = SCHEDULE;
	settings->schedule_end = SCHEDULE + 0x100;
	settings->schedule_tail_begin = TAIL;
	settings->schedule_tail_end = TAIL + 0x10;
}

static __u64 context_id(void)
{
	return kernel_stack_id(NULL, NULL, STACK_OF_CONTEXT);
}

/* Up to 7 frames above the scheduler's. */
TEST(KernelStack, FramesAboveTheSchedulerAreCut)
{
	const __u64 begins[] = {SCHEDULE, SCHEDULE + 0xff, TAIL, TAIL + 0xf};

	begin_schedule();
	for (__u32 glue = 0; glue < 8; glue++)
		for (__u32 i = 0; i < 4; i++) {
			const __u64 frames[] = {begins[i], 0x100, 0x101};

			check_note("glue", glue);
			context_tells(glue, begins[i], glue + 3);
			EXPECT_EQ(context_id(), kernel_id(frames, 3));
		}
}

TEST(KernelStack, StackThatWasCutIsSentWithoutTheGlue)
{
	const __u64 frames[] = {SCHEDULE + 5, 0x100, 0x101};
	const struct wire_kernel_stack *record;

	begin_schedule();
	context_tells(3, SCHEDULE + 5, 6);
	EXPECT_EQ(context_id(), context_id());
	EXPECT_EQ(host_records(&intervals), 1);
	record = sent_record(WIRE_KERNEL_STACK, 0);
	ASSERT_TRUE(record);
	EXPECT_EQ(record->count, 3);
	EXPECT_EQ(record->id, kernel_id(frames, 3));
	EXPECT_BYTES(record + 1, frames, sizeof(frames));
}

TEST(KernelStack, MoreGlueThanThereMayBeIsNotCut)
{
	begin_schedule();
	context_tells(8, SCHEDULE, 11);
	EXPECT_EQ(context_id(), kernel_id(host.context_frames, 11));
}

TEST(KernelStack, StackWithoutTheSchedulerIsNotCut)
{
	const __u64 others[] = {SCHEDULE - 1, SCHEDULE + 0x100, TAIL - 1, TAIL + 0x10};

	begin_schedule();
	for (__u32 i = 0; i < 4; i++) {
		context_tells(2, others[i], 5);
		EXPECT_EQ(context_id(), kernel_id(host.context_frames, 5));
	}
}

/* No addresses are known: 0 is none of the scheduler's either. */
TEST(KernelStack, NothingIsCutWhereTheSchedulerIsUnknown)
{
	context_tells(2, 0, 5);
	EXPECT_EQ(context_id(), kernel_id(host.context_frames, 5));
}

TEST(KernelStack, LongestStackIsCut)
{
	__u64 frames[127];

	begin_schedule();
	context_tells(7, SCHEDULE, 127);
	__builtin_memcpy(frames, host.context_frames, sizeof(frames));
	EXPECT_EQ(context_id(), kernel_id(frames + 7, 120));
	context_tells(0, SCHEDULE, 127);
	EXPECT_EQ(context_id(), kernel_id(host.context_frames, 127));
}

/* Behind the end of a short stack a slot still has the frames of an earlier one. */
TEST(KernelStack, FramesOfAnEarlierStackDoNotCount)
{
	begin_schedule();
	context_tells(4, SCHEDULE, 8);
	EXPECT_NE(context_id(), 0);
	context_tells(9, 0, 2);
	EXPECT_EQ(context_id(), kernel_id(host.context_frames, 2));
}

TEST(KernelStack, HelperForOtherTasksTellsNoGlue)
{
	const __u64 frames[] = {0x10, SCHEDULE, 0x100};
	struct task_struct *task = host_new_process(1);

	begin_schedule();
	helper_tells(frames, 3);
	EXPECT_EQ(kernel_stack_id(NULL, task, STACK_OF_TASK), kernel_id(frames, 3));
}

/* All addresses are looked up one before, and where an interrupt met a thread is no return address. */
TEST(KernelStack, SampleHasALeafOfOneMore)
{
	const __u64 frames[] = {0x11, SCHEDULE, 0x100};

	begin_schedule();
	context_tells(1, SCHEDULE, 3);
	EXPECT_EQ(kernel_stack_id(NULL, NULL, STACK_OF_SAMPLE), kernel_id(frames, 3));
	EXPECT_EQ(host_count(&sent), 0); /* it may be in an NMI */
	EXPECT_TRUE(is_sent(kernel_id(frames, 3), true));
}

TEST(KernelStack, StackThatTheKernelDoesNotTellIsCounted)
{
	host.context_count = -14;
	EXPECT_EQ(context_id(), 0);
	host.context_count = 0;
	EXPECT_EQ(context_id(), 0);
	EXPECT_EQ(counted(WIRE_COUNT_KERNEL_STACK_FAILED).count, 2);
	EXPECT_EQ(host_records(&intervals), 0);
}

static struct scratch *scratch_of(__u32 cpu)
{
	const __u32 zero = 0;

	return host_value(&scratches, &zero, cpu);
}

/* Each that is interrupted keeps what it has: the one in the middle of it has the next slot. */
TEST(KernelStack, NestedProgramsHaveSlotsOfTheirOwn)
{
	struct scratch *scratch = scratch_of(0);

	for (__u64 depth = 0; depth < 4; depth++) {
		context_tells(0, 0x1000 + depth, 1);
		EXPECT_NE(context_id(), 0);
		EXPECT_EQ(scratch->slots[depth].frames[0], 0x1000 + depth);
		EXPECT_EQ(scratch->depth, depth);
		EXPECT_EQ(claim_slot(scratch), depth);
	}
	for (__u64 depth = 0; depth < 4; depth++)
		EXPECT_EQ(scratch->slots[depth].frames[0], 0x1000 + depth);
}

TEST(KernelStack, FifthProgramHasNoSlot)
{
	struct scratch *scratch = scratch_of(0);

	for (__u32 i = 0; i < 4; i++)
		claim_slot(scratch);
	EXPECT_EQ(counted(WIRE_COUNT_NO_SCRATCH).count, 0);
	context_tells(0, 0x1000, 1);
	EXPECT_EQ(context_id(), 0);
	EXPECT_EQ(counted(WIRE_COUNT_NO_SCRATCH).count, 1);
	EXPECT_EQ(counted(WIRE_COUNT_KERNEL_STACK_FAILED).count, 0);
	EXPECT_EQ(scratch->depth, 4);
	release_slot(scratch);
	EXPECT_NE(context_id(), 0);
	EXPECT_EQ(scratch->depth, 3);
}

/* A thread that left in function 0 and has come back: its stack is walked at sched_switch. */
static struct task_struct *begin_kept(void)
{
	begin_kernel();
	settings->keeps_stacks = 1;
	host.task_count = -16;
	context_tells(0, 0x1000, 2);
	return new_chain(7, 1);
}

TEST(StackOfWait, WalkAtTheSwitchIsUsedWhenTheThreadIsBack)
{
	struct task_struct *task = begin_kept();
	__u64 frames[3];

	chain_frames(frames, 1);
	keep_stack(task);
	EXPECT_EQ(stack_of_wait(NULL, task, IS_CURRENT), kernel_id(frames, 3));
	/* It is used up. */
	EXPECT_EQ(stack_of_wait(NULL, task, IS_CURRENT), kernel_id(host.context_frames, 2));
}

TEST(StackOfWait, WalkOfAnotherThreadIsNotUsed)
{
	struct task_struct *task = begin_kept(), *other = new_chain(8, 1);

	keep_stack(task);
	EXPECT_EQ(stack_of_wait(NULL, other, IS_CURRENT), kernel_id(host.context_frames, 2));
}

TEST(StackOfWait, WalkOfAnotherCpuIsNotUsed)
{
	struct task_struct *task = begin_kept();

	keep_stack(task);
	host.cpu = 1;
	EXPECT_EQ(stack_of_wait(NULL, task, IS_CURRENT), kernel_id(host.context_frames, 2));
}

TEST(StackOfWait, KeptWalkIsNotUsedUnlessStacksAreKept)
{
	struct task_struct *task = begin_kept();

	keep_stack(task);
	settings->keeps_stacks = 0;
	EXPECT_EQ(stack_of_wait(NULL, task, IS_CURRENT), kernel_id(host.context_frames, 2));
}

TEST(StackOfWait, HelperTellsWhatCouldNotBeWalkedAtTheSwitch)
{
	struct task_struct *task = begin_kept();

	keep_stack(task);
	*word_at(task, OLD_IP) = 0;
	keep_stack(task); /* not of the wait before */
	EXPECT_EQ(stack_of_wait(NULL, task, IS_CURRENT), kernel_id(host.context_frames, 2));
}

TEST(StackOfWait, ThreadThatIsAboutToRunIsWalked)
{
	struct task_struct *task = begin_kept();
	__u64 frames[3];

	chain_frames(frames, 1);
	EXPECT_EQ(stack_of_wait(NULL, task, ABOUT_TO_RUN), kernel_id(frames, 3));
	EXPECT_EQ(counted(WIRE_COUNT_KERNEL_NOT_WALKED).count, 0);
}

TEST(StackOfWait, HelperForOtherTasksTellsWhatCannotBeWalked)
{
	struct task_struct *task = begin_kept();
	const __u64 told[] = {RETURN(9)};

	helper_tells(told, 1);
	*word_at(task, OLD_IP) = 0;
	EXPECT_EQ(stack_of_wait(NULL, task, ABOUT_TO_RUN), kernel_id(told, 1));
	EXPECT_EQ(counted(WIRE_COUNT_KERNEL_NOT_WALKED).count, 1);
}

TEST(StackOfWait, WalksThatWereNeverToBeMadeAreNotCounted)
{
	const __u64 told[] = {RETURN(9)};

	helper_tells(told, 1);
	EXPECT_EQ(stack_of_wait(NULL, host_new_process(1), ABOUT_TO_RUN), kernel_id(told, 1));
	EXPECT_EQ(counted(WIRE_COUNT_KERNEL_NOT_WALKED).count, 0);
}
