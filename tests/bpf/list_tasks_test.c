/* What the programs tell and keep of every thread when it is first seen. */
#include "tests/bpf/listing.h"

static const struct wire_task *list(struct task_struct *task)
{
	return list_with(list_tasks, task);
}

TEST(ListTasks, TellsWhatAThreadIs)
{
	struct task_struct *leader = host_new_process(100), *thread = host_new_thread(leader, 101);
	const struct wire_task *told;

	leader->start_boottime = 1111;
	thread->self_exec_id = 7;
	leader->mm->mm_lock_seq.sequence = 40;
	told = list(thread);
	ASSERT_EQ(host.seq_bytes, 48);
	EXPECT_EQ(told->process.start_ns, 1111);
	EXPECT_EQ(told->process.exec_id, 7);
	EXPECT_EQ(told->process.tgid, 100);
	EXPECT_EQ(told->process.tid, 101);
	EXPECT_EQ(told->code.sequence, 41); /* one more, so that it is never 0 */
	EXPECT_EQ(told->code.hash, 0);
	EXPECT_EQ(told->recorded, 1);
	EXPECT_EQ(told->is_kernel, 0);
}

TEST(ListTasks, KeepsTheProcessOfAThread)
{
	struct task_struct *leader = host_new_process(100), *thread = host_new_thread(leader, 101);
	struct task_state *state;

	list(thread);
	state = host_value(&tasks, thread, 0);
	ASSERT_TRUE(state);
	EXPECT_EQ(state->process_start_ns, leader->start_boottime);
}

TEST(ListTasks, EndOfTheListIsNoThread)
{
	EXPECT_TRUE(!list(NULL));
}

TEST(ListTasks, SaysWhichThreadsAreRecorded)
{
	settings->own_tgid = 100;
	EXPECT_EQ(list(host_new_process(100))->recorded, 0);
	EXPECT_EQ(list(host_new_process(101))->recorded, 1);
}

TEST(ListTasks, ThreadsOfTheKernelHaveStorageWhereTheyAreRecorded)
{
	EXPECT_EQ(list(host_new_kernel_thread(7))->is_kernel, 1);
	EXPECT_EQ(host_count(&tasks), 0);
	settings->kernel_threads = 1;
	EXPECT_EQ(list(host_new_kernel_thread(8))->recorded, 1);
	EXPECT_EQ(host_count(&tasks), 1);
}

/* Filters may let it pass later. */
TEST(ListTasks, ThreadThatIsNotRecordedHasStorageToo)
{
	settings->selects = settings->filter_pids = 1;
	EXPECT_EQ(list(host_new_process(100))->recorded, 0);
	EXPECT_EQ(host_count(&tasks), 1);
}

/* Anybody may wake somebody who is recorded. */
TEST(ListTasks, EveryThreadHasStorageForItsWakes)
{
	struct task_struct *task = host_new_kernel_thread(7);

	waker_settings->enabled = 1;
	host.now_ns = 4711;
	list(task);
	EXPECT_EQ(host_count(&wakes), 1);
	EXPECT_EQ(((struct wake *)host_value(&wakes, task, 0))->out_ns, 4711);
}

static struct task_struct *new_sleeper(void)
{
	struct task_struct *task = host_new_process(100);

	task->__state = TASK_UNINTERRUPTIBLE;
	task->sched_info.pcount = 12;
	task->sched_info.run_delay = 3000;
	return task;
}

/* What is seen of it now is what it did last. */
TEST(ListTasks, FirstSightIsKeptAsAStamp)
{
	struct task_struct *task = new_sleeper();
	struct stamp *stamp;

	list(task);
	stamp = &storage_of(task)->stamp;
	EXPECT_EQ(stamp->out_ns, 0);
	EXPECT_EQ(stamp->arrivals, 12);
	EXPECT_EQ(stamp->out_run_delay, 3000);
	EXPECT_EQ(stamp->out_state, TASK_UNINTERRUPTIBLE);
	EXPECT_EQ(stamp->knows_state, 1);
	EXPECT_EQ(stamp->has_run, 0);
}

TEST(ListTasks, FirstSightIsKeptInTheArrayWhereThereIsOne)
{
	struct task_struct *task = new_sleeper();
	struct stamp *stamp = host_value(&stamps, &(__u32){100}, 0);

	settings->has_stamps = 1;
	list(task);
	EXPECT_EQ(stamp->tid, 100);
	EXPECT_EQ(stamp->arrivals, 12);
	EXPECT_EQ(storage_of(task)->stamp.arrivals, 0);
}

TEST(ListTasks, ThreadOnACpuHasRun)
{
	struct task_struct *task = new_sleeper();

	task->on_cpu = 1;
	list(task);
	EXPECT_EQ(storage_of(task)->stamp.has_run, 1);
}

/* It has left its CPU since its storage was made: that stamp is better than what is seen now. */
TEST(ListTasks, StampOfADepartureStays)
{
	struct task_struct *task = new_sleeper();
	struct stamp *stamp = &storage_of(task)->stamp;

	*stamp = (struct stamp){
		.out_ns = 99, .arrivals = 11, .out_run_delay = 5, .out_state = TASK_INTERRUPTIBLE};
	list(task);
	EXPECT_EQ(stamp->out_ns, 99);
	EXPECT_EQ(stamp->arrivals, 11);
	EXPECT_EQ(stamp->out_run_delay, 5);
	EXPECT_EQ(stamp->out_state, TASK_INTERRUPTIBLE);
}

TEST(ListTasks, NothingIsNotedWhileRecording)
{
	struct task_struct *task = new_sleeper();

	settings->ledger = 1;
	control.phase = WIRE_RECORDING;
	list(task);
	EXPECT_EQ(storage_of(task)->stamp.arrivals, 0);
	EXPECT_EQ(storage_of(task)->stamp.knows_state, 0);
	EXPECT_EQ(host_count(&accounts), 0);
}

TEST(ListTasks, WithoutMemoryAThreadIsToldAllTheSame)
{
	host.no_storage = true;
	settings->ledger = waker_settings->enabled = 1;
	EXPECT_EQ(list(new_sleeper())->process.tgid, 100);
	EXPECT_EQ(host_count(&tasks), 0);
}

TEST(ListTasks, AccountsAreOpenedBeforeRecording)
{
	struct task_struct *task = new_sleeper();
	struct wire_account *account;

	settings->ledger = 1;
	task->se.sum_exec_runtime = 777;
	list(task);
	account = host_value(&accounts, task, 0);
	ASSERT_TRUE(account);
	EXPECT_EQ(account->exec_ns, 777);
	EXPECT_EQ(account->is_new, 0);
	EXPECT_EQ(account->arrived_ns, 0);
	EXPECT_EQ(account->process.tid, 100);
}

static const struct wire_account *told_account(struct task_struct *task)
{
	return list_with(list_accounts, task);
}

static struct task_struct *new_accounted(void)
{
	struct task_struct *task = host_new_process(100);

	settings->ledger = 1;
	open_account_at_fork(task);
	return task;
}

TEST(ListAccounts, TellsAnAccountAsItIsWithWhatIsChargedByNow)
{
	struct task_struct *task = new_accounted();
	struct wire_account *account = account_of(task, 0), expected;
	const struct wire_account *told;

	account->on_cpu_ns = 1;
	account->stolen_ns = 2;
	account->lost_ns[WIRE_LOSSES - 1] = 3;
	task->se.sum_exec_runtime = 5000;
	expected = *account;
	expected.charged_ns = 5000;
	told = told_account(task);
	ASSERT_EQ(host.seq_bytes, 192);
	EXPECT_BYTES(told, &expected, sizeof(expected));
	EXPECT_EQ(account->charged_ns, 0); /* it is not booked */
}

/* Charged 5000 up to 8000 on its clock, which is 300 behind the scheduler's; now it is 10000 there: 1700
 * more. */
TEST(ListAccounts, ChargesAThreadThatRunsUpToNow)
{
	struct task_struct *task = new_accounted();

	settings->has_rq_clock = 1;
	task->on_cpu = 1;
	task->se.sum_exec_runtime = 5000;
	task->se.exec_start = 8000;
	task->se.cfs_rq->rq->clock = 9300;
	task->se.cfs_rq->rq->clock_task = 9000;
	control.clock_offset = 4000;
	host.now_ns = 6000;
	EXPECT_EQ(told_account(task)->charged_ns, 6700);
}

TEST(ListAccounts, LeavesOutWhatIsToldOrNotThere)
{
	struct task_struct *task = new_accounted();

	EXPECT_TRUE(!told_account(NULL));
	EXPECT_TRUE(!told_account(host_new_process(101)));
	EXPECT_TRUE(told_account(task));
	EXPECT_EQ(account_of(task, 0)->is_open, 0);
	EXPECT_TRUE(!told_account(task));
	account_of(task, 0)->is_open = 1;
	settings->ledger = 0;
	EXPECT_TRUE(!told_account(task));
}

/* It is settled without being told, so that nobody waits for it. */
TEST(ListAccounts, LeavesOutWhatIsNotRecorded)
{
	struct task_struct *task = new_accounted();

	settings->own_tgid = 100;
	EXPECT_TRUE(!told_account(task));
	EXPECT_EQ(account_of(task, 0)->is_open, 0);
	EXPECT_EQ(counted(WIRE_COUNT_ACCOUNT_SETTLED).count, 1);
}
