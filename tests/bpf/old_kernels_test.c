/*
 * Compiled with OFFCPU_TASK_WORK_ARGS=0, as for kernels before 6.18: kernel stacks are copied before they are
 * walked, nothing is remembered, and user stacks are walked, or captured, when a thread leaves.
 */
#include "tests/bpf/schedule.h"
#include "tests/bpf/capture_script.h"
#include "tests/bpf/kernel_script.h"

static void begin_old_kernel(void)
{
	settings->has_task_work = 0;
	settings->ends_at_switch = 1;
}

/* The current thread leaves now: the budget is earned until then. */
static void leave_now(struct task_struct *task)
{
	keep_user_stack(task, host.now_ns);
}

TEST(OldKernelWalk, GoesOverACopyOfTheStack)
{
	struct task_struct *task;
	__u64 frames[5];

	begin_kernel();
	task = new_chain(1, 3);
	chain_frames(frames, 3);
	ASSERT_TRUE(walk_kernel(task));
	EXPECT_BYTES(walk_memory()->words, word_at(task, 0), OLD_BYTES + 64);
	EXPECT_EQ(walk_memory()->walked.head.count, 5);
	EXPECT_EQ(walk_memory()->walked.head.id, kernel_id(frames, 5));
}

/* A stack of 8192 bytes, of which but one frame is needed, and one of 8 bytes more. */
TEST(OldKernelWalk, CopiesSoManyBytes)
{
	for (__u64 bytes = 8192; bytes <= 8200; bytes += 8) {
		struct task_struct *task = new_sleeper(1, bytes);

		begin_kernel();
		add_row(FUNCTION(0), 0, 0, BITS(REG_NONE, REG_NONE, TYPE_END));
		*word_at(task, OLD_IP) = RETURN(0);
		EXPECT_EQ(walk_kernel(task) != NULL, bytes == 8192);
	}
}

TEST(OldKernelWalk, StackThatCannotBeReadIsNotWalked)
{
	struct task_struct *task;

	begin_kernel();
	task = new_chain(1, 3);
	host.unreadable_begin = task->thread.sp + 8;
	host.unreadable_end = task->thread.sp + 16;
	EXPECT_FALSE(walk_kernel(task));
}

/* What the copy before has left behind the end of this stack is none of it. */
TEST(OldKernelWalk, WordsOfAnEarlierStackDoNotCount)
{
	struct task_struct *task;

	begin_kernel();
	ASSERT_TRUE(walk_kernel(new_chain(1, 9)));
	task = new_sleeper(2, OLD_BYTES + 8);
	*word_at(task, OLD_IP) = RETURN(0); /* whose return address would be there */
	EXPECT_FALSE(walk_kernel(task));
}

TEST(OldKernelWalk, FramePointersLeadToPlacesOfTheStack)
{
	struct task_struct *task = new_sleeper(1, 216);
	const __u64 frames[] = {RETURN(0), RETURN(2)};

	begin_kernel();
	add_row(FUNCTION(0), 16, -16, BITS(REG_BP, REG_PREV_SP, TYPE_CALL));
	add_entry(2);
	*word_at(task, OLD_IP) = RETURN(0);
	*word_at(task, OLD_BP) = (__u64)word_at(task, 200);
	*word_at(task, 208) = RETURN(2);
	ASSERT_TRUE(walk_kernel(task));
	EXPECT_EQ(walk_memory()->walked.head.id, kernel_id(frames, 2));
}

TEST(OldKernelWalk, NothingIsRemembered)
{
	__u64 frames[5];

	begin_kernel();
	settings->keeps_stacks = 1;
	host.task_count = -16;
	chain_frames(frames, 3);
	for (__u32 i = 0; i < 2; i++) {
		struct walk_memory *memory = walk_memory();

		memory->walk.count = 0x1234;
		EXPECT_EQ(remembered_or_walked_id(new_chain(1, 3)), kernel_id(frames, 5));
		EXPECT_EQ(memory->walk.count, 5);
	}
}

TEST(OldKernelCapture, IsMadeAtOnceAndLeavesNoRequest)
{
	struct task_struct *task = new_captured(7);
	struct user_side side;

	begin_old_kernel();
	side = side_of(task, true, CONTEXT_SWITCH);
	EXPECT_EQ(side.cookie, cookie_of(0, CONTEXT_SWITCH, 1));
	ASSERT_EQ(host_records(&captures), 1);
	EXPECT_EQ(capture_record(0)->cookie, side.cookie);
	expect_bytes(capture_record(0) + 1, SP, 16384);
	EXPECT_EQ(host_count(&requests), 0);
	EXPECT_EQ(counted(WIRE_COUNT_TASK_WORK_REFUSED).count, 0);
	EXPECT_EQ(counted(WIRE_COUNT_COPIED_AT_ONCE).count, 1);
}

/* The function for task work is not there: who asked for it all the same is refused. */
TEST(OldKernelCapture, TaskWorkIsRefused)
{
	struct task_struct *task = new_captured(7);

	EXPECT_EQ(side_of(task, true, CONTEXT_SWITCH).cookie, cookie_of(0, CONTEXT_SWITCH, 1));
	EXPECT_EQ(counted(WIRE_COUNT_TASK_WORK_REFUSED).count, 1);
	EXPECT_EQ(host_count(&requests), 0);
	EXPECT_EQ(host_records(&captures), 1);
	EXPECT_EQ(ask_for_nothing(NULL, 1), 0);
	EXPECT_EQ(host_count(&requests), 0);
}

/* Each wait has its own: what is noted with the thread proves no kernel entry. */
TEST(OldKernelCapture, CookieIsOfOneEvent)
{
	struct task_struct *task = new_captured(7);

	begin_old_kernel();
	leave_now(task);
	EXPECT_EQ(state_of(task)->cookie, cookie_of(0, CONTEXT_SWITCH, 1));
	EXPECT_EQ(side_of(task, true, CONTEXT_SAMPLE).cookie, cookie_of(0, CONTEXT_SAMPLE, 1));
	EXPECT_EQ(host_records(&captures), 2);
}

TEST(OldKernelCapture, FailureIsNotTold)
{
	struct task_struct *task = new_captured(7);

	begin_old_kernel();
	host_take_page(task, SP, false);
	leave_now(task);
	EXPECT_EQ(state_of(task)->cookie, 0);
	EXPECT_EQ(sent_records(WIRE_CAPTURE_FAILED), 0);
	EXPECT_EQ(counted(WIRE_COUNT_PAGE_FAULTED_IN).count, 0);
}

/* A thread that sleeps for 5 ms: the stack under its interval's cookie was captured when it left. */
static struct task_struct *new_scheduled(void)
{
	struct task_struct *task;

	begin_script();
	task = new_captured(7);
	begin_old_kernel();
	list(task);
	run_on(0, task);
	at(0);
	record();
	at(MILLISECOND);
	return task;
}

static void sleep_and_return(struct task_struct *task)
{
	sleep_for(task, 5 * MILLISECOND);
}

TEST(OldKernelSwitch, StackIsCapturedWhenTheThreadLeaves)
{
	struct task_struct *task = new_scheduled();

	sleep_and_return(task);
	ASSERT_EQ(host_records(&captures), 1);
	ASSERT_TRUE(sent_interval(0));
	EXPECT_EQ(sent_interval(0)->cookie, cookie_of(0, CONTEXT_SWITCH, 1));
	EXPECT_EQ(sent_interval(0)->cookie, capture_record(0)->cookie);
	EXPECT_EQ(sent_interval(0)->blocked_ns, 5 * MILLISECOND);
	EXPECT_EQ(state_of(task)->cookie, 0);
}

/* Nothing could be captured: the interval says so, and has no cookie of the wait before. */
TEST(OldKernelSwitch, IntervalWithoutACaptureTellsWhy)
{
	struct task_struct *task = new_scheduled();

	sleep_and_return(task);
	host_take_page(task, SP, false);
	sleep_and_return(task);
	settings->can_read_user = 0;
	sleep_and_return(task);
	EXPECT_EQ(sent_interval(1)->cookie, 0);
	EXPECT_EQ(sent_interval(1)->no_user, WIRE_NO_USER_UNREADABLE);
	EXPECT_EQ(sent_interval(2)->cookie, 0);
	EXPECT_EQ(sent_interval(2)->no_user, WIRE_NO_USER_UNSUPPORTED);
}

/* These kernels know the code, too. */
TEST(OldKernelCode, IsToldOfCaptures)
{
	struct task_struct *task = new_captured(7);

	begin_old_kernel();
	leave_now(task);
	EXPECT_EQ(capture_record(0)->code.hash, hash_of_code(1));
	EXPECT_EQ(capture_record(0)->code.sequence, sequence_of(task));
	EXPECT_EQ(sent_records(WIRE_CODE), 1);
}
