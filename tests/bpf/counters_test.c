/* Counters of each CPU. */
#include "tests/bpf/host/programs.h"

TEST(Counters, EventsAndTheirTimeAddUp)
{
	count_ns(WIRE_COUNT_NOT_SAMPLED, 30);
	count_ns(WIRE_COUNT_NOT_SAMPLED, 12);
	count_own_ns(WIRE_COUNT_NOT_SAMPLED, 100);
	EXPECT_EQ(counted(WIRE_COUNT_NOT_SAMPLED).count, 3);
	EXPECT_EQ(counted(WIRE_COUNT_NOT_SAMPLED).ns, 142);
}

TEST(Counters, EventMayStandForNoTime)
{
	count(WIRE_COUNT_NO_STORAGE);
	EXPECT_EQ(counted(WIRE_COUNT_NO_STORAGE).count, 1);
	EXPECT_EQ(counted(WIRE_COUNT_NO_STORAGE).ns, 0);
}

TEST(Counters, EachIsCountedForItself)
{
	count_ns(0, 5);
	count_own_ns(WIRE_COUNTERS - 1, 7);
	for (__u32 id = 1; id < WIRE_COUNTERS - 1; id++) {
		check_note("counter", id);
		EXPECT_EQ(counted(id).count, 0);
	}
	EXPECT_EQ(counted(0).ns, 5);
	EXPECT_EQ(counted(WIRE_COUNTERS - 1).ns, 7);
}

TEST(Counters, CpusCountForThemselves)
{
	const __u32 id = WIRE_COUNT_NOT_SAMPLED;

	host.cpu = 1;
	count_ns(id, 5);
	host.cpu = 2;
	count_own_ns(id, 7);
	EXPECT_EQ(((struct wire_counter *)host_value(&counters, &id, 0))->count, 0);
	EXPECT_EQ(((struct wire_counter *)host_value(&counters, &id, 1))->ns, 5);
	EXPECT_EQ(((struct wire_counter *)host_value(&counters, &id, 2))->ns, 7);
}

TEST(Counters, WhatHasNoCounterIsNotCounted)
{
	count_ns(WIRE_COUNTERS, 5);
	count_own_ns(WIRE_COUNTERS, 5);
	for (__u32 id = 0; id < WIRE_COUNTERS; id++)
		EXPECT_EQ(counted(id).count, 0);
}
