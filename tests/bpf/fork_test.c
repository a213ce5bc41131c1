/* What becomes known of a thread when it is made: the sets that it is in, and what is kept of it. */
#include "tests/bpf/lifecycle_script.h"

static struct task_struct *fork_process(struct task_struct *parent, int pid)
{
	struct task_struct *child = host_new_process(pid);

	sched_process_fork(NULL, parent, child);
	return child;
}

static struct task_struct *clone_thread(struct task_struct *parent, int tid)
{
	struct task_struct *child = host_new_thread(parent->group_leader, tid);

	sched_process_fork(NULL, parent, child);
	return child;
}

TEST(Fork, ChildJoinsTheSetOfItsParentWhereForksAreFollowed)
{
	struct task_struct *parent = host_new_process(100);

	settings->filter_pids = settings->follow_forks = settings->selects = 1;
	add_to_set(&pids, 100, 0);
	fork_process(parent, 101); /* made at 101000 of the boot clock */
	EXPECT_EQ(in_set(&pids, 101), 101000);
	EXPECT_EQ(in_set(&pids, 100), 0);
	fork_process(clone_thread(parent, 102), 103); /* a thread forks for its process */
	EXPECT_EQ(in_set(&pids, 103), 103000);
}

TEST(Fork, ProcessOfAThreadIsKept)
{
	struct task_struct *leader = host_new_process(100);
	struct task_state *state = host_value(&tasks, clone_thread(leader, 101), 0);

	ASSERT_TRUE(state);
	EXPECT_EQ(state->process_start_ns, leader->start_boottime);
}

/* Its number may have been another's, which ended unseen. */
TEST(Fork, ChildOfAnotherLeavesWhatItsNumberWasIn)
{
	struct task_struct *parent = host_new_process(100);

	settings->filter_pids = settings->exclude_pids = settings->follow_forks = 1;
	add_to_set(&pids, 101, 0);
	add_to_set(&excluded_pids, 101, 0);
	fork_process(parent, 101);
	EXPECT_EQ(in_set(&pids, 101), NOT_THERE);
	EXPECT_EQ(in_set(&excluded_pids, 101), NOT_THERE);
}

TEST(Fork, ChildLeavesTheSetWhereForksAreNotFollowed)
{
	struct task_struct *parent = host_new_process(100);

	settings->filter_pids = 1;
	add_to_set(&pids, 100, 0);
	add_to_set(&pids, 101, 0);
	fork_process(parent, 101);
	EXPECT_EQ(in_set(&pids, 101), NOT_THERE);
	EXPECT_EQ(in_set(&pids, 100), 0);
}

/* What is left out is so with all of its children. */
TEST(Fork, ChildOfAnExcludedProcessIsExcludedInAnyCase)
{
	struct task_struct *parent = host_new_process(100);

	settings->exclude_pids = 1;
	add_to_set(&excluded_pids, 100, 0);
	fork_process(parent, 101);
	EXPECT_EQ(in_set(&excluded_pids, 101), 101000);
	EXPECT_EQ(host_count(&pids), 0);
}

TEST(Fork, ThreadsOfAProcessLeaveItsSetsAlone)
{
	struct task_struct *parent = host_new_process(100);

	settings->filter_pids = settings->exclude_pids = settings->follow_forks = 1;
	add_to_set(&pids, 100, 7);
	add_to_set(&excluded_pids, 101, 8);
	clone_thread(parent, 101);
	EXPECT_EQ(in_set(&pids, 100), 7);
	EXPECT_EQ(in_set(&pids, 101), NOT_THERE);
	EXPECT_EQ(in_set(&excluded_pids, 101), 8); /* of a process of that number, which is not made now */
}

TEST(Fork, NumberOfANewThreadLeavesTheSetOfThreads)
{
	struct task_struct *parent = host_new_process(100);

	settings->filter_tids = 1;
	for (__u32 tid = 100; tid < 104; tid++)
		add_to_set(&tids, tid, 0);
	fork_process(parent, 101);
	clone_thread(parent, 102);
	EXPECT_TRUE(host_value(&tids, &(__u32){100}, 0));
	EXPECT_TRUE(!host_value(&tids, &(__u32){101}, 0));
	EXPECT_TRUE(!host_value(&tids, &(__u32){102}, 0));
	EXPECT_TRUE(host_value(&tids, &(__u32){103}, 0));
}

/* 16384 processes have a place in the set. */
TEST(Fork, ChildThatFindsNoPlaceInTheSetIsCounted)
{
	struct task_struct *parent = host_new_process(100);

	host_resize(&pids, 3);
	settings->filter_pids = settings->follow_forks = 1;
	add_to_set(&pids, 100, 0);
	fork_process(parent, 101);
	fork_process(parent, 102);
	EXPECT_EQ(counted(WIRE_COUNT_NOT_FOLLOWED).count, 0);
	fork_process(parent, 103);
	EXPECT_EQ(counted(WIRE_COUNT_NOT_FOLLOWED).count, 1);
	EXPECT_EQ(in_set(&pids, 103), NOT_THERE);
}

TEST(Fork, NewThreadHasAStampInTheArrayWithoutAWait)
{
	struct task_struct *child;
	struct stamp *stamp;

	settings->has_stamps = 1;
	child = clone_thread(host_new_process(100), 101);
	stamp = host_value(&stamps, &(__u32){101}, 0);
	EXPECT_EQ(stamp->tid, 101);
	EXPECT_EQ(stamp->out_ns, 0);
	EXPECT_EQ(stamp->arrivals, 0);
	EXPECT_EQ(stamp->knows_state, 1); /* it wants to run */
	EXPECT_EQ(stamp->out_state, 0);
	EXPECT_EQ(stamp->has_run, 0);
	EXPECT_TRUE(host_value(&tasks, child, 0));
}

/* The end of the thread that had its number was not recorded. */
TEST(Fork, NewThreadClearsTheStampOfItsNumber)
{
	struct stamp *stamp = host_value(&stamps, &(__u32){101}, 0);

	settings->has_stamps = 1;
	*stamp = (struct stamp){.out_ns = 1,
				.out_run_delay = 2,
				.arrivals = 3,
				.user = 4,
				.tid = 101,
				.out_state = 7,
				.has_run = 1,
				.was_throttled = 1};
	clone_thread(host_new_process(100), 101);
	EXPECT_BYTES(stamp, (&(struct stamp){.tid = 101, .knows_state = 1}), sizeof(*stamp));
}

/* Numbers 65536 apart have one place: the later thread's stamp is in its storage. */
TEST(Fork, TakenPlaceStaysItsOwners)
{
	struct task_struct *parent = host_new_process(100), *second;
	struct stamp *stamp = host_value(&stamps, &(__u32){101}, 0);

	settings->has_stamps = 1;
	clone_thread(parent, 101);
	stamp->out_ns = 4711;
	second = clone_thread(parent, 101 + WIRE_STAMPS);
	EXPECT_EQ(stamp->tid, 101);
	EXPECT_EQ(stamp->out_ns, 4711);
	EXPECT_EQ(storage_of(second)->stamp.knows_state, 1);
	EXPECT_EQ(storage_of(second)->stamp.tid, 0);
}

/* Anybody may wake somebody who is recorded. */
TEST(Fork, EveryNewThreadHasStorageForItsWakes)
{
	waker_settings->enabled = 1;
	sched_process_fork(NULL, host_new_process(100), host_new_kernel_thread(7));
	settings->own_tgid = 100;
	clone_thread(host_new_process(100), 101);
	EXPECT_EQ(host_count(&wakes), 2);
	EXPECT_EQ(host_count(&tasks), 0); /* neither of them is recorded */
}

TEST(Fork, ThreadsOfOthersThanTheProfilerHaveStorage)
{
	settings->own_tgid = 100;
	clone_thread(host_new_process(100), 101);
	EXPECT_EQ(host_count(&tasks), 0);
	fork_process(host_new_process(100), 102); /* a command that the profiler runs */
	EXPECT_EQ(host_count(&tasks), 1);
	sched_process_fork(NULL, host_new_process(2), host_new_kernel_thread(7));
	EXPECT_EQ(host_count(&tasks), 1);
	settings->kernel_threads = 1;
	sched_process_fork(NULL, host_new_process(2), host_new_kernel_thread(8));
	EXPECT_EQ(host_count(&tasks), 2);
}

TEST(Fork, WithoutMemoryThereIsNoStorage)
{
	host.no_storage = true;
	settings->ledger = waker_settings->enabled = 1;
	fork_process(host_new_process(100), 101);
	EXPECT_EQ(host_count(&tasks), 0);
	EXPECT_EQ(counted(WIRE_COUNT_ACCOUNT_LOST).count, 1);
}

TEST(Fork, ChildKnowsTheCodeOfItsParent)
{
	struct task_struct *parent = host_new_process(100), *child;
	struct space *known, *space;

	settings->reads_mappings = 1;
	known = bpf_task_storage_get(&spaces, parent, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	known->mm = (__u64)parent->mm;
	known->exec_id = parent->self_exec_id;
	known->sequence = 3;
	known->hash = 4711;
	known->exec_pages = 12;
	child = fork_process(parent, 101);
	space = host_value(&spaces, child, 0);
	ASSERT_TRUE(space);
	EXPECT_EQ(space->mm, (__u64)child->mm);
	EXPECT_EQ(space->hash, 4711);
	EXPECT_EQ(space->exec_pages, 12);
	EXPECT_EQ(space->sequence, 0); /* it has to be found true first */
}

TEST(Fork, NewThreadHasAnAccount)
{
	struct task_struct *child;
	struct wire_account *account;

	settings->ledger = 1;
	child = host_new_thread(host_new_process(100), 101);
	host_name(child, "worker");
	sched_process_fork(NULL, child->group_leader, child);
	account = host_value(&accounts, child, 0);
	ASSERT_TRUE(account);
	EXPECT_EQ(account->type, WIRE_ACCOUNT);
	EXPECT_EQ(account->is_new, 1);
	EXPECT_EQ(account->process.tgid, 100);
	EXPECT_EQ(account->process.tid, 101);
	EXPECT_BYTES(account->comm, "worker", 7);
}
