/* Threads that the kernel moves to another CPU's queue while they sleep: it takes the rest of their sleep for
 * waiting for a CPU. */
#include "tests/bpf/schedule.h"

static struct task_struct *task;

/* It runs on CPU 0 from before the start on. */
static void begin(void)
{
	begin_script();
	task = host_new_process(10);
	list(task);
	run_on(0, task);
	at(0);
	record();
}

/* What Linux 6.12 and later do to a thread that has gone to sleep and is still queued. */
static void move(struct task_struct *sleeper)
{
	sched_migrate_task(NULL, sleeper);
	if (!sleeper->sched_info.last_queued)
		sleeper->sched_info.last_queued = script.ns;
}

static void sleep_at(__u64 ns, bool stays_queued)
{
	at(ns);
	task->se.sched_delayed = stays_queued;
	sleep_on(0, SLEEP, NULL);
}

static void come_back_at(__u64 ns)
{
	at(ns);
	task->se.sched_delayed = 0;
	run_on(0, task);
}

static void expect_wait(__u32 index, __u64 blocked_ns, __u64 runnable_ns)
{
	check_note("wait", index);
	ASSERT_EQ(sent_records(WIRE_INTERVAL), index + 1);
	EXPECT_EQ(sent_interval(index)->blocked_ns, blocked_ns);
	EXPECT_EQ(sent_interval(index)->runnable_ns, runnable_ns);
}

static void expect_unknown(__u64 count, __u64 ns)
{
	EXPECT_EQ(counted(WIRE_COUNT_QUEUE_TIME_UNKNOWN).count, count);
	EXPECT_EQ(counted(WIRE_COUNT_QUEUE_TIME_UNKNOWN).ns, ns);
}

TEST(SwitchMoved, SleepOfAMovedThreadIsBlocked)
{
	begin();
	sleep_at(100, true);
	at(110);
	move(task);
	come_back_at(900);
	expect_wait(0, 800, 0);
	expect_unknown(1, 800);
}

/* The kernel is right about a thread that stays where it is, and about one that is moved when it is woken. */
TEST(SwitchMoved, WaitForACpuOfAThreadThatIsNotMovedAsleepIsToldAsBooked)
{
	begin();
	sleep_at(100, true);
	at(850);
	task->se.sched_delayed = 0;
	wake(task);
	move(task);
	come_back_at(900);
	expect_wait(0, 750, 50);
	expect_unknown(0, 0);
}

TEST(SwitchMoved, NextWaitIsToldAsBooked)
{
	begin();
	sleep_at(100, true);
	move(task);
	come_back_at(200);
	sleep_at(300, false);
	at(380);
	wake(task);
	come_back_at(400);
	expect_wait(1, 80, 20);
	expect_unknown(1, 100);
}

/* It was moved before anybody looked, and the kernel counts it as waiting for a CPU since then. */
TEST(SwitchMoved, ThreadThatWasMovedBeforeItWasSeenHasSlept)
{
	begin_script();
	task = host_new_process(10);
	task->__state = SLEEP;
	task->sched_info = (struct sched_info){.pcount = 5, .last_queued = SCRIPT_START - 500};
	list(task);
	at(0);
	record();
	come_back_at(300);
	expect_wait(0, 300, 0);
	expect_unknown(1, 300);
}

TEST(SwitchMoved, ThreadThatWaitsForACpuWhenItIsFirstSeenWaits)
{
	begin_script();
	task = host_new_process(10);
	task->on_rq = 1;
	task->__state = SLEEP; /* preempted on its way to sleep */
	task->sched_info = (struct sched_info){.pcount = 5, .last_queued = SCRIPT_START - 500};
	list(task);
	at(0);
	record();
	come_back_at(300);
	expect_wait(0, 0, 300);
	expect_unknown(0, 0);
}

TEST(SwitchMoved, NothingIsNotedAfterTheEnd)
{
	begin();
	sleep_at(100, true);
	end_recording();
	move(task);
	EXPECT_EQ(find_stamp(task)->was_moved, 0);
}

TEST(SwitchMoved, ThreadIsNotInAQueueAsleepWhereTheKernelKnowsOfNone)
{
	begin();
	host_hide_field("task->se.sched_delayed");
	sleep_at(100, true);
	move(task);
	EXPECT_EQ(find_stamp(task)->was_moved, 0);
}
