/* Which waits are recorded, and what those that are stand for: by the exact numbers that sample a wait. */
#include "tests/bpf/schedule.h"

#define ALL_RANDOMS (1ULL << 32)

static const __u64 thresholds[] = {1, 2, 3, 7, 1000, 65536, 1000003, 99999999, WIRE_SAMPLE_MOST_NS};
#define THRESHOLDS (sizeof(thresholds) / sizeof(*thresholds))

/* Waits of all sizes up to T and beyond it. */
static __u64 wait_for(__u64 sample_ns, __u32 which)
{
	const __u64 waits[] = {0,
			       1,
			       2,
			       sample_ns / 1000,
			       sample_ns / 3,
			       sample_ns / 2,
			       sample_ns - 2,
			       sample_ns - 1,
			       sample_ns,
			       sample_ns + 1};

	return which < sizeof(waits) / sizeof(*waits) && waits[which] <= sample_ns + 1 ? waits[which] : 0;
}
#define WAITS 10

/* How many of all 2^32 random numbers sample the wait, if those that do are the smallest ones. */
static __u64 sampling_numbers(__u64 waited_ns, __u64 sample_ns)
{
	__u64 sample_it = 0, do_not = ALL_RANDOMS;

	while (sample_it < do_not) {
		__u64 middle = (sample_it + do_not) / 2;

		if (is_sampled(waited_ns, sample_ns, middle))
			sample_it = middle + 1;
		else
			do_not = middle;
	}
	return sample_it;
}

/* A wait of t is sampled with the probability t / T: exactly so many of 2^32 random numbers sample it. */
TEST(Sampling, WaitIsSampledByItsShareOfT)
{
	/* 3 of 8: numbers below 3/8 of 2^32. */
	EXPECT_TRUE(is_sampled(3, 8, (3ULL << 32) / 8 - 1));
	EXPECT_FALSE(is_sampled(3, 8, (3ULL << 32) / 8));
	/* A third, rounded down: 1431655765 numbers, the last of which is one less. */
	EXPECT_TRUE(is_sampled(1, 3, 1431655764));
	EXPECT_FALSE(is_sampled(1, 3, 1431655765));
}

TEST(Sampling, WaitOfTOrLongerIsAlwaysRecorded)
{
	for (__u32 i = 0; i < THRESHOLDS; i++) {
		check_note("T", thresholds[i]);
		EXPECT_TRUE(is_sampled(thresholds[i], thresholds[i], ~0U));
		EXPECT_TRUE(is_sampled(thresholds[i] + 1, thresholds[i], ~0U));
		EXPECT_TRUE(is_sampled(~0ULL, thresholds[i], ~0U));
	}
}

TEST(Sampling, WaitJustShorterThanTIsNotAlwaysSampled)
{
	EXPECT_FALSE(is_sampled(7, 8, 3758096384)); /* 7/8 of 2^32 */
	/* 1 - 1e-9 of 2^32 is 4294967291.7. */
	EXPECT_TRUE(is_sampled(WIRE_SAMPLE_MOST_NS - 1, WIRE_SAMPLE_MOST_NS, ~0U - 5));
	EXPECT_FALSE(is_sampled(WIRE_SAMPLE_MOST_NS - 1, WIRE_SAMPLE_MOST_NS, ~0U - 4));
}

TEST(Sampling, EveryWaitIsRecordedWithoutT)
{
	EXPECT_TRUE(is_sampled(0, 0, ~0U));
	EXPECT_TRUE(is_sampled(1, 0, ~0U));
}

TEST(Sampling, WaitOfNoLengthIsNeverSampled)
{
	for (__u32 i = 0; i < THRESHOLDS; i++)
		EXPECT_FALSE(is_sampled(0, thresholds[i], 0));
}

/*
 * n numbers sample a wait of t, which stands for T / t of its kind: n / 2^32 * T / t * t is what it adds to a
 * sum on average, and is t but for the rounding of n, which takes less than T / 2^32.
 */
TEST(Sampling, SampledWaitsStandForAllWaitsOnAverage)
{
	for (__u32 i = 0; i < THRESHOLDS; i++)
		for (__u32 j = 0; j < WAITS; j++) {
			__u64 sample_ns = thresholds[i], waited_ns = wait_for(sample_ns, j);
			__u64 n = sampling_numbers(waited_ns, sample_ns);
			unsigned __int128 told = (unsigned __int128)n * sample_ns;
			unsigned __int128 all = (unsigned __int128)waited_ns << 32;

			check_note("T", sample_ns);
			if (waited_ns >= sample_ns) {
				EXPECT_EQ(n, ALL_RANDOMS); /* and each stands for itself */
				continue;
			}
			EXPECT_TRUE(told + sample_ns > all);
			EXPECT_TRUE(told <= all);
		}
}

/* What sampling_numbers takes for granted, around the last number that samples. */
TEST(Sampling, SmallerNumbersSampleWhatALargerOneSamples)
{
	for (__u32 i = 0; i < THRESHOLDS; i++)
		for (__u32 j = 0; j < WAITS; j++) {
			__u64 waited_ns = wait_for(thresholds[i], j);
			__u64 n = sampling_numbers(waited_ns, thresholds[i]);

			for (__u64 random = n < 50 ? 0 : n - 50; random < n + 50 && random < ALL_RANDOMS;
			     random++)
				EXPECT_EQ(is_sampled(waited_ns, thresholds[i], random), random < n);
		}
}

#define USER 3
#define LEFT_NS (SCRIPT_START + SECOND)

static struct stamp stamp;
static struct task_struct task;
static struct wire_cpu cpu;

/* A thread of a user with T = 1000, whose stamp tells of a departure a second after the start. */
static void begin(void)
{
	control.start_ns = SCRIPT_START;
	control.sample_ns[USER] = 1000;
	stamp = (struct stamp){.out_ns = LEFT_NS, .arrivals = 3, .user = USER};
	task = (struct task_struct){.pid = 10, .sched_info.pcount = 3};
	cpu = (struct wire_cpu){.random = 1};
}

/* With the states that follow 1 the first number is 0x47e4ce4b, see this_cpu_test.c: 0.2808 of 2^32. */
static bool passes_over(__u64 waited_ns)
{
	return is_passed_over(&task, &stamp, &cpu, LEFT_NS + waited_ns);
}

TEST(PassedOver, WaitThatIsNotSampledIsCountedAndUsesTheStampUp)
{
	begin();
	cpu.passed_over = (struct wire_counter){.count = 4, .ns = 50};
	EXPECT_TRUE(passes_over(280));
	EXPECT_EQ(cpu.passed_over.count, 5);
	EXPECT_EQ(cpu.passed_over.ns, 330);
	EXPECT_EQ(stamp.out_ns, 0);
	EXPECT_EQ(cpu.sampled_tid, 0);
}

TEST(PassedOver, WaitThatIsSampledIsNotedWithItsT)
{
	begin();
	EXPECT_FALSE(passes_over(281));
	EXPECT_EQ(cpu.sampled_tid, 10);
	EXPECT_EQ(cpu.sampled_ns, 1000);
	EXPECT_EQ(stamp.out_ns, LEFT_NS);
	EXPECT_EQ(cpu.passed_over.count, 0);
}

TEST(PassedOver, LongerWaitTakesNoNumber)
{
	begin();
	EXPECT_FALSE(passes_over(1000));
	EXPECT_EQ(cpu.random, 1);
	EXPECT_EQ(cpu.sampled_tid, 0);
}

TEST(PassedOver, NothingIsWhereAllWaitsAreRecorded)
{
	begin();
	control.sample_ns[USER] = 0;
	EXPECT_FALSE(passes_over(0));
	EXPECT_EQ(cpu.random, 1);
}

TEST(PassedOver, WaitThatBeganBeforeTheRecordingIsNot)
{
	begin();
	control.start_ns = LEFT_NS + 1;
	EXPECT_FALSE(passes_over(10));
	control.start_ns = LEFT_NS;
	EXPECT_TRUE(passes_over(10));
}

TEST(PassedOver, ThreadWithoutADepartureIsNot)
{
	begin();
	stamp.out_ns = 0;
	EXPECT_FALSE(passes_over(10));
}

/* A stamp that is out of date: the thread has run since. */
TEST(PassedOver, ThreadThatHasRunInBetweenIsNot)
{
	begin();
	task.sched_info.pcount = 4;
	EXPECT_FALSE(passes_over(10));
	EXPECT_EQ(stamp.out_ns, LEFT_NS);
}

/* The clocks of CPUs may be a little apart. */
TEST(PassedOver, WaitThatEndsBeforeItBeganIsNot)
{
	begin();
	EXPECT_FALSE(passes_over(-1));
}

static struct task_struct *waiter;

static void begin_closely(__u64 sample_ns)
{
	begin_script();
	waiter = host_new_process(10);
	control.sample_ns[0] = sample_ns;
	stamp = (struct stamp){.user = USER};
	this_cpu()->random = 1;
}

TEST(SampledWait, EveryOneIsRecordedWithoutT)
{
	begin_closely(0);
	EXPECT_EQ(sample_wait(waiter, &stamp, 0), 0);
	EXPECT_EQ(sample_wait(waiter, &stamp, 5000), 0);
}

/* 0x47e4ce4b is 0.2808 of 2^32. */
TEST(SampledWait, ItSaysWithWhichT)
{
	begin_closely(1000);
	EXPECT_EQ(sample_wait(waiter, &stamp, 281), 1000);
	this_cpu()->random = 1;
	EXPECT_EQ(sample_wait(waiter, &stamp, 280), NOT_SAMPLED);
}

TEST(SampledWait, LongerOneIsNoSample)
{
	begin_closely(1000);
	EXPECT_EQ(sample_wait(waiter, &stamp, 1000), 0);
	EXPECT_EQ(this_cpu()->random, 1);
}

TEST(SampledWait, ItsUserIsLookedUpAnew)
{
	begin_closely(0);
	sample_wait(waiter, &stamp, 1);
	EXPECT_EQ(stamp.user, 0);
}

/* What was decided at the switch is not decided again, whatever T is by now. */
TEST(SampledWait, DecisionOfTheSwitchHolds)
{
	begin_closely(1000);
	this_cpu()->sampled_tid = 10;
	this_cpu()->sampled_ns = 700;
	EXPECT_EQ(sample_wait(waiter, &stamp, 1), 700);
	EXPECT_EQ(this_cpu()->sampled_tid, 0);
	EXPECT_EQ(this_cpu()->random, 1);
}

TEST(SampledWait, DecisionOfAnotherThreadsWaitDoesNot)
{
	begin_closely(1000);
	this_cpu()->sampled_tid = 11;
	this_cpu()->sampled_ns = 700;
	EXPECT_EQ(sample_wait(waiter, &stamp, 280), NOT_SAMPLED);
}
