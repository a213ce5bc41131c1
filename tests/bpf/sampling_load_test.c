/* What is sampled of a load of thousands of waits, with random numbers that the test knows, and what it
 * stands for: where waits end at the exit of the scheduler, and where they end at the switch. */
#include "tests/bpf/schedule.h"

#define WAITS 4000
#define T 1000

static struct task_struct *task;

/* One thread of root's that runs before the start, on a CPU whose random numbers begin with this state, 0:
 * with the kernel's. */
static void begin(__u64 random, bool ends_at_switch)
{
	settings->has_stamps = settings->samples_at_switch = 1;
	settings->ends_at_switch = ends_at_switch;
	control.sample_ns[0] = T;
	begin_script();
	task = host_new_process(10);
	list(task);
	come_at(task, BEFORE(100));
	at(0);
	record();
	if (this_cpu())
		this_cpu()->random = random;
}

/* 1 to 1300 ns, each as often as the others. */
static __u64 wait_ns(__u32 index)
{
	return 1 + index * 7ULL % 1300;
}

static void wait_for(__u64 ns)
{
	sleep_on(0, SLEEP, NULL);
	come_at(task, script.ns + ns - SCRIPT_START);
	at(script.ns + 50 - SCRIPT_START);
}

/* xorshift64*, written again. */
static __u32 random_after(__u64 *state)
{
	__u64 a = *state ^ (*state >> 12), b = a ^ (a << 25);

	*state = b ^ (b >> 27);
	return (__u32)((*state * 2685821657736338717ULL) >> 32);
}

/* t / T of 2^32 numbers sample the wait: those that are less, times T, than t times 2^32, rounded down. Waits
 * of T and longer take no number. */
static bool is_to_be_told(__u64 ns, __u64 *state)
{
	return ns >= T || ((__u64)random_after(state) + 1) * T <= ns << 32;
}

static struct wire_counter not_sampled(void)
{
	struct wire_counter late = counted(WIRE_COUNT_NOT_SAMPLED), early = this_cpu()->passed_over;

	return (struct wire_counter){.count = late.count + early.count, .ns = late.ns + early.ns};
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

static void expect_exactly_those(bool ends_at_switch)
{
	__u64 state = 0x123456789abcdef, waited = 0, told = 0;
	__u32 record_index = 0, recorded = 0;

	begin(state, ends_at_switch);
	for (__u32 i = 0; i < WAITS; i++)
		wait_for(wait_ns(i));
	for (__u32 i = 0; i < WAITS; i++) {
		const struct wire_interval *sent;

		waited += wait_ns(i);
		if (!is_to_be_told(wait_ns(i), &state))
			continue;
		sent = next_interval(&record_index);
		check_note("wait", i);
		ASSERT_TRUE(sent);
		ASSERT_EQ(sent->blocked_ns, wait_ns(i));
		ASSERT_EQ(sent->sample_ns, wait_ns(i) < T ? T : 0);
		recorded++;
		told += wait_ns(i) > T ? wait_ns(i) : T;
	}
	EXPECT_FALSE(next_interval(&record_index));
	EXPECT_EQ(not_sampled().count, WAITS - recorded);
	EXPECT_EQ(recorded_of(0)->waits, recorded);
	EXPECT_EQ(recorded_of(0)->left_out, counted(WIRE_COUNT_NOT_SAMPLED).count);
	/* About 3077 waits are below T: sqrt(3077 / 6) * T is the standard deviation, 0.9 % of the sum of 2.6
	 * ms. */
	EXPECT_LT(waited - waited / 50, told);
	EXPECT_LT(told, waited + waited / 50);
}

TEST(SamplingLoad, ExactlyThoseWaitsAreToldWhoseNumbersSampleThem)
{
	expect_exactly_those(false);
}

TEST(SamplingLoad, ExactlyThoseWaitsAreToldAtTheSwitch)
{
	expect_exactly_those(true);
}

/* A filter that needs to know more of a wait has it looked at closely: by the same numbers. */
TEST(SamplingLoad, ExactlyThoseWaitsAreToldWithoutALookAtTheSwitch)
{
	__u64 state = 7;
	__u32 told = 0;

	begin(state, false);
	settings->samples_at_switch = 0;
	for (__u32 i = 0; i < WAITS; i++) {
		wait_for(wait_ns(i));
		told += is_to_be_told(wait_ns(i), &state);
	}
	EXPECT_EQ(sent_records(WIRE_INTERVAL), told);
	EXPECT_EQ(this_cpu()->passed_over.count, 0);
	EXPECT_EQ(counted(WIRE_COUNT_NOT_SAMPLED).count, WAITS - told);
	EXPECT_EQ(recorded_of(0)->left_out, WAITS - told);
}

TEST(SamplingLoad, TimeOfAllWaitsIsToldOrCounted)
{
	__u64 waited = 0, told = 0;
	const struct wire_interval *sent;
	__u32 record_index = 0;

	begin(88172645463325252ULL, false);
	for (__u32 i = 0; i < WAITS; i++) {
		wait_for(wait_ns(i));
		waited += wait_ns(i);
	}
	while ((sent = next_interval(&record_index)))
		told += sent->blocked_ns;
	EXPECT_EQ(told + not_sampled().ns, waited);
	EXPECT_NE(this_cpu()->passed_over.count, 0);
}

/* One number a wait, although it is looked at twice: at the switch, and where the thread is back. */
TEST(SamplingLoad, EachShortWaitTakesOneNumber)
{
	__u64 after = 42;

	begin(after, false);
	for (__u32 i = 0; i < 100; i++) {
		wait_for(wait_ns(i));
		is_to_be_told(wait_ns(i), &after);
	}
	EXPECT_EQ(this_cpu()->random, after);
}

/*
 * Numbers without a CPU of one's own are those of the scripted kernel, multiples of the golden section: as
 * even as numbers can be. Of 4000 waits of 0.3 T each third or fourth one is sampled, 1200 but for a few.
 */
TEST(SamplingLoad, SamplesOfEvenNumbersAddUpToTheTruth)
{
	__u32 told;

	host_resize(&cpus, 1);
	begin(0, true);
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
	EXPECT_EQ(counted(WIRE_COUNT_NOT_SAMPLED).count, WAITS - told);
}

/* T may change while waits go on: each is sampled with the T that there is when it ends. */
TEST(SamplingLoad, WaitIsSampledWithTheTAtItsEnd)
{
	begin(1, false);
	sleep_on(0, SLEEP, NULL);
	at(script.ns + 281 - SCRIPT_START);
	control.sample_ns[0] = 500; /* 281 of 500 is above the first number's 0.28 */
	wake(task);
	run_on(0, task);
	ASSERT_EQ(sent_records(WIRE_INTERVAL), 1);
	EXPECT_EQ(sent_interval(0)->sample_ns, 500);
}

/* A wait that was sampled at the switch may be left out for its length. The next one is another. */
TEST(SamplingLoad, DecisionOfASwitchIsOfNoLaterOne)
{
	settings->min_wait_ns = 500;
	begin(1, false);
	wait_for(499); /* of 1000 is above the first number's 0.28 */
	EXPECT_EQ(counted(WIRE_COUNT_BELOW_MIN_WAIT).count, 1);
	wait_for(2000);
	ASSERT_EQ(sent_records(WIRE_INTERVAL), 1);
	EXPECT_EQ(sent_interval(0)->sample_ns, 0);
}

/* The next user's waits are all recorded, whatever T root has. */
TEST(SamplingLoad, UsersHaveATOfTheirOwn)
{
	begin(1, false);
	((struct cred *)task->cred)->uid.val = 1000;
	wait_for(10); /* its user is looked up where a wait is looked at closely, or when it is forked */
	find_stamp(task)->user = user_of(task);
	for (__u32 i = 0; i < 20; i++)
		wait_for(1 + i);
	EXPECT_EQ(recorded_of(user_of(task))->waits, 20);
}

/* The stack of a wait that is passed over is not walked. */
TEST(SamplingLoad, NoStackIsKeptOfAWaitThatIsPassedOver)
{
	begin(0x123456789abcdef, false);
	settings->keeps_stacks = 1;
	for (__u32 i = 0; i < 100; i++)
		wait_for(200);
	EXPECT_EQ(this_cpu()->kernel_stacks.timed, 1);
	EXPECT_EQ(this_cpu()->kernel_stacks.untimed, WIRE_TIMED_EVERY - sent_records(WIRE_INTERVAL));
	EXPECT_EQ(sent_records(WIRE_INTERVAL) + this_cpu()->passed_over.count, 100);
}
