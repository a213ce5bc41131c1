/* Where walks of kernel stacks give up, each time at the limit and behind it. */
#include "tests/bpf/kernel_script.h"

static bool can_walk(struct task_struct *task)
{
	return walk_kernel(task) != NULL;
}

/* A thread in function 0, whose row this is, and which was called by the entry. Its frame ends the stack. */
static bool can_walk_row(__s16 sp_offset, __s16 bp_offset, __u16 bits)
{
	struct task_struct *task = new_sleeper(1, 56 + 16);

	begin_kernel();
	add_row(FUNCTION(0), sp_offset, bp_offset, bits);
	add_entry(1);
	*word_at(task, OLD_IP) = RETURN(0);
	*word_at(task, 64) = RETURN(1);
	return can_walk(task);
}

TEST(KernelWalkEnd, RowsOfOtherTypesEndIt)
{
	EXPECT_TRUE(can_walk_row(16, 0, BITS(REG_SP, REG_NONE, TYPE_CALL)));
	EXPECT_FALSE(can_walk_row(16, 0, BITS(REG_SP, REG_NONE, TYPE_UNDEFINED)));
	EXPECT_FALSE(can_walk_row(16, 0, BITS(REG_SP, REG_NONE, TYPE_PARTIAL)));
	EXPECT_FALSE(can_walk_row(16, 0, BITS(REG_SP, REG_NONE, 5)));
	EXPECT_FALSE(can_walk_row(16, 0, BITS(REG_SP, REG_NONE, 6)));
}

TEST(KernelWalkEnd, RowsByOtherRegistersEndIt)
{
	EXPECT_FALSE(can_walk_row(16, 0, BITS(REG_DX, REG_NONE, TYPE_CALL)));
	EXPECT_FALSE(can_walk_row(16, 0, BITS(REG_SP, REG_DX, TYPE_CALL)));
	EXPECT_FALSE(can_walk_row(16, 1, BITS(REG_SP, REG_NONE, TYPE_CALL)));
}

/* The CFA is the caller's stack pointer, and a return address lies below it. */
TEST(KernelWalkEnd, StackPointerHasToRise)
{
	struct task_struct *task = new_sleeper(1, 64);

	EXPECT_FALSE(can_walk_row(0, 0, BITS(REG_SP, REG_NONE, TYPE_CALL)));
	EXPECT_FALSE(can_walk_row(-8, 0, BITS(REG_SP, REG_NONE, TYPE_CALL)));
	begin_kernel();
	add_function(0, 8);
	add_entry(1);
	*word_at(task, OLD_IP) = RETURN(0);
	*word_at(task, 56) = RETURN(1);
	EXPECT_TRUE(can_walk(task));
}

/* The last word is the one before the user's registers, which are no part of the frames. */
TEST(KernelWalkEnd, ReturnAddressHasToLieOnTheStack)
{
	for (__u32 i = 0; i < 2; i++) {
		struct task_struct *task = new_sleeper(1, 128);

		begin_kernel();
		add_function(0, i ? 80 : 72); /* to 136, and to 128 */
		add_row(FUNCTION(1), 0, 0, BITS(REG_NONE, REG_NONE, TYPE_END));
		*word_at(task, OLD_IP) = RETURN(0);
		*word_at(task, 120) = *word_at(task, 128) = RETURN(1);
		EXPECT_EQ(can_walk(task), i == 0);
	}
}

TEST(KernelWalkEnd, StackHasToEndAtTheUsersRegisters)
{
	struct task_struct *task;

	begin_kernel();
	task = new_chain(1, 0);
	EXPECT_TRUE(can_walk(task));
	begin_kernel();
	task = new_sleeper(1, 80); /* 8 bytes more than its frames take: registers of no code lie there */
	add_function(0, 16);
	add_entry(1);
	*word_at(task, OLD_IP) = RETURN(0);
	*word_at(task, 64) = RETURN(1);
	EXPECT_FALSE(can_walk(task));
}

/* A frame that lies 8192 bytes up, of a longer stack. */
TEST(KernelWalkEnd, SoManyBytesOfAStackAreWalked)
{
	for (__u32 i = 0; i < 2; i++) {
		struct task_struct *task = new_sleeper(1, 12000);

		begin_kernel();
		add_function(0, 8192 - 56 + 8 * i);
		add_row(FUNCTION(1), 0, 0, BITS(REG_NONE, REG_NONE, TYPE_END));
		*word_at(task, OLD_IP) = RETURN(0);
		*word_at(task, 8184) = *word_at(task, 8192) = RETURN(1);
		EXPECT_EQ(can_walk(task), i == 0);
	}
}

/* Frame pointers: 40 to 55 with the CFA 16 above, of which only 48 leads above the stack pointer, to a word.
 */
TEST(KernelWalkEnd, FramePointerHasToLeadToAWordOfTheStack)
{
	const __u64 address = RETURN(1);
	const __u64 places[] = {48, 47, 49, 52, 40, 0, -16ULL, 72, 73, 80, 0x1000000};

	for (__u32 i = 0; i < sizeof(places) / sizeof(*places); i++) {
		struct task_struct *task = new_sleeper(1, 88);

		begin_kernel();
		add_row(FUNCTION(0), 16, -16, BITS(REG_BP, REG_PREV_SP, TYPE_CALL));
		add_row(FUNCTION(1), 0, 0, BITS(REG_NONE, REG_NONE, TYPE_END));
		*word_at(task, OLD_IP) = RETURN(0);
		*word_at(task, OLD_BP) = task->thread.sp + places[i];
		for (__u64 offset = 56; offset < 96; offset += 8)
			*word_at(task, offset) = RETURN(1);
		if (places[i] >= 48 && places[i] < 80) /* a return address is there, whatever else */
			__builtin_memcpy((char *)word_at(task, 8) + places[i], &address, 8);
		check_note("place", places[i]);
		EXPECT_EQ(can_walk(task), places[i] == 48 || places[i] == 72);
	}
}

/* By a frame pointer that leads back to the frame itself, and that is another one when it is met again. */
TEST(KernelWalkEnd, StackPointerHasToRiseByTheFramePointerToo)
{
	struct task_struct *task = new_sleeper(1, 400);

	begin_kernel();
	add_row(FUNCTION(0), 16, 16, BITS(REG_BP, REG_BP, TYPE_CALL));
	add_row(FUNCTION(1), 0, 0, BITS(REG_NONE, REG_NONE, TYPE_END));
	*word_at(task, OLD_IP) = RETURN(0);
	*word_at(task, OLD_BP) = (__u64)word_at(task, 40); /* the CFA is 56 */
	*word_at(task, 56) = (__u64)word_at(task, 72);
	*word_at(task, 80) = RETURN(1);
	EXPECT_FALSE(can_walk(task));
	*word_at(task, OLD_BP) = (__u64)word_at(task, 72);
	EXPECT_TRUE(can_walk(task));
}

/* The frame pointer was saved beyond the end of the stack, and the next row needs it. */
TEST(KernelWalkEnd, FramePointerHasToBeSavedOnTheStack)
{
	for (__u32 i = 0; i < 2; i++) {
		struct task_struct *task = new_sleeper(1, 104);

		begin_kernel();
		add_row(FUNCTION(0), 16, i ? 32 : 24, BITS(REG_SP, REG_PREV_SP, TYPE_CALL)); /* 104 or 96 */
		add_row(FUNCTION(1), 8, 0, BITS(REG_BP, REG_NONE, TYPE_CALL));
		add_row(FUNCTION(2), 0, 0, BITS(REG_NONE, REG_NONE, TYPE_END));
		*word_at(task, OLD_IP) = RETURN(0);
		*word_at(task, 64) = RETURN(1);
		*word_at(task, 72) = RETURN(2);
		*word_at(task, 96) = *word_at(task, 104) = task->thread.sp + 72;
		EXPECT_EQ(can_walk(task), i == 0);
	}
}

/* An interrupt pushes its registers below what it met. */
TEST(KernelWalkEnd, InterruptedStackPointerLiesAboveTheRegisters)
{
	for (__u32 i = 0; i < 2; i++) {
		struct task_struct *task = new_sleeper(1, 400);

		begin_kernel();
		add_entry(0);
		add_row(FUNCTION(1), 0, 0, BITS(REG_NONE, REG_NONE, TYPE_END));
		*word_at(task, OLD_IP) = RETURN(0);
		*word_at(task, 56 + 128) = FUNCTION(1);
		*word_at(task, 56 + 152) = task->thread.sp + (i ? 56 : 64);
		EXPECT_EQ(can_walk(task), i == 0);
	}
}

TEST(KernelWalkEnd, CodeOutOfReachEndsIt)
{
	struct task_struct *task;

	begin_kernel();
	task = new_chain(1, 0);
	EXPECT_TRUE(can_walk(task));
	*word_at(task, OLD_IP) = TEXT; /* looked up one before the first address */
	EXPECT_FALSE(can_walk(task));
	*word_at(task, OLD_IP) = TEXT + 0x80000001;
	EXPECT_FALSE(can_walk(task));
	*word_at(task, OLD_IP) = 0;
	EXPECT_FALSE(can_walk(task));
}

/* Tracers of functions keep the real return address elsewhere. */
TEST(KernelWalkEnd, TrampolinesEndIt)
{
	for (__u64 address = TEXT + 0x900002; address <= TEXT + 0x900004; address++) {
		struct task_struct *task;

		begin_kernel();
		task = new_chain(1, 1);
		add_entry(0x8000);
		*word_at(task, OLD_BYTES + 24) = address;
		EXPECT_EQ(can_walk(task), address == TEXT + 0x900004);
	}
}

/* The first frame, the entry, and those in between: 127, and one more. */
TEST(KernelWalkEnd, SoManyFramesAreWalked)
{
	__u64 frames[127];

	begin_kernel();
	chain_frames(frames, 125);
	EXPECT_TRUE(can_walk(new_chain(1, 125)));
	EXPECT_EQ(walk_memory()->walked.head.count, 127);
	EXPECT_EQ(walk_memory()->walked.head.id, kernel_id(frames, 127));
	EXPECT_FALSE(can_walk(new_chain(2, 126)));
}

/* Nothing may be missing of what a switch pushes. */
TEST(KernelWalkEnd, ShortestStackHasWhatTheSwitchPushed)
{
	for (__u64 bytes = 48; bytes <= 56; bytes += 8) {
		struct task_struct *task = new_sleeper(1, bytes);

		begin_kernel();
		add_row(FUNCTION(0), 0, 0, BITS(REG_NONE, REG_NONE, TYPE_END));
		*word_at(task, OLD_IP) = RETURN(0);
		EXPECT_EQ(can_walk(task), bytes == 56);
	}
}

TEST(KernelWalkEnd, NothingIsWalkedWhereThatIsNotEnabled)
{
	struct task_struct *task;

	begin_kernel();
	task = new_chain(1, 1);
	EXPECT_TRUE(can_walk(task));
	walk_settings->enabled = 0;
	EXPECT_FALSE(can_walk(task));
}

TEST(KernelWalkEnd, NothingIsWalkedAfterADifference)
{
	struct task_struct *task;

	begin_kernel();
	task = new_chain(1, 1);
	control.kernel_walk_differs = 1;
	EXPECT_FALSE(can_walk(task));
}

/* A failure of one walk says nothing of the next one. */
TEST(KernelWalkEnd, NextWalkBeginsAnew)
{
	struct task_struct *good, *bad;

	begin_kernel();
	good = new_chain(1, 1);
	bad = new_chain(2, 1);
	*word_at(bad, OLD_IP) = MODULE; /* and its frame pointer is 0 */
	EXPECT_FALSE(can_walk(bad));
	EXPECT_TRUE(can_walk(good));
	EXPECT_FALSE(walk_memory()->walk.is_guessed);
	EXPECT_FALSE(walk_memory()->walk.left_text);
	EXPECT_EQ(walk_memory()->walked.head.count, 3);
}
