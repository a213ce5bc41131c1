/* What becomes of a thread's captures, its account and its filters when it is given another program. */
#include "tests/bpf/lifecycle_script.h"

static void exec(struct task_struct *task)
{
	task->self_exec_id++;
	sched_process_exec(NULL, task, task->pid, NULL);
}

static void record(void)
{
	control.phase = WIRE_RECORDING;
	control.start_ns = 1000;
}

TEST(Exec, CaptureThatWasAskedForIsCancelled)
{
	struct task_struct *task = host_new_process(100);
	const struct wire_capture_failed *failed;
	struct request request = {};
	__u64 cookie = 4711;

	storage_of(task)->cookie = cookie;
	bpf_map_update_elem(&requests, &cookie, &request, BPF_NOEXIST);
	exec(task);
	EXPECT_EQ(host_count(&requests), 0);
	EXPECT_EQ(storage_of(task)->cookie, 0);
	failed = sent_record(WIRE_CAPTURE_FAILED, 0);
	ASSERT_TRUE(failed);
	EXPECT_EQ(failed->cookie, 4711);
	EXPECT_EQ(failed->no_user, WIRE_NO_USER_EXEC);
}

TEST(Exec, WithoutACaptureNoneHasFailed)
{
	struct task_struct *task = host_new_process(100);

	storage_of(task);
	exec(task);
	EXPECT_EQ(host_records(&intervals), 0);
}

TEST(Exec, StackIsAnotherOne)
{
	struct task_struct *task = host_new_process(100);
	struct task_state *state = storage_of(task);

	state->stack = (struct stack_mapping){.begin = 0x1000, .end = 0x2000};
	state->other = (struct stack_mapping){.begin = 0x3000, .end = 0x4000};
	exec(task);
	EXPECT_EQ(state->stack.begin, 0);
	EXPECT_EQ(state->stack.end, 0);
	EXPECT_EQ(state->other.begin, 0);
	EXPECT_EQ(state->other.end, 0);
}

TEST(Exec, OfARecordedProcessIsSentUnderItsNewKey)
{
	struct task_struct *task = host_new_process(100);
	const struct wire_lifecycle *sent;

	record();
	task->self_exec_id = 8;
	task->start_boottime = 4711;
	exec(task);
	EXPECT_EQ(host_records(&intervals), 1);
	sent = sent_record(WIRE_EXEC, 0);
	ASSERT_TRUE(sent);
	EXPECT_EQ(sent->process.tgid, 100);
	EXPECT_EQ(sent->process.tid, 100);
	EXPECT_EQ(sent->process.exec_id, 9);
	EXPECT_EQ(sent->process.start_ns, 4711);
	EXPECT_EQ(sent->reserved, 0);
	EXPECT_EQ(host_record(&intervals, 0).length, 32);
	EXPECT_EQ(host_record(&intervals, 0).flags, BPF_RB_NO_WAKEUP);
}

/* Who lets programs come and go pays for what that costs. */
TEST(Exec, AndTheEndAreCountedOfTheirUser)
{
	struct task_struct *task = host_new_process(100), *other = host_new_process(200);

	((struct cred *)task->cred)->uid.val = 1000;
	((struct cred *)other->cred)->uid.val = 0;
	record();
	exec(task);
	sched_process_exit(NULL, task);
	EXPECT_EQ(recorded_of(user_of(task))->lifecycles, 1); /* it has not ended yet */
	task->signal->live.counter--;
	sched_process_exit(NULL, task);
	EXPECT_EQ(recorded_of(user_of(task))->lifecycles, 2);
	EXPECT_EQ(recorded_of(user_of(task))->waits, 0);
	EXPECT_EQ(recorded_of(user_of(other))->lifecycles, 0);
}

TEST(Exec, IsSentWhileRecordingOnly)
{
	static const __u32 phases[] = {WIRE_WAITING, WIRE_ENDED, WIRE_LISTING};

	for (int i = 0; i < 3; i++) {
		control.phase = phases[i];
		exec(host_new_process(100));
	}
	EXPECT_EQ(host_records(&intervals), 0);
}

TEST(Exec, OfOthersIsNotSent)
{
	record();
	settings->own_tgid = 100;
	exec(host_new_process(100));
	EXPECT_EQ(host_records(&intervals), 0);
}

TEST(Exec, ThatCannotBeSentIsCounted)
{
	record();
	host.rings_are_busy = true;
	exec(host_new_process(100));
	EXPECT_EQ(counted(WIRE_COUNT_LIFECYCLE_LOST).count, 1);
}

/* A command is recorded from its own program on, and not from the recorder's copy of itself. */
TEST(Exec, CommandJoinsTheSetOfProcesses)
{
	struct task_struct *task = host_new_process(100);

	record();
	settings->selects = settings->filter_pids = 1;
	settings->command_tgid = 100;
	exec(host_new_process(101));
	EXPECT_EQ(in_set(&pids, 101), NOT_THERE);
	EXPECT_EQ(host_records(&intervals), 0);
	exec(task);
	EXPECT_EQ(in_set(&pids, 100), 0); /* it was asked for */
	EXPECT_EQ(sent_records(WIRE_EXEC), 1);
}

TEST(Exec, CommandJoinsWhileRecordingOnly)
{
	settings->command_tgid = 100;
	exec(host_new_process(100));
	EXPECT_EQ(host_count(&pids), 0);
}

static struct wire_account *new_account(struct task_struct *task)
{
	struct wire_account *account;

	settings->ledger = 1;
	account = make_account(task);
	name_account(account, task);
	account->arrived_ns = 3000;
	account->on_cpu_ns = 77;
	return account;
}

/* What was before is nobody's: the account begins now, on the scheduler's clock. */
TEST(Exec, AccountOfACommandBeginsWhenItJoins)
{
	struct task_struct *task = host_new_process(100);
	struct wire_account *account = new_account(task);

	record();
	settings->command_tgid = 100;
	host.now_ns = 5000;
	control.clock_offset = 300;
	exec(task);
	EXPECT_EQ(sent_records(WIRE_ACCOUNT), 0);
	EXPECT_EQ(account->since_ns, 5300);
	EXPECT_EQ(account->arrived_ns, 5300);
	EXPECT_EQ(account->on_cpu_ns, 0);
	EXPECT_EQ(account->process.exec_id, 2); /* it was 1 */
}

/* Once it has joined it is like all others: its account is cut where it came to its CPU last, and sent. */
TEST(Exec, AccountIsCutAtTheLastArrival)
{
	struct task_struct *task = host_new_process(100);
	struct wire_account *account = new_account(task);
	const struct wire_account *sent;

	record();
	settings->command_tgid = 100;
	add_to_set(&pids, 100, 0);
	exec(task);
	sent = sent_record(WIRE_ACCOUNT, 0);
	ASSERT_TRUE(sent);
	EXPECT_EQ(sent->until_ns, 3000);
	EXPECT_EQ(sent->on_cpu_ns, 77);
	EXPECT_EQ(sent->process.exec_id, 1);
	EXPECT_EQ(account->since_ns, 3000);
	EXPECT_EQ(account->until_ns, 0);
	EXPECT_EQ(account->on_cpu_ns, 0);
	EXPECT_EQ(account->process.exec_id, 2);
	/* The account before the program. */
	EXPECT_EQ(*(const __u32 *)host_record(&intervals, 0).bytes, WIRE_ACCOUNT);
	EXPECT_EQ(*(const __u32 *)host_record(&intervals, 1).bytes, WIRE_EXEC);
}

static const struct wire_lifecycle *exit_one(struct task_struct *task)
{
	task->signal->live.counter--;
	sched_process_exit(NULL, task);
	return sent_record(WIRE_EXIT, 0);
}

TEST(Exit, OnlyTheLastThreadOfAProcessSaysSo)
{
	struct task_struct *leader = host_new_process(100), *thread = host_new_thread(leader, 101);
	const struct wire_lifecycle *sent;

	record();
	EXPECT_TRUE(!exit_one(leader));
	sent = exit_one(thread);
	ASSERT_TRUE(sent);
	EXPECT_EQ(sent->process.tgid, 100);
	EXPECT_EQ(sent->process.tid, 101);
	EXPECT_EQ(sent->process.start_ns, 100000); /* of its first thread */
	EXPECT_EQ(host_records(&intervals), 1);
}

TEST(Exit, IsSentOfRecordedProcessesWhileRecordingOnly)
{
	EXPECT_TRUE(!exit_one(host_new_process(100)));
	control.phase = WIRE_ENDED;
	EXPECT_TRUE(!exit_one(host_new_process(100)));
	record();
	settings->own_tgid = 100;
	EXPECT_TRUE(!exit_one(host_new_process(100)));
	EXPECT_EQ(host_records(&intervals), 0);
}

TEST(Exit, CaptureThatWasAskedForIsCancelled)
{
	struct task_struct *leader = host_new_process(100), *thread = host_new_thread(leader, 101);
	const struct wire_capture_failed *failed;

	storage_of(thread)->cookie = 4711;
	exit_one(thread);
	failed = sent_record(WIRE_CAPTURE_FAILED, 0);
	ASSERT_TRUE(failed);
	EXPECT_EQ(failed->cookie, 4711);
	EXPECT_EQ(failed->no_user, WIRE_NO_USER_EXITING);
	EXPECT_EQ(storage_of(thread)->cookie, 0);
	exit_one(leader);
	EXPECT_EQ(host_records(&intervals), 1);
}

/* A process of 100 that is released. */
static void free_process(__u64 start_boottime)
{
	struct task_struct *task = host_new_process(100);

	task->start_boottime = start_boottime;
	task->signal->live.counter = 0;
	sched_process_free(NULL, task);
}

TEST(Free, ProcessLeavesTheSetsItWasMadeInto)
{
	add_to_set(&pids, 100, 4711);
	add_to_set(&excluded_pids, 100, 4711);
	free_process(4711);
	EXPECT_EQ(host_count(&pids), 0);
	EXPECT_EQ(host_count(&excluded_pids), 0);
}

/* The number is another process's by now, or is in the set because it was asked for. */
TEST(Free, ProcessOfAnotherStartLeavesNoSet)
{
	add_to_set(&pids, 100, 4712);
	add_to_set(&excluded_pids, 100, 0);
	free_process(4711);
	EXPECT_EQ(in_set(&pids, 100), 4712);
	EXPECT_EQ(in_set(&excluded_pids, 100), 0);
}

TEST(Free, OtherThreadsLeaveNoSet)
{
	struct task_struct *thread = host_new_thread(host_new_process(100), 101);

	add_to_set(&pids, 100, 4711);
	thread->start_boottime = 4711;
	thread->signal->live.counter = 0;
	sched_process_free(NULL, thread);
	EXPECT_EQ(in_set(&pids, 100), 4711);
}

/* Another thread of it has called execve, and goes on under its number. */
TEST(Free, ProcessThatLivesLeavesNoSet)
{
	struct task_struct *task = host_new_process(100);

	add_to_set(&pids, 100, 100000);
	sched_process_free(NULL, task);
	EXPECT_EQ(in_set(&pids, 100), 100000);
}
