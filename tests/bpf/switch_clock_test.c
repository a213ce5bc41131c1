/* What a switch tells the programs of clocks and CPUs. */
#include "tests/bpf/schedule.h"

static struct task_struct *task;

static void begin(void)
{
	begin_script();
	task = host_new_process(10);
	list(task);
	come_at(task, BEFORE(100));
}

/* The thread is charged until 100, and the next one comes at 140. Its own wait ends the same way. */
static void expect_search_in_waits(void)
{
	begin();
	at(0);
	record();
	script.search_ns = 40;
	at(100);
	sleep_on(0, SLEEP, NULL);
	come_at(task, 300);
	ASSERT_EQ(sent_records(WIRE_INTERVAL), 1);
	EXPECT_EQ(sent_interval(0)->end_ns, SCRIPT_START + 340);
	EXPECT_EQ(sent_interval(0)->blocked_ns, 200);
	EXPECT_EQ(sent_interval(0)->runnable_ns, 40);
}

TEST(SwitchClock, SearchForTheNextThreadIsAPartOfBothWaits)
{
	expect_search_in_waits();
}

TEST(SwitchClock, SearchIsAPartOfWaitsThatAreToldAtTheSwitch)
{
	settings->ends_at_switch = settings->has_stamps = 1;
	expect_search_in_waits();
}

TEST(SwitchClock, TimeThatIsStolenIsNoPartOfAWait)
{
	begin();
	script.stolen_ns[0] = 50;
	at(0);
	record();
	script.stolen_ns[0] = 90;
	at(100);
	sleep_on(0, SLEEP, NULL);
	come_at(task, 300);
	EXPECT_EQ(sent_interval(0)->blocked_ns, 200);
}

/* Monotonic readings are the clock of the system where the scheduler's cannot be read. */
TEST(SwitchClock, MonotonicClockTellsWaitsWhereTheSchedulersCannot)
{
	begin();
	settings->has_rq_clock = 0;
	at(0);
	control.start_ns = host.now_ns;
	control.phase = WIRE_RECORDING;
	at(100);
	sleep_on(0, SLEEP, NULL);
	at(350);
	task->__state = 0;
	run_on(0, task);
	ASSERT_EQ(sent_records(WIRE_INTERVAL), 1);
	EXPECT_EQ(sent_interval(0)->blocked_ns, 250);
	EXPECT_EQ(sent_interval(0)->end_ns, SCRIPT_START - SCRIPT_AHEAD + 350);
}

TEST(SwitchClock, OffsetIsLearnedFromEverySwitchBeforeTheStart)
{
	begin();
	control.clock_offset = 0;
	at(BEFORE(50));
	sleep_on(0, SLEEP, NULL);
	EXPECT_EQ(control.clock_offset, SCRIPT_AHEAD);
}

TEST(SwitchClock, IdleTimeOfACpuIsNoted)
{
	const __u32 zero = 0;
	const struct sampled_cpu *cpu = host_value(&sampled_cpus, &zero, 0);

	begin();
	control.clock_period_ns = 1000;
	at(100);
	sleep_on(0, SLEEP, NULL);
	EXPECT_EQ(cpu->idle_since_ns, host.now_ns);
	come_at(task, 350);
	EXPECT_EQ(cpu->idle_since_ns, 0);
	EXPECT_EQ(cpu->idle_ns, 250);
}
