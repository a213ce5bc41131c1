/* Where the time of a thread went, at the edges of its life and of the recording. */
#include "tests/bpf/schedule.h"

static struct task_struct *task;

static struct wire_account *account(void)
{
	return host_value(&accounts, task, 0);
}

static const struct wire_account *sent_account(__u32 index)
{
	return sent_record(WIRE_ACCOUNT, index);
}

/* A thread that sleeps since 3 ms before the start, and is known since it ran before that. */
static void begin(void)
{
	settings->ledger = 1;
	begin_script();
	task = host_new_process(10);
	list(task);
	come_at(task, BEFORE(5 * MILLISECOND));
	at(BEFORE(3 * MILLISECOND));
	sleep_on(0, SLEEP, NULL);
}

static void record_at_0(void)
{
	at(0);
	record();
}

static void expect_terms(const struct wire_account *told, __u64 on_cpu, __u64 stolen_ns, __u64 blocked,
			 __u64 runnable)
{
	ASSERT_TRUE(told);
	EXPECT_EQ(told->on_cpu_ns, on_cpu);
	EXPECT_EQ(told->stolen_ns, stolen_ns);
	EXPECT_EQ(told->blocked_ns, blocked);
	EXPECT_EQ(told->runnable_ns, runnable);
}

/* What the recorder lists when it has recorded. */
static void list_account(struct task_struct *listed)
{
	struct bpf_iter_meta meta = {};
	struct bpf_iter__task ctx = {.meta = &meta, .task = listed};

	list_accounts(&ctx);
}

TEST(Ledger, NothingIsBookedBeforeTheStart)
{
	begin();
	expect_terms(account(), 0, 0, 0, 0);
	EXPECT_EQ(account()->is_new, 0);
	EXPECT_EQ(account()->since_ns, 0);
}

TEST(Ledger, SleepIsCutAtTheStart)
{
	begin();
	record_at_0();
	come_at(task, 100);
	expect_terms(account(), 0, 0, 100, 0);
	EXPECT_EQ(account()->arrived_ns, SCRIPT_START + 100);
	EXPECT_EQ(account()->out_ns, 0);
	leave_at(150, SLEEP);
	expect_terms(account(), 50, 0, 100, 0);
	EXPECT_EQ(account()->out_ns, SCRIPT_START + 150);
}

TEST(Ledger, RunIsCutAtTheStart)
{
	begin();
	come_at(task, BEFORE(2000));
	record_at_0();
	leave_at(700, SLEEP);
	expect_terms(account(), 700, 0, 0, 0);
}

/* 2000 of 2700 ns are taken for those before the start, with the 1000 that were stolen; of 2100, all of 1000
 * are. */
TEST(Ledger, RunOverTheStartIsNoLessThanNothing)
{
	begin();
	come_at(task, BEFORE(2000));
	script.stolen_ns[0] = 1000;
	record_at_0();
	leave_at(1700, SLEEP);
	expect_terms(account(), 700, 0, 0, 0);

	begin();
	come_at(task, BEFORE(2000));
	script.stolen_ns[0] = 1000;
	record_at_0();
	leave_at(100, SLEEP);
	expect_terms(account(), 0, 0, 0, 0);
}

TEST(Ledger, RunThatBeginsAtTheStartIsCountedWithWhatWasStolen)
{
	begin();
	come_at(task, 0);
	record();
	script.stolen_ns[0] = 400;
	leave_at(1000, SLEEP);
	expect_terms(account(), 600, 400, 0, 0);
}

TEST(Ledger, WhatIsStolenIsCountedByTheCpuOfTheRun)
{
	begin();
	script.stolen_ns[0] = 5000;
	script.stolen_ns[1] = 300;
	record_at_0();
	come_at(task, 1000);
	script.stolen_ns[1] = 9999;
	script.stolen_ns[0] = 5100;
	leave_at(2000, SLEEP);
	expect_terms(account(), 900, 100, 1000, 0);
	wake(task);
	run_on(1, task);
	script.stolen_ns[1] += 7;
	at(2050);
	sleep_on(1, SLEEP, NULL);
	expect_terms(account(), 943, 107, 1000, 0);
}

/* It is listed while it is on a CPU, and has been charged until 1000 before the start. */
TEST(Ledger, RunningThreadIsOnItsCpuSinceItWasLastCharged)
{
	begin();
	come_at(task, BEFORE(2000));
	host_clear(&accounts);
	script.stolen_ns[0] = 50;
	at(BEFORE(1000));
	charge(task, 0);
	at(BEFORE(500));
	list(task);
	EXPECT_EQ(account()->arrived_ns, SCRIPT_START - 1000);
	EXPECT_EQ(account()->exec_ns, task->se.sum_exec_runtime);
	record_at_0();
	leave_at(700, SLEEP);
	expect_terms(account(), 700, 0, 0, 0);
}

TEST(Ledger, DeadThreadHasNoAccount)
{
	begin();
	host_clear(&accounts);
	task->__state = TASK_DEAD;
	list(task);
	EXPECT_FALSE(account());
}

TEST(Ledger, AccountOfANewThreadBeginsWhereItWasMade)
{
	begin();
	record_at_0();
	at(1000);
	task = fork_thread(task, host_new_process(20));
	EXPECT_EQ(account()->is_new, 1);
	at(1300);
	run_on(0, task);
	EXPECT_EQ(account()->is_new, 0);
	EXPECT_EQ(account()->since_ns, SCRIPT_START + 1000);
	leave_at(2000, TASK_DEAD);
	expect_terms(sent_account(0), 700, 0, 0, 300);
	EXPECT_EQ(sent_account(0)->since_ns, SCRIPT_START + 1000);
	EXPECT_EQ(sent_account(0)->until_ns, SCRIPT_START + 2000);
}

TEST(Ledger, AccountIsSentWhenTheThreadDies)
{
	begin();
	record_at_0();
	come_at(task, 1000);
	leave_at(1500, TASK_DEAD);
	EXPECT_EQ(sent_records(WIRE_ACCOUNT), 1);
	expect_terms(sent_account(0), 500, 0, 1000, 0);
	EXPECT_EQ(sent_account(0)->since_ns, 0);
	EXPECT_EQ(sent_account(0)->until_ns, SCRIPT_START + 1500);
	EXPECT_EQ(sent_account(0)->process.tid, 10);
	EXPECT_EQ(account()->is_open, 0);
}

TEST(Ledger, AccountThatFindsNoRoomIsCounted)
{
	begin();
	record_at_0();
	come_at(task, 1000);
	host.rings_are_busy = 1;
	leave_at(1500, TASK_DEAD);
	EXPECT_EQ(counted(WIRE_COUNT_ACCOUNT_LOST).count, 1);
	EXPECT_EQ(account()->is_open, 0);
}

TEST(Ledger, AccountIsNotSentWhenTheThreadDiesBeforeTheStart)
{
	begin();
	come_at(task, BEFORE(1000));
	leave_at(BEFORE(500), TASK_DEAD);
	EXPECT_EQ(sent_records(WIRE_ACCOUNT), 0);
	EXPECT_EQ(counted(WIRE_COUNT_ACCOUNT_SETTLED).count, 1);
}

/* As many are settled as were made, recorded or not, told once or twice. */
TEST(Ledger, EachAccountThatIsMadeIsSettledOnce)
{
	struct task_struct *other;

	begin();
	list(task);
	other = host_new_process(20);
	list(other);
	come_at(task, BEFORE(1000));
	fork_thread(task, host_new_process(30));
	EXPECT_EQ(counted(WIRE_COUNT_ACCOUNT_MADE).count, 3);
	record_at_0();
	leave_at(1500, TASK_DEAD);
	EXPECT_EQ(counted(WIRE_COUNT_ACCOUNT_SETTLED).count, 1);
	settings->own_tgid = 20; /* not recorded */
	come_at(other, 2000);
	end_recording();
	fork_thread(other, host_new_process(40));
	list_account(other);
	at(3000);
	sleep_on(0, TASK_DEAD, NULL);
	EXPECT_EQ(counted(WIRE_COUNT_ACCOUNT_MADE).count, 3);
	EXPECT_EQ(counted(WIRE_COUNT_ACCOUNT_SETTLED).count, 2);
}

TEST(Ledger, DeadThreadThatIsNotRecordedIsSettled)
{
	begin();
	record_at_0();
	settings->own_tgid = 10;
	come_at(task, 1000);
	leave_at(1500, TASK_DEAD);
	EXPECT_EQ(sent_records(WIRE_ACCOUNT), 0);
	EXPECT_EQ(counted(WIRE_COUNT_ACCOUNT_SETTLED).count, 1);
}

/* It has been charged 2 ms, 500 and 300. */
TEST(Ledger, AfterTheEndSumsStayAndTheDeadAreSentWithTheirCharge)
{
	begin();
	record_at_0();
	come_at(task, 1000);
	leave_at(1500, SLEEP);
	at(1600);
	end_recording();
	come_at(task, 1700);
	leave_at(2000, TASK_DEAD);
	EXPECT_EQ(sent_records(WIRE_ACCOUNT), 1);
	expect_terms(sent_account(0), 500, 0, 1000, 0);
	EXPECT_EQ(sent_account(0)->until_ns, 0);
	EXPECT_EQ(sent_account(0)->charged_ns, 2 * MILLISECOND + 800);
	EXPECT_EQ(sent_account(0)->out_ns, SCRIPT_START + 1500);
}

TEST(Ledger, AfterTheEndNothingIsSentOfTheLiving)
{
	begin();
	record_at_0();
	at(1600);
	end_recording();
	come_at(task, 1700);
	leave_at(2000, SLEEP);
	EXPECT_EQ(sent_records(WIRE_ACCOUNT), 0);
	EXPECT_EQ(account()->charged_ns, 0);
}

/* The stretch that is going on is the new program's. */
TEST(Exec, AccountBeginsAnewAtTheLastSwitch)
{
	begin();
	record_at_0();
	come_at(task, 1000);
	leave_at(1500, SLEEP);
	come_at(task, 2000);
	at(2200);
	task->self_exec_id = 2;
	host_name(task, "other");
	sched_process_exec(NULL, task, 10, NULL);
	expect_terms(sent_account(0), 500, 0, 1500, 0);
	EXPECT_EQ(sent_account(0)->until_ns, SCRIPT_START + 2000);
	EXPECT_EQ(sent_account(0)->process.exec_id, 1);
	leave_at(2900, TASK_DEAD);
	expect_terms(sent_account(1), 900, 0, 0, 0);
	EXPECT_EQ(sent_account(1)->since_ns, SCRIPT_START + 2000);
	EXPECT_EQ(sent_account(1)->until_ns, SCRIPT_START + 2900);
	EXPECT_EQ(sent_account(1)->process.exec_id, 2);
	EXPECT_BYTES(sent_account(1)->comm, "other", 6);
}

/* The thread that calls execve and was not the first becomes it. */
TEST(Exec, AccountBeginsAnewWithAnotherNumber)
{
	begin();
	record_at_0();
	come_at(task, 1000);
	task->pid = 9;
	renew_account(account(), task, SCRIPT_START + 1000);
	EXPECT_EQ(sent_account(0)->process.tid, 10);
	EXPECT_EQ(account()->process.tid, 9);
	renew_account(account(), task, SCRIPT_START + 1100);
	EXPECT_EQ(sent_records(WIRE_ACCOUNT), 1);
}

TEST(Exec, AccountThatHasNothingYetIsOnlyRenamed)
{
	begin();
	record_at_0();
	task->self_exec_id = 2;
	renew_account(account(), task, SCRIPT_START);
	EXPECT_EQ(sent_records(WIRE_ACCOUNT), 0);
	EXPECT_EQ(account()->since_ns, 0);
	EXPECT_EQ(account()->process.exec_id, 2);
	task->self_exec_id = 3;
	renew_account(account(), task, SCRIPT_START + 1);
	EXPECT_EQ(sent_records(WIRE_ACCOUNT), 1);
	EXPECT_EQ(account()->since_ns, SCRIPT_START + 1);
	task->self_exec_id = 4;
	renew_account(account(), task, SCRIPT_START + 1);
	EXPECT_EQ(sent_records(WIRE_ACCOUNT), 1);
}

TEST(Exec, LossesAreTheFormerPrograms)
{
	begin();
	record_at_0();
	lose(account(), WIRE_COUNT_OTHER_KIND, 33);
	task->self_exec_id = 2;
	renew_account(account(), task, SCRIPT_START + 1);
	EXPECT_EQ(sent_account(0)->lost_ns[WIRE_COUNT_OTHER_KIND], 33);
	EXPECT_EQ(account()->lost_ns[WIRE_COUNT_OTHER_KIND], 0);
}

/* The command is recorded from its execve on: what it has been charged until then is nobody's. */
TEST(Exec, AccountOfTheCommandBeginsThere)
{
	begin();
	settings->command_tgid = 10;
	record_at_0();
	come_at(task, 1000);
	script.stolen_ns[0] = 100;
	at(1500);
	sched_process_exec(NULL, task, 10, NULL);
	EXPECT_EQ(account()->since_ns, SCRIPT_START + 1500);
	script.stolen_ns[0] = 150;
	leave_at(2000, SLEEP);
	expect_terms(account(), 450, 50, 0, 0);
}
