/* Where a stack lies, what of it may be touched, and how its pages are faulted in. */
#include "tests/bpf/capture_script.h"

static struct mm_reader reader;

static const struct stack_mapping *found_at(struct task_struct *task, __u64 address)
{
	find_mapping(&reader, address, false);
	return &state_of(task)->stack;
}

static void expect_mapping(const struct stack_mapping *mapping, __u64 begin, __u64 end)
{
	EXPECT_EQ(mapping->begin, begin);
	EXPECT_EQ(mapping->end, end);
}

TEST(StackMapping, IsFoundByEachOfItsAddresses)
{
	struct task_struct *task = new_captured(7);
	const __u64 inside[] = {STACK, STACK_END - 1}, outside[] = {STACK - 1, STACK_END};

	for (__u32 i = 0; i < 2; i++) {
		expect_mapping(found_at(task, inside[i]), STACK, STACK_END);
		EXPECT_EQ(state_of(task)->stack.sequence, sequence_of(task));
		expect_mapping(found_at(task, outside[i]), 0, 0);
	}
}

/* The tree can be read all the same. */
TEST(StackMapping, IsFoundWhileOthersHaveTheLock)
{
	struct task_struct *task = new_captured(7);

	task->mm->mm_lock_seq.sequence++;
	expect_mapping(found_at(task, SP), STACK, STACK_END);
	EXPECT_EQ(state_of(task)->stack.sequence, 0);
}

TEST(StackMapping, ThreadWithoutStorageHasNone)
{
	new_captured(7);
	host_clear(&tasks);
	find_mapping(&reader, SP, false);
	EXPECT_EQ(host_count(&tasks), 0);
}

/* Its begin is noted, so that it is not looked for each time, and nothing of it may be read. */
TEST(StackMapping, DeviceHasNoBytes)
{
	struct task_struct *task = new_captured(7);

	host_unmap(task, STACK);
	host_map(task, STACK, STACK_END, VM_IO);
	expect_mapping(found_at(task, SP), STACK, STACK);
}

static bool may_fault_with(__u64 flags, struct file *file, void *ops, void *userfault)
{
	struct task_struct *task = new_captured(7);
	struct vm_area_struct *vma;

	host_unmap(task, STACK);
	vma = host_map(task, STACK, STACK_END, flags);
	vma->vm_file = file;
	vma->vm_ops = ops;
	vma->vm_userfaultfd_ctx.ctx = userfault;
	return found_at(task, SP)->may_fault;
}

TEST(StackMapping, PrivateMemoryWithoutAFileMayFault)
{
	EXPECT_TRUE(may_fault_with(VM_WRITE | VM_STACK, NULL, NULL, NULL));
	EXPECT_TRUE(may_fault_with(VM_WRITE, NULL, NULL, NULL));
}

/* VM_SHARED, VM_MAYSHARE, VM_PFNMAP, VM_IO, VM_HUGETLB, VM_MIXEDMAP, as the kernel numbers them. */
TEST(StackMapping, MemoryOfOthersMayNotFault)
{
	const __u64 flags[] = {0x8, 0x80, 0x400, 0x4000, 0x400000, 0x10000000};

	for (__u32 i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
		check_note("flag", flags[i]);
		EXPECT_FALSE(may_fault_with(VM_WRITE | flags[i], NULL, NULL, NULL));
	}
	EXPECT_FALSE(may_fault_with(VM_WRITE, host_file(5), NULL, NULL));
	EXPECT_FALSE(may_fault_with(VM_WRITE, NULL, (void *)1, NULL));
	EXPECT_FALSE(may_fault_with(VM_WRITE, NULL, NULL, (void *)1));
	host_hide_field("((struct vm_area_struct *)0)->vm_userfaultfd_ctx.ctx");
	EXPECT_TRUE(may_fault_with(VM_WRITE, NULL, NULL, (void *)1));
}

TEST(StackEnd, IsThatOfTheMapping)
{
	struct task_struct *task = new_captured(7);

	EXPECT_EQ(stack_end(state_of(task), task, &reader, SP), STACK_END);
	EXPECT_EQ(host.vmas_seen, 1);
	EXPECT_EQ(stack_end(state_of(task), task, &reader, SP + 8), STACK_END);
	EXPECT_EQ(host.vmas_seen, 1);
	EXPECT_EQ(counted(WIRE_COUNT_STACK_UNKNOWN).count, 0);
}

TEST(StackEnd, IsLookedForAgainAfterAChange)
{
	struct task_struct *task = new_captured(7);

	EXPECT_EQ(stack_end(state_of(task), task, &reader, SP), STACK_END);
	host_unmap(task, STACK);
	host_map(task, STACK, STACK_END - 4096, VM_WRITE);
	EXPECT_EQ(stack_end(state_of(task), task, &reader, SP), STACK_END - 4096);
}

/* Somebody is changing mappings, and has the lock. */
TEST(StackEnd, IsWhereItWasWhileMappingsChange)
{
	struct task_struct *task = new_captured(7);

	EXPECT_EQ(stack_end(state_of(task), task, &reader, SP), STACK_END);
	task->mm->mm_lock_seq.sequence++;
	task->mm->mm_mt.ma_root = NULL;
	EXPECT_EQ(stack_end(state_of(task), task, &reader, SP), STACK_END);
	EXPECT_EQ(counted(WIRE_COUNT_STACK_UNKNOWN).count, 0);
	/* Another stack is unknown: only the page of its pointer may be read, which is counted. */
	EXPECT_EQ(stack_end(state_of(task), task, &reader, 0x1234), 0x2000);
	EXPECT_EQ(stack_end(state_of(task), task, &reader, 0x1fff), 0x2000);
	EXPECT_EQ(counted(WIRE_COUNT_STACK_UNKNOWN).count, 2);
	EXPECT_EQ(state_of(task)->stack.end, STACK_END);
}

TEST(EndOfMapping, OfTheStackIsKnownFromIt)
{
	struct task_struct *task = new_captured(7);

	stack_end(state_of(task), task, &reader, SP);
	EXPECT_EQ(end_of_mapping(state_of(task), task, &reader, SP + 4096), STACK_END);
	EXPECT_EQ(host.vmas_seen, 1);
	EXPECT_EQ(end_of_mapping(state_of(task), task, &reader, CODE(0)), CODE(0) + CODE_BYTES);
	EXPECT_EQ(end_of_mapping(state_of(task), task, &reader, CODE(0) + 8), CODE(0) + CODE_BYTES);
	EXPECT_EQ(host.vmas_seen, 2);
	EXPECT_EQ(end_of_mapping(state_of(task), task, &reader, CODE(5)), 0);
}

/* The stack of the current thread, of which these pages have been swapped out. */
static struct task_struct *new_swapped(void)
{
	struct task_struct *task = new_captured(7);

	host_take_page(task, SP, false);
	host_take_page(task, SP + 8192, false);
	find_mapping(&reader, SP, false);
	return task;
}

static bool is_resident(__u64 address)
{
	__u8 byte;

	return !bpf_probe_read_user(&byte, 1, (void *)address);
}

TEST(FaultIn, BringsWhatIsNotResidentUpToWhatIsWanted)
{
	struct task_struct *task = new_swapped();

	fault_in(state_of(task), task, 8192);
	EXPECT_TRUE(is_resident(SP));
	EXPECT_FALSE(is_resident(SP + 8192));
	EXPECT_EQ(counted(WIRE_COUNT_PAGE_FAULTED_IN).count, 1);
	fault_in(state_of(task), task, 8193);
	EXPECT_TRUE(is_resident(SP + 8192));
	EXPECT_EQ(counted(WIRE_COUNT_PAGE_FAULTED_IN).count, 2);
}

/* From the last byte of a page on, 2 bytes are of two pages, and 65536 of 17. */
TEST(FaultIn, CountsPagesFromWhereTheStackPointerIs)
{
	struct task_struct *task = new_swapped();

	host_regs(task)->sp = SP + 8191;
	fault_in(state_of(task), task, 1);
	EXPECT_FALSE(is_resident(SP + 8192));
	fault_in(state_of(task), task, 2);
	EXPECT_TRUE(is_resident(SP + 8192));
	host_regs(task)->sp = STACK + 0xfff;
	for (__u64 page = STACK; page < STACK_END; page += 4096)
		host_take_page(task, page, false);
	fault_in(state_of(task), task, 65536);
	EXPECT_TRUE(is_resident(STACK + 0xfff));
	EXPECT_TRUE(is_resident(STACK + 0x10000));
	EXPECT_FALSE(is_resident(STACK + 0x11000));
}

TEST(FaultIn, EndsWithTheStack)
{
	struct task_struct *task = new_swapped();

	host_map(task, STACK_END, STACK_END + 4096, VM_WRITE);
	find_mapping(&reader, SP, false);
	host_take_page(task, STACK_END, false);
	host_regs(task)->sp = STACK_END - 8;
	fault_in(state_of(task), task, 8192);
	EXPECT_FALSE(is_resident(STACK_END));
}

TEST(FaultIn, EndsAtAPageThatDoesNotCome)
{
	struct task_struct *task = new_swapped();

	host_take_page(task, SP + 4096, true);
	fault_in(state_of(task), task, 12288);
	EXPECT_TRUE(is_resident(SP));
	EXPECT_FALSE(is_resident(SP + 8192));
	EXPECT_EQ(counted(WIRE_COUNT_PAGE_FAULTED_IN).count, 1);
}

/* It slept for the first page, and then the address may be of anything. */
static void map_after_a_read(void)
{
	if (host.user_reads == 3)
		host_map(host.current, 0x100000, 0x101000, VM_WRITE);
}

TEST(FaultIn, EndsWhenSomethingWasMappedMeanwhile)
{
	struct task_struct *task = new_swapped();

	host.user_reads = 0; /* each missing page takes two reads, and one that is there takes one */
	host.on_user_read = map_after_a_read;
	fault_in(state_of(task), task, 12288);
	host.on_user_read = NULL;
	EXPECT_TRUE(is_resident(SP));
	EXPECT_FALSE(is_resident(SP + 8192));
}

TEST(FaultIn, NeedsPlainMemoryAtOneMoment)
{
	struct task_struct *task = new_swapped();

	EXPECT_TRUE(may_fault_now(state_of(task), task));
	state_of(task)->stack.may_fault = 0;
	EXPECT_FALSE(may_fault_now(state_of(task), task));
	state_of(task)->stack.may_fault = 1;
	task->mm->mm_lock_seq.sequence += 2;
	EXPECT_FALSE(may_fault_now(state_of(task), task));
	task->mm->mm_lock_seq.sequence = 3;
	state_of(task)->stack.sequence = 0;
	EXPECT_FALSE(may_fault_now(state_of(task), task));
}

/* A stack whose middle has these flags, in three mappings. */
static struct task_struct *new_split(__u64 flags, struct file *file)
{
	struct task_struct *task = new_captured(7);

	host_unmap(task, STACK);
	host_map(task, STACK, STACK + 0x8000, VM_READ | VM_WRITE);
	host_map(task, STACK + 0x8000, STACK + 0x9000, flags)->vm_file = file;
	host_map(task, STACK + 0x9000, STACK_END, VM_READ | VM_WRITE);
	return task;
}

/* VM_LOCKED, VM_DONTDUMP, VM_DONTCOPY: what a part of a stack may have. */
TEST(SplitStack, IsOneStack)
{
	const __u64 flags[] = {0x2000, 0x4000000, 0x20000, 0};

	for (__u32 i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
		struct task_struct *task = new_split(VM_READ | VM_WRITE | flags[i], NULL);

		expect_mapping(found_at(task, STACK + 0x100), STACK, STACK_END);
		EXPECT_TRUE(state_of(task)->stack.may_fault);
		expect_mapping(found_at(task, STACK + 0x8100), STACK + 0x8000, STACK_END);
		EXPECT_EQ(end_of_mapping(state_of(task), task, &reader, STACK + 0x100), STACK_END);
	}
}

/* Nor what is used otherwise, as the guard of another stack. */
TEST(SplitStack, EndsBeforeMemoryOfAnotherKind)
{
	const __u64 flags[] = {0,     VM_READ,	VM_READ | VM_WRITE | VM_EXEC, VM_STACK, VM_SHARED, VM_HUGETLB,
			       VM_IO, VM_PFNMAP};

	for (__u32 i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
		__u64 all = i < 3 ? flags[i] : VM_READ | VM_WRITE | flags[i];

		check_note("flag", flags[i]);
		expect_mapping(found_at(new_split(all, NULL), STACK + 0x100), STACK, STACK + 0x8000);
	}
	expect_mapping(found_at(new_split(VM_READ | VM_WRITE, host_file(5)), STACK + 0x100), STACK,
		       STACK + 0x8000);
}

TEST(SplitStack, EndsWithAHole)
{
	struct task_struct *task = new_split(VM_READ | VM_WRITE, NULL);

	host_unmap(task, STACK + 0x8000);
	expect_mapping(found_at(task, STACK + 0x100), STACK, STACK + 0x8000);
}

/* What others bring the pages of is not left, either. */
TEST(SplitStack, IsOfPlainMemoryAlone)
{
	struct task_struct *task = new_captured(7);

	host_unmap(task, STACK);
	host_map(task, STACK, STACK + 0x8000, VM_READ | VM_WRITE)->vm_file = host_file(5);
	host_map(task, STACK + 0x8000, STACK_END, VM_READ | VM_WRITE);
	expect_mapping(found_at(task, STACK + 0x100), STACK, STACK + 0x8000);
}

/* 16 are looked at. */
TEST(SplitStack, HasALimit)
{
	struct task_struct *task = new_captured(7);

	host_unmap(task, STACK);
	for (__u32 i = 0; i < 20; i++)
		host_map(task, STACK + 0x1000 * i, STACK + 0x1000 * (i + 1), VM_READ | VM_WRITE);
	expect_mapping(found_at(task, STACK), STACK, STACK + 0x10000);
	expect_mapping(found_at(task, STACK + 0x4000), STACK + 0x4000, STACK + 0x14000);
}

TEST(SplitStack, IsFaultedInAsAWhole)
{
	struct task_struct *task = new_split(VM_READ | VM_WRITE, NULL);

	fill_memory(task, STACK, STACK_END);
	host_take_page(task, STACK + 0x8000, false);
	host_take_page(task, STACK + 0x9000, false);
	host_regs(task)->sp = STACK + 0x7000;
	find_mapping(&reader, STACK + 0x7000, false);
	fault_in(state_of(task), task, 12288);
	EXPECT_TRUE(is_resident(STACK + 0x8000));
	EXPECT_TRUE(is_resident(STACK + 0x9000));
}

/* Whose reads may have effects. */
TEST(StackEnd, OfADeviceIsTheStackPointer)
{
	struct task_struct *task = new_captured(7);

	host_unmap(task, STACK);
	host_map(task, STACK, STACK_END, VM_READ | VM_WRITE | VM_IO);
	EXPECT_EQ(stack_end(state_of(task), task, &reader, SP), SP);
}
