/* Walks of the kernel stacks of threads that were switched out, by literal rows over literal words. */
#include "tests/bpf/kernel_script.h"

/* Is the walk of the task complete, and is it of these frames? */
static void expect_walk(struct task_struct *task, const __u64 *frames, __u32 count)
{
	struct walk_memory *memory = walk_kernel(task);

	ASSERT_TRUE(memory);
	EXPECT_EQ(memory->walked.head.count, count);
	EXPECT_BYTES(memory->walked.frames, frames, count * sizeof(*frames));
	EXPECT_EQ(memory->walked.head.id, kernel_id(frames, count));
}
#define EXPECT_WALK(task, ...)                                                                               \
	expect_walk(task, (const __u64[]){__VA_ARGS__}, sizeof((const __u64[]){__VA_ARGS__}) / sizeof(__u64))

/* 56 + 32 = 88: the return address is at 80; the caller has 16 bytes more, to 104, where the user's registers
 * lie. */
TEST(KernelWalk, FollowsCallsByTheStackPointer)
{
	struct task_struct *task = new_sleeper(1, 104);

	begin_kernel();
	add_function(0, 32);
	add_function(1, 16);
	add_entry(2);
	*word_at(task, OLD_IP) = RETURN(0);
	*word_at(task, 80) = RETURN(1);
	*word_at(task, 96) = RETURN(2);
	EXPECT_WALK(task, RETURN(0), RETURN(1), RETURN(2));
}

/* A call may be the last that a function does: the address behind it is another function's. */
TEST(KernelWalk, LooksAddressesUpOneBefore)
{
	struct task_struct *task = new_sleeper(1, 104);

	begin_kernel();
	add_function(0, 32);
	add_function(1, 16);
	add_entry(2);
	add_function(3, 800);
	*word_at(task, OLD_IP) = FUNCTION(1);
	*word_at(task, 80) = FUNCTION(2);
	*word_at(task, 96) = FUNCTION(3);
	EXPECT_WALK(task, FUNCTION(1), FUNCTION(2), FUNCTION(3));
}

/* The frame pointer of the switch leads to 200; 16 bytes above is the CFA. */
TEST(KernelWalk, FollowsCallsByTheFramePointer)
{
	struct task_struct *task = new_sleeper(1, 216);

	begin_kernel();
	add_row(FUNCTION(0), 16, -16, BITS(REG_BP, REG_PREV_SP, TYPE_CALL));
	add_entry(2);
	*word_at(task, OLD_IP) = RETURN(0);
	*word_at(task, OLD_BP) = (__u64)word_at(task, 200);
	*word_at(task, 208) = RETURN(2);
	EXPECT_WALK(task, RETURN(0), RETURN(2));
}

/* Saved at 72 = 88 - 16, it is needed after one more frame, which leaves it where it is. */
TEST(KernelWalk, FollowsFramePointersToWhereTheyWereSaved)
{
	struct task_struct *task = new_sleeper(1, 416);

	begin_kernel();
	add_row(FUNCTION(0), 32, -16, BITS(REG_SP, REG_PREV_SP, TYPE_CALL));
	add_function(1, 16);
	add_row(FUNCTION(2), 16, -16, BITS(REG_BP, REG_PREV_SP, TYPE_CALL));
	add_entry(3);
	*word_at(task, OLD_IP) = RETURN(0);
	*word_at(task, OLD_BP) = (__u64)word_at(task, 80); /* not this one */
	*word_at(task, 72) = (__u64)word_at(task, 400);
	*word_at(task, 80) = RETURN(1);
	*word_at(task, 96) = RETURN(2);
	*word_at(task, 408) = RETURN(3);
	EXPECT_WALK(task, RETURN(0), RETURN(1), RETURN(2), RETURN(3));
}

/* It may be anything as long as no row needs it. */
TEST(KernelWalk, DoesNotMindFramePointersThatNobodyNeeds)
{
	struct task_struct *task = new_sleeper(1, 88);

	begin_kernel();
	add_row(FUNCTION(0), 32, -4096, BITS(REG_SP, REG_PREV_SP, TYPE_CALL));
	add_entry(2);
	*word_at(task, OLD_IP) = RETURN(0);
	*word_at(task, OLD_BP) = 0x1234567;
	*word_at(task, 80) = RETURN(2);
	EXPECT_WALK(task, RETURN(0), RETURN(2));
}

/* The CFA lies in memory, 8 below the frame pointer: 168. The caller's is at the frame pointer itself. */
TEST(KernelWalk, FollowsWhatLiesAtTheFramePointer)
{
	struct task_struct *task = new_sleeper(1, 316);

	task->thread.sp = (__u64)host_regs(task) - 320;
	begin_kernel();
	add_row(FUNCTION(0), -8, 0, BITS(REG_BP_INDIRECT, REG_BP, TYPE_CALL));
	add_row(FUNCTION(1), 16, -16, BITS(REG_BP, REG_PREV_SP, TYPE_CALL));
	add_entry(2);
	*word_at(task, OLD_IP) = RETURN(0);
	*word_at(task, OLD_BP) = (__u64)word_at(task, 120);
	*word_at(task, 112) = (__u64)word_at(task, 168);
	*word_at(task, 160) = RETURN(1);
	*word_at(task, 120) = (__u64)word_at(task, 304);
	*word_at(task, 312) = RETURN(2);
	EXPECT_WALK(task, RETURN(0), RETURN(1), RETURN(2));
}

/* Registers in the kernel's order: r15 to r12, then rbp at 32; rip at 128, rsp at 152. */
static void interrupt_at(struct task_struct *task, __u64 regs, __u64 ip, __u64 bp, __u64 sp)
{
	*word_at(task, regs + 32) = (__u64)word_at(task, bp);
	*word_at(task, regs + 128) = ip;
	*word_at(task, regs + 152) = (__u64)word_at(task, sp);
}

/* What was interrupted had called nobody: its address is its own, here the first one of its function. */
TEST(KernelWalk, FollowsInterruptsInsideTheKernel)
{
	struct task_struct *task = new_sleeper(1, 416);

	begin_kernel();
	add_function(0, 16);
	add_entry(1);
	add_row(FUNCTION(2), 16, -16, BITS(REG_BP, REG_PREV_SP, TYPE_CALL));
	add_function(3, 16);
	add_entry(4);
	*word_at(task, OLD_IP) = RETURN(0);
	*word_at(task, 64) = RETURN(1);
	interrupt_at(task, 72, FUNCTION(2), 384, 240);
	*word_at(task, 392) = FUNCTION(4); /* returned to again: looked up one before */
	*word_at(task, 408) = RETURN(4);
	EXPECT_WALK(task, RETURN(0), RETURN(1), FUNCTION(2), FUNCTION(4), RETURN(4));
}

TEST(KernelWalk, GoesOnAtTheStackPointerOfWhatWasInterrupted)
{
	struct task_struct *task = new_sleeper(1, 256);

	begin_kernel();
	add_function(0, 16);
	add_entry(1);
	add_function(2, 16);
	add_entry(3);
	*word_at(task, OLD_IP) = RETURN(0);
	*word_at(task, 64) = RETURN(1);
	interrupt_at(task, 72, FUNCTION(2), 0, 240);
	*word_at(task, 248) = RETURN(3);
	EXPECT_WALK(task, RETURN(0), RETURN(1), FUNCTION(2), RETURN(3));
}

/* The row of a signal: the address above it is no return address. */
TEST(KernelWalk, LooksAddressesAboveSignalsUpAsTheyAre)
{
	struct task_struct *task = new_sleeper(1, 104);

	begin_kernel();
	add_row(FUNCTION(0), 32, 0, BITS(REG_SP, REG_NONE, TYPE_CALL) | SIGNAL);
	add_function(1, 800);
	add_function(2, 16);
	add_entry(3);
	*word_at(task, OLD_IP) = RETURN(0);
	*word_at(task, 80) = FUNCTION(2);
	*word_at(task, 96) = RETURN(3);
	EXPECT_WALK(task, RETURN(0), FUNCTION(2), RETURN(3));
}

TEST(KernelWalk, EndsWhereTheRowSaysSo)
{
	struct task_struct *task = new_sleeper(1, 400);

	begin_kernel();
	add_function(0, 16);
	add_row(FUNCTION(1), 0, 0, BITS(REG_NONE, REG_NONE, TYPE_END));
	*word_at(task, OLD_IP) = RETURN(0);
	*word_at(task, 64) = RETURN(1);
	EXPECT_WALK(task, RETURN(0), RETURN(1));
}

/* All addresses are looked up one before; its own is no return address, so it has one more. */
TEST(KernelWalk, NewThreadHasTheFrameThatItBeginsIn)
{
	struct task_struct *task = new_sleeper(1, 400);

	begin_kernel();
	add_function(0, 16);
	*word_at(task, OLD_IP) = TEXT + 0x900001;
	EXPECT_WALK(task, TEXT + 0x900002);
}

TEST(KernelWalk, CodeWithoutRowsIsTakenToKeepAFramePointer)
{
	struct task_struct *task = new_sleeper(1, 416);

	begin_kernel();
	add_function(0, 16);
	add_row(FUNCTION(1), 16, -16, BITS(REG_BP, REG_PREV_SP, TYPE_CALL));
	add_entry(2);
	*word_at(task, OLD_IP) = RETURN(0);
	*word_at(task, OLD_BP) = (__u64)word_at(task, 200);
	*word_at(task, 64) = MODULE + 5;
	*word_at(task, 200) = (__u64)word_at(task, 400);
	*word_at(task, 208) = RETURN(1);
	*word_at(task, 408) = RETURN(2);
	EXPECT_WALK(task, RETURN(0), MODULE + 5, RETURN(1), RETURN(2));
	EXPECT_TRUE(walk_memory()->walk.is_guessed);
	EXPECT_TRUE(walk_memory()->walk.left_text);
}

TEST(KernelWalk, ModulesAreWalkedByTheirRows)
{
	struct task_struct *task = new_sleeper(1, 128);

	begin_kernel();
	add_function(0, 16);
	add_entry(2);
	set_row(tables_at(1), MODULE, 56, 0, BITS(REG_SP, REG_NONE, TYPE_CALL));
	add_module(begin_modules(), MODULE, MODULE_BYTES, tables_at(1));
	*word_at(task, OLD_IP) = RETURN(0);
	*word_at(task, 64) = MODULE + 5;
	*word_at(task, 120) = RETURN(2);
	EXPECT_WALK(task, RETURN(0), MODULE + 5, RETURN(2));
	EXPECT_FALSE(walk_memory()->walk.is_guessed);
	EXPECT_TRUE(walk_memory()->walk.left_text);
}

TEST(KernelWalk, KernelsOwnCodeIsNoGuess)
{
	begin_kernel();
	EXPECT_WALK(new_chain(1, 1), RETURN(0), RETURN(1), RETURN(2));
	EXPECT_FALSE(walk_memory()->walk.is_guessed);
	EXPECT_FALSE(walk_memory()->walk.left_text);
}
