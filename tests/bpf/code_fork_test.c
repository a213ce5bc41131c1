/* What fork has to do with code: it locks all mappings without a change, and its child has the same ones. */
#include "tests/bpf/code_script.h"

static struct task_struct *new_known_process(void)
{
	struct task_struct *task = new_process(1);

	map_code(task, 0);
	map_code(task, 1);
	EXPECT_EQ(told_code(CONTEXT_SWITCH).hash, hash_of_code(2));
	return task;
}

/* Another thread has the lock of all mappings, and changes the sequence number first. */
static struct task_struct *begin_change(struct task_struct *task, long syscall)
{
	struct task_struct *owner = host_new_thread(task, 2);

	host_regs(owner)->orig_ax = syscall;
	task->mm->mmap_lock.owner.counter = (__s64)owner | 1; /* with flags of the lock */
	task->mm->mm_lock_seq.sequence++;
	return owner;
}

/* clone, fork, vfork, clone3: the numbers of x86-64. */
TEST(CodeAtFork, IsWhatItWasWhileAForkIsUnderWay)
{
	const long calls[] = {56, 57, 58, 435};

	for (__u32 i = 0; i < 4; i++) {
		struct task_struct *task = new_known_process();
		__u64 sequence = sequence_of(task);
		struct wire_code code;

		begin_change(task, calls[i]);
		code = told_code(CONTEXT_SWITCH);
		EXPECT_EQ(code.hash, hash_of_code(2));
		EXPECT_EQ(code.sequence, sequence);
	}
}

TEST(CodeAtFork, IsUnknownWhileAnythingElseIsUnderWay)
{
	const long calls[] = {9, 10, 11, 55, 59, 434, 436, -1};

	for (__u32 i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		begin_change(new_known_process(), calls[i]);
		EXPECT_EQ(told_code(CONTEXT_SWITCH).hash, 0);
		EXPECT_EQ(told_code(CONTEXT_SWITCH).sequence, 0);
	}
}

/* There 57 is setpgid. */
TEST(CodeAtFork, NumbersOf32BitCallsAreOthers)
{
	begin_change(new_known_process(), 57)->thread_info.status = 2;
	EXPECT_EQ(told_code(CONTEXT_SWITCH).hash, 0);
}

TEST(CodeAtFork, IsUnknownIfNobodyHasTheLock)
{
	struct task_struct *task = new_known_process();

	begin_change(task, 57);
	task->mm->mmap_lock.owner.counter = 1;
	EXPECT_EQ(told_code(CONTEXT_SWITCH).hash, 0);
}

/* Something else was changed before the fork began. */
TEST(CodeAtFork, IsUnknownAfterAnEarlierChange)
{
	struct task_struct *task = new_known_process();

	task->mm->mm_lock_seq.sequence += 2;
	begin_change(task, 57);
	EXPECT_EQ(told_code(CONTEXT_SWITCH).hash, 0);
}

TEST(CodeAtFork, IsUnknownWhereItHasNotBeenKnown)
{
	struct task_struct *task = new_known_process();

	host_clear(&spaces);
	begin_change(task, 57);
	EXPECT_EQ(told_code(CONTEXT_SWITCH).hash, 0);
}

/* A process with the same mappings, which was forked, and is the current one then. */
static struct task_struct *new_child(struct task_struct *parent)
{
	struct task_struct *child = new_process(3);

	for (__u32 i = 0; i < 2; i++)
		map_code(child, i);
	inherit_code(parent, child);
	return child;
}

TEST(Inheritance, ChildKnowsItsParentsMappings)
{
	struct task_struct *child = new_child(new_known_process());
	struct space *space = space_of(child, true);

	ASSERT_TRUE(space);
	EXPECT_EQ(space->hash, hash_of_code(2));
	EXPECT_EQ(space->exec_pages, 4);
	EXPECT_EQ(space->mm, child->mm);
	EXPECT_EQ(space->exec_id, child->self_exec_id);
}

/* Fork may leave mappings out: they are looked at, the known ones. */
TEST(Inheritance, IsFoundTrueAtTheFirstCapture)
{
	struct task_struct *child = new_child(new_known_process());

	EXPECT_EQ(space_of(child, true)->sequence, 0);
	host.vmas_seen = 0;
	EXPECT_EQ(told_code(CONTEXT_SWITCH).hash, hash_of_code(2));
	EXPECT_EQ(host.vmas_seen, 2);
	EXPECT_EQ(space_of(child, true)->sequence, sequence_of(child));
}

TEST(Inheritance, IsNotTrueWhereForkLeftMappingsOut)
{
	struct task_struct *child = new_child(new_known_process());

	host_unmap(child, CODE(1));
	EXPECT_EQ(told_code(CONTEXT_SWITCH).hash, hash_of_code(1));
}

/* The parent has seen its code where it waited, the fork has locked its mappings, and nobody else has. */
static struct task_struct *fork_after(struct task_struct *parent, __u32 locks)
{
	struct task_struct *child = new_process(3);

	for (__u32 i = 0; i < 2; i++)
		map_code(child, i);
	host_run_on(parent, 0);
	parent->mm->mm_lock_seq.sequence += 2 * locks;
	inherit_code(parent, child);
	return child;
}

static void see_own_code(struct task_struct *task)
{
	see_code(state_of(task), task, sequence_of(task), hash_of_code(2));
}

TEST(Inheritance, IsTrueAtOnceIfTheForkAloneHasLockedTheMappings)
{
	for (__u32 locks = 0; locks < 4; locks++) {
		struct task_struct *parent, *child;
		bool is_known = locks < 2;
		__u64 before;

		set_up();
		parent = new_known_process();
		before = sequence_of(parent);
		see_own_code(parent);
		child = fork_after(parent, locks);
		check_note("locks", locks);
		EXPECT_EQ(space_of(child, true)->sequence, is_known ? sequence_of(child) : 0);
		EXPECT_EQ(space_of(child, true)->hash, hash_of_code(2));
		EXPECT_EQ(space_of(parent, true)->sequence, before + (is_known ? 2 * locks : 0));
		EXPECT_EQ(state_of(parent)->code.sequence, before + (is_known ? 2 * locks : 0));
	}
}

TEST(Inheritance, IsNotTrueAtOnceIfTheParentHasNotSeenItsCode)
{
	struct task_struct *parent = new_known_process();

	see_code(state_of(parent), parent, sequence_of(parent), 0);
	EXPECT_EQ(space_of(fork_after(parent, 0), true)->sequence, 0);
	see_code(state_of(parent), parent, sequence_of(parent), 4711);
	host_clear(&spaces);
	EXPECT_FALSE(space_of(fork_after(parent, 0), true));
}

/* It is the parent's memory: nothing has locked it for the child, so another thread has. */
TEST(Inheritance, IsNotTrueAtOnceIfTheChildHasNoMappingsOfItsOwn)
{
	struct task_struct *parent = new_known_process(), *child = host_new_process(3);

	see_own_code(parent);
	host_run_on(parent, 0);
	child->mm = parent->mm;
	parent->mm->mm_lock_seq.sequence += 2;
	inherit_code(parent, child);
	EXPECT_EQ(space_of(child, true)->sequence, 0);
}

/* Its hash is of the parent, which may make other code there. */
TEST(Inheritance, CodeOfNoFileIsTheChildsOwnAndLookedAt)
{
	struct task_struct *parent = new_known_process();

	space_of(parent, true)->has_own_code = 1;
	see_own_code(parent);
	EXPECT_EQ(space_of(fork_after(parent, 1), true)->sequence, 0);
	EXPECT_EQ(state_of(parent)->code.sequence, sequence_of(parent));
}

TEST(Inheritance, ThreadInheritsNothing)
{
	struct task_struct *parent = new_known_process();

	inherit_code(parent, host_new_thread(parent, 5));
	EXPECT_EQ(host_count(&spaces), 1);
}

TEST(Inheritance, NothingIsTakenOverThatIsBeingWritten)
{
	struct task_struct *parent = new_known_process();

	space_of(parent, true)->busy = 1;
	EXPECT_FALSE(space_of(new_child(parent), true));
}

/* It is of the program before. */
TEST(Inheritance, NothingIsTakenOverThatIsOfNoMoreUse)
{
	struct task_struct *parent = new_known_process();

	parent->self_exec_id++;
	EXPECT_FALSE(space_of(new_child(parent), true));
	parent->self_exec_id--;
	settings->reads_mappings = 0;
	inherit_code(parent, host_new_process(9));
	EXPECT_EQ(host_count(&spaces), 1);
}

TEST(Inheritance, NothingIsTakenOverFromAParentOfWhichNothingIsKnown)
{
	struct task_struct *parent = new_known_process();

	host_clear(&spaces);
	EXPECT_FALSE(space_of(new_child(parent), true));
}

TEST(Inheritance, WhatIsKnownOfTheChildIsKept)
{
	struct task_struct *parent = new_known_process(), *child = new_process(3);

	space_of(child, false)->mm = 77;
	inherit_code(parent, child);
	EXPECT_EQ(space_of(child, true)->mm, 77);
	EXPECT_EQ(space_of(child, true)->hash, 0);
}

TEST(Inheritance, ThereMayBeNoMemoryForIt)
{
	struct task_struct *parent = new_known_process(), *child = new_process(3);

	host.no_storage = true;
	inherit_code(parent, child);
	EXPECT_FALSE(space_of(child, true));
}
