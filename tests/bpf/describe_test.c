/* The executable mappings of a process as describe_task tells them, and what it remembers of them. */
#include "tests/bpf/listing.h"

#define CODE 0x400000ULL
#define PAGES(count) ((count)*4096ULL)

/* A process with a mapping of a file's code and one of its data. */
static struct task_struct *new_program(void)
{
	struct task_struct *task = host_new_process(100);
	struct vm_area_struct *code = host_map(task, CODE, CODE + PAGES(3), VM_EXEC);

	code->vm_file = host_file(1234);
	code->vm_file->f_inode->i_generation = 5;
	code->vm_file->f_inode->i_ctime_sec = 6;
	code->vm_file->f_inode->i_ctime_nsec = 7;
	code->vm_pgoff = 2;
	host_map(task, CODE + PAGES(3), CODE + PAGES(5), VM_WRITE);
	settings->reads_mappings = 1;
	host.now_ns = 100 * SECOND;
	return task;
}

static struct space *space_of_process(struct task_struct *task)
{
	return host_value(&spaces, task, 0);
}

TEST(Describe, TellsExecutableMappingsAndThenTheThread)
{
	struct task_struct *task = new_program();
	struct description told;

	task->mm->mm_lock_seq.sequence = 40;
	told = describe(task);
	ASSERT_EQ(told.count, 1);
	EXPECT_EQ(told.mappings->begin, CODE);
	EXPECT_EQ(told.mappings->end, CODE + 0x3000);
	EXPECT_EQ(told.mappings->offset, 0x2000);
	EXPECT_EQ(told.mappings->inode, 1234);
	EXPECT_EQ(told.mappings->device, 0x500000801); /* the device, and above it the generation */
	EXPECT_EQ(told.mappings->changed_ns, 6000000007);
	EXPECT_EQ(told.task->process.tgid, 100);
	EXPECT_EQ(told.task->process.tid, 100);
	EXPECT_EQ(told.task->code.sequence, 41);
	EXPECT_NE(told.task->code.hash, 0);
	EXPECT_EQ(told.task->recorded, 0); /* nobody asks */
	EXPECT_EQ(told.task->is_kernel, 0);
}

TEST(Describe, LeavesOutThreadsOfTheKernel)
{
	settings->reads_mappings = 1;
	EXPECT_TRUE(!describe(host_new_kernel_thread(7)).task);
	EXPECT_TRUE(!describe(NULL).task);
}

/* It may be exiting. */
TEST(Describe, ProcessWithoutAnAddressSpaceHasNoCode)
{
	struct task_struct *task = host_new_process(100);

	task->mm = NULL;
	settings->reads_mappings = 1;
	EXPECT_EQ(describe(task).task->code.hash, 0);
	EXPECT_EQ(describe(task).count, 0);
}

TEST(Describe, KernelWhoseMappingsAreNotReadTellsTheThreadAlone)
{
	struct task_struct *task = new_program();

	settings->reads_mappings = 0;
	EXPECT_EQ(describe(task).count, 0);
	EXPECT_EQ(describe(task).task->code.hash, 0);
	EXPECT_EQ(host.nodes_read, 0);
}

TEST(Describe, WithoutABufferTheThreadAloneIsTold)
{
	struct task_struct *task = new_program();
	struct capture_buffer *buffer = NULL;

	for (__u32 i = 0; i < 8; i++) {
		buffer = host_value(&buffers, &i, 0);
		buffer->busy = 1;
	}
	EXPECT_EQ(describe(task).count, 0);
	EXPECT_EQ(describe(task).task->process.tgid, 100);
	buffer->busy = 0;
	EXPECT_EQ(describe(task).count, 1);
	EXPECT_EQ(buffer->busy, 0);
}

TEST(Describe, RemembersTheCodeForCaptures)
{
	struct task_struct *task = new_program();
	struct description told = describe(task);
	const struct space *space = space_of_process(task);

	ASSERT_TRUE(space);
	EXPECT_EQ(space->hash, told.task->code.hash);
	EXPECT_EQ(space->sequence, told.task->code.sequence);
	EXPECT_EQ(space->mm, (__u64)task->mm);
	EXPECT_EQ(space->exec_id, 1);
	EXPECT_EQ(space->exec_pages, 3);
	ASSERT_TRUE(known_list_of(space->hash));
	EXPECT_EQ(known_list_of(space->hash)->count, 1);
	EXPECT_EQ(known_list_of(space->hash)->begins[0], CODE);
}

/* 128 mappings are listed, the rest is unknown; the hash is of all of them. */
TEST(Describe, ListsAsManyMappingsAsHaveRoom)
{
	struct task_struct *task = new_program();
	__u64 hash;

	for (__u32 i = 1; i < WIRE_MAPPINGS; i++)
		host_map(task, 0x20000000 + PAGES(i), 0x20000000 + PAGES(i + 1), VM_EXEC);
	EXPECT_EQ(describe(task).count, 128);
	EXPECT_NE(describe(task).task->code.hash, 0);
	hash = describe(task).task->code.hash;
	host_map(task, 0x30000000, 0x30001000, VM_EXEC);
	EXPECT_EQ(describe(task).count, 128);
	EXPECT_NE(describe(task).task->code.hash, hash);
	EXPECT_NE(describe(task).task->code.hash, 0);
}

TEST(Describe, MappingsThatAreBeingChangedAreNotTold)
{
	struct task_struct *task = new_program();

	task->mm->mm_lock_seq.sequence = 41; /* odd: a change is under way */
	EXPECT_EQ(describe(task).count, 0);
	EXPECT_EQ(describe(task).task->code.sequence, 0);
	EXPECT_EQ(describe(task).task->code.hash, 0);
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

TEST(Describe, MappingsThatChangeMeanwhileAreNotTold)
{
	struct task_struct *task = new_program();
	struct description told;

	task->mm->mm_lock_seq.sequence = 40;
	change(task, 1);
	told = describe(task);
	EXPECT_EQ(told.task->code.hash, 0);
	EXPECT_EQ(told.task->code.sequence, 41); /* when the walk began */
	EXPECT_EQ(told.count, 0);
	EXPECT_EQ(describe(task).count, 1); /* nothing changes any more */
}
