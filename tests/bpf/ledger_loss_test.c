/* Time that is left out of the profile has its place in an account, and threads that had none get one. */
#include "tests/bpf/schedule.h"

static struct task_struct *task;

static struct wire_account *account(void)
{
	return host_value(&accounts, task, 0);
}

/* A thread below a control group that is recorded sleeps since the start. */
static void begin(void)
{
	settings->ledger = settings->cgroups = settings->selects = 1;
	host.below_cgroups = 1;
	begin_script();
	task = host_new_process(10);
	list(task);
	come_at(task, BEFORE(100));
	at(0);
	record();
	sleep_on(0, SLEEP, NULL);
}

TEST(Losses, EachReasonHasASum)
{
	struct wire_account sums = {};

	for (__u32 reason = 0; reason < WIRE_LOSSES; reason++)
		lose(&sums, reason, 10 + reason);
	lose(&sums, WIRE_COUNT_JOINED_AWAY, 100);
	for (__u32 reason = 0; reason < WIRE_LOSSES; reason++) {
		__u64 more = reason == WIRE_COUNT_JOINED_AWAY ? 100 : 0;

		check_note("reason", reason);
		EXPECT_EQ(sums.lost_ns[reason], 10 + reason + more);
		EXPECT_EQ(counted(reason).ns, 10 + reason + more);
	}
	EXPECT_EQ(counted(WIRE_COUNT_JOINED_AWAY).count, 2);
}

/* The first counter that is no loss: an account has no sum of it, but what follows the sums. */
TEST(Losses, OtherCountersAreInNoAccount)
{
	struct wire_account sums = {}, none = {};

	lose(&sums, WIRE_COUNT_NOT_SAMPLED, 10);
	EXPECT_BYTES(&sums, &none, sizeof(none));
	EXPECT_EQ(counted(WIRE_COUNT_NOT_SAMPLED).ns, 10);
}

/* Slept until 100, ran until 300 and slept again in another control group; is back in the first one, and
 * wakes there. */
TEST(JoinedAway, TimeSinceTheLastEventIsLost)
{
	begin();
	host.below_cgroups = 0;
	come_at(task, 100);
	leave_at(300, SLEEP);
	host.below_cgroups = 1;
	come_at(task, 1000);
	EXPECT_EQ(counted(WIRE_COUNT_JOINED_AWAY).count, 1);
	EXPECT_EQ(account()->lost_ns[WIRE_COUNT_JOINED_AWAY], 1000);
	leave_at(1500, TASK_DEAD);
	EXPECT_EQ(account()->on_cpu_ns, 500);
	EXPECT_EQ(account()->blocked_ns + account()->runnable_ns, 0);
	EXPECT_EQ(account()->until_ns, SCRIPT_START + 1500);
}

/* It joins while it is on a CPU: it came there at 100, when it was not recorded, and is seen when it comes
 * next. */
TEST(JoinedAway, ThreadThatJoinsBetweenEventsLosesNothingOfWhatIsSeen)
{
	begin();
	come_at(task, 400);
	host.below_cgroups = 0;
	leave_at(500, SLEEP);
	come_at(task, 600);
	leave_at(700, SLEEP);
	host.below_cgroups = 1;
	come_at(task, 1000);
	EXPECT_EQ(account()->blocked_ns, 400);
	EXPECT_EQ(account()->lost_ns[WIRE_COUNT_JOINED_AWAY], 600); /* since it came at 400 */
}

TEST(JoinedAway, TimeThatIsBookedIsNotLost)
{
	begin();
	come_at(task, 400);
	leave_at(500, SLEEP);
	host.below_cgroups = 0;
	come_at(task, 600);
	leave_at(700, SLEEP);
	host.below_cgroups = 1;
	come_at(task, 1000);
	EXPECT_EQ(account()->blocked_ns, 400);
	EXPECT_EQ(account()->on_cpu_ns, 100);
	EXPECT_EQ(account()->lost_ns[WIRE_COUNT_JOINED_AWAY], 500);
}

TEST(JoinedAway, NothingBeforeTheStartIsLost)
{
	begin();
	control.phase = WIRE_WAITING;
	host.below_cgroups = 0;
	come_at(task, 100);
	leave_at(300, SLEEP);
	at(400);
	record();
	host.below_cgroups = 1;
	come_at(task, 1000);
	EXPECT_EQ(account()->lost_ns[WIRE_COUNT_JOINED_AWAY], 600);
}

TEST(JoinedAway, CountsNoTimeWithoutAnAccount)
{
	begin();
	settings->ledger = 0;
	host.below_cgroups = 0;
	come_at(task, 100);
	leave_at(300, SLEEP);
	host.below_cgroups = 1;
	come_at(task, 1000);
	EXPECT_EQ(counted(WIRE_COUNT_JOINED_AWAY).count, 1);
	EXPECT_EQ(counted(WIRE_COUNT_JOINED_AWAY).ns, 0);
	EXPECT_EQ(sent_records(WIRE_INTERVAL), 0);
	leave_at(1500, SLEEP);
	come_at(task, 1800);
	EXPECT_EQ(sent_interval(0)->blocked_ns, 300);
}

/* It has slept since 100, and its wait is known from there on. */
TEST(NoAccount, ThreadThatHasNoneGetsOneFromItsWaitOn)
{
	begin();
	come_at(task, 50);
	leave_at(100, SLEEP);
	host_clear(&accounts);
	come_at(task, 400);
	ASSERT_TRUE(account());
	EXPECT_EQ(account()->since_ns, SCRIPT_START + 100);
	leave_at(1000, TASK_DEAD);
	EXPECT_EQ(account()->blocked_ns, 300);
	EXPECT_EQ(account()->on_cpu_ns, 600);
	EXPECT_EQ(account()->since_ns, SCRIPT_START + 100);
}

TEST(NoAccount, AccountThatBeginsWithALostWaitAddsUp)
{
	begin();
	settings->min_wait_ns = 401;
	host_clear(&accounts);
	come_at(task, 400);
	leave_at(1000, TASK_DEAD);
	EXPECT_EQ(account()->since_ns, SCRIPT_START);
	EXPECT_EQ(account()->lost_ns[WIRE_COUNT_BELOW_MIN_WAIT], 400);
	EXPECT_EQ(account()->on_cpu_ns, 600);
}

/* Nothing is known of the time before it came, which it has no account of either. */
TEST(NoAccount, ThreadThatJoinedAwayGetsOneWhereItCame)
{
	begin();
	host.below_cgroups = 0;
	come_at(task, 100);
	leave_at(300, SLEEP);
	host_clear(&accounts);
	host.below_cgroups = 1;
	come_at(task, 1000);
	EXPECT_EQ(counted(WIRE_COUNT_JOINED_AWAY).count, 1);
	EXPECT_EQ(account()->lost_ns[WIRE_COUNT_JOINED_AWAY], 0);
	leave_at(1500, TASK_DEAD);
	EXPECT_EQ(account()->since_ns, SCRIPT_START + 1000);
	EXPECT_EQ(account()->on_cpu_ns, 500);
}

/* It was made outside, and its first run was not recorded. */
TEST(JoinedAway, ThreadThatIsNewLosesItsTimeSinceItWasMade)
{
	begin();
	host.below_cgroups = 0;
	at(1000);
	task = fork_thread(task, host_new_process(20));
	at(1100);
	run_on(0, task);
	leave_at(1200, SLEEP);
	host.below_cgroups = 1;
	come_at(task, 2000);
	leave_at(2500, SLEEP);
	come_at(task, 3000);
	leave_at(3300, TASK_DEAD);
	EXPECT_EQ(account()->since_ns, SCRIPT_START + 2000);
	EXPECT_EQ(account()->lost_ns[WIRE_COUNT_JOINED_AWAY], 0);
	EXPECT_EQ(account()->blocked_ns, 500);
	EXPECT_EQ(account()->on_cpu_ns, 800);
	EXPECT_EQ(account()->until_ns, SCRIPT_START + 3300);
}

TEST(NoAccount, AccountThatCannotBeMadeIsCounted)
{
	begin();
	host_clear(&accounts);
	host.no_storage = 1;
	come_at(task, 400);
	EXPECT_FALSE(account());
	EXPECT_EQ(counted(WIRE_COUNT_ACCOUNT_LOST).count, 1);
	EXPECT_EQ(sent_records(WIRE_INTERVAL), 1);
}

TEST(NoAccount, WithoutTheLedgerThereAreNone)
{
	begin();
	host_clear(&accounts);
	settings->ledger = 0;
	host.no_storage = 1;
	come_at(task, 400);
	leave_at(500, TASK_DEAD);
	EXPECT_EQ(host_count(&accounts), 0);
	EXPECT_EQ(counted(WIRE_COUNT_ACCOUNT_LOST).count, 0);
}

/* 5000 were charged; the last tick was at 700 by the clock that does not count the 100 that were stolen. */
TEST(Charge, OfARunningThreadIsKnownUpToNow)
{
	begin();
	task->se.sum_exec_runtime = 5000;
	script.stolen_ns[0] = 100;
	at(1000);
	task->se.exec_start = SCRIPT_START + 700;
	task->on_cpu = 1;
	EXPECT_EQ(stolen_at_reading(task), 100);
	EXPECT_EQ(charged_by_now(task, 100), 5200);
	task->se.exec_start = SCRIPT_START + 900;
	EXPECT_EQ(charged_by_now(task, 100), 5000);
	task->se.exec_start = SCRIPT_START + 950;
	EXPECT_EQ(charged_by_now(task, 100), 5000);
}

TEST(Charge, OfAThreadThatIsOffIsWhatWasCharged)
{
	begin();
	task->se.sum_exec_runtime = 5000;
	task->se.exec_start = SCRIPT_START;
	at(1000);
	EXPECT_EQ(charged_by_now(task, 0), 5000);
	task->on_cpu = 1;
	EXPECT_EQ(charged_by_now(task, 0), 6000);
	settings->has_rq_clock = 0;
	EXPECT_EQ(charged_by_now(task, 0), 5000);
	EXPECT_EQ(stolen_at_reading(task), 0);
}
