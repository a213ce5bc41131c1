/* Waits at both ends of a recording, and of threads that are first seen when they come. */
#include "tests/bpf/schedule.h"

static struct task_struct *task;

static struct stamp *stamp(void)
{
	return find_stamp(task);
}

static void begin(void)
{
	begin_script();
	task = host_new_process(10);
	task->__state = SLEEP;
}

static void record_at_0(void)
{
	at(0);
	record();
}

static void expect_wait(__u32 index, __u64 end_ns, __u64 blocked_ns, __u64 runnable_ns)
{
	ASSERT_TRUE(sent_interval(index));
	EXPECT_EQ(sent_interval(index)->end_ns, SCRIPT_START + end_ns);
	EXPECT_EQ(sent_interval(index)->blocked_ns, blocked_ns);
	EXPECT_EQ(sent_interval(index)->runnable_ns, runnable_ns);
}

TEST(Waiting, NothingIsToldBeforeTheStart)
{
	begin();
	list(task);
	come_at(task, BEFORE(500));
	leave_at(BEFORE(400), SLEEP);
	come_at(task, BEFORE(300));
	EXPECT_EQ(host_records(&intervals), 0);
	EXPECT_EQ(stamp()->out_ns, 0);
	EXPECT_EQ(stamp()->has_run, 1);
}

/* It sleeps since before the start, and is queued over it. */
TEST(Waiting, WaitOverTheStartIsToldFromTheStart)
{
	begin();
	list(task);
	come_at(task, BEFORE(500));
	leave_at(BEFORE(400), SLEEP);
	at(BEFORE(100));
	wake(task);
	record_at_0();
	at(250);
	run_on(0, task);
	expect_wait(0, 250, 0, 250);
}

/* A thread that has not left since it was listed has slept since before that. */
TEST(Waiting, ThreadThatWasOnlyListedHasWaitedSinceTheStart)
{
	begin();
	task->sched_info.pcount = 40;
	task->sched_info.run_delay = 12345;
	list(task);
	record_at_0();
	at(200);
	wake(task);
	at(250);
	run_on(0, task);
	expect_wait(0, 250, 200, 50);
	EXPECT_EQ(sent_interval(0)->kind, WIRE_KIND_SLEEPING); /* what it did when it was listed */
}

TEST(Waiting, RunningThreadHasNoWait)
{
	begin();
	list(task);
	come_at(task, BEFORE(500));
	record_at_0();
	leave_at(100, SLEEP);
	come_at(task, 300);
	EXPECT_EQ(sent_records(WIRE_INTERVAL), 1);
	expect_wait(0, 300, 200, 0);
}

/* Listed while it is on a CPU: what it left for is not known before, and is not made up. */
TEST(Waiting, ListingARunningThreadKnowsThatItHasRun)
{
	begin();
	task->on_cpu = 1;
	list(task);
	EXPECT_EQ(stamp()->has_run, 1);
	task->on_cpu = 0;
}

/* Listed again, as a second pass does, it keeps when and how it left. */
TEST(Waiting, ListingKeepsAStamp)
{
	begin();
	list(task);
	come_at(task, BEFORE(500));
	leave_at(BEFORE(400), TASK_UNINTERRUPTIBLE);
	task->__state = 0;
	list(task);
	EXPECT_EQ(stamp()->out_ns, SCRIPT_START - 400);
	EXPECT_EQ(stamp()->out_state, TASK_UNINTERRUPTIBLE);
}

TEST(NewThread, WaitsForItsFirstCpuSinceItWasMade)
{
	begin();
	record_at_0();
	at(100);
	fork_thread(script.idle[0], task);
	at(160);
	run_on(0, task);
	expect_wait(0, 160, 0, 60);
	EXPECT_EQ(sent_interval(0)->kind, WIRE_KIND_PREEMPTED); /* it wants to run */
}

TEST(NewThread, IsToldAtTheSwitchAlike)
{
	begin();
	settings->ends_at_switch = settings->has_stamps = 1;
	record_at_0();
	at(100);
	fork_thread(script.idle[0], task);
	at(160);
	run_on(0, task);
	expect_wait(0, 160, 0, 60);
	leave_at(200, SLEEP);
	come_at(task, 270);
	expect_wait(1, 270, 70, 0);
}

/* The kernel leaves out a program that was preempted by a thread that would call it too. */
TEST(NewThread, WhoseCreationWasNotSeenIsToldIfItHasAPlace)
{
	begin();
	settings->ends_at_switch = settings->has_stamps = 1;
	record_at_0();
	come_at(task, 100);
	EXPECT_EQ(sent_records(WIRE_INTERVAL), 1);
	EXPECT_EQ(sent_interval(0)->kind, WIRE_KIND_OTHER); /* nothing says how it began */
	EXPECT_EQ(counted(WIRE_COUNT_NO_STORAGE).count, 0);
	leave_at(200, SLEEP);
	come_at(task, 270);
	expect_wait(1, 270, 70, 0);
}

TEST(NoStorage, WaitOfAThreadWithoutStorageIsCounted)
{
	begin();
	settings->ends_at_switch = 1;
	record_at_0();
	come_at(task, 100);
	EXPECT_EQ(counted(WIRE_COUNT_NO_STORAGE).count, 1);
	EXPECT_EQ(counted(WIRE_COUNT_NO_STORAGE).ns, 0);
	EXPECT_EQ(sent_records(WIRE_INTERVAL), 0);
	leave_at(200, SLEEP);
	come_at(task, 270);
	EXPECT_EQ(counted(WIRE_COUNT_NO_STORAGE).count, 2);
}

/* Its place in the array is another thread's. */
TEST(NoStorage, ThreadWhosePlaceIsTakenIsCountedToo)
{
	begin();
	settings->ends_at_switch = settings->has_stamps = 1;
	list(host_new_process(10 + 65536));
	record_at_0();
	come_at(task, 100);
	EXPECT_EQ(counted(WIRE_COUNT_NO_STORAGE).count, 1);
	EXPECT_EQ(sent_records(WIRE_INTERVAL), 0);
}

/* It ran at the start, and was not listed. */
TEST(NoStorage, ThreadThatIsFirstSeenLeavingTakesItsPlace)
{
	begin();
	settings->ends_at_switch = settings->has_stamps = 1;
	task->sched_info.pcount = 5;
	come_at(task, BEFORE(100));
	record_at_0();
	leave_at(100, SLEEP);
	come_at(task, 300);
	expect_wait(0, 300, 200, 0);
}

/* It has run before, its place is free, and nobody saw it leave: so the kernel hides it. */
TEST(NoStorage, HiddenThreadIsNotCounted)
{
	begin();
	settings->ends_at_switch = settings->has_stamps = 1;
	task->sched_info.pcount = 5;
	record_at_0();
	come_at(task, 100);
	EXPECT_EQ(counted(WIRE_COUNT_NO_STORAGE).count, 0);
	EXPECT_EQ(sent_records(WIRE_INTERVAL), 0);
}

TEST(NoStorage, StorageIsMadeWhereTheThreadIsCurrent)
{
	begin();
	task->sched_info.pcount = 5;
	record_at_0();
	host.no_storage = 1;
	come_at(task, 100);
	EXPECT_EQ(counted(WIRE_COUNT_NO_STORAGE).count, 1);
	leave_at(150, SLEEP);
	host.no_storage = 0;
	at(200);
	wake(task);
	task->sched_info.pcount = 0; /* as new: else it has run since it was stamped */
	run_on(0, task);
	EXPECT_EQ(counted(WIRE_COUNT_NO_STORAGE).count, 1);
	EXPECT_EQ(sent_records(WIRE_INTERVAL), 1);
}

TEST(Ended, StampsStayWhatTheyAre)
{
	begin();
	list(task);
	come_at(task, BEFORE(500));
	record_at_0();
	leave_at(100, SLEEP);
	at(200);
	end_recording();
	come_at(task, 300);
	EXPECT_EQ(stamp()->out_ns, SCRIPT_START + 100);
	leave_at(400, TASK_UNINTERRUPTIBLE);
	EXPECT_EQ(stamp()->out_ns, SCRIPT_START + 100);
	EXPECT_EQ(stamp()->out_state, SLEEP);
	control.phase = WIRE_LISTING;
	come_at(task, 500);
	leave_at(600, SLEEP);
	EXPECT_EQ(stamp()->out_ns, SCRIPT_START + 100);
	EXPECT_EQ(host_records(&intervals), 0);
}

/* Before it is listed it may call execve. */
TEST(Ended, ProgramThatWaitedAtTheEndIsKept)
{
	struct task_state *state;

	begin();
	task->self_exec_id = 6;
	list(task);
	record_at_0();
	end_recording();
	come_at(task, 300);
	state = host_value(&tasks, task, 0);
	EXPECT_EQ(state->late_exec_id, 7);
	task->self_exec_id = 7;
	leave_at(400, SLEEP);
	come_at(task, 500);
	EXPECT_EQ(state->late_exec_id, 7);
}

TEST(Ended, WhoDiesThenIsCountedWithTheWaitOfTheEnd)
{
	begin();
	list(task);
	come_at(task, BEFORE(500));
	record_at_0();
	leave_at(100, SLEEP);
	at(250);
	end_recording();
	come_at(task, 300);
	leave_at(400, TASK_DEAD);
	EXPECT_EQ(counted(WIRE_COUNT_GONE_AT_END).count, 1);
	EXPECT_EQ(counted(WIRE_COUNT_GONE_AT_END).ns, 150);
}

TEST(Ended, WhoLeftWithTheEndIsNotCounted)
{
	begin();
	list(task);
	come_at(task, BEFORE(500));
	record_at_0();
	leave_at(250, SLEEP);
	end_recording();
	come_at(task, 300);
	leave_at(400, TASK_DEAD);
	EXPECT_EQ(counted(WIRE_COUNT_GONE_AT_END).count, 0);
}

TEST(Ended, WaitOverAllOfTheRecordingIsCountedSo)
{
	begin();
	list(task); /* and does not run until the end */
	record_at_0();
	at(250);
	end_recording();
	come_at(task, 300);
	leave_at(400, TASK_DEAD);
	EXPECT_EQ(counted(WIRE_COUNT_GONE_AT_END).ns, 250);
}

TEST(Ended, WhoRanAtTheEndWasNotWaiting)
{
	begin();
	list(task);
	come_at(task, BEFORE(500));
	record_at_0();
	at(250);
	end_recording();
	leave_at(400, TASK_DEAD);
	EXPECT_EQ(counted(WIRE_COUNT_GONE_AT_END).count, 0);
}

TEST(Ended, NewThreadThatRanAtTheEndWasNotWaiting)
{
	begin();
	record_at_0();
	at(100);
	fork_thread(script.idle[0], task);
	at(160);
	run_on(0, task);
	at(250);
	end_recording();
	leave_at(400, TASK_DEAD);
	EXPECT_EQ(counted(WIRE_COUNT_GONE_AT_END).count, 0);
}

TEST(Ended, WhoLivesOnIsNotCounted)
{
	begin();
	list(task);
	record_at_0();
	at(250);
	end_recording();
	come_at(task, 300);
	leave_at(400, SLEEP);
	EXPECT_EQ(counted(WIRE_COUNT_GONE_AT_END).count, 0);
	control.phase = WIRE_LISTING; /* who is seen then is listed */
	come_at(task, 500);
	leave_at(600, TASK_DEAD);
	EXPECT_EQ(counted(WIRE_COUNT_GONE_AT_END).count, 0);
}
