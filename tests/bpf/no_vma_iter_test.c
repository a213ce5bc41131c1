/*
 * Compiled with OFFCPU_TASK_WORK_ARGS=0 and OFFCPU_VMA_ITER=0, as for kernels before 6.7: mappings cannot be
 * walked, so a capture names its code by the sequence number alone, and its stack is found under the
 * lock of all mappings.
 */
#include "tests/bpf/capture_script.h"

static struct task_struct *new_old_captured(void)
{
	struct task_struct *task = new_captured(7);

	settings->has_task_work = 0;
	settings->has_vma_iter = 0;
	return task;
}

TEST(NoVmaIter, CodeIsTheSequenceNumberAlone)
{
	struct task_struct *task = new_old_captured();
	struct wire_code code = told_code(CONTEXT_SWITCH);

	EXPECT_EQ(code.hash, 0);
	EXPECT_EQ(code.sequence, sequence_of(task));
	EXPECT_EQ(host.vma_walks, 0);
	EXPECT_EQ(host_count(&spaces), 0);
	EXPECT_EQ(host_records(&intervals), 0);
}

/* Without the iterator that is so of all captures: it is no loss. */
TEST(NoVmaIter, CodeThatIsUnknownIsNotCounted)
{
	struct task_struct *task = new_old_captured();

	EXPECT_EQ(send_capture(5, 4096, CONTEXT_SWITCH, false), WIRE_USER_PENDING);
	EXPECT_EQ(counted(WIRE_COUNT_CODE_UNKNOWN).count, 0);
	EXPECT_EQ(capture_record(0)->code.hash, 0);
	EXPECT_EQ(capture_record(0)->code.sequence, sequence_of(task));
	EXPECT_EQ(state_of(task)->code.sequence, 0);
	expect_bytes(capture_record(0) + 1, SP, 4096);
}

TEST(NoVmaIter, StackIsFoundUnderTheLock)
{
	struct task_struct *task = new_old_captured();

	EXPECT_EQ(stack_end(state_of(task), task, SP), STACK_END);
	EXPECT_EQ(host.vma_walks, 0);
	EXPECT_EQ(state_of(task)->stack.begin, STACK);
}

/* One page, of which it is not known whose the one above is. */
TEST(NoVmaIter, StackIsUnknownWhileOthersHaveTheLock)
{
	new_old_captured();
	host.mappings_are_locked = true;
	EXPECT_EQ(send_capture(5, 8192, CONTEXT_SWITCH, false), WIRE_USER_PENDING);
	EXPECT_EQ(capture_record(0)->stack_bytes, 4096);
	EXPECT_EQ(capture_record(0)->above, WIRE_ABOVE_UNREAD);
	EXPECT_EQ(counted(WIRE_COUNT_STACK_UNKNOWN).count, 1);
}

/* Kernels without numbers that tell of changes: it is looked for each time. */
TEST(NoVmaIter, StackIsLookedForAgainWithoutSequenceNumbers)
{
	struct task_struct *task = new_old_captured();

	host_hide_field("mm->mm_lock_seq.sequence");
	host_hide_field("((struct mm_struct___counter *)mm)->mm_lock_seq");
	EXPECT_EQ(stack_end(state_of(task), task, SP), STACK_END);
	host_unmap(task, STACK);
	host_map(task, STACK, STACK_END - 4096, VM_WRITE);
	EXPECT_EQ(stack_end(state_of(task), task, SP), STACK_END - 4096);
	EXPECT_EQ(told_code(CONTEXT_SWITCH).sequence, 0);
}

TEST(NoVmaIter, ChildInheritsNothing)
{
	struct task_struct *task = new_old_captured();

	space_of(task, false);
	inherit_code(task, host_new_process(9));
	EXPECT_EQ(host_count(&spaces), 1);
}

TEST(NoVmaIter, StackIsCopiedAtOnceUnderACookie)
{
	struct task_struct *task = new_old_captured();

	EXPECT_EQ(side_of(task, true, CONTEXT_SWITCH).cookie, cookie_of(0, CONTEXT_SWITCH, 1));
	EXPECT_EQ(host_records(&captures), 1);
	EXPECT_EQ(counted(WIRE_COUNT_COPIED_AT_ONCE).count, 1);
	EXPECT_EQ(host_count(&requests), 0);
}

TEST(NoVmaIter, PiecesAreFoundUnderTheLockToo)
{
	struct task_struct *task = new_old_captured();
	const struct wire_stack_hint hint = {.pieces = 1, .begins = {CODE(0)}};
	const __u32 tid = 7;

	fill_memory(task, CODE(0), CODE(0) + CODE_BYTES);
	bpf_map_update_elem(&stack_hints, &tid, &hint, BPF_ANY);
	EXPECT_EQ(send_capture(5, 4096, CONTEXT_SWITCH, false), WIRE_USER_PENDING);
	EXPECT_EQ(capture_record(0)->pieces[0].begin, CODE(0));
	EXPECT_EQ(capture_record(0)->pieces[0].bytes, 4096);
	EXPECT_EQ(capture_record(0)->pieces[0].above, WIRE_ABOVE_MORE);
}
