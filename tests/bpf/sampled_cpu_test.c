/* Which sampling events of a CPU were missed. Its clock fires at multiples of 1000 ns here. */
#include "tests/bpf/host/programs.h"

static struct task_struct *idle, *thread;

static void begin(void)
{
	control.clock_period_ns = 1000;
	idle = host_new_kernel_thread(0);
	thread = host_new_process(10);
	host.now_ns = 100000;
	count_missed(); /* the first event that is seen */
}

/* The event fires so much later. Returns how many have been missed since the test began. */
static __u64 fire_after(__u64 ns)
{
	host.now_ns += ns;
	count_missed();
	return counted(WIRE_COUNT_SAMPLE_MISSED).count;
}

static void idle_for(__u64 ns)
{
	note_idle(thread, idle);
	host.now_ns += ns;
	note_idle(idle, thread);
}

TEST(SampledCpu, EventThatFiresInTimeMissesNothing)
{
	begin();
	EXPECT_EQ(fire_after(1000), 0);
	EXPECT_EQ(fire_after(1000), 0);
}

TEST(SampledCpu, FirstEventMissesNothing)
{
	begin();
	EXPECT_EQ(counted(WIRE_COUNT_SAMPLE_MISSED).count, 0);
}

TEST(SampledCpu, MissedEventsStandForTheirPeriods)
{
	begin();
	EXPECT_EQ(fire_after(4000), 3);
	EXPECT_EQ(counted(WIRE_COUNT_SAMPLE_MISSED).ns, 3000);
	EXPECT_EQ(fire_after(2000), 4);
	EXPECT_EQ(counted(WIRE_COUNT_SAMPLE_MISSED).ns, 4000);
}

TEST(SampledCpu, LateEventIsRoundedToTheNearestPeriod)
{
	begin();
	EXPECT_EQ(fire_after(1499), 0);
}

TEST(SampledCpu, EventLateByHalfAPeriodHasMissedOne)
{
	begin();
	EXPECT_EQ(fire_after(1500), 1);
}

/* 400 late and then 600 later: together one period, and both events were counted for one each. */
TEST(SampledCpu, LateEventIsFollowedByOneThatComesSooner)
{
	begin();
	EXPECT_EQ(fire_after(1400), 0);
	EXPECT_EQ(fire_after(600), 0);
	EXPECT_EQ(fire_after(1499),
		  0); /* nothing is left of it: else this were the second half of a period */
}

/* The lateness of all that are late by less than half a period adds up. */
TEST(SampledCpu, LatenessIsCarriedOn)
{
	begin();
	EXPECT_EQ(fire_after(1400), 0);
	EXPECT_EQ(fire_after(1099), 0); /* 1499 with what was left */
	EXPECT_EQ(fire_after(1001), 1); /* 1500 */
}

/* The one that was counted as missed is made up for by the next one that comes too early. */
TEST(SampledCpu, EarlyEventMakesUpForOneTooMany)
{
	begin();
	EXPECT_EQ(fire_after(1600), 1); /* 2000: 400 more than there were */
	EXPECT_EQ(fire_after(1899), 1); /* 1499 */
}

TEST(SampledCpu, NothingIsMissedWhileTheCpuIsIdle)
{
	begin();
	host.now_ns += 500;
	idle_for(5000);
	EXPECT_EQ(fire_after(500), 0); /* 6 periods, 5 of them idle */
}

/* 3 of 8 periods, and 999 ns that are none. */
TEST(SampledCpu, OnlyWholeIdlePeriodsExcuse)
{
	begin();
	host.now_ns += 500;
	idle_for(3999);
	EXPECT_EQ(fire_after(3501), 4);
}

TEST(SampledCpu, IdleTimesAddUp)
{
	begin();
	host.now_ns += 500;
	idle_for(1500);
	host.now_ns += 500;
	idle_for(1500);
	EXPECT_EQ(fire_after(1000), 1); /* 5 periods, 3 of them idle */
}

TEST(SampledCpu, IdleTimeExcusesOnce)
{
	begin();
	host.now_ns += 500;
	idle_for(5000);
	fire_after(500);
	EXPECT_EQ(fire_after(3000), 2);
}

/* An event may fire while the CPU is idle: what it counts after that is idle only from then on. */
TEST(SampledCpu, EventOfAnIdleCpuMissesNothing)
{
	begin();
	note_idle(thread, idle);
	EXPECT_EQ(fire_after(5000), 0);
	host.now_ns += 2000;
	note_idle(idle, thread);
	EXPECT_EQ(fire_after(3000), 2); /* 5 periods, 2 of them idle */
}

TEST(SampledCpu, CpuThatWasNotSeenGoingIdleHasNoIdleTime)
{
	begin();
	host.now_ns += 3000;
	note_idle(idle, thread);
	EXPECT_EQ(fire_after(2000), 4);
}

TEST(SampledCpu, SwitchBetweenThreadsIsNoIdleTime)
{
	begin();
	note_idle(thread, host_new_process(11));
	EXPECT_EQ(fire_after(3000), 2);
}

TEST(SampledCpu, CpusAreApart)
{
	begin();
	host.cpu = 1;
	EXPECT_EQ(fire_after(5000), 0); /* its first one */
	host.cpu = 0;
	EXPECT_EQ(fire_after(0), 4);
}

/* Events that count something else than time have no time to fire at. */
TEST(SampledCpu, NothingIsMissedWithoutAClock)
{
	begin();
	control.clock_period_ns = 0;
	EXPECT_EQ(fire_after(5000), 0);
	note_idle(thread, idle);
	EXPECT_EQ(((struct sampled_cpu *)host_value(&sampled_cpus, &(__u32){0}, 0))->idle_since_ns, 0);
}
