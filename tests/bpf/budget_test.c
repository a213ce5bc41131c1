/* What captures may cost: budgets are kept as the time that it takes to earn what is asked for, at most a
 * second. */
#include "tests/bpf/host/programs.h"

static struct budget *budget_of(__u32 context)
{
	return host_value(&budgets, &context, host.cpu);
}

TEST(Budget, TimeThatPassesIsEarned)
{
	__u64 last = 1000;

	EXPECT_EQ(earned_ns(&last, 1700), 700);
	EXPECT_EQ(earned_ns(&last, 1700), 0);
	EXPECT_EQ(last, 1700);
}

TEST(Budget, AtMostASecondIsEarnedAtOnce)
{
	__u64 last = 5;

	EXPECT_EQ(earned_ns(&last, 5 + SECOND), SECOND);
	last = 5;
	EXPECT_EQ(earned_ns(&last, 6 + SECOND), SECOND);
	EXPECT_EQ(last, 6 + SECOND);
	last = 5;
	EXPECT_EQ(earned_ns(&last, 4 + SECOND), SECOND - 1);
}

TEST(Budget, ClockThatIsBehindEarnsNothingTwice)
{
	__u64 last = 1000;

	EXPECT_EQ(earned_ns(&last, 900), 0);
	EXPECT_EQ(last, 1000);
	EXPECT_EQ(earned_ns(&last, 1001), 1);
}

TEST(Budget, AccountHoldsASecond)
{
	__u64 account = 0;

	earn(&account, SECOND - 1);
	EXPECT_EQ(account, SECOND - 1);
	earn(&account, 1);
	EXPECT_EQ(account, SECOND);
	earn(&account, SECOND);
	EXPECT_EQ(account, SECOND);
}

/* A quarter of a second is kept for long waits. */
TEST(Budget, ShortWaitsLeaveAQuarter)
{
	__u64 account = 250000100;

	EXPECT_FALSE(spend(&account, 101, false));
	EXPECT_EQ(account, 250000100);
	EXPECT_TRUE(spend(&account, 100, false));
	EXPECT_EQ(account, 250000000);
	EXPECT_FALSE(spend(&account, 1, false));
	EXPECT_TRUE(spend(&account, 0, false));
}

TEST(Budget, LongWaitsMaySpendAll)
{
	__u64 account = 100;

	EXPECT_FALSE(spend(&account, 101, true));
	EXPECT_EQ(account, 100);
	EXPECT_TRUE(spend(&account, 100, true));
	EXPECT_EQ(account, 0);
	EXPECT_FALSE(spend(&account, 1, true));
}

/* 4096 of 1 MiB a second. */
TEST(Budget, BytesCostTheTimeThatTheyTakeToEarn)
{
	settings->capture_bytes_per_second = 1 << 20;
	EXPECT_EQ(price_ns(4096), 3906250);
	EXPECT_EQ(price_ns(4096), 3906250);
	EXPECT_EQ(price_ns(4096), 3906250);
	EXPECT_EQ(price_ns(0), 0);
}

TEST(Budget, TaskWorkCostsTheTimeThatItTakesToEarn)
{
	settings->task_works_per_second = 2000;
	EXPECT_EQ(task_work_price_ns(), 500000);
	EXPECT_EQ(task_work_price_ns(), 500000);
}

TEST(Budget, NothingPerSecondIsOnePerSecond)
{
	EXPECT_EQ(price_ns(3), 3 * SECOND);
	EXPECT_EQ(task_work_price_ns(), SECOND);
	host.now_ns = SECOND;
	EXPECT_TRUE(spend_mappings(1, CONTEXT_SWITCH));
	EXPECT_FALSE(spend_mappings(1, CONTEXT_SWITCH));
}

TEST(Budget, RefundGoesToTheContextThatPaid)
{
	settings->capture_bytes_per_second = 1 << 20;
	budget_of(CONTEXT_SAMPLE)->bytes_ns = 7;
	refund(4096, CONTEXT_SAMPLE);
	EXPECT_EQ(budget_of(CONTEXT_SAMPLE)->bytes_ns, 3906257);
	EXPECT_EQ(budget_of(CONTEXT_SWITCH)->bytes_ns, 0);
	EXPECT_EQ(budget_of(CONTEXT_WAKER)->bytes_ns, 0);
}

/* 1000 in a second: one in a millisecond, and all of it may be spent. */
TEST(Mappings, SoManyMayBeLookedAtInASecond)
{
	settings->mappings_per_second = 1000;
	host.now_ns = 10 * SECOND;
	EXPECT_FALSE(spend_mappings(1001, CONTEXT_SWITCH));
	EXPECT_TRUE(spend_mappings(1000, CONTEXT_SWITCH));
	EXPECT_FALSE(spend_mappings(1, CONTEXT_SWITCH));
	host.now_ns += MILLISECOND - 1;
	EXPECT_FALSE(spend_mappings(1, CONTEXT_SWITCH));
	host.now_ns += 1;
	EXPECT_TRUE(spend_mappings(1, CONTEXT_SWITCH));
	EXPECT_FALSE(spend_mappings(1, CONTEXT_SWITCH));
}

TEST(Mappings, ContextsAndCpusDoNotTakeFromEachOther)
{
	settings->mappings_per_second = 1000;
	host.now_ns = 10 * SECOND;
	EXPECT_TRUE(spend_mappings(1000, CONTEXT_SWITCH));
	EXPECT_TRUE(spend_mappings(1000, CONTEXT_SAMPLE));
	EXPECT_TRUE(spend_mappings(1000, CONTEXT_WAKER));
	EXPECT_FALSE(spend_mappings(1, CONTEXT_SAMPLE));
	host.cpu = 1;
	EXPECT_TRUE(spend_mappings(1000, CONTEXT_SWITCH));
}

TEST(Mappings, NothingIsSpentInAContextThatIsNone)
{
	settings->mappings_per_second = 1000;
	host.now_ns = 10 * SECOND;
	EXPECT_FALSE(spend_mappings(1, CONTEXTS));
	refund(4096, CONTEXTS);
}
