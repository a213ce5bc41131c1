/* How the user stack of an event comes about: by a pending capture, by one that is asked for, or by a copy at
 * once. */
#include "tests/bpf/capture_script.h"

/* A user side with a cookie, or with the reason that there is none. */
static void expect_cookie(struct user_side side, __u64 cookie)
{
	EXPECT_EQ(side.cookie, cookie);
	EXPECT_EQ(side.user_stack, 0);
}

static void expect_none(struct user_side side, __u32 no_user)
{
	EXPECT_EQ(side.cookie, 0);
	EXPECT_EQ(side.no_user, no_user);
}

TEST(UserSide, IsACaptureThatIsAskedFor)
{
	struct task_struct *task = new_captured(7);

	expect_cookie(side_of(task, false, CONTEXT_SWITCH), cookie_of(0, CONTEXT_SWITCH, 1));
	EXPECT_EQ(state_of(task)->cookie, cookie_of(0, CONTEXT_SWITCH, 1));
	EXPECT_EQ(counted(WIRE_COUNT_TASK_WORK).count, 1);
	EXPECT_EQ(host_records(&captures), 0);
}

/* One is pending at a kernel entry: events of all contexts have its cookie, and nothing is paid for them. */
TEST(UserSide, IsOneCaptureAStay)
{
	struct task_struct *task = new_captured(7);
	__u64 cookie = side_of(task, false, CONTEXT_SWITCH).cookie,
	      left = budget_of(CONTEXT_SWITCH)->bytes_ns;

	for (__u32 context = 0; context < CONTEXTS; context++)
		expect_cookie(side_of(task, true, context), cookie);
	EXPECT_EQ(budget_of(CONTEXT_SWITCH)->bytes_ns, left);
	EXPECT_EQ(counted(WIRE_COUNT_TASK_WORK).count, 1);
	EXPECT_EQ(host_return_to_user(task), 1);
	expect_cookie(side_of(task, false, CONTEXT_SWITCH), cookie_of(0, CONTEXT_SWITCH, 2));
}

static struct user_side quicker;

/* A sample interrupts the first reading of a clock: whether the process was switched off has been asked. */
static void take_quicker_sample(void)
{
	host.on_clock = NULL;
	quicker = side_of(host.current, true, CONTEXT_SAMPLE);
}

/* The sample's capture is the only one, and only the sample pays for it. */
static void expect_quicker_sample(struct task_struct *task)
{
	__u64 cookie = cookie_of(0, CONTEXT_SAMPLE, 1);

	space_of(task, false)->time.off_until_ns = 1;
	for (__u32 context = 0; context < CONTEXTS; context++) {
		*budget_of(context) = (struct budget){
			.last_ns = host.now_ns, .bytes_ns = SECOND / 2, .task_work_ns = SECOND / 2};
	}
	host.on_clock = take_quicker_sample;
	expect_cookie(user_stack_of(task, state_of(task), host.now_ns, true, CONTEXT_SWITCH), cookie);
	EXPECT_FALSE(host.on_clock);
	expect_cookie(quicker, cookie);
	EXPECT_EQ(budget_of(CONTEXT_SWITCH)->bytes_ns, SECOND / 2);
	EXPECT_EQ(budget_of(CONTEXT_SWITCH)->task_work_ns, SECOND / 2);
	EXPECT_EQ(budget_of(CONTEXT_SAMPLE)->task_work_ns, SECOND / 2 - MILLISECOND);
	EXPECT_EQ(host_return_to_user(task), 1);
	EXPECT_EQ(host_records(&captures), 1);
	EXPECT_EQ(capture_record(0)->cookie, cookie);
	EXPECT_EQ(sent_records(WIRE_CAPTURE_FAILED), 0);
}

TEST(UserSide, PaysNothingWhereAnotherContextWasQuicker)
{
	expect_quicker_sample(new_captured(7));
}

/* Nor for the pieces that its stack would have. */
TEST(UserSide, PaysNoPiecesWhereAnotherContextWasQuicker)
{
	const struct wire_stack_hint hint = {.pieces = 4};
	struct task_struct *task = new_captured(7);
	const __u32 tid = 7;

	bpf_map_update_elem(&stack_hints, &tid, &hint, BPF_ANY);
	expect_quicker_sample(task);
}

/* Bits 48 on are the CPU's, 46 and 47 the context's; each counts by itself. */
TEST(UserSide, CookiesOfCpusAndContextsAreApart)
{
	for (__u32 cpu = 0; cpu < 2; cpu++)
		for (__u32 context = 0; context < CONTEXTS; context++)
			for (__u32 number = 1; number < 3; number++) {
				struct task_struct *task = new_captured(10);

				host_run_on(task, cpu);
				expect_cookie(side_of(task, true, context), cookie_of(cpu, context, number));
			}
}

TEST(UserSide, KernelThreadHasNone)
{
	const __u32 flags[] = {0x00200000, 0x10, 0x4000}; /* PF_KTHREAD, PF_IO_WORKER, PF_USER_WORKER */

	for (__u32 i = 0; i < 3; i++) {
		struct task_struct *task = new_captured(7);

		task->flags = flags[i];
		expect_none(side_of(task, true, CONTEXT_SWITCH), WIRE_NO_USER_KERNEL_THREAD);
	}
}

TEST(UserSide, IsNotSupportedWhereUserMemoryCannotBeRead)
{
	struct task_struct *task = new_captured(7);

	settings->can_read_user = 0;
	expect_none(side_of(task, true, CONTEXT_SWITCH), WIRE_NO_USER_UNSUPPORTED);
	expect_none(user_stack_of(task, state_of(task), host.now_ns, true, CONTEXTS),
		    WIRE_NO_USER_UNSUPPORTED);
}

TEST(UserSide, ThreadThatHasLeftItsAddressSpaceIsExiting)
{
	struct task_struct *task = new_captured(7);

	task->mm = NULL;
	expect_none(side_of(task, true, CONTEXT_SWITCH), WIRE_NO_USER_EXITING);
}

/* 4096 bytes of a million a second take 4.096 ms; short waits leave a quarter of a second to long ones. */
TEST(UserSide, BudgetIsEarnedByTime)
{
	struct task_struct *task = new_captured(7);

	host.now_ns = 4095999;
	expect_none(side_of(task, true, CONTEXT_SWITCH), WIRE_NO_USER_BUDGET);
	EXPECT_EQ(budget_of(CONTEXT_SWITCH)->bytes_ns, 4095999);
	host.now_ns = 254095999;
	expect_none(side_of(task, false, CONTEXT_SWITCH), WIRE_NO_USER_BUDGET);
	host.now_ns = 254096000;
	expect_cookie(side_of(task, false, CONTEXT_SWITCH), cookie_of(0, CONTEXT_SWITCH, 1));
	EXPECT_EQ(budget_of(CONTEXT_SWITCH)->bytes_ns, 250000000);
}

/* 16384 bytes of a long wait are more than there is: no copy, and nothing is paid. */
TEST(UserSide, BudgetHasToPayForAllThatIsWanted)
{
	struct task_struct *task = new_captured(7);

	host.now_ns = 16383999;
	expect_none(side_of(task, true, CONTEXT_SWITCH), WIRE_NO_USER_BUDGET);
	EXPECT_EQ(budget_of(CONTEXT_SWITCH)->bytes_ns, 16383999);
	host.now_ns = 16384000;
	expect_cookie(side_of(task, true, CONTEXT_SWITCH), cookie_of(0, CONTEXT_SWITCH, 1));
	EXPECT_EQ(budget_of(CONTEXT_SWITCH)->bytes_ns, 0);
}

TEST(UserSide, PiecesArePaidForToo)
{
	struct task_struct *task = new_captured(7);
	const struct wire_stack_hint hint = {.pieces = 4};
	const __u32 tid = 7;

	bpf_map_update_elem(&stack_hints, &tid, &hint, BPF_ANY);
	host.now_ns = 32767999;
	expect_none(side_of(task, true, CONTEXT_SWITCH), WIRE_NO_USER_BUDGET);
	host.now_ns = 32768000; /* 16384 and 4 * 4096 */
	expect_cookie(side_of(task, true, CONTEXT_SWITCH), cookie_of(0, CONTEXT_SWITCH, 1));
	EXPECT_EQ(budget_of(CONTEXT_SWITCH)->bytes_ns, 0);
}

/* More than half of the budget is there: short waits take as much as long ones. */
TEST(UserSide, RichBudgetIsGenerous)
{
	struct task_struct *task = new_captured(7);

	host.now_ns = 500000000;
	side_of(task, false, CONTEXT_SWITCH);
	EXPECT_EQ(budget_of(CONTEXT_SWITCH)->bytes_ns, 500000000 - 4096000);
	host_return_to_user(task);
	budget_of(CONTEXT_SWITCH)->bytes_ns = 500000001;
	side_of(task, false, CONTEXT_SWITCH);
	EXPECT_EQ(budget_of(CONTEXT_SWITCH)->bytes_ns, 500000001 - 16384000);
}

TEST(UserSide, HintIsFollowedUpToTheLargestStack)
{
	const __u32 tid = 7;
	struct wire_stack_hint hint = {.bytes = 4096};

	EXPECT_EQ(hinted_bytes(7, false), 4096);
	EXPECT_EQ(hinted_bytes(7, true), 16384);
	bpf_map_update_elem(&stack_hints, &tid, &hint, BPF_ANY);
	EXPECT_EQ(hinted_bytes(7, false), 4096);
	hint.bytes = 4097;
	bpf_map_update_elem(&stack_hints, &tid, &hint, BPF_ANY);
	EXPECT_EQ(hinted_bytes(7, false), 4097);
	EXPECT_EQ(hinted_bytes(7, true), 16384);
	hint.bytes = 65537;
	bpf_map_update_elem(&stack_hints, &tid, &hint, BPF_ANY);
	EXPECT_EQ(hinted_bytes(7, false), 65536);
	EXPECT_EQ(hinted_bytes(8, false), 4096);
}

TEST(UserSide, ProcessThatWasSwitchedOffHasNone)
{
	struct task_struct *task = new_captured(7);

	space_of(task, false)->time.off_until_ns = host.now_ns + 1;
	expect_none(side_of(task, true, CONTEXT_SWITCH), WIRE_NO_USER_SWITCHED_OFF);
	EXPECT_EQ(budget_of(CONTEXT_SWITCH)->bytes_ns, SECOND);
	host.now_ns++;
	EXPECT_NE(side_of(task, true, CONTEXT_SWITCH).cookie, 0);
}

/* 1000 task works a second: each takes a millisecond of the budget, and short waits leave a quarter. */
TEST(UserSide, StackIsCopiedAtOnceWhereTaskWorkIsSpent)
{
	struct task_struct *task = new_captured(7);
	__u64 cookie = cookie_of(0, CONTEXT_SWITCH, 1);

	budget_of(CONTEXT_SWITCH)->last_ns = host.now_ns;
	budget_of(CONTEXT_SWITCH)->bytes_ns = SECOND;
	budget_of(CONTEXT_SWITCH)->task_work_ns = 250999999;
	expect_cookie(side_of(task, false, CONTEXT_SWITCH), cookie);
	EXPECT_EQ(state_of(task)->cookie, 0);
	EXPECT_EQ(host_records(&captures), 1);
	EXPECT_EQ(capture_record(0)->cookie, cookie);
	EXPECT_EQ(counted(WIRE_COUNT_COPIED_AT_ONCE).count, 1);
	EXPECT_EQ(counted(WIRE_COUNT_TASK_WORK_REFUSED).count, 0);
	budget_of(CONTEXT_SWITCH)->task_work_ns = 251000000;
	side_of(task, false, CONTEXT_SWITCH);
	EXPECT_EQ(counted(WIRE_COUNT_TASK_WORK).count, 1);
	EXPECT_EQ(budget_of(CONTEXT_SWITCH)->task_work_ns, 250000000);
}

TEST(UserSide, StackIsCopiedAtOnceWhereTheKernelRefuses)
{
	struct task_struct *task = new_captured(7);

	host.refuses_task_work = true;
	expect_cookie(side_of(task, true, CONTEXT_SWITCH), cookie_of(0, CONTEXT_SWITCH, 1));
	EXPECT_EQ(host_records(&captures), 1);
	EXPECT_EQ(state_of(task)->cookie, 0);
	EXPECT_EQ(host_count(&requests), 0);
	EXPECT_EQ(counted(WIRE_COUNT_TASK_WORK_REFUSED).count, 1);
	EXPECT_EQ(counted(WIRE_COUNT_COPIED_AT_ONCE).count, 1);
	EXPECT_EQ(sent_records(WIRE_CAPTURE_FAILED), 0);
}

/* Its cookie was to be seen, and another context may have it: somebody has to tell that nothing comes. */
TEST(UserSide, FailureOfACopyIsToldUnderItsCookie)
{
	struct task_struct *task = new_captured(7);

	host.refuses_task_work = true;
	host_take_page(task, SP, true);
	expect_none(side_of(task, true, CONTEXT_SWITCH), WIRE_NO_USER_UNREADABLE);
	expect_failure_of(cookie_of(0, CONTEXT_SWITCH, 1), WIRE_NO_USER_UNREADABLE);
	EXPECT_EQ(counted(WIRE_COUNT_COPIED_AT_ONCE).count, 0);
}

TEST(UserSide, FailureOfACopyThatNobodySawIsNotTold)
{
	struct task_struct *task = new_captured(7);

	settings->has_task_work = 0;
	host_take_page(task, SP, true);
	expect_none(side_of(task, true, CONTEXT_SWITCH), WIRE_NO_USER_UNREADABLE);
	EXPECT_EQ(sent_records(WIRE_CAPTURE_FAILED), 0);
}

TEST(UserSide, CopyAtOnceHasEachReasonOfACapture)
{
	struct task_struct *task = new_captured(7);

	settings->has_task_work = 0;
	host.rings_are_busy = true;
	expect_none(side_of(task, true, CONTEXT_SWITCH), WIRE_NO_USER_RING_FULL);
	host.rings_are_busy = false;
	settings->buffers = 1;
	EXPECT_TRUE(claim_buffer());
	expect_none(side_of(task, true, CONTEXT_SWITCH), WIRE_NO_USER_NO_BUFFER);
}

/* A thread that exits runs no task work any more, but its stack is there while it is current. */
TEST(UserSide, ExitingThreadIsCopiedAtOnce)
{
	struct task_struct *task = new_captured(7);

	task->flags = PF_EXITING;
	EXPECT_NE(side_of(task, true, CONTEXT_SWITCH).cookie, 0);
	EXPECT_EQ(host_records(&captures), 1);
	EXPECT_EQ(counted(WIRE_COUNT_TASK_WORK).count, 0);
}

TEST(UserSide, ThreadWithoutStorageHasOneCaptureForEachEvent)
{
	struct task_struct *task = new_captured(7);

	host_clear(&tasks);
	expect_cookie(user_stack_of(task, NULL, host.now_ns, true, CONTEXT_SWITCH),
		      cookie_of(0, CONTEXT_SWITCH, 1));
	expect_cookie(user_stack_of(task, NULL, host.now_ns, true, CONTEXT_SWITCH),
		      cookie_of(0, CONTEXT_SWITCH, 2));
	EXPECT_EQ(counted(WIRE_COUNT_TASK_WORK).count, 2);
	EXPECT_EQ(host_return_to_user(task), 2);
	EXPECT_EQ(host_records(&captures), 2);
}
