/* What all processes have in common of their draws: their share, and what is done about a crowd of new ones.
 */
#include "tests/bpf/schedule.h"

#define SLICE 134217728ULL /* ns */
#define LEAST_T 1000
/* So many a second are, in 256ths and a slice, 256 * 976562 * 131072 / 976562 = 2^25: 131072 draws. */
#define ROUND_DRAWS 976562
#define ALL_DRAWS 131072

static struct pot pot;

/* A slice has begun at 100 seconds, with so large a share. */
static void begin(__u32 draws_per_second, __u64 share)
{
	settings->sample_ns = LEAST_T;
	settings->adapts = 1;
	control.draws_per_second = draws_per_second;
	pot = (struct pot){.began_ns = 100 * SECOND, .share = share, .first_ns = LEAST_T};
}

static __u64 share_after(__u64 claimed, __u64 ns)
{
	pot.claimed = claimed;
	divide_again(&pot, 100 * SECOND + ns);
	return pot.share;
}

static __u64 first_t_after(__u64 drawn, __u64 first_ns)
{
	begin(ROUND_DRAWS, 1000);
	pot.drawn = drawn;
	pot.first_ns = first_ns;
	divide_again(&pot, 100 * SECOND + SLICE);
	return pot.first_ns;
}

TEST(Pot, ShareDoublesWhereLessThanHalfIsClaimed)
{
	begin(ROUND_DRAWS, 1000);
	EXPECT_EQ(share_after(ALL_DRAWS / 2 - 1, SLICE), 2001);
	begin(ROUND_DRAWS, 1000);
	EXPECT_EQ(share_after(0, SLICE), 2001);
}

TEST(Pot, ShareGrowsByAQuarterWhereNearlyAllIsClaimed)
{
	begin(ROUND_DRAWS, 1000);
	EXPECT_EQ(share_after(ALL_DRAWS / 2, SLICE), 1251);
	begin(ROUND_DRAWS, 1000);
	EXPECT_EQ(share_after(ALL_DRAWS, SLICE), 1251);
}

/* In proportion: 1000 * 2^25 / (2^25 + 256) is just below 1000; half of it where twice as much is claimed. */
TEST(Pot, ShareShrinksWhereMoreThanAllIsClaimed)
{
	begin(ROUND_DRAWS, 1000);
	EXPECT_EQ(share_after(ALL_DRAWS + 1, SLICE), 999);
	begin(ROUND_DRAWS, 1000);
	EXPECT_EQ(share_after(2 * ALL_DRAWS, SLICE), 500);
}

/* As many claims in a longer slice are fewer. */
TEST(Pot, ClaimsAreCountedByTheTimeTheyTook)
{
	begin(ROUND_DRAWS, 1000);
	EXPECT_EQ(share_after(ALL_DRAWS, 2 * SLICE), 1251);
	begin(ROUND_DRAWS, 1000);
	EXPECT_EQ(share_after(ALL_DRAWS - 2, 2 * SLICE), 2001);
	begin(ROUND_DRAWS, 1000);
	EXPECT_EQ(share_after(4 * ALL_DRAWS, 2 * SLICE), 500);
}

/* 100 a second are 256 * 100 * 131072 / 976562 = 3435 256ths in a slice. */
TEST(Pot, ShareIsNeverMoreThanAllDraws)
{
	begin(100, 1717);
	EXPECT_EQ(share_after(0, SLICE), 3435);
	begin(100, 1716);
	EXPECT_EQ(share_after(0, SLICE), 3433);
}

/* 1000 a second are 256 * 1000 * 131072 / 976562 = 34359. */
TEST(Pot, ShareIsNeverMoreThanAProcessMayDraw)
{
	begin(ROUND_DRAWS, 17179);
	EXPECT_EQ(share_after(0, SLICE), 34359);
	begin(ROUND_DRAWS, 17180);
	EXPECT_EQ(share_after(0, SLICE), 34359);
	begin(ROUND_DRAWS, 17178);
	EXPECT_EQ(share_after(0, SLICE), 34357);
}

/* A sixteenth of 3435 is 214, and nothing was claimed of it. */
TEST(Pot, FirstShareIsASixteenth)
{
	begin(100, 0);
	EXPECT_EQ(share_after(0, SLICE), 429);
}

TEST(Pot, ShareIsNeverNothing)
{
	begin(0, 0);
	EXPECT_EQ(share_after(0, SLICE), 1);
	begin(1, 1);
	EXPECT_EQ(share_after(1000000, SLICE), 1); /* 34 of a slice in all */
}

TEST(Pot, SliceOfAllIsAnEighthOfASecond)
{
	begin(ROUND_DRAWS, 1000);
	pot.drawn = 3;
	EXPECT_EQ(share_after(5, SLICE - 1), 1000);
	EXPECT_EQ(pot.drawn, 3);
	EXPECT_EQ(pot.claimed, 5);
	EXPECT_EQ(pot.began_ns, 100 * SECOND);
	EXPECT_EQ(share_after(5, -SECOND), 1000); /* of a CPU whose clock is behind */
	EXPECT_EQ(share_after(5, SLICE), 2001);
	EXPECT_EQ(pot.drawn, 0);
	EXPECT_EQ(pot.claimed, 0);
	EXPECT_EQ(pot.began_ns, 100 * SECOND + SLICE);
}

/* Twice as many draws as there should be are no crowd, one more is. */
TEST(Crowd, FirstTDoublesWhileThereAreTooManyDraws)
{
	EXPECT_EQ(first_t_after(2 * ALL_DRAWS, 8000), 4500); /* nearer to the least by half */
	EXPECT_EQ(first_t_after(2 * ALL_DRAWS + 1, 8000), 16000);
}

TEST(Crowd, FirstTStaysBelowASecond)
{
	EXPECT_EQ(first_t_after(3 * ALL_DRAWS, 499999999), 999999998);
	EXPECT_EQ(first_t_after(3 * ALL_DRAWS, 500000000), 500000000);
	EXPECT_EQ(first_t_after(3 * ALL_DRAWS, 999999998), 999999998);
}

TEST(Crowd, FirstTIsAtLeastTheLeast)
{
	EXPECT_EQ(first_t_after(0, 0), LEAST_T);
	EXPECT_EQ(first_t_after(0, LEAST_T), LEAST_T);
	EXPECT_EQ(first_t_after(0, LEAST_T + 1), LEAST_T + 1);
	EXPECT_EQ(first_t_after(0, LEAST_T + 2), LEAST_T + 1);
	EXPECT_EQ(first_t_after(3 * ALL_DRAWS, 0), 2 * LEAST_T);
}

/* The pot as processes see it: 100 draws a second are 13.4 in a slice, so the 27th is the first that is too
 * many. */
static struct space process_in_crowd(__u64 drawn)
{
	__u32 zero = 0;
	struct pot *shared = host_value(&pots, &zero, 0);
	struct space process = {};

	begin(100, 1025);
	*shared = pot;
	shared->drawn = drawn;
	process.of_short =
		(struct draw){.began_ns = 100 * SECOND, .sample_ns = 8000, .limit = 4, .slices = 1};
	return process;
}

TEST(Crowd, TDoublesByEverySecondDraw)
{
	struct space process = process_in_crowd(26);

	draw_of(&process, 500000, 100 * SECOND, 0, 0);
	EXPECT_EQ(process.of_short.sample_ns, 8000);
	draw_of(&process, 500000, 100 * SECOND, 0, 0);
	EXPECT_EQ(process.of_short.sample_ns, 16000);
}

TEST(Crowd, TwiceAllDrawsAreNoCrowd)
{
	struct space process = process_in_crowd(24);

	draw_of(&process, 500000, 100 * SECOND, 0, 0);
	draw_of(&process, 500000, 100 * SECOND, 0, 0); /* the 26th */
	EXPECT_EQ(process.of_short.sample_ns, 8000);
	draw_of(&process, 500000, 100 * SECOND, 0, 0);
	draw_of(&process, 500000, 100 * SECOND, 0, 0);
	EXPECT_EQ(process.of_short.sample_ns, 16000);
}

/* 262144 draws are twice 131072. */
TEST(Crowd, NoCrowdIsSeenAtItsLimit)
{
	struct space process = process_in_crowd(2 * ALL_DRAWS - 2);

	control.draws_per_second = ROUND_DRAWS;
	draw_of(&process, 500000, 100 * SECOND, 0, 0);
	draw_of(&process, 500000, 100 * SECOND, 0, 0);
	EXPECT_EQ(process.of_short.sample_ns, 8000);

	process = process_in_crowd(2 * ALL_DRAWS - 1);
	control.draws_per_second = ROUND_DRAWS;
	draw_of(&process, 500000, 100 * SECOND, 0, 0);
	draw_of(&process, 500000, 100 * SECOND, 0, 0);
	EXPECT_EQ(process.of_short.sample_ns, 16000);
}

TEST(Crowd, SmallerLimitStays)
{
	struct space process = process_in_crowd(100);

	process.of_short.limit = 1;
	draw_of(&process, 500000, 100 * SECOND, 0, 0);
	EXPECT_EQ(process.of_short.sample_ns, 16000);
}

/* The pot begins its slice where a process begins one. */
TEST(Crowd, SliceOfAProcessBeginsThatOfAll)
{
	__u32 zero = 0;
	struct space process = process_in_crowd(27);
	const struct pot *shared = host_value(&pots, &zero, 0);

	draw_of(&process, 0, 100 * SECOND + SLICE - 1, 0, 0);
	EXPECT_EQ(shared->began_ns, 100 * SECOND);
	draw_of(&process, 0, 100 * SECOND + SLICE, 0, 0);
	EXPECT_EQ(shared->began_ns, 100 * SECOND + SLICE);
	EXPECT_EQ(shared->drawn, 0);
	EXPECT_EQ(shared->first_ns, 2 * LEAST_T); /* 27 draws were too many */
	EXPECT_EQ(shared->share, 2051);		  /* nothing was claimed */
	EXPECT_EQ(process.of_short.limit, 8);
}
