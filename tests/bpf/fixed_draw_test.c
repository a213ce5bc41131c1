/* Draws with a T that is the same for all, and with what a stamp has been compared with already. */
#include "tests/bpf/schedule.h"

static struct task_struct *task;
static struct stamp stamp;

/* What draw() says of a wait that ends now. */
static __u64 drawn_with(__u64 waited_ns, __u64 least_ns, __u32 random)
{
	return draw(task, &stamp, waited_ns, script.ns, (struct lot){.sample_ns = least_ns, .random = random},
		    IS_CURRENT);
}

static void begin(__u64 sample_ns)
{
	begin_script();
	settings->sample_ns = sample_ns;
	task = host_new_process(10);
	stamp = (struct stamp){};
}

TEST(FixedDraw, EveryWaitIsRecordedWithoutT)
{
	begin(0);
	EXPECT_EQ(drawn_with(0, 0, ~0U), 0);
	EXPECT_EQ(drawn_with(1000, 0, ~0U), 0);
}

/* 1/4 of 2^32 is 2^30. */
TEST(FixedDraw, WaitIsDrawnByItsShareOfT)
{
	begin(1000);
	EXPECT_EQ(drawn_with(250, 0, (1U << 30) - 1), 1000);
	EXPECT_EQ(drawn_with(250, 0, 1U << 30), NOT_DRAWN);
	EXPECT_EQ(drawn_with(1000, 0, ~0U), 1000);
}

/* 250 of 2000 is an eighth: 2^29. */
TEST(FixedDraw, LargerTOfTheFirstLookCounts)
{
	begin(1000);
	EXPECT_EQ(drawn_with(250, 2000, (1U << 29) - 1), 2000);
	EXPECT_EQ(drawn_with(250, 2000, 1U << 29), NOT_DRAWN);
	EXPECT_EQ(drawn_with(250, 500, (1U << 30) - 1), 1000);
	EXPECT_EQ(drawn_with(250, 500, 1U << 30), NOT_DRAWN);
}

TEST(FixedDraw, TIsNotedForEver)
{
	begin(1000);
	drawn_with(250, 0, 0);
	EXPECT_EQ(stamp.sample_ns, 1000);
	EXPECT_EQ(stamp.until_ns, ~0ULL);
	EXPECT_EQ(stamp.scale, 4294968); /* 2^32 / 1000, rounded up */
}

/* A process whose storage could not be made is drawn with the least T, and looked at anew each time. */
TEST(FixedDraw, ProcessWithoutStorageHasTheLeastTAndIsNotNoted)
{
	begin(1000);
	settings->adapts = 1;
	host.no_storage = 1;
	EXPECT_EQ(drawn_with(250, 0, (1U << 30) - 1), 1000);
	EXPECT_EQ(drawn_with(250, 0, 1U << 30), NOT_DRAWN);
	EXPECT_EQ(stamp.until_ns, 0);
}

/* Where a wait ends under the scheduler's lock nothing may be allocated. */
TEST(FixedDraw, StorageIsNotMadeUnderALock)
{
	begin(1000);
	settings->adapts = 1;
	draw(task, &stamp, 250, script.ns, (struct lot){}, ABOUT_TO_RUN);
	EXPECT_EQ(host_count(&spaces), 0);
	draw(task, &stamp, 250, script.ns, (struct lot){}, IS_CURRENT);
	EXPECT_EQ(host_count(&spaces), 1);
}

/* A slice of the process has begun now, and ends an eighth of a second later: 2^27 ns. */
TEST(FixedDraw, TOfAProcessIsNotedUntilItsSliceEnds)
{
	begin(1000);
	settings->adapts = 1;
	control.draws_per_second = 1000;
	drawn_with(250, 0, ~0U);
	EXPECT_EQ(stamp.sample_ns, 1000);
	EXPECT_EQ(stamp.until_ns, script.ns + 134217728);
}

/* The thread's own process is its first thread's, whichever thread waits. */
TEST(FixedDraw, ThreadsOfAProcessShareItsT)
{
	struct task_struct *other;
	struct space *space;

	begin(1000);
	settings->adapts = 1;
	control.draws_per_second = 1000;
	other = host_new_thread(task, 11);
	drawn_with(250, 0, ~0U);
	space = host_value(&spaces, task, 0);
	ASSERT_TRUE(space);
	space->of_short.sample_ns = 4000;
	EXPECT_EQ(draw(other, &stamp, 1000, script.ns, (struct lot){.random = (1U << 30) - 1}, IS_CURRENT),
		  4000);
	EXPECT_EQ(draw(other, &stamp, 1000, script.ns, (struct lot){.random = 1U << 30}, IS_CURRENT),
		  NOT_DRAWN);
	EXPECT_EQ(host_count(&spaces), 1);
}

TEST(FixedDraw, NothingIsDrawnOfNoProcess)
{
	begin(1000);
	EXPECT_EQ(draw_of(NULL, 5000, script.ns, 0, 0), NOT_DRAWN);
}
