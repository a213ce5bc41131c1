/* Every wait of a load has one record, with its own times, wherever its thread waits and runs. */
#include "tests/bpf/load.h"

#define STEPS 4000

static void run_load(void)
{
	begin_load(200);
	record();
	for (__u32 i = 0; i < STEPS; i++)
		load_step();
	end_load();
}

/* The programs report all of a thread's waits, in the order in which they end. */
static void expect_all_waits(void)
{
	__u32 told = 0;

	EXPECT_LT(1000, load.wait_count);
	for (__u32 i = 0; i < host_records(&intervals); i++) {
		const struct wire_interval *sent = host_record(&intervals, i).bytes;
		const struct told_wait *wait = &load.waits[told];

		if (sent->type != WIRE_INTERVAL)
			continue;
		ASSERT_TRUE(told < load.wait_count);
		check_note("wait", told++);
		ASSERT_EQ(sent->process.tid, wait->tid);
		ASSERT_EQ(sent->end_ns, wait->end_ns);
		ASSERT_EQ(sent->blocked_ns, wait->blocked_ns);
		ASSERT_EQ(sent->runnable_ns, wait->runnable_ns);
		ASSERT_EQ(sent->kind, wait->kind);
	}
	EXPECT_EQ(told, load.wait_count);
}

TEST(SwitchLoad, EveryWaitIsToldOnceAtTheExitOfTheScheduler)
{
	run_load();
	expect_all_waits();
}

TEST(SwitchLoad, EveryWaitIsToldOnceAtTheSwitch)
{
	settings->ends_at_switch = 1;
	run_load();
	expect_all_waits();
}

TEST(SwitchLoad, EveryWaitIsToldOnceWithStampsInAnArray)
{
	settings->has_stamps = 1;
	run_load();
	expect_all_waits();
}

TEST(SwitchLoad, EveryWaitIsToldOnceAtTheSwitchWithStampsInAnArray)
{
	settings->has_stamps = 1;
	settings->ends_at_switch = 1;
	run_load();
	expect_all_waits();
}

TEST(SwitchLoad, EveryWaitIsToldOnceWithWakersThatAreNotKnown)
{
	waker_settings->enabled = 1;
	run_load();
	expect_all_waits();
}

/* A T that is shorter than all waits leaves none out. */
TEST(SwitchLoad, EveryWaitThatIsLongerThanTIsTold)
{
	settings->has_stamps = 1;
	settings->ends_at_switch = 1;
	settings->samples_at_switch = 1;
	control.sample_ns[0] = 1;
	run_load();
	for (__u32 i = 0; i < load.wait_count; i++)
		EXPECT_NE(load.waits[i].blocked_ns + load.waits[i].runnable_ns, 0);
	expect_all_waits();
}
