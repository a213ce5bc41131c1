/* When a thread left a CPU or came to one, by the scheduler's clock. */
#include "tests/bpf/schedule.h"

static struct task_struct *task;

static void begin(void)
{
	begin_script();
	task = host_new_process(10);
	host_run_on(task, 2);
	host.runqueues[2].clock = 5000;
	host.runqueues[2].clock_task = 4000;
	host.now_ns = 777;
}

TEST(Clock, SchedulersIsThatOfTheThreadsCpu)
{
	begin();
	host.cpu = 1;
	EXPECT_EQ(scheduler_clock(task), 5000);
}

TEST(Clock, MonotonicClockStandsInWhereTheSchedulersCannotBeRead)
{
	begin();
	settings->has_rq_clock = 0;
	EXPECT_EQ(scheduler_clock(task), 777);
	EXPECT_EQ(moment_of_switch(task).clock, 777);
	EXPECT_EQ(moment_of_switch(task).clock_task, 0);
}

TEST(Clock, MomentOfASwitchHasBothClocksOfTheCpu)
{
	begin();
	EXPECT_EQ(moment_of_switch(task).clock, 5000);
	EXPECT_EQ(moment_of_switch(task).clock_task, 4000);
}

/* The kernel has looked for somebody else since. */
TEST(Departure, IsWhenTheThreadWasLastCharged)
{
	begin();
	task->se.exec_start = 3900;
	EXPECT_EQ(departure_ns(task, moment_of_switch(task)), 4900);
	task->se.exec_start = 4000;
	EXPECT_EQ(departure_ns(task, moment_of_switch(task)), 5000);
}

TEST(Departure, IsNowWhereTheChargeIsOfAnotherCpusClock)
{
	begin();
	task->se.exec_start = 4001;
	EXPECT_EQ(departure_ns(task, moment_of_switch(task)), 5000);
}

TEST(Departure, IsNowWhereNoTaskClockIsKnown)
{
	begin();
	task->se.exec_start = 3900;
	EXPECT_EQ(departure_ns(task, (struct moment){.clock = 5000}), 5000);
	task->se.exec_start = 0;
	EXPECT_EQ(departure_ns(task, (struct moment){.clock = 5000}), 5000);
}

TEST(Arrival, IsWhatTheKernelHasBooked)
{
	const struct stamp stamp = {.out_ns = 4500};

	begin();
	task->sched_info.last_arrival = 4700;
	EXPECT_EQ(arrival_ns(task, &stamp, IS_CURRENT), 4700);
	task->sched_info.last_arrival = 4500;
	EXPECT_EQ(arrival_ns(task, &stamp, IS_CURRENT), 4500);
}

/* The kernel does not count a thread that comes back at once to where it was. */
TEST(Arrival, IsNowIfTheLastOneThatWasBookedIsBeforeTheDeparture)
{
	const struct stamp stamp = {.out_ns = 4500};

	begin();
	task->sched_info.last_arrival = 4499;
	EXPECT_EQ(arrival_ns(task, &stamp, IS_CURRENT), 5000);
}

TEST(Arrival, IsNowBeforeTheKernelBooksIt)
{
	const struct stamp stamp = {.out_ns = 4500};

	begin();
	task->sched_info.last_arrival = 4700;
	EXPECT_EQ(arrival_ns(task, &stamp, ABOUT_TO_RUN), 5000);
}

TEST(Arrival, IsTheMonotonicClocksWhereTheSchedulersCannotBeRead)
{
	const struct stamp stamp = {.out_ns = 500};

	begin();
	settings->has_rq_clock = 0;
	task->sched_info.last_arrival = 4700;
	EXPECT_EQ(arrival_ns(task, &stamp, IS_CURRENT), 777);
}

TEST(RunDelay, HasTheWaitInItOnceTheKernelHasBookedIt)
{
	begin();
	task->sched_info.run_delay = 100;
	task->sched_info.last_queued = 4800;
	EXPECT_EQ(run_delay_of(task, 5000, IS_CURRENT), 100);
}

TEST(RunDelay, GetsTheWaitThatTheKernelWillBook)
{
	begin();
	task->sched_info.run_delay = 100;
	task->sched_info.last_queued = 4800;
	EXPECT_EQ(run_delay_of(task, 5000, ABOUT_TO_RUN), 300);
	EXPECT_EQ(run_delay_of(task, 4801, ABOUT_TO_RUN), 101);
}

TEST(RunDelay, GetsNothingOfAThreadThatIsNotQueued)
{
	begin();
	task->sched_info.run_delay = 100;
	EXPECT_EQ(run_delay_of(task, 5000, ABOUT_TO_RUN), 100);
}

TEST(RunDelay, GetsNothingIfTheClockIsBehind)
{
	begin();
	task->sched_info.run_delay = 100;
	task->sched_info.last_queued = 4800;
	EXPECT_EQ(run_delay_of(task, 4800, ABOUT_TO_RUN), 100);
	EXPECT_EQ(run_delay_of(task, 4700, ABOUT_TO_RUN), 100);
}

/* What the programs have learned from a switch at this reading of the scheduler's clock. */
static __u64 learned_from(__u64 scheduler_ns)
{
	learn_clock_offset(scheduler_ns);
	return control.clock_offset;
}

static void begin_to_learn(void)
{
	begin();
	host.now_ns = 1000;
	control.phase = WIRE_WAITING;
	control.clock_offset = 0;
}

TEST(ClockOffset, IsTheLargestDifference)
{
	begin_to_learn();
	EXPECT_EQ(learned_from(1300), 300);
	EXPECT_EQ(learned_from(1299), 300);
	EXPECT_EQ(learned_from(1301), 301);
	host.now_ns = 2000;
	EXPECT_EQ(learned_from(2301), 301);
	EXPECT_EQ(learned_from(2302), 302);
}

/* -200 is more than -300. */
TEST(ClockOffset, MayBeNegative)
{
	begin_to_learn();
	EXPECT_EQ(learned_from(700), -300ULL);
	EXPECT_EQ(learned_from(600), -300ULL);
	EXPECT_EQ(learned_from(800), -200ULL);
	EXPECT_EQ(learned_from(1100), 100);
	EXPECT_EQ(learned_from(900), 100);
}

TEST(ClockOffset, IsLearnedOnlyBeforeRecordingBegins)
{
	begin_to_learn();
	for (control.phase = WIRE_RECORDING; control.phase <= WIRE_LISTING; control.phase++)
		EXPECT_EQ(learned_from(1300), 0);
}

TEST(ClockOffset, NothingIsLearnedWithoutTheSchedulersClock)
{
	begin_to_learn();
	EXPECT_EQ(learned_from(0), 0);
	settings->has_rq_clock = 0;
	EXPECT_EQ(learned_from(1300), 0);
}
