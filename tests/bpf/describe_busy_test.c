/* Processes with very many mappings, and with mappings that change all the time, as describe_task tells them.
 */
#include "tests/bpf/listing.h"

#define CODE 0x400000ULL
#define PAGES(count) ((count)*4096ULL)

/* A process with a mapping of code and one of data, of which the kernel says that there are more than 8192.
 */
static struct task_struct *new_program(void)
{
	struct task_struct *task = host_new_process(100);

	host_map(task, CODE, CODE + PAGES(3), VM_EXEC);
	host_map(task, CODE + PAGES(3), CODE + PAGES(5), VM_WRITE);
	task->mm->map_count = 8193;
	settings->reads_mappings = 1;
	host.now_ns = 100 * SECOND;
	return task;
}

static struct space *space_of_process(struct task_struct *task)
{
	return host_value(&spaces, task, 0);
}

static struct task_struct *changing;
static __u32 changes_left;

/* Another thread maps and unmaps data all the time. */
static void change_mappings(void)
{
	if (!changes_left)
		return;
	changes_left--;
	changing->mm->mm_lock_seq.sequence += 2;
}

static void change(struct task_struct *task, __u32 times)
{
	changing = task;
	changes_left = times;
	host.on_vma = change_mappings;
}

TEST(Describe, FewMappingsAreWalkedAtAnyTime)
{
	struct task_struct *task = new_program();

	task->mm->map_count = 8192;
	for (int i = 0; i < 3; i++)
		EXPECT_EQ(describe(task).count, 1);
	EXPECT_EQ(control.long_walk_ns, 0);
}

/* More than 8192 are walked once a second, of all processes. */
TEST(Describe, ManyMappingsAreWalkedOnceASecond)
{
	struct task_struct *task = new_program(), *other = host_new_process(200);

	host_map(other, CODE, CODE + PAGES(1), VM_EXEC);
	other->mm->map_count = 8193;
	EXPECT_EQ(describe(task).count, 1);
	EXPECT_EQ(control.long_walk_ns, 100 * SECOND);
	host.now_ns += SECOND - 1;
	EXPECT_EQ(describe(other).count, 0);
	EXPECT_EQ(describe(other).task->code.hash, 0);
	host.now_ns++;
	EXPECT_EQ(describe(other).count, 1);
}

/* Known mappings are looked at one by one, without a walk of all. */
TEST(Describe, KnownCodeOfManyMappingsIsToldAtAnyTime)
{
	struct task_struct *task = new_program();
	struct description told;
	__u64 hash = describe(task).task->code.hash;

	task->mm->mm_lock_seq.sequence += 10; /* something was mapped since */
	host.vmas_seen = 0;
	told = describe(task);
	EXPECT_EQ(told.count, 1);
	EXPECT_EQ(told.mappings->begin, CODE);
	EXPECT_EQ(told.task->code.hash, hash);
	EXPECT_EQ(told.task->code.sequence, code_sequence(task)); /* of now */
	EXPECT_EQ(host.vmas_seen, 1);
	EXPECT_EQ(space_of_process(task)->sequence, told.task->code.sequence);
}

TEST(Describe, CodeOfTheProgramBeforeIsNotKnown)
{
	struct task_struct *task = new_program();

	describe(task);
	task->self_exec_id++;
	EXPECT_EQ(describe(task).task->code.hash, 0);
}

TEST(Describe, KnownCodeWithMoreOfItIsNotKnown)
{
	struct task_struct *task = new_program();

	describe(task);
	task->mm->exec_vm++;
	EXPECT_EQ(describe(task).task->code.hash, 0);
}

/* Code in 127 mappings is looked at again, in 128 it is not. */
TEST(Describe, KnownCodeOfMoreMappingsThanAreKnownIsNotKnown)
{
	struct task_struct *task = new_program();
	__u64 page = 0x20000000;

	for (int i = 1; i < 127; i++, page += PAGES(2))
		host_map(task, page, page + PAGES(1), VM_EXEC);
	task->mm->map_count = 8193;
	EXPECT_EQ(describe(task).count, 127);
	EXPECT_EQ(describe(task).count, 127);
	host_map(task, page, page + PAGES(1), VM_EXEC);
	task->mm->map_count = 8193;
	host.now_ns += SECOND;
	EXPECT_EQ(describe(task).count, 128);
	host.nodes_read = 0;
	EXPECT_EQ(describe(task).count, 0);
	EXPECT_EQ(host.nodes_read, 0);
}

/* Each try looks at the one mapping of code, and finds that something has changed: the fourth is the last. */
TEST(Describe, KnownCodeIsConfirmedInOneOfFourTries)
{
	struct task_struct *task = new_program();
	__u64 hash = describe(task).task->code.hash;
	struct description told;

	change(task, 3);
	told = describe(task);
	EXPECT_EQ(told.task->code.hash, hash);
	EXPECT_EQ(told.task->code.sequence, code_sequence(task)); /* of the try */
	EXPECT_EQ(told.count, 1);
	change(task, 4);
	told = describe(task);
	EXPECT_EQ(told.task->code.hash, 0);
	EXPECT_EQ(told.count, 0);
}

/* What describe_task tells when so many mappings change: 2 while all are walked, and 1 in each of four
 * tries. */
static struct description describe_while_changing(__u32 times)
{
	struct task_struct *task = new_program();

	control.long_walk_ns = 0;
	change(task, times);
	return describe(task);
}

TEST(Describe, CodeThatWasSeenIsConfirmedInOneOfFourTries)
{
	struct description told = describe_while_changing(0);
	__u64 hash = told.task->code.hash;

	EXPECT_NE(hash, 0);
	for (__u32 times = 1; times <= 5; times++) {
		told = describe_while_changing(times);
		check_note("changes", times);
		EXPECT_EQ(told.task->code.hash, hash);
		EXPECT_EQ(told.task->code.sequence, code_sequence(changing)); /* of the try */
		EXPECT_EQ(told.count, 1);
	}
	EXPECT_EQ(describe_while_changing(6).task->code.hash, 0);
	EXPECT_EQ(describe_while_changing(6).count, 0);
}

/* The second mapping is data: behind it, when all have been seen, there is one page of code more. */
static void map_code(void)
{
	if (host.vmas_seen % 2)
		return;
	changing->mm->exec_vm++;
	changing->mm->mm_lock_seq.sequence += 2;
	host.on_vma = NULL;
}

TEST(Describe, CodeThatIsMappedWhileItIsWalkedIsNotConfirmed)
{
	changing = new_program();
	host.on_vma = map_code;
	EXPECT_EQ(describe(changing).task->code.hash, 0);
}

/* 128 mappings may be all, and may not: they are not looked at again. */
TEST(Describe, AsManyMappingsAsAreListedAreNotConfirmed)
{
	struct task_struct *task = new_program();
	__u64 page = 0x20000000;

	for (int i = 1; i < WIRE_MAPPINGS - 1; i++, page += PAGES(2))
		host_map(task, page, page + PAGES(1), VM_EXEC);
	task->mm->map_count = 8193;
	change(task, 1);
	EXPECT_EQ(describe(task).count, 127);
	host_map(task, page, page + PAGES(1), VM_EXEC);
	task->mm->map_count = 8193;
	host.now_ns += SECOND;
	change(task, 1);
	EXPECT_EQ(describe(task).count, 0);
	host.now_ns += SECOND;
	EXPECT_EQ(describe(task).count, 128);
}

/* Where mappings are few, another walk is cheaper. */
TEST(Describe, CodeOfFewMappingsIsNotConfirmed)
{
	struct task_struct *task = new_program();

	task->mm->map_count = 8192;
	change(task, 1);
	EXPECT_EQ(describe(task).task->code.hash, 0);
}
