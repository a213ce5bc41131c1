/* What captures tell of the code that is mapped: by what is known, by known mappings, and by all of them. */
#include "tests/bpf/code_script.h"

static struct task_struct *new_process_with_code(__u32 count)
{
	struct task_struct *task = new_process(1);

	for (__u32 i = 0; i < count; i++)
		map_code(task, i);
	return task;
}

static __u64 told_hash(void)
{
	return told_code(CONTEXT_SWITCH).hash;
}

/* How many mappings a capture looks at. */
static __u32 looks_of_telling(__u64 expected_hash)
{
	__u32 before = host.vmas_seen;

	EXPECT_EQ(told_hash(), expected_hash);
	return host.vmas_seen - before;
}

TEST(Code, IsToldByAllMappingsFirst)
{
	struct task_struct *task = new_process_with_code(2);
	struct wire_code code = told_code(CONTEXT_SWITCH);

	EXPECT_EQ(code.hash, hash_of_code(2));
	EXPECT_EQ(code.sequence, sequence_of(task));
	EXPECT_EQ(host.vmas_seen, 3);
	EXPECT_EQ(sent_records(WIRE_CODE), 1);
}

TEST(Code, IsKnownUntilSomethingIsMapped)
{
	new_process_with_code(2);
	EXPECT_EQ(looks_of_telling(hash_of_code(2)), 3);
	EXPECT_EQ(looks_of_telling(hash_of_code(2)), 0);
}

/* Both of its mappings are looked at, and nothing else; then it is known again. */
TEST(Code, KnownMappingsAreLookedAtAgainAfterAChange)
{
	struct task_struct *task = new_process_with_code(2);

	told_hash();
	host_map(task, 0x1000000, 0x1001000, VM_WRITE);
	EXPECT_EQ(told_code(CONTEXT_SWITCH).sequence, sequence_of(task));
	host_map(task, 0x2000000, 0x2001000, VM_WRITE);
	EXPECT_EQ(looks_of_telling(hash_of_code(2)), 2);
	EXPECT_EQ(looks_of_telling(hash_of_code(2)), 0);
	EXPECT_EQ(sent_records(WIRE_CODE), 1);
}

TEST(Code, NewMappingIsFoundByTheKernelsCountOfPages)
{
	struct task_struct *task = new_process_with_code(2);

	told_hash();
	map_code(task, 2);
	EXPECT_EQ(looks_of_telling(hash_of_code(3)), 4);
	EXPECT_EQ(sent_records(WIRE_CODE), 2);
}

TEST(Code, MappingThatIsGoneIsMissed)
{
	struct task_struct *task = new_process_with_code(3);

	told_hash();
	host_unmap(task, CODE(2));
	EXPECT_EQ(told_hash(), hash_of_code(2));
}

/* As many pages as before, of another file. */
TEST(Code, MappingThatWasExchangedIsFound)
{
	struct task_struct *task = new_process_with_code(2);
	struct wire_mapping expected[] = {mapping_of(0), mapping_of(1)};

	told_hash();
	host_unmap(task, CODE(1));
	map_code(task, 1)->vm_file->f_inode->i_ino = 4711;
	expected[1].inode = 4711;
	EXPECT_EQ(told_hash(), hash_of_mappings(expected, 2));
}

/* Another one begins 4096 bytes below, where the known one did not. */
TEST(Code, MappingThatBeginsElsewhereIsFound)
{
	struct task_struct *task = new_process_with_code(2);
	struct wire_mapping expected[] = {mapping_of(0), mapping_of(1)};
	struct vm_area_struct *vma;

	told_hash();
	host_unmap(task, CODE(1));
	vma = map_code(task, 1);
	vma->vm_start -= 4096;
	vma->vm_end -= 4096;
	expected[1].begin -= 4096;
	expected[1].end -= 4096;
	EXPECT_EQ(told_hash(), hash_of_mappings(expected, 2));
}

/* The same file lies there, and may not be executed any more; as many pages of something else may be. */
TEST(Code, CodeThatMayNotBeExecutedAnyMoreIsFound)
{
	struct task_struct *task = new_process_with_code(2);
	const unsigned long no_flags = 0;
	struct vm_area_struct *vma;

	vma = map_code(task, 2);
	EXPECT_EQ(told_hash(), hash_of_code(3));
	__builtin_memcpy((void *)&vma->vm_flags, &no_flags, sizeof(no_flags));
	task->mm->mm_lock_seq.sequence += 2;
	EXPECT_EQ(told_hash(), hash_of_code(2));
}

TEST(Code, WritableCodeIsNotFoundByTheCountOfPages)
{
	struct task_struct *task = new_process_with_code(2);

	told_hash();
	host_map(task, 0x1000000, 0x1001000, VM_EXEC | VM_WRITE);
	EXPECT_EQ(looks_of_telling(hash_of_code(2)), 2);
}

TEST(Code, AnotherProgramIsLookedAtAnew)
{
	struct task_struct *task = new_process_with_code(2);

	told_hash();
	task->self_exec_id++;
	EXPECT_EQ(looks_of_telling(hash_of_code(2)), 3);
}

/* 127 of them; more are all looked at. */
TEST(Code, SoManyMappingsAreKnown)
{
	for (__u32 count = 127; count <= 128; count++) {
		struct task_struct *task = new_process_with_code(count);

		EXPECT_EQ(looks_of_telling(hash_of_code(count)), count + 1);
		host_map(task, 0x10000000, 0x10001000, VM_WRITE);
		EXPECT_EQ(looks_of_telling(hash_of_code(count)), count == 127 ? 127 : 130);
	}
}

/* With the stack: 256 are looked at, 257 are too many. */
TEST(Code, SoManyMappingsAreLookedAt)
{
	struct task_struct *task = new_process_with_code(255);

	EXPECT_EQ(told_hash(), hash_of_code(255));
	map_code(task, 255);
	EXPECT_EQ(looks_of_telling(0), 0);
	EXPECT_EQ(sent_records(WIRE_CODE), 1);
}

/* What one process has shown, another one is asked for alone. */
TEST(Code, ListsAreKnownOfAllProcesses)
{
	struct task_struct *task;

	new_process_with_code(2);
	told_hash();
	task = new_process(2);
	map_code(task, 0);
	map_code(task, 1);
	told_hash();
	host_map(task, 0x1000000, 0x1001000, VM_WRITE);
	EXPECT_EQ(looks_of_telling(hash_of_code(2)), 2);
}

TEST(Code, MappingsThatAreBeingChangedAreNotLookedAt)
{
	struct task_struct *task = new_process_with_code(2);
	struct wire_code code;

	told_hash();
	task->mm->mm_lock_seq.sequence++;
	host.vmas_seen = 0;
	code = told_code(CONTEXT_SWITCH);
	EXPECT_EQ(code.hash, 0);
	EXPECT_EQ(code.sequence, 0);
	EXPECT_EQ(host.vmas_seen, 0);
}

static void change_sequence(void)
{
	host.current->mm->mm_lock_seq.sequence += 2;
}

TEST(Code, MappingsThatChangeWhileTheyAreLookedAtAreUnknown)
{
	struct task_struct *task = new_process_with_code(2);

	host.on_vma = change_sequence;
	EXPECT_EQ(told_hash(), 0);
	EXPECT_EQ(space_of(task, true)->hash, 0);
	EXPECT_EQ(sent_records(WIRE_CODE), 0);
}

/* Neither the look at known ones nor that at all of them counts. */
TEST(Code, KnownMappingsThatChangeMeanwhileAreUnknown)
{
	struct task_struct *task = new_process_with_code(2);
	__u64 sequence = sequence_of(task);

	told_hash();
	host_map(task, 0x1000000, 0x1001000, VM_WRITE);
	host.on_vma = change_sequence;
	EXPECT_EQ(told_hash(), 0);
	EXPECT_EQ(space_of(task, true)->sequence, sequence);
}

/* Two known ones cost 2 of the second's 5, and all three 3, which are too many then. */
TEST(Code, MappingsAreLookedAtWithinABudget)
{
	struct task_struct *task = new_process_with_code(2);

	settings->mappings_per_second = 5;
	EXPECT_EQ(told_hash(), hash_of_code(2));
	host_map(task, 0x1000000, 0x1001000, VM_WRITE);
	EXPECT_EQ(told_hash(), hash_of_code(2));
	EXPECT_EQ(counted(WIRE_COUNT_MAPPINGS_BUDGET).count, 0);
	host_map(task, 0x2000000, 0x2001000, VM_WRITE);
	EXPECT_EQ(told_hash(), 0);
	EXPECT_EQ(counted(WIRE_COUNT_MAPPINGS_BUDGET).count, 2);
	host.now_ns += SECOND * 2 / 5;
	EXPECT_EQ(told_hash(), hash_of_code(2));
	EXPECT_EQ(counted(WIRE_COUNT_MAPPINGS_BUDGET).count, 2);
}

TEST(Code, BudgetsOfContextsAreApart)
{
	new_process_with_code(2);
	settings->mappings_per_second = 3;
	EXPECT_EQ(told_hash(), hash_of_code(2));
	host_clear(&spaces);
	EXPECT_EQ(told_hash(), 0);
	EXPECT_EQ(told_code(CONTEXT_WAKER).hash, hash_of_code(2));
}

/* Another one has what is as good, and is writing it. */
TEST(Code, BusyWriterIsLeftAlone)
{
	struct task_struct *task = new_process_with_code(2);
	struct space *space = space_of(task, false);

	space->busy = 1;
	EXPECT_EQ(told_hash(), hash_of_code(2));
	EXPECT_EQ(space->hash, 0);
	EXPECT_EQ(space->mm, 0);
	space->busy = 0;
	EXPECT_EQ(told_hash(), hash_of_code(2));
	EXPECT_EQ(space->hash, hash_of_code(2));
	EXPECT_EQ(space->busy, 0);
}

TEST(Code, BusyWriterIsNotGivenANewMoment)
{
	struct task_struct *task = new_process_with_code(2);
	struct space *space = space_of(task, false);
	__u64 sequence = sequence_of(task);

	told_hash();
	host_map(task, 0x1000000, 0x1001000, VM_WRITE);
	space->busy = 1;
	EXPECT_EQ(told_hash(), hash_of_code(2));
	EXPECT_EQ(space->sequence, sequence);
}

TEST(Code, SampleMakesNoStorage)
{
	struct task_struct *task = new_process_with_code(2);

	EXPECT_EQ(told_code(CONTEXT_SAMPLE).hash, 0);
	EXPECT_EQ(host_count(&spaces), 0);
	space_of(task, false);
	EXPECT_EQ(told_code(CONTEXT_SAMPLE).hash, hash_of_code(2));
	EXPECT_EQ(host_count(&sent), 0); /* it may be in an NMI */
	EXPECT_EQ(sent_records(WIRE_CODE), 1);
}

TEST(Code, IsUnknownWhereTheTreeIs)
{
	struct task_struct *task = new_process_with_code(2);

	settings->reads_mappings = 0;
	EXPECT_EQ(told_hash(), 0);
	EXPECT_EQ(told_code(CONTEXT_SWITCH).sequence, sequence_of(task));
	settings->reads_mappings = 1;
	task->mm = NULL;
	EXPECT_EQ(told_hash(), 0);
}

TEST(Code, ThreadsOfAProcessKnowItTogether)
{
	struct task_struct *task = new_process_with_code(2), *thread = host_new_thread(task, 2);

	told_hash();
	host_run_on(thread, 1);
	bpf_task_storage_get(&tasks, thread, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	EXPECT_EQ(looks_of_telling(hash_of_code(2)), 0);
	EXPECT_EQ(host_count(&spaces), 1);
}

TEST(Code, ThreadHasSeenNoCodeWithoutAHash)
{
	struct task_struct *task = new_process_with_code(1);

	see_code(state_of(task), task, 77, 5);
	EXPECT_EQ(state_of(task)->code.sequence, 77);
	see_code(state_of(task), task, 77, 0);
	EXPECT_EQ(state_of(task)->code.sequence, 0);
	EXPECT_EQ(state_of(task)->code.mm, task->mm);
	EXPECT_EQ(state_of(task)->code.exec_id, task->self_exec_id);
}
