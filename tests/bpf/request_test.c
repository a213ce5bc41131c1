/* Captures that were asked for: made when the thread returns to user mode, cancelled, or failed; each is
 * answered. */
#include "tests/bpf/capture_script.h"

#define COOKIE cookie_of(0, CONTEXT_SWITCH, 1)

/* A thread whose capture is pending. */
static struct task_struct *new_pending(void)
{
	struct task_struct *task = new_captured(7);

	EXPECT_EQ(side_of(task, true, CONTEXT_SWITCH).cookie, COOKIE);
	return task;
}

static void expect_done(struct task_struct *task)
{
	EXPECT_EQ(state_of(task)->cookie, 0);
	EXPECT_EQ(host_count(&requests), 0);
}

TEST(Request, IsServedOnTheWayToUserMode)
{
	struct task_struct *task = new_pending();

	EXPECT_EQ(host_return_to_user(task), 1);
	ASSERT_EQ(host_records(&captures), 1);
	EXPECT_EQ(capture_record(0)->cookie, COOKIE);
	EXPECT_EQ(capture_record(0)->stack_bytes, 16384);
	EXPECT_EQ(sent_records(WIRE_CAPTURE_FAILED), 0);
	expect_done(task);
}

/* It is served in this thread alone. */
TEST(Request, IsServedInItsThread)
{
	struct task_struct *task = new_pending(), *other = host_new_process(9);

	EXPECT_EQ(host_return_to_user(other), 0);
	EXPECT_EQ(host_count(&requests), 1);
	EXPECT_EQ(host_return_to_user(task), 1);
}

TEST(Request, FaultsMissingPagesIn)
{
	struct task_struct *task = new_pending();

	host_take_page(task, SP, false);
	host_take_page(task, SP + 8192, false);
	host_return_to_user(task);
	EXPECT_EQ(counted(WIRE_COUNT_PAGE_FAULTED_IN).count, 2);
	ASSERT_EQ(host_records(&captures), 1);
	EXPECT_EQ(capture_record(0)->stack_bytes, 16384);
	expect_bytes(capture_record(0) + 1, SP, 16384);
}

/* In shared memory, in a file, and where another program serves pages, it takes what is there. */
TEST(Request, FaultsNothingInThatOthersBring)
{
	for (__u32 i = 0; i < 3; i++) {
		struct task_struct *task = new_pending();
		struct vm_area_struct *vma;

		host_unmap(task, STACK);
		vma = host_map(task, STACK, STACK_END, VM_WRITE | (i == 0 ? VM_SHARED : 0));
		vma->vm_file = i == 1 ? host_file(5) : NULL;
		vma->vm_userfaultfd_ctx.ctx = i == 2 ? (void *)1 : NULL;
		host_take_page(task, SP + 4096, false);
		host_return_to_user(task);
		EXPECT_EQ(counted(WIRE_COUNT_PAGE_FAULTED_IN).count, 0);
		ASSERT_EQ(host_records(&captures), 1);
		EXPECT_EQ(capture_record(0)->stack_bytes, 4096);
		EXPECT_EQ(capture_record(0)->above, WIRE_ABOVE_UNREAD);
		host_drain(&captures);
		budget_of(CONTEXT_SWITCH)->cookies = 0;
	}
}

TEST(Request, FailsWhereNothingCanBeRead)
{
	struct task_struct *task = new_pending();

	host_take_page(task, SP, true);
	host_return_to_user(task);
	expect_failure_of(COOKIE, WIRE_NO_USER_UNREADABLE);
	expect_done(task);
}

TEST(Request, FailsInTheProgramThatFollows)
{
	struct task_struct *task = new_pending();

	task->mm = host_new_process(8)->mm;
	host_return_to_user(task);
	expect_failure_of(COOKIE, WIRE_NO_USER_EXEC);
	expect_done(task);
	EXPECT_EQ(host_records(&captures), 0);
}

TEST(Request, FailsWithoutAnAddressSpaceOrStorage)
{
	struct task_struct *task = new_pending();

	task->mm = NULL;
	host_return_to_user(task);
	expect_failure_of(COOKIE, WIRE_NO_USER_EXITING);
	expect_done(task);
}

TEST(Request, FailsWithoutStorage)
{
	struct task_struct *task = new_pending();

	host_clear(&tasks);
	host.no_storage = true;
	host_return_to_user(task);
	expect_failure_of(COOKIE, WIRE_NO_USER_EXITING);
	EXPECT_EQ(host_count(&requests), 0);
}

TEST(Request, FailsWhereTheRingIsFull)
{
	struct task_struct *task;

	host_resize(&captures, 4096);
	task = new_pending();
	host_return_to_user(task);
	expect_failure_of(COOKIE, WIRE_NO_USER_RING_FULL);
	EXPECT_EQ(counted(WIRE_COUNT_CAPTURE_RING_FULL).count, 1);
}

TEST(Request, FailureMayBeLost)
{
	struct task_struct *task = new_pending();

	host.rings_are_busy = true;
	host_return_to_user(task);
	EXPECT_EQ(counted(WIRE_COUNT_CAPTURE_ANSWER_LOST).count, 1);
	expect_done(task);
}

/* A cancelled request does not run, and one that runs all the same finds nothing. */
TEST(Request, IsCancelledByExecAndExit)
{
	for (__u32 i = 0; i < 2; i++) {
		struct task_struct *task = new_pending();

		host_drain(&intervals);
		if (i)
			sched_process_exit(NULL, task);
		else
			sched_process_exec(NULL, task, 7, NULL);
		expect_failure_of(COOKIE, i ? WIRE_NO_USER_EXITING : WIRE_NO_USER_EXEC);
		expect_done(task);
		host_return_to_user(task);
		EXPECT_EQ(host_records(&captures), 0);
		budget_of(CONTEXT_SWITCH)->cookies = 0;
	}
}

TEST(Request, NothingIsCancelledThatIsNotPending)
{
	struct task_struct *task = new_captured(7);

	sched_process_exec(NULL, task, 7, NULL);
	sched_process_exit(NULL, task);
	EXPECT_EQ(sent_records(WIRE_CAPTURE_FAILED), 0);
}

/* The task work clears the cookie of its own stay, not that of a later one. */
TEST(Request, CookieOfALaterStayIsLeft)
{
	struct task_struct *task = new_pending();

	state_of(task)->cookie = 77;
	host_return_to_user(task);
	EXPECT_EQ(state_of(task)->cookie, 77);
}

/* An event of another context was quicker, between the look at the cookie and its setting. */
static void take_cookie(void)
{
	struct task_struct *task = host.current;

	host.on_task_work = NULL;
	EXPECT_EQ(side_of(task, true, CONTEXT_SAMPLE).cookie, cookie_of(0, CONTEXT_SWITCH, 1));
}

TEST(Request, EventDuringTheRequestHasItsCookie)
{
	struct task_struct *task = new_captured(7);

	host.on_task_work = take_cookie;
	EXPECT_EQ(side_of(task, true, CONTEXT_SWITCH).cookie, COOKIE);
	EXPECT_EQ(counted(WIRE_COUNT_TASK_WORK).count, 1);
}

/* The same before the cookie is set: the clock is read to see whether captures are switched off. */
static void set_other_cookie(void)
{
	state_of(host.current)->cookie = 77;
}

TEST(Request, EventOfAQuickerContextHasAskedAlready)
{
	struct task_struct *task = new_captured(7);

	space_of(task, false)->time.off_until_ns = 1;
	host.on_clock = set_other_cookie;
	EXPECT_EQ(side_of(task, true, CONTEXT_SWITCH).cookie, 77);
	EXPECT_EQ(state_of(task)->cookie, 77);
	EXPECT_EQ(counted(WIRE_COUNT_TASK_WORK).count, 0);
	EXPECT_EQ(host_records(&captures), 0);
}

/* As many requests as there is room for; no request takes another's place. */
TEST(Request, ThereIsRoomForSoMany)
{
	struct task_struct *task = new_captured(7);

	host_resize(&requests, 2);
	EXPECT_TRUE(request_capture(task, 1, 4096));
	EXPECT_FALSE(request_capture(task, 1, 4096));
	EXPECT_EQ(host_count(&requests), 1);
	EXPECT_TRUE(request_capture(task, 2, 4096));
	EXPECT_FALSE(request_capture(task, 3, 4096));
	EXPECT_EQ(counted(WIRE_COUNT_TASK_WORK).count, 2);
	EXPECT_EQ(counted(WIRE_COUNT_TASK_WORK_REFUSED).count, 2);
	EXPECT_EQ(host_return_to_user(task), 2);
}

/*
 * The clock moves 1 us a reading: between the first and the last one it is read for the capture's time and
 * for the budget of mappings.
 */
TEST(Request, TimeIsBookedToTheProcess)
{
	struct task_struct *task = new_pending();

	space_of(task, false);
	host.tick_ns = 1000;
	host_return_to_user(task);
	EXPECT_EQ(counted(WIRE_COUNT_CAPTURE_TIME).count, 1);
	EXPECT_EQ(counted(WIRE_COUNT_CAPTURE_TIME).ns, 3000);
	EXPECT_EQ(space_of(task, true)->time.spent_ns, 3000);
}

/* The context is that of the cookie: what it pays for is given back to it. */
TEST(Request, BytesAreRefundedToWhoAsked)
{
	struct task_struct *task = new_captured(7);

	host_regs(task)->sp = STACK_END - 4096;
	EXPECT_EQ(side_of(task, true, CONTEXT_WAKER).cookie, cookie_of(0, CONTEXT_WAKER, 1));
	EXPECT_EQ(budget_of(CONTEXT_WAKER)->bytes_ns, SECOND - 16384000);
	host_return_to_user(task);
	EXPECT_EQ(budget_of(CONTEXT_WAKER)->bytes_ns, SECOND - 4096000);
	EXPECT_EQ(budget_of(CONTEXT_SWITCH)->bytes_ns, 0);
}

TEST(RequestCost, IsAskedForOnceAndAnsweredByNothing)
{
	struct task_struct *task = new_captured(7);

	EXPECT_EQ(ask_for_nothing(NULL, 0), 0);
	EXPECT_EQ(host_count(&requests), 0);
	EXPECT_EQ(ask_for_nothing(NULL, 1), 1);
	EXPECT_EQ(ask_for_nothing(NULL, 1), 0); /* it has not been served yet */
	EXPECT_EQ(host_return_to_user(task), 1);
	EXPECT_EQ(host_count(&requests), 0);
	EXPECT_EQ(host_records(&captures) + host_records(&intervals), 0);
	EXPECT_EQ(ask_for_nothing(NULL, 1), 1);
}

TEST(RequestCost, RefusalLeavesNothingBehind)
{
	new_captured(7);
	host.refuses_task_work = true;
	EXPECT_EQ(ask_for_nothing(NULL, 1), 0);
	EXPECT_EQ(host_count(&requests), 0);
}

TEST(Buffers, AreClaimedFromThatOfTheCpuOn)
{
	const void *claimed[8];

	settings->buffers = 8;
	host.cpu = 3;
	for (__u32 i = 0; i < 8; i++) {
		const __u32 key = (3 + i) % 8;

		claimed[i] = claim_buffer();
		EXPECT_EQ(claimed[i], host_value(&buffers, &key, 0));
	}
	EXPECT_FALSE(claim_buffer());
	release_buffer((struct capture_buffer *)claimed[5]);
	EXPECT_EQ(claim_buffer(), claimed[5]);
}

TEST(Buffers, AreAsManyAsWereMade)
{
	settings->buffers = 2;
	host.cpu = 3;
	EXPECT_EQ(claim_buffer(), host_value(&buffers, &(__u32){1}, 0));
	EXPECT_EQ(claim_buffer(), host_value(&buffers, &(__u32){0}, 0));
	EXPECT_FALSE(claim_buffer());
}
