/* The record of a wait: its fields, and what becomes of it where there is no room. */
#include "tests/bpf/schedule.h"

static struct task_struct *task;
static const struct times times = {.end_ns = 9000, .waited_ns = 500, .runnable_ns = 120, .sample_ns = 77};
static struct wire_account account;
static struct wake woken;

static void begin(void)
{
	begin_script();
	task = host_new_thread(host_new_process(10), 11);
	task->self_exec_id = 4;
	task->nvcsw = 30;
	task->nivcsw = 12;
	task->cgroups->dfl_cgrp->kn->id = 4711;
	task->group_leader->start_boottime = 123456;
	task->start_boottime = 99;
	host_name(task, "worker");
	account = (struct wire_account){};
}

static struct wire_interval expected_interval(void)
{
	return (struct wire_interval){
		.type = WIRE_INTERVAL,
		.kind = WIRE_KIND_DISK,
		.kernel_stack = 55,
		.end_ns = 9000,
		.blocked_ns = 380,
		.runnable_ns = 120,
		.process = {.start_ns = 123456, .exec_id = 4, .tgid = 10, .tid = 11},
		.no_user = WIRE_NO_USER_BUDGET,
		.syscall = 35,
		.switches = 42,
		.sample_ns = 77,
		.cgroup = 4711,
		.comm = "worker",
	};
}

static void send(struct user_side side)
{
	send_interval(task, &account, &times, 55, side, WIRE_KIND_DISK, 35);
}

static void send_with_waker(__u32 wakers)
{
	woken.record.count = wakers;
	send_woken(task, &account, &times, 55, (struct user_side){}, WIRE_KIND_DISK, 35, &woken);
}

TEST(Interval, EveryFieldIsTold)
{
	struct wire_interval expected = expected_interval();

	begin();
	send((struct user_side){.no_user = WIRE_NO_USER_BUDGET});
	ASSERT_EQ(host_record(&intervals, 0).length, 128);
	EXPECT_BYTES(sent_interval(0), &expected, sizeof(expected));
	EXPECT_EQ(host_record(&intervals, 0).flags, BPF_RB_NO_WAKEUP);
}

TEST(Interval, CaptureThatIsToComeIsNoFailure)
{
	begin();
	send((struct user_side){.cookie = 8, .no_user = WIRE_NO_USER_BUDGET});
	EXPECT_EQ(sent_interval(0)->cookie, 8);
	EXPECT_EQ(sent_interval(0)->no_user, WIRE_USER_PENDING);
}

TEST(Interval, StackThatWasWalkedIsNoFailure)
{
	begin();
	send((struct user_side){.user_stack = 9, .no_user = WIRE_NO_USER_BUDGET});
	EXPECT_EQ(sent_interval(0)->user_stack, 9);
	EXPECT_EQ(sent_interval(0)->cookie, 0);
	EXPECT_EQ(sent_interval(0)->no_user, WIRE_USER_PENDING);
}

TEST(Interval, WaitThatIsSentIsBooked)
{
	begin();
	send((struct user_side){});
	send((struct user_side){});
	EXPECT_EQ(account.blocked_ns, 760);
	EXPECT_EQ(account.runnable_ns, 240);
	EXPECT_EQ(account.lost_ns[WIRE_COUNT_INTERVAL_RING_FULL], 0);
}

/* 30 records take 4080 bytes, and the last one of 4096 is never filled. */
TEST(Interval, WaitThatFindsTheRingFullIsLost)
{
	begin();
	host_resize(&intervals, 4096);
	for (int i = 0; i < 30; i++)
		send((struct user_side){});
	EXPECT_EQ(counted(WIRE_COUNT_INTERVAL_RING_FULL).count, 0);
	send((struct user_side){});
	EXPECT_EQ(host_records(&intervals), 30);
	EXPECT_EQ(counted(WIRE_COUNT_INTERVAL_RING_FULL).count, 1);
	EXPECT_EQ(counted(WIRE_COUNT_INTERVAL_RING_FULL).ns, 500);
	EXPECT_EQ(counted(WIRE_COUNT_INTERVAL_RING_BUSY).count, 0);
	EXPECT_EQ(account.lost_ns[WIRE_COUNT_INTERVAL_RING_FULL], 500);
	EXPECT_EQ(account.blocked_ns, 30 * 380);
}

/* What was interrupted holds the lock of the ring, which has room: for the 30th record. */
TEST(Interval, WaitThatFindsTheRingLockedIsLostForAnotherReason)
{
	begin();
	host_resize(&intervals, 4096);
	for (int i = 0; i < 29; i++)
		send((struct user_side){});
	host.rings_are_busy = 1;
	send((struct user_side){});
	EXPECT_EQ(counted(WIRE_COUNT_INTERVAL_RING_FULL).count, 0);
	EXPECT_EQ(counted(WIRE_COUNT_INTERVAL_RING_BUSY).count, 1);
	EXPECT_EQ(counted(WIRE_COUNT_INTERVAL_RING_BUSY).ns, 500);
	EXPECT_EQ(account.lost_ns[WIRE_COUNT_INTERVAL_RING_BUSY], 500);
	host.rings_are_busy = 0;
	send((struct user_side){});
	EXPECT_EQ(host_records(&intervals), 30);
}

TEST(Interval, WaitIsLostWithoutAnAccountToo)
{
	begin();
	host.rings_are_busy = 1;
	send_interval(task, NULL, &times, 55, (struct user_side){}, WIRE_KIND_DISK, 35);
	EXPECT_EQ(counted(WIRE_COUNT_INTERVAL_RING_BUSY).ns, 500);
}

/* The record is 136 bytes and each waker 72. */
TEST(WokenInterval, LinksFollowTheInterval)
{
	struct wire_interval expected = expected_interval();
	const struct wire_woken_interval *sent;

	begin();
	expected.type = WIRE_WOKEN_INTERVAL;
	expected.no_user = WIRE_USER_PENDING;
	for (__u32 i = 0; i < WIRE_WAKERS; i++)
		woken.wakers[i].at_ns = 100 + i;
	for (__u32 wakers = 1; wakers <= WIRE_WAKERS; wakers++)
		send_with_waker(wakers);
	for (__u32 i = 0; i < WIRE_WAKERS; i++) {
		sent = host_record(&intervals, i).bytes;
		ASSERT_EQ(host_record(&intervals, i).length, 136 + 72 * (i + 1));
		EXPECT_BYTES(&sent->interval, &expected, sizeof(expected));
		EXPECT_EQ(sent->count, i + 1);
		EXPECT_EQ(((const struct wire_waker *)(sent + 1))[i].at_ns, 100 + i);
	}
	EXPECT_EQ(account.blocked_ns, 4 * 380);
	EXPECT_EQ(account.runnable_ns, 4 * 120);
}

/* One with 4 wakers takes 432 bytes in the ring: 9 fit, and of the 207 that are left one with one waker takes
 * 216. */
TEST(WokenInterval, RecordThatDoesNotFitIsLost)
{
	begin();
	host_resize(&intervals, 4096);
	for (int i = 0; i < 9; i++)
		send_with_waker(4);
	EXPECT_EQ(host_records(&intervals), 9);
	send_with_waker(1);
	EXPECT_EQ(host_records(&intervals), 9);
	EXPECT_EQ(counted(WIRE_COUNT_INTERVAL_RING_FULL).ns, 500);
	EXPECT_EQ(account.lost_ns[WIRE_COUNT_INTERVAL_RING_FULL], 500);
	host.rings_are_busy = 1;
	host_drain(&intervals);
	send_with_waker(4);
	EXPECT_EQ(counted(WIRE_COUNT_INTERVAL_RING_BUSY).ns, 500);
	EXPECT_EQ(account.blocked_ns, 9 * 380);
}
