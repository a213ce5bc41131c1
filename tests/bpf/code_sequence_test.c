/* Numbers that tell whether mappings have changed, by each kernel's form of them. */
#include "tests/bpf/code_script.h"

TEST(Sequence, IsOneMoreThanTheKernelsSoThatItIsNeverNone)
{
	struct task_struct *task = host_new_process(1);

	task->mm->mm_lock_seq.sequence = 0;
	EXPECT_EQ(code_sequence(task), 1);
	task->mm->mm_lock_seq.sequence = 0xfffffffe;
	EXPECT_EQ(code_sequence(task), 0xffffffff);
}

TEST(Sequence, OddNumberIsNone)
{
	struct task_struct *task = host_new_process(1);

	task->mm->mm_lock_seq.sequence = 1;
	EXPECT_EQ(code_sequence(task), 0);
	task->mm->mm_lock_seq.sequence = 0xffffffff;
	EXPECT_EQ(code_sequence(task), 0);
}

/* 6.4 to 6.13 count changes that have begun: any number. */
TEST(Sequence, OlderKernelsCountEachChange)
{
	struct task_struct *task = host_new_process(1);

	host_hide_field("mm->mm_lock_seq.sequence");
	((struct mm_struct___counter *)task->mm)->mm_lock_seq = 5;
	EXPECT_EQ(code_sequence(task), 6);
	((struct mm_struct___counter *)task->mm)->mm_lock_seq = -1;
	EXPECT_EQ(code_sequence(task), 0x100000000);
}

/* Their number changes when the lock is given back. */
TEST(Sequence, OlderKernelsHaveNoneWhileTheLockIsHeld)
{
	struct task_struct *task = host_new_process(1);

	host_hide_field("mm->mm_lock_seq.sequence");
	task->mm->mmap_lock.count.counter = 0x100; /* a reader */
	EXPECT_NE(code_sequence(task), 0);
	task->mm->mmap_lock.count.counter = 1;
	EXPECT_EQ(code_sequence(task), 0);
	task->mm->mmap_lock.count.counter = 0;
	host_hide_field("mm->mmap_lock.count"); /* a real-time kernel: it is not known */
	EXPECT_EQ(code_sequence(task), 0);
}

static void begin_oldest_kernel(void)
{
	host_hide_field("mm->mm_lock_seq.sequence");
	host_hide_field("((struct mm_struct___counter *)mm)->mm_lock_seq");
}

/* Before 6.4: what comes and goes with mappings. */
TEST(Sequence, OldestKernelsTellOfFlushesAndSizes)
{
	struct task_struct *task = host_new_process(1);
	__u64 sequences[5];

	begin_oldest_kernel();
	sequences[0] = code_sequence(task);
	task->mm->context.tlb_gen.counter++;
	sequences[1] = code_sequence(task);
	task->mm->exec_vm++;
	sequences[2] = code_sequence(task);
	task->mm->total_vm++;
	sequences[3] = code_sequence(task);
	task->mm->map_count++;
	sequences[4] = code_sequence(task);
	for (__u32 i = 0; i < 5; i++) {
		EXPECT_NE(sequences[i], 0);
		for (__u32 j = 0; j < i; j++)
			EXPECT_NE(sequences[i], sequences[j]);
	}
	EXPECT_EQ(code_sequence(task), sequences[4]);
}

TEST(Sequence, OtherMachinesHaveNoneThere)
{
	struct task_struct *task = host_new_process(1);

	begin_oldest_kernel();
	host_hide_field("mm->context.tlb_gen");
	EXPECT_EQ(code_sequence(task), 0);
}

TEST(Sequence, ThreadWithoutAnAddressSpaceHasNone)
{
	EXPECT_EQ(code_sequence(host_new_kernel_thread(1)), 0);
}

TEST(Sequence, WalkCountsOnlyIfItIsTheSameBeforeAndAfter)
{
	struct task_struct *task = host_new_process(1);

	task->mm->mm_lock_seq.sequence = 8;
	EXPECT_TRUE(was_not_changed(task, 9));
	EXPECT_FALSE(was_not_changed(task, 7));
	EXPECT_FALSE(was_not_changed(task, 0));
	task->mm->mm_lock_seq.sequence = 9;
	EXPECT_FALSE(was_not_changed(task, 9));
	EXPECT_FALSE(was_not_changed(task, 0));
}

/* An earlier kernel's number is odd as often as not and does not tell of forks. */
TEST(Sequence, OlderKernelsTellOfNoFork)
{
	struct task_struct *task = new_process(1), *owner = host_new_thread(task, 2);

	host_regs(owner)->orig_ax = 57;
	task->mm->mmap_lock.owner.counter = (__s64)owner;
	task->mm->mm_lock_seq.sequence = 9;
	EXPECT_TRUE(is_forking(task->mm, 9));
	EXPECT_FALSE(is_forking(task->mm, 7));
	task->mm->mm_lock_seq.sequence = 0;
	EXPECT_FALSE(is_forking(task->mm, 0));
	task->mm->mm_lock_seq.sequence = 9;
	host_hide_field("mm->mm_lock_seq.sequence");
	EXPECT_FALSE(is_forking(task->mm, 9));
}

/* With its first thread; where nothing may be allocated, only what is there. */
TEST(Space, IsKeptWithTheFirstThreadOfAProcess)
{
	struct task_struct *leader = host_new_process(1), *thread = host_new_thread(leader, 2);

	EXPECT_FALSE(space_of(thread, true));
	EXPECT_TRUE(space_of(thread, false));
	EXPECT_EQ(space_of(thread, true), space_of(leader, true));
	thread->group_leader = NULL;
	EXPECT_FALSE(space_of(thread, false));
}

TEST(Space, IsOfOneProgramInOneAddressSpace)
{
	struct task_struct *task = host_new_process(1);
	struct space space = {.mm = (__u64)task->mm, .exec_id = task->self_exec_id};

	EXPECT_TRUE(is_of(&space, task));
	space.exec_id++;
	EXPECT_FALSE(is_of(&space, task));
	space.exec_id--;
	space.mm++;
	EXPECT_FALSE(is_of(&space, task));
}

/* A writer sets the sequence number to 0 meanwhile. */
TEST(Space, HashIsOfOneMoment)
{
	struct space space = {.sequence = 5, .hash = 77};

	EXPECT_EQ(hash_at(&space, 5), 77);
	EXPECT_EQ(hash_at(&space, 7), 0);
	space.sequence = 0;
	EXPECT_EQ(hash_at(&space, 5), 0);
	EXPECT_EQ(hash_at(&space, 0), 0);
}
