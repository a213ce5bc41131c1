/* How long a wait was, and how much of it a thread waited for a CPU. Recording begins at 1000 here. */
#include "tests/bpf/host/programs.h"

#define START 1000

static struct task_struct task;
static struct stamp stamp;

/* A thread that has slept, not for the first time, and whose times the kernel has booked: 100 of them queued.
 */
static void begin(__u64 out_ns)
{
	control.start_ns = START;
	task = (struct task_struct){.sched_info = {.pcount = 6, .run_delay = 5100}};
	stamp = (struct stamp){.out_ns = out_ns, .out_run_delay = 5000, .arrivals = 5};
	stamp.knows_state = 1;
	stamp.out_state = TASK_INTERRUPTIBLE;
}

static void expect_times(__u64 now, __u64 waited_ns, __u64 runnable_ns)
{
	struct times times = interval_times(&task, &stamp, now, IS_CURRENT);

	check_note("now", now);
	EXPECT_EQ(times.end_ns, now);
	EXPECT_EQ(times.waited_ns, waited_ns);
	EXPECT_EQ(times.runnable_ns, runnable_ns);
	EXPECT_EQ(times.sample_ns, 0);
}

static __u64 backwards(void)
{
	return counted(WIRE_COUNT_CLOCK_BACKWARDS).count;
}

TEST(IntervalTimes, WaitIsFromDepartureToArrival)
{
	begin(1200);
	expect_times(1500, 300, 100);
	expect_times(1300, 100, 100);
	EXPECT_EQ(backwards(), 0);
}

TEST(IntervalTimes, WaitOfNoTimeIsNone)
{
	begin(1200);
	expect_times(1200, 0, 0);
	EXPECT_EQ(backwards(), 0);
}

TEST(IntervalTimes, WaitForACpuIsNoLongerThanTheWait)
{
	begin(1200);
	expect_times(1301, 101, 100);
	expect_times(1300, 100, 100);
	expect_times(1299, 99, 99);
}

/* Its waiting for a CPU came last. */
TEST(IntervalTimes, WaitIsCutAtTheStart)
{
	begin(1001);
	expect_times(1500, 499, 100);
	begin(1000);
	expect_times(1500, 500, 100);
	begin(999);
	expect_times(1500, 500, 100);
	begin(1);
	expect_times(1500, 500, 100);
	expect_times(1100, 100, 100);
	expect_times(1099, 99, 99);
	expect_times(1001, 1, 1);
	EXPECT_EQ(backwards(), 0);
}

/* On a CPU whose clock is a little behind it may come before the start. */
TEST(IntervalTimes, WaitThatEndsBeforeTheStartIsNone)
{
	begin(800);
	expect_times(1000, 0, 0);
	expect_times(900, 0, 0);
	expect_times(700, 0, 0); /* as far as anybody knows: both are before the start */
	EXPECT_EQ(backwards(), 0);
}

TEST(IntervalTimes, ClockThatGoesBackwardsIsCounted)
{
	begin(1200);
	expect_times(1199, 0, 0);
	EXPECT_EQ(backwards(), 1);
	expect_times(900, 0, 0);
	EXPECT_EQ(backwards(), 2);
	EXPECT_EQ(counted(WIRE_COUNT_CLOCK_BACKWARDS).ns, 0);
}

/* Whatever the kernel has booked of it: who was preempted never blocks. */
TEST(IntervalTimes, PreemptedThreadWaitsForACpuAllTheTime)
{
	begin(1200);
	stamp.out_state = 0;
	expect_times(1500, 300, 300);
	task.sched_info.run_delay = 5000;
	expect_times(1500, 300, 300);
	stamp.out_ns = 900;
	expect_times(1500, 500, 500);
}

TEST(IntervalTimes, ThreadOfUnknownStateWaitsForACpuAsTheKernelTells)
{
	begin(1200);
	stamp.knows_state = 0;
	stamp.out_state = 0;
	expect_times(1500, 300, 100);
}

TEST(IntervalTimes, ThreadWithoutADepartureHasWaitedSinceTheStart)
{
	begin(0);
	expect_times(1500, 500, 100);
	expect_times(1050, 50, 50);
	expect_times(1000, 0, 0);
	expect_times(900, 0, 0);
	EXPECT_EQ(backwards(), 0);
}

/* It has waited for its first CPU and for nothing else; before the start it is not counted. */
TEST(IntervalTimes, NewThreadHasWaitedForACpuSinceItWasMade)
{
	begin(0);
	task.sched_info = (struct sched_info){.pcount = 1, .run_delay = 300};
	expect_times(1500, 300, 300);
	expect_times(1300, 300, 300);
	expect_times(1299, 299, 299);
	expect_times(1001, 1, 1);
	expect_times(1000, 0, 0);
	expect_times(900, 0, 0);
	EXPECT_EQ(backwards(), 0);
}

TEST(IntervalTimes, ThreadIsNewOnlyAtItsFirstArrival)
{
	begin(0);
	task.sched_info = (struct sched_info){.pcount = 2, .run_delay = 300};
	stamp.out_run_delay = 0;
	expect_times(1500, 500, 300);
}

static void expect_times_at_switch(__u64 now, __u64 waited_ns, __u64 runnable_ns)
{
	struct times times = interval_times(&task, &stamp, now, ABOUT_TO_RUN);

	EXPECT_EQ(times.waited_ns, waited_ns);
	EXPECT_EQ(times.runnable_ns, runnable_ns);
}

/* What the kernel will book of this wait is not in its sums yet: it was queued at 1380. */
TEST(IntervalTimes, WaitThatIsNotBookedYetIsTheSame)
{
	begin(1200);
	task.sched_info.last_queued = 1380;
	expect_times_at_switch(1500, 300, 220); /* 100 of them booked before, on its way to another CPU */
	task.sched_info.run_delay = 5000;
	expect_times_at_switch(1500, 300, 120);
}

TEST(IntervalTimes, NewThreadThatIsNotCountedYetIsNew)
{
	begin(0);
	task.sched_info = (struct sched_info){.last_queued = 1380};
	stamp.out_run_delay = 0;
	expect_times_at_switch(1500, 120, 120);
	task.sched_info.pcount = 1;
	expect_times_at_switch(1500, 500, 120);
}

TEST(FirstArrival, IsTheOnlyOneSinceTheStamp)
{
	begin(1200);
	for (task.sched_info.pcount = 5; task.sched_info.pcount <= 7; task.sched_info.pcount++) {
		check_note("arrivals", task.sched_info.pcount);
		/* One that was preempted on its way to sleep is not counted at all. */
		EXPECT_EQ(is_first_arrival(&task, &stamp, IS_CURRENT), task.sched_info.pcount <= 6);
		EXPECT_EQ(is_first_arrival(&task, &stamp, ABOUT_TO_RUN), task.sched_info.pcount <= 5);
	}
}

TEST(FirstArrival, NumbersMayBeginAnew)
{
	begin(1200);
	stamp.arrivals = ~0ULL;
	task.sched_info.pcount = 0;
	EXPECT_TRUE(is_first_arrival(&task, &stamp, IS_CURRENT));
	EXPECT_FALSE(is_first_arrival(&task, &stamp, ABOUT_TO_RUN));
}
