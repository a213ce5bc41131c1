/* Which intervals may be added up with others, and in which time bucket and with which times. */
#include "tests/bpf/host/programs.h"

/* In the middle of second 50, where a wait of 1000 ns ends. */
#define NOON (50 * SECOND + 500 * MILLISECOND)

static struct times times;
static struct user_side side;
static __u64 stack;

static void begin(void)
{
	settings->sums = 1;
	settings->sum_ns = 0;
	times = (struct times){.end_ns = NOON, .waited_ns = 1000, .runnable_ns = 100};
	side = (struct user_side){.user_stack = 7};
	stack = 8;
}

static bool may_be_summed(void)
{
	return can_be_summed(&times, stack, side, time_bucket_that_ends(times.end_ns));
}

/* A wait of that length that ends then. */
static bool may_be_summed_at(__u64 end_ns, __u64 waited_ns)
{
	times.end_ns = end_ns;
	times.waited_ns = waited_ns;
	return may_be_summed();
}

TEST(SumConditions, ShortWaitIsSummed)
{
	begin();
	EXPECT_TRUE(may_be_summed());
}

TEST(SumConditions, NothingIsSummedUnlessItIsAskedFor)
{
	begin();
	settings->sums = 0;
	EXPECT_FALSE(may_be_summed());
}

TEST(SumConditions, WaitWhoseUserStackIsNotWalkedIsNot)
{
	begin();
	side.user_stack = 0;
	EXPECT_FALSE(may_be_summed());
}

TEST(SumConditions, WaitWhoseWalkIsProvenIsNot)
{
	begin();
	side.cookie = 1;
	EXPECT_FALSE(may_be_summed());
}

TEST(SumConditions, WaitWithoutAKernelStackIsNot)
{
	begin();
	stack = 0;
	EXPECT_FALSE(may_be_summed());
}

TEST(SumConditions, WaitThatWasSampledIsNot)
{
	begin();
	times.sample_ns = 1;
	EXPECT_FALSE(may_be_summed());
}

TEST(SumConditions, WaitOfAMillisecondIsLong)
{
	begin();
	EXPECT_TRUE(may_be_summed_at(NOON, 999999));
	EXPECT_FALSE(may_be_summed_at(NOON, 1000000));
	EXPECT_FALSE(may_be_summed_at(NOON, 1000001));
}

TEST(SumConditions, WaitOfNoTimeIsNot)
{
	begin();
	EXPECT_TRUE(may_be_summed_at(NOON, 1));
	EXPECT_FALSE(may_be_summed_at(NOON, 0));
}

/* The last instant of a time bucket belongs to it. */
TEST(SumConditions, ColumnEndsWithItsLastInstant)
{
	settings->sum_ns = 0;
	EXPECT_EQ(time_bucket_that_ends(50 * SECOND), 49);
	EXPECT_EQ(time_bucket_that_ends(50 * SECOND + 1), 50);
	EXPECT_EQ(time_bucket_that_ends(51 * SECOND), 50);
	settings->sum_ns = 250 * MILLISECOND;
	EXPECT_EQ(time_bucket_that_ends(50 * SECOND), 199);
	EXPECT_EQ(time_bucket_that_ends(50 * SECOND + 1), 200);
	EXPECT_EQ(time_bucket_that_ends(50 * SECOND + 250 * MILLISECOND), 200);
	EXPECT_EQ(time_bucket_that_ends(50 * SECOND + 250 * MILLISECOND + 1), 201);
}

TEST(SumConditions, WaitLiesInOneColumnOfItsLength)
{
	begin();
	settings->sum_ns = 250 * MILLISECOND;
	EXPECT_TRUE(may_be_summed_at(NOON, 1000));
	EXPECT_TRUE(may_be_summed_at(NOON + 1000, 1000));
	EXPECT_FALSE(may_be_summed_at(NOON + 999, 1000));
}

TEST(SumConditions, WaitLiesInOneSecond)
{
	begin();
	EXPECT_TRUE(may_be_summed_at(50 * SECOND + 1000, 1000));
	EXPECT_FALSE(may_be_summed_at(50 * SECOND + 999, 1000));
	EXPECT_TRUE(may_be_summed_at(51 * SECOND, 1000));
	EXPECT_FALSE(may_be_summed_at(51 * SECOND + 1, 1000));
	EXPECT_TRUE(may_be_summed_at(51 * SECOND + 1, 1));
}

TEST(SumConditions, WaitLiesOnOneSideOfTheCut)
{
	begin();
	control.cut_ns = NOON;
	EXPECT_TRUE(may_be_summed_at(NOON, 1000)); /* ends at it */
	EXPECT_FALSE(may_be_summed_at(NOON + 1, 1000));
	EXPECT_FALSE(may_be_summed_at(NOON + 999, 1000));
	EXPECT_TRUE(may_be_summed_at(NOON + 1000, 1000)); /* begins at it */
}

TEST(SumConditions, WaitForACpuIsBetweenTwoBounds)
{
	const __u32 bounds[WIRE_SUM_BOUNDS] = {10, 20, 30, 40, 50, 60};

	for (__u32 i = 0; i < WIRE_SUM_BOUNDS; i++)
		settings->run_queue_bounds_ns[i] = bounds[i];
	EXPECT_EQ(run_queue_bucket(0), 0);
	EXPECT_EQ(run_queue_bucket(10), 0);
	EXPECT_EQ(run_queue_bucket(11), 1);
	EXPECT_EQ(run_queue_bucket(30), 2);
	EXPECT_EQ(run_queue_bucket(31), 3);
	EXPECT_EQ(run_queue_bucket(60), 5);
	EXPECT_EQ(run_queue_bucket(61), 6);
	EXPECT_EQ(run_queue_bucket(~0ULL), 6);
}
