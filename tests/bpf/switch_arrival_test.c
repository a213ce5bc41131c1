/* Arrivals that the kernel reports twice, to another program, or not at all, and threads that are recorded at
 * some events only. */
#include "tests/bpf/schedule.h"

static struct task_struct *task;

/* Recorded at the switch, with a place in the array; has left at 100. */
static void begin(void)
{
	begin_script();
	settings->ends_at_switch = settings->has_stamps = 1;
	task = host_new_process(10);
	list(task);
	come_at(task, BEFORE(100));
	at(0);
	record();
	at(100);
	sleep_on(0, SLEEP, NULL);
}

/* A thread that programs do not see runs on the CPU. */
static void hide_runner(__u64 ns)
{
	script.hidden = host_new_process(500);
	script.hidden->sched_info.pcount = 5; /* it has run before */
	at(ns);
	wake(script.hidden);
	run_on(0, script.hidden);
}

TEST(HiddenTasks, ArrivalBehindAHiddenThreadIsToldAtTheExitOfTheScheduler)
{
	begin();
	control.hides_tasks = 1;
	hide_runner(200);
	at(300);
	wake(task);
	at(350);
	run_on(0, task);
	ASSERT_EQ(sent_records(WIRE_INTERVAL), 1);
	EXPECT_EQ(sent_interval(0)->blocked_ns, 200);
	EXPECT_EQ(sent_interval(0)->runnable_ns, 50);
}

/* Preempted for the last time. */
TEST(Arrival, ReleasedThreadIsOfTheProcessThatItWasOf)
{
	begin();
	come_at(task, 200);
	leave_at(300, 0);
	host_release(task, 4711);
	at(400);
	run_on(0, task);
	ASSERT_EQ(sent_records(WIRE_INTERVAL), 2);
	EXPECT_EQ(sent_interval(1)->process.start_ns, 10000);
}

TEST(HiddenTasks, ArrivalThatWasToldIsNotToldAgain)
{
	begin();
	control.hides_tasks = 1;
	come_at(task, 300);
	EXPECT_EQ(sent_records(WIRE_INTERVAL), 1);
	EXPECT_EQ(counted(WIRE_COUNT_JOINED_AWAY).count, 0);
	EXPECT_EQ(this_cpu()->told_tid, 10);
}

/* Told last on this CPU was another one's. */
TEST(HiddenTasks, ArrivalOfOneThreadIsNotTakenForAnothers)
{
	struct task_struct *other;

	begin();
	control.hides_tasks = 1;
	other = host_new_process(11);
	list(other);
	come_at(task, 300);
	hide_runner(400);
	at(500);
	run_on(0, other);
	at(600);
	sleep_on(0, SLEEP, NULL);
	EXPECT_EQ(sent_records(WIRE_INTERVAL), 2);
	EXPECT_EQ(this_cpu()->told_tid, 0); /* the idle thread */
}

/* Where the exit of the scheduler reports arrivals, it reports all of them. */
TEST(HiddenTasks, ExitTellsEveryArrivalOtherwise)
{
	begin();
	settings->ends_at_switch = 0;
	control.hides_tasks = 1;
	come_at(task, 300);
	EXPECT_EQ(sent_records(WIRE_INTERVAL), 1);
}

TEST(HiddenTasks, ExitThatIsNoSwitchTellsNothing)
{
	begin();
	settings->ends_at_switch = 0;
	host.current = task;
	sched_exit(NULL, false);
	EXPECT_EQ(sent_records(WIRE_INTERVAL), 0);
	EXPECT_EQ(find_stamp(task)->out_ns, SCRIPT_START + 100);
}

/* It left at 100, came at 400 behind a hidden thread, unseen by any program, and leaves at 1000. */
static void come_untold(void)
{
	hide_runner(200);
	come_at(task, 400);
	leave_at(1000, SLEEP);
}

TEST(UntoldArrival, LengthOfItsWaitIsCounted)
{
	begin();
	come_untold();
	EXPECT_EQ(sent_records(WIRE_INTERVAL), 0);
	EXPECT_EQ(counted(WIRE_COUNT_ARRIVAL_UNTOLD).count, 1);
	EXPECT_EQ(counted(WIRE_COUNT_ARRIVAL_UNTOLD).ns, 300);
	come_at(task, 1500);
	EXPECT_EQ(sent_interval(0)->blocked_ns, 500); /* the next one's is known */
}

TEST(UntoldArrival, WaitIsCutAtTheStart)
{
	begin();
	at(150);
	record();
	come_untold();
	EXPECT_EQ(counted(WIRE_COUNT_ARRIVAL_UNTOLD).ns, 250);
}

TEST(UntoldArrival, WaitThatEndedByTheStartIsNone)
{
	begin();
	hide_runner(200);
	come_at(task, 400);
	record();
	leave_at(1000, SLEEP);
	EXPECT_EQ(counted(WIRE_COUNT_ARRIVAL_UNTOLD).count, 0);
}

TEST(UntoldArrival, NewThreadHasWaitedAsTheKernelTells)
{
	begin();
	hide_runner(200);
	at(300);
	task = fork_thread(task, host_new_process(20));
	at(370);
	run_on(0, task);
	leave_at(1000, SLEEP);
	EXPECT_EQ(counted(WIRE_COUNT_ARRIVAL_UNTOLD).count, 1);
	EXPECT_EQ(counted(WIRE_COUNT_ARRIVAL_UNTOLD).ns, 70);
}

TEST(UntoldArrival, SeveralOnesAreNotOneWait)
{
	begin();
	task->sched_info.pcount++;
	come_untold();
	EXPECT_EQ(counted(WIRE_COUNT_ARRIVAL_UNTOLD).count, 0);
}

TEST(UntoldArrival, IsNoneIfTheThreadMayNotHaveBeenRecordedThen)
{
	begin();
	settings->command_tgid = 99;
	come_untold();
	EXPECT_EQ(counted(WIRE_COUNT_ARRIVAL_UNTOLD).count, 0);
}

TEST(UntoldArrival, ArrivalThatWasToldIsNone)
{
	begin();
	come_at(task, 400);
	leave_at(1000, SLEEP);
	EXPECT_EQ(counted(WIRE_COUNT_ARRIVAL_UNTOLD).count, 0);
}

TEST(Joining, ThreadThatHasRunInBetweenHasNoKnownWait)
{
	begin();
	task->sched_info.pcount++;
	come_at(task, 400);
	EXPECT_EQ(sent_records(WIRE_INTERVAL), 0);
	EXPECT_EQ(counted(WIRE_COUNT_JOINED_AWAY).count, 1);
	EXPECT_EQ(counted(WIRE_COUNT_JOINED_AWAY).ns, 0);
	EXPECT_EQ(find_stamp(task)->out_ns, 0); /* it waits no more */
	leave_at(500, SLEEP);
	come_at(task, 800);
	EXPECT_EQ(sent_interval(0)->blocked_ns, 300);
}

/* Only of the current thread it is known whether it is in a control group: at 400 that is asked where it
 * comes. */
TEST(Joining, ThreadThatWasInNoRecordedGroupWhenItLeftIsNotRecordedWhenItComes)
{
	begin();
	settings->cgroups = settings->selects = 1;
	host.below_cgroups = 0;
	come_at(task, 400);
	leave_at(500, SLEEP);
	EXPECT_EQ(sent_records(WIRE_INTERVAL), 1); /* left before, when it was recorded */
	host.below_cgroups = 1;
	come_at(task, 800);
	EXPECT_EQ(sent_records(WIRE_INTERVAL), 1);
	EXPECT_EQ(counted(WIRE_COUNT_JOINED_AWAY).count, 0);
	leave_at(900, SLEEP);
	come_at(task, 1000);
	EXPECT_EQ(sent_interval(1)->blocked_ns, 100);
}

TEST(Death, NumberIsFreeForAnotherThread)
{
	begin();
	come_at(task, 400);
	EXPECT_TRUE(placed_stamp(task));
	leave_at(500, TASK_DEAD);
	EXPECT_FALSE(placed_stamp(task));
	EXPECT_TRUE(has_free_place(task));
}

TEST(Death, NumberOfAThreadThatIsNotRecordedIsFreeToo)
{
	begin();
	come_at(task, 400);
	settings->own_tgid = 10;
	leave_at(500, TASK_DEAD);
	EXPECT_TRUE(has_free_place(task));
}

TEST(Death, StampStaysAfterTheEnd)
{
	begin();
	end_recording();
	come_at(task, 400);
	leave_at(500, TASK_DEAD);
	EXPECT_TRUE(placed_stamp(task));
}

/* A thread of the same number that is made then has nothing of the dead one's. */
TEST(Death, NewThreadOfTheNumberBeginsAnew)
{
	begin();
	come_at(task, 400);
	leave_at(500, TASK_DEAD);
	at(600);
	task = fork_thread(task, host_new_process(10));
	at(650);
	run_on(0, task);
	EXPECT_EQ(sent_interval(1)->runnable_ns, 50);
	EXPECT_EQ(sent_interval(1)->blocked_ns, 0);
}

TEST(Filters, ProfilerAndThreadsOfTheKernelAreNotRecorded)
{
	struct task_struct *own, *kernel;

	begin();
	own = host_new_process(1); /* settings->own_tgid */
	kernel = host_new_kernel_thread(30);
	at(200);
	run_on(0, own);
	at(300);
	run_on(0, kernel);
	at(400);
	run_on(0, own);
	at(500);
	run_on(0, kernel);
	EXPECT_EQ(host_records(&intervals), 0);
	EXPECT_EQ(counted(WIRE_COUNT_NO_STORAGE).count, 0);
}
