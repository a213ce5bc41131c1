/* Walks of stacks in processes that have mapped something since their code was looked at. */
#include "tests/bpf/walked_script.h"

/* Something else that changes the number that tells of changes. */
static void map_data(struct task_struct *task)
{
	static __u64 page = 0x20000000;

	host_map(task, page, page + 0x1000, VM_WRITE);
	page += 0x10000;
}

static __u64 walked(struct task_struct *task)
{
	return walked_user_stack(state_of(task));
}

/* Those of the two frames, and that of the stack, whatever else there is. */
TEST(CodeCheck, LooksAtTheMappingsOfTheFrames)
{
	struct task_struct *task = new_walked(20);

	EXPECT_EQ(walked(task), walked_name(20));
	map_data(task);
	host.vmas_seen = 0;
	EXPECT_EQ(walked(task), walked_name(20));
	EXPECT_EQ(host.vmas_seen, 3);
}

/* By what the walk before has noted: that has not looked at any, the next one has. */
TEST(CodeCheck, SameWalkLooksAtTheSameMappings)
{
	struct task_struct *task = new_walked(2);

	for (__u32 i = 0; i < 3; i++) {
		map_data(task);
		host.vmas_seen = 0;
		EXPECT_EQ(walked(task), walked_name(2));
		EXPECT_EQ(host.vmas_seen, 3);
	}
}

static void expect_new_code(struct task_struct *task)
{
	for (__u32 i = 0; i < 2; i++) {
		EXPECT_EQ(walked(task), 0);
		EXPECT_EQ(counted(WIRE_COUNT_USER_WALK_NO_CODE).count, i + 1);
	}
}

TEST(CodeCheck, MappingThatIsGoneIsFound)
{
	struct task_struct *task = new_walked(2);

	host_unmap(task, CODE(1));
	expect_new_code(task);
}

/* After a walk that has noted where its mappings are. */
TEST(CodeCheck, OtherMappingInItsPlaceIsFound)
{
	struct task_struct *task = new_walked(2);

	map_data(task);
	EXPECT_EQ(walked(task), walked_name(2));
	host_unmap(task, CODE(0));
	map_code(task, 0)->vm_file->f_inode->i_ino++;
	expect_new_code(task);
}

TEST(CodeCheck, MappingThatMayNotBeExecutedIsFound)
{
	struct task_struct *task = new_walked(2);

	host_unmap(task, CODE(1));
	host_map(task, CODE(1), CODE(1) + CODE_BYTES, VM_WRITE);
	expect_new_code(task);
}

/* It begins and ends elsewhere, and holds the same of the file at the same addresses: another name. */
TEST(CodeCheck, MappingThatHasGrownIsFound)
{
	struct task_struct *task = new_walked(2);

	host_unmap(task, CODE(1));
	map_code(task, 1)->vm_end += 4096;
	expect_new_code(task);
}

TEST(CodeCheck, ChangesElsewhereDoNotMatter)
{
	struct task_struct *task = new_walked(4);

	host_unmap(task, CODE(2));
	map_code(task, 7);
	EXPECT_EQ(walked(task), walked_name(4));
}

TEST(CodeCheck, MappingsAreNotLookedAtWhileTheyChange)
{
	struct task_struct *task = new_walked(2);

	task->mm->mm_lock_seq.sequence++;
	expect_new_code(task);
}

static void change_sequence(void)
{
	host.current->mm->mm_lock_seq.sequence += 2;
}

TEST(CodeCheck, MappingsThatChangeMeanwhileAreUnknown)
{
	struct task_struct *task = new_walked(2);

	map_data(task);
	host.on_vma = change_sequence;
	expect_new_code(task);
}

/* The code is another program's, or the list is not kept any more. */
TEST(CodeCheck, WithoutAListNothingIsKnown)
{
	struct task_struct *task = new_walked(2);
	__u32 place = hash_of_code(2) & 511;

	map_data(task);
	task->self_exec_id++;
	expect_new_code(task);
	task->self_exec_id--;
	EXPECT_EQ(walked(task), walked_name(2));
	((struct known_list *)host_value(&known_lists, &place, 0))->hash = 4711;
	EXPECT_EQ(walked(task), 0);
}

/* Frames in 8 mappings are looked at, in 9 they are not. */
TEST(CodeCheck, SoManyMappingsAreLookedAt)
{
	for (__u32 mappings = 8; mappings <= 9; mappings++) {
		struct task_struct *task = new_walked(mappings);

		for (__u32 i = 1; i < mappings; i++) {
			host_write_word(task, WALKED_SP + 16 * i - 8, CODE(i) + 0x20);
			tell_row_of(hash_of_code(mappings), CODE(i) + 0x1f,
				    i + 1 == mappings ? ROW_OUTERMOST : ROW_OF_16_BYTES);
		}
		map_data(task);
		EXPECT_EQ(walked(task) != 0, mappings == 8);
	}
}
