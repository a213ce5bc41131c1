/*
 * Compiled with OFFCPU_TASK_WORK_ARGS=0, for a kernel whose tree of mappings has a form that is not known: a
 * capture names its code by the sequence number alone.
 */
#include "tests/bpf/capture_script.h"

static struct task_struct *new_without_tree(void)
{
	struct task_struct *task = new_captured(7);

	settings->has_task_work = 0;
	settings->reads_mappings = 0;
	return task;
}

TEST(NoMmTree, CodeIsTheSequenceNumberAlone)
{
	struct task_struct *task = new_without_tree();
	struct wire_code code = told_code(CONTEXT_SWITCH);

	EXPECT_EQ(code.hash, 0);
	EXPECT_EQ(code.sequence, sequence_of(task));
	EXPECT_EQ(host.nodes_read, 0);
	EXPECT_EQ(host_count(&spaces), 0);
	EXPECT_EQ(host_records(&intervals), 0);
}

/* Without the tree that is so of all captures: it is no loss. */
TEST(NoMmTree, CodeThatIsUnknownIsNotCounted)
{
	struct task_struct *task = new_without_tree();

	EXPECT_EQ(send_capture(5, 4096, CONTEXT_SWITCH, false), WIRE_USER_PENDING);
	EXPECT_EQ(counted(WIRE_COUNT_CODE_UNKNOWN).count, 0);
	EXPECT_EQ(capture_record(0)->code.hash, 0);
	EXPECT_EQ(capture_record(0)->code.sequence, sequence_of(task));
	EXPECT_EQ(state_of(task)->code.sequence, 0);
	expect_bytes(capture_record(0) + 1, SP, 4096);
}

TEST(NoMmTree, ChildInheritsNothing)
{
	struct task_struct *task = new_without_tree();

	space_of(task, false);
	inherit_code(task, host_new_process(9));
	EXPECT_EQ(host_count(&spaces), 1);
}

TEST(NoMmTree, StackIsCopiedAtOnceUnderACookie)
{
	struct task_struct *task = new_without_tree();

	EXPECT_EQ(side_of(task, true, CONTEXT_SWITCH).cookie, cookie_of(0, CONTEXT_SWITCH, 1));
	EXPECT_EQ(host_records(&captures), 1);
	EXPECT_EQ(counted(WIRE_COUNT_COPIED_AT_ONCE).count, 1);
	EXPECT_EQ(host_count(&requests), 0);
}
