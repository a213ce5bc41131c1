/* How the T of a process follows its draws. */
#include "tests/bpf/schedule.h"

#define SLICE 134217728ULL /* ns: 2^27, an eighth of a second */
#define LEAST_T 1000
#define NEVER ~0U /* a number that draws only what is as long as T */

static struct space process;
static struct pot *pot;
static __u64 now;

/* A process in whose slices four draws make T double, and which has begun one now. */
static void begin(void)
{
	__u32 zero = 0;

	settings->sample_ns = LEAST_T;
	settings->adapts = 1;
	control.draws_per_second = 1000000;
	now = 100 * SECOND;
	pot = host_value(&pots, &zero, 0);
	*pot = (struct pot){.began_ns = now + 50 * SECOND, .share = 1025, .first_ns = LEAST_T};
	process = (struct space){};
	process.of_short = (struct draw){.began_ns = now, .sample_ns = 8000, .limit = 4, .slices = 1};
	process.of_long = process.of_short;
	process.of_long.sample_ns = 8 * SECOND;
}

static __u64 draw_wait(__u64 waited_ns, __u32 random)
{
	return draw_of(&process, waited_ns, now, 0, random);
}

/* The T that the process has when a wait that is not drawn ends so much later. */
static __u64 t_after(__u64 ns)
{
	now += ns;
	EXPECT_EQ(draw_wait(0, NEVER), NOT_DRAWN);
	return process.of_short.sample_ns;
}

TEST(Share, TDoublesWhenTheShareIsUsedUp)
{
	begin();
	for (int i = 0; i < 3; i++) {
		EXPECT_EQ(draw_wait(500000, NEVER), 8000);
		EXPECT_EQ(process.of_short.sample_ns, 8000);
	}
	EXPECT_EQ(draw_wait(500000, NEVER), 8000); /* what it was drawn with, not what follows from it */
	EXPECT_EQ(process.of_short.sample_ns, 16000);
}

TEST(Share, TDoublesAgainWithEachFurtherShare)
{
	begin();
	for (int i = 0; i < 11; i++)
		draw_wait(500000, NEVER);
	EXPECT_EQ(process.of_short.sample_ns, 32000);
	draw_wait(500000, NEVER);
	EXPECT_EQ(process.of_short.sample_ns, 64000);
}

TEST(Share, WaitThatIsNotDrawnUsesNothing)
{
	begin();
	for (int i = 0; i < 10; i++)
		EXPECT_EQ(draw_wait(4000, 1U << 31),
			  NOT_DRAWN); /* half of T, by the other half of all numbers */
	EXPECT_EQ(process.of_short.drawn, 0);
	EXPECT_EQ(pot->drawn, 0);
	EXPECT_EQ(draw_wait(4000, (1U << 31) - 1), 8000);
	EXPECT_EQ(process.of_short.drawn, 1);
	EXPECT_EQ(pot->drawn, 1);
}

/* 2^36 ns are 69 seconds. */
TEST(Share, TDoesNotDoubleWithoutEnd)
{
	begin();
	process.of_long =
		(struct draw){.began_ns = now, .sample_ns = (1ULL << 36) - 1, .limit = 1, .slices = 1};
	draw_wait(1ULL << 38, NEVER);
	EXPECT_EQ(process.of_long.sample_ns, (1ULL << 37) - 2);
	process.of_long.sample_ns = 1ULL << 36;
	draw_wait(1ULL << 38, NEVER);
	EXPECT_EQ(process.of_long.sample_ns, 1ULL << 36);
}

/* All draws count, but of each process no more than its share is what it claims. */
TEST(Share, ProcessClaimsNoMoreThanItsShare)
{
	begin();
	for (int i = 0; i < 6; i++)
		draw_wait(500000, NEVER);
	EXPECT_EQ(pot->drawn, 6);
	EXPECT_EQ(pot->claimed, 4);
}

TEST(Share, DrawsBeforeAnyLimitAreAllLimits)
{
	begin();
	process.of_short.limit = 0;
	draw_wait(500000, NEVER);
	EXPECT_EQ(process.of_short.sample_ns, 16000);
	draw_wait(500000, NEVER);
	EXPECT_EQ(process.of_short.sample_ns, 32000);
}

/* 8000 * (4 + drawn) / 8. */
TEST(Slice, TFallsByWhatWasNotUsedOfTheShare)
{
	const __u64 expected[] = {4000, 5000, 6000, 7000, 8000, 8000};

	for (__u32 drawn = 0; drawn < 6; drawn++) {
		begin();
		process.of_short.drawn = drawn;
		check_note("drawn", drawn);
		EXPECT_EQ(t_after(SLICE), expected[drawn]);
	}
}

TEST(Slice, SliceEndsAnEighthOfASecondAfterItBegan)
{
	begin();
	EXPECT_EQ(t_after(SLICE - 1), 8000);
	EXPECT_EQ(t_after(1), 4000);
	EXPECT_EQ(process.of_short.began_ns, 100 * SECOND + SLICE);
	EXPECT_EQ(t_after(SLICE - 1), 4000);
	EXPECT_EQ(t_after(1), 2000);
}

TEST(Slice, ClockOfAnotherCpuThatIsBehindEndsNoSlice)
{
	begin();
	EXPECT_EQ(t_after(-1ULL), 8000);
	EXPECT_EQ(t_after(-SECOND), 8000);
	EXPECT_EQ(process.of_short.began_ns, 100 * SECOND);
}

/* Half of it, since nothing was drawn, and half again for each slice that nobody saw. */
TEST(Slice, TFallsFurtherForEverySliceWithoutEvents)
{
	begin();
	process.of_short.sample_ns = 1600000;
	EXPECT_EQ(t_after(2 * SLICE - 1), 800000);
	begin();
	process.of_short.sample_ns = 1600000;
	EXPECT_EQ(t_after(2 * SLICE), 400000);
	begin();
	process.of_short.sample_ns = 1600000;
	EXPECT_EQ(t_after(4 * SLICE), 100000);
}

TEST(Slice, TNeverFallsBelowTheLeastOne)
{
	begin();
	process.of_short.sample_ns = 2001;
	EXPECT_EQ(t_after(SLICE), LEAST_T);
	EXPECT_EQ(t_after(SLICE), LEAST_T);
	process.of_short.sample_ns = 1ULL << 36;
	EXPECT_EQ(t_after(65 * SLICE), LEAST_T); /* no shift is too far */
}

TEST(Slice, DrawsAreCountedAnew)
{
	begin();
	for (int i = 0; i < 3; i++)
		draw_wait(500000, NEVER);
	t_after(SLICE);
	EXPECT_EQ(process.of_short.drawn, 0);
	for (int i = 0; i < 3; i++)
		draw_wait(500000, NEVER);
	EXPECT_EQ(process.of_short.sample_ns, 7000); /* 8000 * 7 / 8, and not doubled by the seventh draw */
}

struct share {
	__u64 share; /* in 256ths of a draw */
	__u64 slices;
	__u32 limit;
};

/* At least four draws: where the share of a slice is less, the slice is 1 + 1024 / share slices long, up
 * to 64. */
TEST(Slice, SmallShareHasALongSlice)
{
	const struct share shares[] = {{5120, 1, 20}, {1025, 1, 4}, {1024, 2, 8}, {512, 3, 6}, {17, 61, 4},
				       {16, 64, 4},   {4, 64, 1},   {3, 64, 1},	  {1, 64, 1},  {0, 64, 1}};

	for (__u32 i = 0; i < sizeof(shares) / sizeof(*shares); i++) {
		begin();
		pot->share = shares[i].share;
		t_after(SLICE);
		check_note("share", shares[i].share);
		EXPECT_EQ(process.of_short.slices, shares[i].slices);
		EXPECT_EQ(process.of_short.limit, shares[i].limit);
	}
}

TEST(Slice, LongSliceEndsWhenAllOfItIsOver)
{
	begin();
	process.of_short.slices = 3;
	EXPECT_EQ(t_after(3 * SLICE - 1), 8000);
	EXPECT_EQ(t_after(1), 4000);
	begin();
	process.of_short.slices = 3;
	EXPECT_EQ(t_after(6 * SLICE - 1), 4000); /* not a long slice without events yet */
	begin();
	process.of_short.slices = 3;
	EXPECT_EQ(t_after(6 * SLICE), 2000);
}

TEST(NewProcess, ItBeginsWithTheTOfNewOnes)
{
	begin();
	process.of_short = (struct draw){};
	pot->first_ns = 64000;
	EXPECT_EQ(draw_wait(64000, NEVER), 64000);
	EXPECT_EQ(process.of_short.began_ns, now);
	EXPECT_EQ(process.of_short.drawn, 1);
	/* Only the first slice: 64000 * 5 / 8. */
	EXPECT_EQ(t_after(SLICE), 40000);
}

TEST(LongWaits, TheyHaveATOfTheirOwn)
{
	begin();
	EXPECT_EQ(draw_wait(999999999, NEVER), 8000);
	EXPECT_EQ(draw_wait(1000000000, 0), 8 * SECOND);
	EXPECT_EQ(draw_wait(1000000000, 1U << 29), NOT_DRAWN); /* an eighth of T */
	EXPECT_EQ(process.of_short.drawn, 1);
	EXPECT_EQ(process.of_long.drawn, 1);
}

/* New processes that wait long are no crowd. */
TEST(LongWaits, NewProcessBeginsWithTheLeastT)
{
	begin();
	process.of_long = (struct draw){};
	pot->first_ns = 64000;
	EXPECT_EQ(draw_wait(1000000000, NEVER), LEAST_T);
}

TEST(LongWaits, SlicesOfShortOnesAreNotTheirs)
{
	begin();
	t_after(SLICE);
	EXPECT_EQ(process.of_long.began_ns, 100 * SECOND);
	EXPECT_EQ(process.of_long.sample_ns, 8 * SECOND);
	draw_wait(1000000000, NEVER);
	EXPECT_EQ(process.of_long.sample_ns, 4 * SECOND);
}

/* The T of the first look, where it is larger, decides, and the record has it. */
TEST(FirstLook, LargerTCounts)
{
	begin();
	EXPECT_EQ(draw_of(&process, 4000, now, 16000, (1U << 30) - 1), 16000);
	EXPECT_EQ(draw_of(&process, 4000, now, 16000, 1U << 30), NOT_DRAWN);
	EXPECT_EQ(draw_of(&process, 4000, now, 4000, (1U << 31) - 1), 8000);
	EXPECT_EQ(draw_of(&process, 4000, now, 4000, 1U << 31), NOT_DRAWN);
}
