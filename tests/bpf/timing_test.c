/* Runs that are timed: one in so many, beginning with the first. */
#include "tests/bpf/host/programs.h"

static void run_for(struct wire_timing *timing, __u64 ns)
{
	begin_timing(timing);
	host.now_ns += ns;
	end_timing(timing);
}

TEST(Timing, OneRunInSoManyIsTimed)
{
	struct wire_timing timing = {};

	host.now_ns = 1000;
	for (__u32 i = 0; i < 10 * WIRE_TIMED_EVERY; i++)
		run_for(&timing, i % WIRE_TIMED_EVERY == 0 ? 7 : 1000000);
	EXPECT_EQ(timing.timed, 10);
	EXPECT_EQ(timing.timed_ns, 70);
}

/* Runs of two kinds that take turns are timed equally often. */
TEST(Timing, PatternsOfRunsDoNotRepeatInIt)
{
	struct wire_timing timing = {};

	host.now_ns = 1000;
	for (__u32 i = 0; i < 20 * WIRE_TIMED_EVERY; i++)
		run_for(&timing, i % 2 ? 1 : 100);
	EXPECT_EQ(timing.timed_ns, 10 * 1 + 10 * 100);
}

TEST(Timing, CpuThatIsNotKnownIsNotTimed)
{
	host.now_ns = 1000;
	begin_timing(NULL);
	end_timing(NULL);
	EXPECT_EQ(host.now_ns, 1000);
}

TEST(Timing, PartsOfASwitchAreTimedByThemselves)
{
	host.now_ns = 1000;
	EXPECT_EQ(this_cpu()->switches.timed, 0);
	sched_switch(NULL, false, host_new_kernel_thread(0), host_new_kernel_thread(0), 0);
	EXPECT_EQ(this_cpu()->switches.timed, 1);
	EXPECT_EQ(this_cpu()->arrivals.timed, 0);
	EXPECT_EQ(this_cpu()->kernel_stacks.timed, 0);
}
