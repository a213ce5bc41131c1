/* Which waits are recorded, and what those that are stand for. */
#include "tests/bpf/host/programs.h"

/* A wait of t is drawn with the probability t / T: exactly so many of 2^32 random numbers draw it. */
TEST(Sampling, WaitIsDrawnByItsShareOfT)
{
	/* 3 of 8: numbers below 3/8 of 2^32. */
	EXPECT_TRUE(happens(3, 8, (3ULL << 32) / 8 - 1));
	EXPECT_FALSE(happens(3, 8, (3ULL << 32) / 8));
}
