/* What is drawn of a load of thousands of waits, with random numbers that the test knows, and what it stands
 * for. */
#include "tests/bpf/schedule.h"

#define WAITS 4000
#define T 1000

static struct task_struct *task;

/* One thread that runs before the start, on a CPU whose random numbers begin with this state, 0: with the
 * kernel's. */
static void begin(__u64 dice)
{
	settings->ends_at_switch = settings->has_stamps = 1;
	settings->sample_ns = T;
	begin_script();
	task = host_new_process(10);
	list(task);
	at(BEFORE(100));
	wake(task);
	run_on(0, task);
	at(0);
	record();
	if (this_cpu())
		this_cpu()->dice = dice;
}

/* Of 1 to 1300 ns, all of them as often. */
static __u64 wait_ns(__u32 index)
{
	return 1 + index * 7ULL % 1300;
}

static void wait_for(__u64 ns)
{
	sleep_on(0, SLEEP, NULL);
	at(script.ns + ns - SCRIPT_START);
	wake(task);
	run_on(0, task);
	at(script.ns + 50 - SCRIPT_START);
}

/* xorshift64*, written again. */
static __u32 next_random(__u64 *state)
{
	__u64 a = *state ^ (*state >> 12), b = a ^ (a << 25);

	*state = b ^ (b >> 27);
	return (__u32)((*state * 2685821657736338717ULL) >> 32);
}

/* t / T of 2^32 numbers draw the wait: those that are less, times T, than t times 2^32, rounded down. */
static bool is_to_be_drawn(__u64 ns, __u32 random)
{
	return ns >= T || ((__u64)random + 1) * T <= ns << 32;
}

static __u64 undrawn(void)
{
	return counted(WIRE_COUNT_NOT_DRAWN).count + this_cpu()->passed_by.count;
}

/* The interval behind those that have been looked at already. */
static const struct wire_interval *next_interval(__u32 *record)
{
	while (*record < host_records(&intervals)) {
		const struct wire_interval *sent = host_record(&intervals, (*record)++).bytes;

		if (sent->type == WIRE_INTERVAL)
			return sent;
	}
	return NULL;
}

/* Every switch to a thread takes a number, and that to the idle thread none: it is not recorded. */
TEST(DrawLoad, ExactlyThoseWaitsAreToldWhoseNumbersDrawThem)
{
	__u64 state = 0x123456789abcdef, waited = 0, told = 0;
	__u32 record_index = 0, drawn = 0;

	begin(state);
	for (__u32 i = 0; i < WAITS; i++)
		wait_for(wait_ns(i));
	for (__u32 i = 0; i < WAITS; i++) {
		const struct wire_interval *sent;

		waited += wait_ns(i);
		if (!is_to_be_drawn(wait_ns(i), next_random(&state)))
			continue;
		sent = next_interval(&record_index);
		check_note("wait", i);
		ASSERT_TRUE(sent);
		ASSERT_EQ(sent->blocked_ns, wait_ns(i));
		ASSERT_EQ(sent->sample_ns, T);
		drawn++;
		told += wait_ns(i) > T ? wait_ns(i) : T;
	}
	EXPECT_FALSE(next_interval(&record_index));
	EXPECT_EQ(undrawn(), WAITS - drawn);
	/* About 3077 waits are below T: sqrt(3077 / 6) * T is the standard deviation, 0.9 % of the sum of 2.6
	 * ms. */
	EXPECT_LT(waited - waited / 50, told);
	EXPECT_LT(told, waited + waited / 50);
}

TEST(DrawLoad, TimeOfAllWaitsIsToldOrCounted)
{
	__u64 waited = 0, told = 0;
	const struct wire_interval *sent;
	__u32 record_index = 0;

	begin(88172645463325252ULL);
	for (__u32 i = 0; i < WAITS; i++) {
		wait_for(wait_ns(i));
		waited += wait_ns(i);
	}
	while ((sent = next_interval(&record_index)))
		told += sent->blocked_ns;
	EXPECT_EQ(told + counted(WIRE_COUNT_NOT_DRAWN).ns + this_cpu()->passed_by.ns, waited);
	EXPECT_NE(this_cpu()->passed_by.count, 0);
}

/*
 * Numbers without a CPU of one's own are those of the scripted kernel, multiples of the golden section: as
 * even as numbers can be. Of 4000 waits of 0.3 T each third or fourth one is drawn, 1200 but for a few: each
 * stands for T.
 */
TEST(DrawLoad, DrawsOfEvenNumbersAddUpToTheTruth)
{
	__u32 told;

	host_resize(&cpus, 1);
	begin(0);
	sleep_on(0, SLEEP, NULL);
	host.cpu = 1;
	EXPECT_FALSE(this_cpu());
	for (__u32 i = 0; i < WAITS; i++) {
		switch_cpu(1, script.idle[1], false, SLEEP);
		at(script.ns + 300 - SCRIPT_START);
		wake(task);
		run_on(1, task);
	}
	told = sent_records(WIRE_INTERVAL);
	EXPECT_LE(1200 - 3, told);
	EXPECT_LE(told, 1200 + 3);
	EXPECT_EQ(counted(WIRE_COUNT_NOT_DRAWN).count, WAITS - told);
}

/* A wait may be looked at twice, by its stamp and then closely: with one number, so that it is one draw. */
TEST(DrawLoad, EachWaitTakesOneNumber)
{
	__u64 state = 42, after = 42;

	begin(state);
	for (__u32 i = 0; i < 100; i++) {
		wait_for(wait_ns(i));
		next_random(&after);
	}
	EXPECT_EQ(this_cpu()->dice, after);
}

/* Draws adapt: when the process has drawn its share, T is twice as large, and the stamp of a thread knows it.
 */
TEST(DrawLoad, ThreadIsDrawnWithTheTThatItsProcessHasNow)
{
	struct space *space;

	settings->adapts = 1;
	control.draws_per_second = 1000000;
	begin(5);
	space_of(task, false);
	space = host_value(&spaces, task, 0);
	wait_for(3000);
	EXPECT_EQ(find_stamp(task)->sample_ns, T);
	EXPECT_EQ(space->of_short.drawn, 1);
	space->of_short.limit = 2;
	wait_for(3000);
	EXPECT_EQ(space->of_short.sample_ns, 2 * T);
	EXPECT_EQ(find_stamp(task)->sample_ns, 2 * T);
	EXPECT_EQ(sent_interval(1)->sample_ns, T);
	wait_for(3000);
	EXPECT_EQ(sent_interval(2)->sample_ns, 2 * T);
}
