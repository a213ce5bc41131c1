/* Walks of kernel stacks are compared with what the kernel's helper tells, and what a difference leads to. */
#include "tests/bpf/kernel_script.h"

/* The functions 0x100 to 0x1ff schedule, 0x200 to 0x2ff lock: the helper leaves them out. */
#define SCHEDULE RETURN(0x180)
#define LOCK RETURN(0x280)

/* A thread of these return addresses, each of a function of 16 bytes, up to the entry. */
static struct task_struct *new_caller(int pid, const __u64 *frames, __u32 count)
{
	struct task_struct *task = new_sleeper(pid, OLD_BYTES + 16ULL * (count - 1));

	*word_at(task, OLD_IP) = frames[0];
	for (__u32 i = 1; i < count; i++)
		*word_at(task, OLD_BYTES + 16 * i - 8) = frames[i];
	return task;
}

static void begin_code(void)
{
	begin_kernel();
	add_function(0, 16); /* and all behind it, up to the entry */
	add_entry(0x300);
	walk_settings->sched_text = (struct wire_range){FUNCTION(0x100), FUNCTION(0x200)};
	walk_settings->lock_text = (struct wire_range){FUNCTION(0x200), FUNCTION(0x300)};
}

static const __u64 plain_frames[] = {SCHEDULE, RETURN(1), LOCK, RETURN(2), RETURN(0x300)};
static const __u64 told_frames[] = {RETURN(1), RETURN(2), RETURN(0x300)};

TEST(KernelCompare, FunctionsThatTheHelperLeavesOutMakeNoDifference)
{
	begin_code();
	helper_tells(told_frames, 3);
	EXPECT_EQ(walked_stack_id(new_caller(1, plain_frames, 5)), kernel_id(plain_frames, 5));
	EXPECT_EQ(counted(WIRE_COUNT_KERNEL_WALKED).count, 1);
	EXPECT_EQ(counted(WIRE_COUNT_KERNEL_WALK_DIFFERS).count, 0);
	EXPECT_EQ(control.kernel_walk_differs, 0);
}

static const __u64 other_frames[] = {RETURN(1), RETURN(3), RETURN(0x300), RETURN(1)};
static const __u64 longer_frames[] = {RETURN(1), RETURN(2), RETURN(0x300), RETURN(1)};

/* No walk is made any more, of whatever stack. */
static void expect_end_of_walks(const __u64 *frames, __u32 count)
{
	const __u64 others[] = {RETURN(7), RETURN(0x300)};

	begin_code();
	helper_tells(frames, count);
	EXPECT_EQ(walked_stack_id(new_caller(1, plain_frames, 5)), 0);
	EXPECT_EQ(control.kernel_walk_differs, 1);
	helper_tells(others, 2);
	EXPECT_EQ(walked_stack_id(new_caller(2, others, 2)), 0);
	EXPECT_EQ(counted(WIRE_COUNT_KERNEL_WALK_DIFFERS).count, 1);
	EXPECT_EQ(counted(WIRE_COUNT_KERNEL_WALKED).count, 0);
	EXPECT_EQ(host_records(&intervals), 0);
}

TEST(KernelCompare, AnotherFrameEndsWalksForGood)
{
	expect_end_of_walks(other_frames, 3);
}

TEST(KernelCompare, FrameMoreEndsWalksForGood)
{
	expect_end_of_walks(longer_frames, 4);
}

TEST(KernelCompare, FrameLessEndsWalksForGood)
{
	expect_end_of_walks(told_frames, 2);
}

TEST(KernelCompare, NoFrameEndsWalksForGood)
{
	expect_end_of_walks(told_frames, 0);
}

/* The first addresses of what is left out, and the first behind. */
TEST(KernelCompare, FunctionsAreLeftOutUpToTheEnd)
{
	const __u64 frames[] = {FUNCTION(0x100), FUNCTION(0x300) - 1, FUNCTION(0x100) - 1, RETURN(0x300)};

	begin_code();
	helper_tells(&frames[2], 2);
	EXPECT_EQ(walked_stack_id(new_caller(1, frames, 4)), kernel_id(frames, 4));
}

/* Two frames are all that it tells of a stack (kernel.perf_event_max_stack). */
TEST(KernelCompare, FramesBeyondThoseThatTheHelperTellsMakeNoDifference)
{
	begin_code();
	walk_settings->max_frames = 2;
	helper_tells(told_frames, 2);
	EXPECT_EQ(walked_stack_id(new_caller(1, plain_frames, 5)), kernel_id(plain_frames, 5));
}

TEST(KernelCompare, HelperThatCouldHaveToldMoreMakesADifference)
{
	begin_code();
	walk_settings->max_frames = 3;
	helper_tells(told_frames, 2);
	EXPECT_EQ(walked_stack_id(new_caller(1, plain_frames, 5)), 0);
	EXPECT_EQ(control.kernel_walk_differs, 1);
}

TEST(KernelCompare, LongestStackIsCompared)
{
	__u64 frames[127];

	begin_kernel();
	chain_frames(frames, 125);
	helper_tells(frames, 127);
	EXPECT_EQ(walked_stack_id(new_chain(1, 125)), kernel_id(frames, 127));
	host.task_frames[126]++;
	walk_settings->checks_all = 1;
	EXPECT_EQ(walked_stack_id(new_chain(2, 125)), 0);
}

/* It is at work on this CPU already. */
TEST(KernelCompare, WalkByRowsIsBelievedWhereTheHelperCannotTell)
{
	begin_code();
	host.task_count = -16;
	EXPECT_EQ(walked_stack_id(new_caller(1, plain_frames, 5)), kernel_id(plain_frames, 5));
	EXPECT_EQ(control.kernel_walk_differs, 0);
}

/* The helper cannot tell where it begins. */
TEST(KernelCompare, NewThreadIsBelieved)
{
	const __u64 frames[] = {TEXT + 0x900002};
	struct task_struct *task = new_sleeper(1, 400);

	begin_code();
	helper_tells(told_frames, 3);
	*word_at(task, OLD_IP) = TEXT + 0x900001;
	EXPECT_EQ(walked_stack_id(task), kernel_id(frames, 1));
}

TEST(KernelCompare, StackThatIsKnownIsNotComparedAgain)
{
	begin_code();
	helper_tells(told_frames, 3);
	EXPECT_NE(walked_stack_id(new_caller(1, plain_frames, 5)), 0);
	helper_tells(other_frames, 3);
	EXPECT_EQ(walked_stack_id(new_caller(2, plain_frames, 5)), kernel_id(plain_frames, 5));
	EXPECT_EQ(counted(WIRE_COUNT_KERNEL_WALKED).count, 2);
}

TEST(KernelCompare, AllStacksAreComparedWhereTestsWantIt)
{
	begin_code();
	walk_settings->checks_all = 1;
	helper_tells(told_frames, 3);
	EXPECT_NE(walked_stack_id(new_caller(1, plain_frames, 5)), 0);
	helper_tells(other_frames, 3);
	EXPECT_EQ(walked_stack_id(new_caller(2, plain_frames, 5)), 0);
	EXPECT_EQ(control.kernel_walk_differs, 1);
}

/* Code without rows, called by the entry, which keeps a frame pointer. */
static const __u64 guessed_frames[] = {MODULE + 5, RETURN(0x300)};

static struct task_struct *new_guess(int pid)
{
	struct task_struct *task = new_sleeper(pid, 216);

	*word_at(task, OLD_IP) = MODULE + 5;
	*word_at(task, OLD_BP) = (__u64)word_at(task, 200);
	*word_at(task, 208) = RETURN(0x300);
	return task;
}

TEST(KernelCompare, GuessThatDiffersIsNotTakenAndEndsNothing)
{
	begin_code();
	helper_tells(told_frames, 3);
	EXPECT_EQ(walked_stack_id(new_guess(1)), 0);
	EXPECT_EQ(control.kernel_walk_differs, 0);
	EXPECT_EQ(counted(WIRE_COUNT_KERNEL_WALKED).count, 0);
	helper_tells(guessed_frames, 2);
	EXPECT_EQ(walked_stack_id(new_guess(2)), kernel_id(guessed_frames, 2));
}

TEST(KernelCompare, GuessEndsNothingWhereAllAreCompared)
{
	begin_code();
	walk_settings->checks_all = 1;
	helper_tells(told_frames, 3);
	EXPECT_EQ(walked_stack_id(new_guess(1)), 0);
	EXPECT_EQ(control.kernel_walk_differs, 0);
}

TEST(KernelCompare, GuessIsComparedEachTime)
{
	begin_code();
	helper_tells(guessed_frames, 2);
	EXPECT_NE(walked_stack_id(new_guess(1)), 0);
	helper_tells(told_frames, 3);
	EXPECT_EQ(walked_stack_id(new_guess(2)), 0);
	EXPECT_EQ(control.kernel_walk_differs, 0);
}

TEST(KernelCompare, GuessIsNotBelievedWhereTheHelperCannotTell)
{
	begin_code();
	helper_tells(guessed_frames, 2);
	EXPECT_NE(walked_stack_id(new_guess(1)), 0);
	host.task_count = -16;
	EXPECT_EQ(walked_stack_id(new_guess(2)), 0);
}

/* Rows of a module, of 16 bytes, and then of another module that has been loaded there, of 32. */
static void begin_module(void)
{
	begin_code();
	set_row(tables_at(1), MODULE, 16, 0, BITS(REG_SP, REG_NONE, TYPE_CALL));
	add_module(begin_modules(), MODULE, MODULE_BYTES, tables_at(1));
}

/* The frame has 32 bytes; what lies 16 bytes up is a return address, too. */
static struct task_struct *new_module_caller(int pid)
{
	struct task_struct *task = new_sleeper(pid, OLD_BYTES + 32);

	*word_at(task, OLD_IP) = MODULE + 5;
	*word_at(task, OLD_BYTES + 8) = RETURN(1);
	*word_at(task, OLD_BYTES + 24) = RETURN(0x300);
	return task;
}

static const __u64 new_module_frames[] = {MODULE + 5, RETURN(0x300)};

TEST(KernelCompare, RowsOfAModuleThatDifferAreLookedForAgain)
{
	struct task_struct *task = new_module_caller(1);

	begin_module();
	helper_tells(new_module_frames, 2);
	EXPECT_EQ(orc_cfa_offset(orc_row(MODULE + 4)), 16); /* of the old module, kept */
	tables_at(1)->rows[0][0] = 32;
	EXPECT_EQ(walked_stack_id(task), 0);
	EXPECT_EQ(control.kernel_walk_differs, 0);
	EXPECT_EQ(walked_stack_id(task), kernel_id(new_module_frames, 2));
}

/* Interrupted code is looked up where it is. */
TEST(KernelCompare, RowsOfInterruptedModulesAreLookedForAgain)
{
	const __u64 frames[] = {RETURN(0x300), MODULE + 5, RETURN(0x300)};
	struct task_struct *task = new_sleeper(1, 400);

	begin_module();
	*word_at(task, OLD_IP) = RETURN(0x300);
	*word_at(task, OLD_BYTES + 128) = MODULE + 5;
	*word_at(task, OLD_BYTES + 152) = (__u64)word_at(task, 368);
	*word_at(task, 376) = RETURN(1);
	*word_at(task, 392) = RETURN(0x300);
	helper_tells(frames, 3);
	EXPECT_EQ(orc_cfa_offset(orc_row(MODULE + 5)), 16);
	tables_at(1)->rows[0][0] = 32;
	EXPECT_EQ(walked_stack_id(task), 0);
	EXPECT_EQ(walked_stack_id(task), kernel_id(frames, 3));
}

TEST(KernelCompare, ModuleEndsWalksForGoodWhereAllAreCompared)
{
	begin_module();
	walk_settings->checks_all = 1;
	helper_tells(told_frames, 3);
	EXPECT_EQ(walked_stack_id(new_module_caller(1)), 0);
	EXPECT_EQ(control.kernel_walk_differs, 1);
}
