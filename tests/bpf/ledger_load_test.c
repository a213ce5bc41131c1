/* The account of each thread of a load says where all of its time since the start went. */
#include "tests/bpf/load.h"

static const struct wire_account *account_in_storage(struct task_struct *task)
{
	return host_value(&accounts, task, 0);
}

/* Whose stretch is going on has that in no sum. */
static __u64 booked_until(const struct wire_account *account)
{
	return account->out_ns ? account->out_ns : account->arrived_ns;
}

static void expect_accounts(void)
{
	for (__u32 i = 0; i < LOAD_THREADS; i++) {
		const struct actor *actor = &load.actors[i];
		const struct wire_account *account = account_in_storage(actor->task);

		ASSERT_TRUE(account);
		check_note("thread", actor->task->pid);
		EXPECT_EQ(account->on_cpu_ns, actor->on_cpu_ns);
		EXPECT_EQ(account->stolen_ns, actor->stolen_ns);
		EXPECT_EQ(account->blocked_ns, actor->blocked_ns);
		EXPECT_EQ(account->runnable_ns, actor->runnable_ns);
		EXPECT_EQ(account->on_cpu_ns + account->stolen_ns + account->blocked_ns +
				  account->runnable_ns,
			  booked_until(account) - control.start_ns);
		EXPECT_EQ(account->since_ns, 0);
	}
}

/* Nothing is stolen in a stretch that is going on when recording begins: what was stolen before cannot be
 * separated. */
static void begin_to_record(void)
{
	settings->ledger = 1;
	begin_load(200);
	for (__u32 cpu = 0; cpu < LOAD_CPUS; cpu++)
		if (actor_on(cpu))
			switch_actors(cpu, NULL);
	at(script.ns + 5000 - SCRIPT_START);
	record();
}

TEST(LedgerLoad, AccountsCloseAfterEveryStep)
{
	begin_to_record();
	for (__u32 i = 0; i < 3000; i++) {
		load_step();
		if (i % 100 == 99)
			expect_accounts();
	}
	end_load();
	expect_accounts();
	EXPECT_EQ(sent_records(WIRE_ACCOUNT), 0);
}

TEST(LedgerLoad, WhatIsNotRecordedIsBookedAsLost)
{
	__u64 lost[LOAD_THREADS] = {};

	settings->min_wait_ns = 150000;
	begin_to_record();
	for (__u32 i = 0; i < 3000; i++)
		load_step();
	end_load();
	for (__u32 i = 0; i < load.wait_count; i++) {
		__u64 waited_ns = load.waits[i].blocked_ns + load.waits[i].runnable_ns;

		if (waited_ns < 150000)
			lost[load.waits[i].tid - 10] += waited_ns;
	}
	for (__u32 i = 0; i < LOAD_THREADS; i++) {
		const struct wire_account *account = account_in_storage(load.actors[i].task);

		EXPECT_NE(lost[i], 0);
		EXPECT_EQ(account->lost_ns[WIRE_COUNT_BELOW_MIN_WAIT], lost[i]);
		EXPECT_EQ(account->on_cpu_ns + account->stolen_ns + account->blocked_ns +
				  account->runnable_ns + lost[i],
			  booked_until(account) - control.start_ns);
	}
}

/* What is sampled stands for the rest: the account has all of it. */
TEST(LedgerLoad, WhatIsNotSampledIsBookedAsWaited)
{
	control.sample_ns[0] = MILLISECOND;
	begin_to_record();
	for (__u32 i = 0; i < 1000; i++)
		load_step();
	end_load();
	EXPECT_LT(sent_records(WIRE_INTERVAL), load.wait_count);
	EXPECT_EQ(sent_records(WIRE_INTERVAL) + counted(WIRE_COUNT_NOT_SAMPLED).count, load.wait_count);
	expect_accounts();
}
