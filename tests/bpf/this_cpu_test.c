/* Random numbers that a CPU makes by itself. */
#include "tests/bpf/host/programs.h"

/* xorshift64*, bit by bit: x[i] of the new word from the old one's, by the three shifts of 12, 25 and 27. */
static __u64 shifted_by(__u64 x, int up, int down)
{
	__u64 y = 0;

	for (int bit = 0; bit < 64; bit++) {
		int from = bit + down - up;
		__u64 other = from >= 0 && from < 64 ? x >> from & 1 : 0;

		y |= ((x >> bit & 1) ^ other) << bit;
	}
	return y;
}

static __u64 next_state(__u64 x)
{
	return shifted_by(shifted_by(shifted_by(x, 0, 12), 25, 0), 0, 27);
}

/* The upper half of the product with 2685821657736338717. */
static __u32 number_of(__u64 state)
{
	return (__u32)(state * 2685821657736338717ULL >> 32);
}

TEST(RandomNumbers, SequenceIsXorshift64Star)
{
	struct wire_cpu cpu = {.random = 88172645463325252ULL};
	__u64 state = 88172645463325252ULL;

	for (int i = 0; i < 1000; i++) {
		state = next_state(state);
		check_note("throw", i);
		EXPECT_EQ(next_random(&cpu), number_of(state));
	}
	EXPECT_EQ(cpu.random, state);
	EXPECT_EQ(host.random_calls, 0);
}

/* 1 becomes 1 ^ 1 << 25, which is 0x2000001: too small for the shifts to the right. Times 0x2545f4914f6cdd1d
 * it is 0x47e4ce4b896cdd1d, modulo 2^64. */
TEST(RandomNumbers, FirstNumberOfTheLeastState)
{
	struct wire_cpu cpu = {.random = 1};
	__u32 first = next_random(&cpu);

	EXPECT_EQ(cpu.random, 0x2000001);
	EXPECT_EQ(first, 0x47e4ce4b);
}

TEST(RandomNumbers, CpuBeginsWithTwoNumbersOfTheKernels)
{
	struct wire_cpu cpu = {};

	host.randoms[0] = 0x12345678;
	host.randoms[1] = 0x9abcdef0;
	host.random_count = 2;
	EXPECT_EQ(next_random(&cpu), number_of(next_state(0x123456789abcdef1))); /* made odd: never 0 */
	EXPECT_EQ(host.random_calls, 2);
	next_random(&cpu);
	EXPECT_EQ(host.random_calls, 2);
}

TEST(RandomNumbers, CpuBeginsEvenWithZeros)
{
	struct wire_cpu cpu = {};

	host.random_count = 2;
	EXPECT_EQ(next_random(&cpu), 0x47e4ce4b); /* as of the state 1 */
}

TEST(RandomNumbers, KernelsNumberIsTakenWithoutACpu)
{
	host.randoms[0] = 0x12345678;
	host.random_count = 1;
	EXPECT_EQ(next_random(NULL), 0x12345678);
}

TEST(ThisCpu, EachCpuHasALineOfItsOwn)
{
	for (host.cpu = 0; host.cpu < HOST_CPUS; host.cpu++)
		this_cpu()->told_tid = 100 + host.cpu;
	for (__u32 cpu = 0; cpu < HOST_CPUS; cpu++)
		EXPECT_EQ(((struct wire_cpu *)host_value(&cpus, &cpu, 0))->told_tid, 100 + cpu);
}

TEST(ThisCpu, ThereIsNoneForMoreCpusThanTheKernelHadSaid)
{
	host.cpu = HOST_CPUS - 1;
	EXPECT_TRUE(this_cpu());
	host.cpu = HOST_CPUS;
	EXPECT_FALSE(this_cpu());
}
