/* The executable mappings of a process: each field of them changes the hash, and each hash is sent once. */
#include "tests/bpf/code_script.h"

static struct code_list *walk_all(struct task_struct *task, __u32 max)
{
	struct code_list *list = host_allocate(sizeof(*list));

	walk_code(task, list, max);
	return list;
}

TEST(CodeList, TellsExecutableMappingsByAddress)
{
	struct task_struct *task = new_process(1);
	const struct wire_mapping expected[] = {mapping_of(0), mapping_of(1)};
	struct code_list *list;

	map_code(task, 1);
	host_map(task, 0x300000, 0x301000, VM_WRITE);
	map_code(task, 0);
	list = walk_all(task, 100);
	EXPECT_EQ(list->head.count, 2);
	EXPECT_BYTES(list->mappings, expected, sizeof(expected));
	EXPECT_EQ(list->head.hash, hash_of_mappings(expected, 2));
}

TEST(CodeList, HashIsOfAllMappings)
{
	for (__u32 count = 1; count < 8; count++) {
		struct task_struct *task = new_process(count);

		for (__u32 i = 0; i < count; i++)
			map_code(task, i);
		EXPECT_EQ(walk_all(task, 100)->head.hash, hash_of_code(count));
	}
}

TEST(CodeList, EqualMappingsOfTwoProcessesHaveOneHash)
{
	struct task_struct *first = new_process(1), *second = new_process(2);

	map_code(first, 0);
	map_code(second, 0);
	EXPECT_EQ(walk_all(first, 100)->head.hash, walk_all(second, 100)->head.hash);
}

static __u64 hash_with_own_code(int pid, __u64 started)
{
	struct task_struct *task = new_process(pid);

	task->start_boottime = started;
	map_code(task, 0);
	host_map(task, 0x700000, 0x701000, VM_EXEC);
	return walk_all(task, 100)->head.hash;
}

/* Each may have made other code there. */
TEST(CodeList, CodeOfNoFileIsOneProcesssOwn)
{
	EXPECT_EQ(hash_with_own_code(1, 5), hash_with_own_code(1, 5));
	EXPECT_NE(hash_with_own_code(1, 5), hash_with_own_code(2, 5));
	EXPECT_NE(hash_with_own_code(1, 5), hash_with_own_code(1, 6));
}

static __u64 hash_with(void (*change)(struct vm_area_struct *vma))
{
	struct task_struct *task = new_process(1);
	struct vm_area_struct *vma = map_code(task, 0);

	change(vma);
	return walk_all(task, 100)->head.hash;
}

static void change_nothing(struct vm_area_struct *vma)
{
}

static void change_begin(struct vm_area_struct *vma)
{
	vma->vm_start -= 4096;
}

static void change_end(struct vm_area_struct *vma)
{
	vma->vm_end += 4096;
}

static void change_offset(struct vm_area_struct *vma)
{
	vma->vm_pgoff++;
}

static void change_inode(struct vm_area_struct *vma)
{
	vma->vm_file->f_inode->i_ino++;
}

static void change_device(struct vm_area_struct *vma)
{
	vma->vm_file->f_inode->i_sb->s_dev++;
}

static void change_generation(struct vm_area_struct *vma)
{
	vma->vm_file->f_inode->i_generation++;
}

static void change_seconds(struct vm_area_struct *vma)
{
	vma->vm_file->f_inode->i_ctime_sec++;
}

static void change_nanoseconds(struct vm_area_struct *vma)
{
	vma->vm_file->f_inode->i_ctime_nsec++;
}

static void change_file(struct vm_area_struct *vma)
{
	vma->vm_file = NULL;
}

TEST(CodeList, EachFieldOfAMappingMakesTheHash)
{
	void (*const changes[])(struct vm_area_struct *) = {
		change_begin,	   change_end,	   change_offset,      change_inode, change_device,
		change_generation, change_seconds, change_nanoseconds, change_file};
	const __u64 hash = hash_with(change_nothing);

	EXPECT_EQ(hash, hash_of_code(1));
	for (__u32 i = 0; i < sizeof(changes) / sizeof(*changes); i++) {
		check_note("change", i);
		EXPECT_NE(hash_with(changes[i]), hash);
	}
}

/* Above the 30 bits of the nanoseconds the kernel has a flag, which says that somebody has looked at the
 * time. */
static void set_time_flag(struct vm_area_struct *vma)
{
	vma->vm_file->f_inode->i_ctime_nsec |= 1U << 31;
}

TEST(CodeList, FlagBesideTheTimeOfChangeDoesNotMatter)
{
	EXPECT_EQ(hash_with(set_time_flag), hash_of_code(1));
}

/* The time of change of the file of this inode, as a mapping has it. */
static __u64 changed_of(void *inode)
{
	struct code_list *list = host_allocate(sizeof(*list));

	list->look.file.inode = (__u64)inode;
	read_change(&list->look.file);
	return list->look.file.seconds * SECOND + list->look.file.ns;
}

/* Before 6.11 the time is one structure, at an offset of its own, and before 6.6 at another one. */
TEST(CodeList, TimeOfChangeIsToldByOlderKernels)
{
	struct inode___timespec older = {.__i_ctime = {.tv_sec = 7, .tv_nsec = 9 | 1 << 30}};
	struct inode___old oldest = {.i_ctime = {.tv_sec = 8, .tv_nsec = 10}};

	host_hide_field("((struct inode *)0)->i_ctime_sec");
	EXPECT_EQ(changed_of(&older), 7000000009);
	host_hide_field("((struct inode___timespec *)0)->__i_ctime");
	EXPECT_EQ(changed_of(&oldest), 8000000010);
}

/* What one user's process has mapped says nothing of another's. */
TEST(CodeList, UsersHaveHashesOfTheirOwn)
{
	struct task_struct *task = new_process(1);
	const struct wire_mapping expected = mapping_of(0);

	map_code(task, 0);
	for (__u32 uid = 1000; uid < 1002; uid++) {
		((struct cred *)task->cred)->uid.val = uid;
		EXPECT_EQ(walk_all(task, 100)->head.hash, hash_of_users_mappings(uid, &expected, 1));
	}
	((struct cred *)task->cred)->euid.val = 5; /* it acts for another user */
	EXPECT_EQ(walk_all(task, 100)->head.hash, hash_of_users_mappings(1001, &expected, 1));
}

/* Where the kernel says that it has put it, with operations of its own. */
TEST(CodeList, VdsoIsToldByItsImage)
{
	struct task_struct *task = new_process(1);
	struct vm_area_struct *vma = host_map(task, 0x7fff0000, 0x7fff2000, VM_EXEC);
	struct wire_mapping expected = {.begin = 0x7fff0000, .end = 0x7fff2000, .device = ~0ULL};
	struct mixture vdso = {};

	task->mm->context.vdso = (void *)0x7fff0000;
	task->mm->context.vdso_image = (void *)0x12345678;
	vma->vm_ops = (void *)1;
	mix_in(&vdso, OF_VDSO);
	mix_in(&vdso, 0x12345678);
	expected.offset = name_of(&vdso);
	EXPECT_BYTES(walk_all(task, 100)->mappings, &expected, sizeof(expected));
}

TEST(CodeList, CodeWithoutAFileIsNoVdsoElsewhere)
{
	struct task_struct *task = new_process(1);
	struct vm_area_struct *vma = host_map(task, 0x7fff0000, 0x7fff2000, VM_EXEC);
	struct wire_mapping expected = {.begin = 0x7fff0000, .end = 0x7fff2000};

	task->mm->context.vdso = (void *)0x7fff0000;
	EXPECT_BYTES(walk_all(task, 100)->mappings, &expected, sizeof(expected));
	vma->vm_ops = (void *)1;
	task->mm->context.vdso = (void *)0x7fff1000;
	EXPECT_BYTES(walk_all(task, 100)->mappings, &expected, sizeof(expected));
}

TEST(CodeList, ProcessWithoutCodeHasNoHash)
{
	struct task_struct *task = new_process(1);

	EXPECT_EQ(walk_all(task, 100)->head.hash, 0);
	EXPECT_EQ(walk_all(task, 100)->seen_hash, 0);
}

/* Three mappings of code and one of a stack. */
TEST(CodeList, SoManyMappingsAreLookedAt)
{
	struct task_struct *task = new_process(1);

	for (__u32 i = 0; i < 3; i++)
		map_code(task, i);
	EXPECT_EQ(walk_all(task, 4)->head.hash, hash_of_code(3));
	EXPECT_EQ(walk_all(task, 3)->head.hash, 0);
	EXPECT_EQ(walk_all(task, 3)->seen_hash, 0);
}

/* 127 are listed and may be looked at again one by one; of 128 there might be another one. All are hashed. */
TEST(CodeList, SoManyMappingsAreListed)
{
	for (__u32 count = 127; count <= 129; count++) {
		struct task_struct *task = new_process(count);
		struct wire_mapping last = mapping_of(126);
		struct code_list *list;

		for (__u32 i = 0; i < count; i++)
			map_code(task, i);
		list = walk_all(task, 1000);
		EXPECT_EQ(list->head.count, count < 128 ? count : 128);
		EXPECT_EQ(list->head.hash, hash_of_code(count));
		EXPECT_EQ(list->seen_hash, count < 128 ? hash_of_code(count) : 0);
		EXPECT_BYTES(&list->mappings[126], &last, sizeof(last));
	}
}

static struct task_struct *changed_task;

static void change_mappings(void)
{
	if (host.vmas_seen == 2)
		changed_task->mm->mm_lock_seq.sequence += 2;
}

TEST(CodeList, MappingsThatChangeDuringTheWalkHaveNoHash)
{
	struct task_struct *task = new_process(1);
	struct code_list *list;

	map_code(task, 0);
	changed_task = task;
	host.on_vma = change_mappings;
	list = walk_all(task, 100);
	EXPECT_EQ(list->head.hash, 0);
	EXPECT_EQ(list->seen_hash, hash_of_code(1));
	EXPECT_EQ(list->sequence, sequence_of(task) - 2);
}

TEST(CodeList, MappingsThatAreBeingChangedHaveNoHash)
{
	struct task_struct *task = new_process(1);

	map_code(task, 0);
	task->mm->mm_lock_seq.sequence++;
	EXPECT_EQ(walk_all(task, 100)->head.hash, 0);
	EXPECT_EQ(walk_all(task, 100)->seen_hash, hash_of_code(1));
}

/* As the kernel counts them: 2 of each mapping of code, none of those that may be written or grow. */
TEST(CodeList, PagesAreCountedAsTheKernelDoes)
{
	struct task_struct *task = new_process(1);

	map_code(task, 0);
	map_code(task, 1);
	host_map(task, 0x1000000, 0x1003000, VM_EXEC | VM_WRITE);
	host_map(task, 0x2000000, 0x2003000, VM_EXEC | VM_STACK);
	EXPECT_EQ(walk_all(task, 100)->seen_pages, 4);
	EXPECT_EQ(walk_all(task, 100)->head.count, 4);
}

TEST(CodeList, IsSentOnceAHash)
{
	struct task_struct *task = new_process(1);
	const struct wire_mapping expected[] = {mapping_of(0), mapping_of(1)};
	const struct wire_code_list *record;
	struct code_list *list;

	map_code(task, 0);
	map_code(task, 1);
	list = walk_all(task, 100);
	send_code_once(list, false);
	send_code_once(list, false);
	EXPECT_EQ(host_records(&intervals), 1);
	record = sent_record(WIRE_CODE, 0);
	ASSERT_TRUE(record);
	EXPECT_EQ(record->count, 2);
	EXPECT_EQ(record->hash, hash_of_code(2));
	EXPECT_EQ(host_record(&intervals, 0).length, 16 + 2 * 48);
	EXPECT_EQ(host_record(&intervals, 0).flags, BPF_RB_FORCE_WAKEUP);
	EXPECT_BYTES(record + 1, expected, sizeof(expected));
}

TEST(CodeList, IsSentAgainWhereTheRingWasFull)
{
	struct task_struct *task = new_process(1);
	struct code_list *list;

	map_code(task, 0);
	list = walk_all(task, 100);
	host.rings_are_busy = true;
	send_code_once(list, false);
	EXPECT_EQ(counted(WIRE_COUNT_DEFINITION_DELAYED).count, 1);
	host.rings_are_busy = false;
	send_code_once(list, false);
	EXPECT_EQ(host_records(&intervals), 1);
}
