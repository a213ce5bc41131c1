/* Walks of user stacks by literal rows over literal words: the rules of rows, and how a walk ends. */
#include "tests/bpf/user_script.h"

#define SP (STACK + 0x10000)
#define CALLER(n) (0x500000ULL + 0x1000 * (n))

static void put(struct user_thread thread, __u64 offset, __u64 word)
{
	host_write_word(thread.task, SP + offset, word);
}

/* A walk that comes to nothing is counted once, for one reason. */
static void expect_failure(struct user_thread thread, __u32 id)
{
	EXPECT_EQ(walked_id(thread), 0);
	EXPECT_EQ(counted(id).count, 1);
	EXPECT_EQ(counted(WIRE_COUNT_USER_WALK_NO_CODE).count + counted(WIRE_COUNT_USER_WALK_NO_ROW).count +
			  counted(WIRE_COUNT_USER_WALK_NO_MEMORY).count,
		  1);
}

static void expect_no_failure(void)
{
	EXPECT_EQ(counted(WIRE_COUNT_USER_WALK_NO_CODE).count + counted(WIRE_COUNT_USER_WALK_NO_ROW).count +
			  counted(WIRE_COUNT_USER_WALK_NO_MEMORY).count,
		  0);
}

/* The return address of the leaf lies at 24; 32 bytes above lies that of its caller. */
TEST(UserWalk, FollowsCallsByTheStackPointer)
{
	struct user_thread thread = new_user_thread(1, SP);
	const __u64 frames[] = {LEAF, CALLER(1), CALLER(2)};

	tell_row(LEAF, CFA_SP, 32, 0);
	tell_caller(CALLER(1), CFA_SP, 32, 0);
	tell_caller(CALLER(2), CFA_NONE, 0, 0);
	put(thread, 24, CALLER(1));
	put(thread, 56, CALLER(2));
	EXPECT_EQ(walked_id(thread), user_id(frames, 3));
	expect_no_failure();
}

/* The leaf's address is its own: it is not looked up one before. */
TEST(UserWalk, LeafAloneIsLookedUpAtItsAddress)
{
	struct user_thread thread = new_user_thread(1, SP);

	tell_row(LEAF - 1, CFA_NONE, 0, 0);
	expect_failure(thread, WIRE_COUNT_USER_WALK_NO_ROW);
	tell_row(LEAF, CFA_NONE, 0, 0);
	EXPECT_EQ(walked_id(thread), user_id((const __u64[]){LEAF}, 1));
}

TEST(UserWalk, CallerIsLookedUpOneBefore)
{
	struct user_thread thread = new_user_thread(1, SP);

	tell_row(LEAF, CFA_SP, 8, 0);
	tell_row(CALLER(1), CFA_NONE, 0, 0);
	put(thread, 0, CALLER(1));
	expect_failure(thread, WIRE_COUNT_USER_WALK_NO_ROW);
	tell_row(CALLER(1) - 1, CFA_NONE, 0, 0);
	EXPECT_EQ(walked_id(thread), user_id((const __u64[]){LEAF, CALLER(1)}, 2));
}

/* By the register: its CFA is 16 above, and above that the next one's by what was saved 16 below it. */
TEST(UserWalk, FollowsCallsByTheFramePointer)
{
	struct user_thread thread = new_user_thread(1, SP);
	const __u64 frames[] = {LEAF, CALLER(1), CALLER(2)};

	tell_row(LEAF, CFA_FP | FP_AT_CFA, 16, -16);
	tell_caller(CALLER(1), CFA_FP | FP_AT_CFA, 16, -16);
	tell_caller(CALLER(2), CFA_NONE, 0, 0);
	thread.regs->bp = SP + 96;
	put(thread, 96, SP + 400);
	put(thread, 104, CALLER(1));
	put(thread, 400, 0);
	put(thread, 408, CALLER(2));
	EXPECT_EQ(walked_id(thread), user_id(frames, 3));
}

/* Frames in between that leave it where it is. */
TEST(UserWalk, FramePointerStaysThroughFramesThatDoNotTouchIt)
{
	struct user_thread thread = new_user_thread(1, SP);
	const __u64 frames[] = {LEAF, CALLER(1), CALLER(2), CALLER(3)};

	tell_row(LEAF, CFA_SP | FP_SAME, 8, 0);
	tell_caller(CALLER(1), CFA_SP | FP_AT_CFA, 16, -16);
	tell_caller(CALLER(2), CFA_SP | FP_SAME, 8, 0);
	tell_caller(CALLER(3), CFA_FP | FP_SAME, -8, 0);
	thread.regs->bp = 99; /* not this one */
	put(thread, 0, CALLER(1));
	put(thread, 8, SP + 320); /* 24 - 16 */
	put(thread, 16, CALLER(2));
	put(thread, 24, CALLER(3));
	put(thread, 304, 0); /* 320 - 8 - 8: the outermost frame */
	EXPECT_EQ(walked_id(thread), user_id(frames, 4));
}

TEST(UserWalk, FramePointerOfTheRegisterStaysToo)
{
	struct user_thread thread = new_user_thread(1, SP);

	tell_row(LEAF, CFA_SP | FP_SAME, 8, 0);
	tell_caller(CALLER(1), CFA_FP | FP_SAME, 24, 0);
	thread.regs->bp = SP + 200;
	put(thread, 0, CALLER(1));
	put(thread, 216, 0);
	EXPECT_EQ(walked_id(thread), user_id((const __u64[]){LEAF, CALLER(1)}, 2));
}

TEST(UserWalk, FramePointerThatWasLostIsNotFollowed)
{
	struct user_thread thread = new_user_thread(1, SP);

	tell_row(LEAF, CFA_SP | FP_LOST, 8, 0);
	tell_caller(CALLER(1), CFA_FP, 16, 0);
	thread.regs->bp = SP + 200;
	put(thread, 0, CALLER(1));
	put(thread, 208, 0);
	expect_failure(thread, WIRE_COUNT_USER_WALK_NO_MEMORY);
}

TEST(UserWalk, FramePointerThatWasLostIsFoundAgainWhereItWasSaved)
{
	struct user_thread thread = new_user_thread(1, SP);
	const __u64 frames[] = {LEAF, CALLER(1), CALLER(2)};

	tell_row(LEAF, CFA_SP | FP_LOST, 8, 0);
	tell_caller(CALLER(1), CFA_SP | FP_AT_CFA, 16, 8); /* above its CFA */
	tell_caller(CALLER(2), CFA_FP, 16, 0);
	put(thread, 0, CALLER(1));
	put(thread, 16, CALLER(2));
	put(thread, 32, SP + 200); /* 24 + 8 */
	put(thread, 208, 0);
	EXPECT_EQ(walked_id(thread), user_id(frames, 3));
}

TEST(UserWalk, LostFramePointerIsOfNoMatterToTheStackPointer)
{
	struct user_thread thread = new_user_thread(1, SP);

	tell_row(LEAF, CFA_SP | FP_LOST, 8, 0);
	tell_caller(CALLER(1), CFA_SP, 8, 0);
	put(thread, 0, CALLER(1));
	put(thread, 8, 0);
	EXPECT_EQ(walked_id(thread), user_id((const __u64[]){LEAF, CALLER(1)}, 2));
}

TEST(UserWalk, EndsAtAReturnAddressOfNull)
{
	struct user_thread thread = new_user_thread(1, SP);

	tell_row(LEAF, CFA_SP, 16, 0);
	put(thread, 8, 0);
	EXPECT_EQ(walked_id(thread), user_id((const __u64[]){LEAF}, 1));
	expect_no_failure();
}

/* By the ABI's mark, or where a guess ends. */
TEST(UserWalk, EndsAtAFramePointerOfNull)
{
	struct user_thread thread = new_user_thread(1, SP);

	tell_row(LEAF, CFA_FP | FP_AT_CFA, 16, -16);
	tell_caller(CALLER(1), CFA_FP | FP_AT_CFA, 16, -16);
	thread.regs->bp = SP + 96;
	put(thread, 96, 0);
	put(thread, 104, CALLER(1));
	EXPECT_EQ(walked_id(thread), user_id((const __u64[]){LEAF, CALLER(1)}, 2));
	expect_no_failure();
}

/* By a row that is a guess, to where no frame can be: unaligned, below the stack pointer, beyond the stack.
 * Where one can be, it is followed. */
TEST(UserWalk, GuessEndsWhereNoFrameCanBe)
{
	const __u64 cut[] = {LEAF, CALLER(1), CUT}, whole[] = {LEAF, CALLER(1), CALLER(2)};
	const __u64 fps[] = {SP + 97, SP, STACK_END, 4711, SP + 8};

	for (__u32 i = 0; i < 5; i++) {
		struct user_thread thread;

		set_up();
		thread = new_user_thread(1, SP);
		tell_row(LEAF, CFA_SP, 8, 0);
		tell_caller(CALLER(1), CFA_FP | FP_AT_CFA | GUESS, 16, -16);
		tell_caller(CALLER(2), CFA_NONE, 0, 0);
		put(thread, 0, CALLER(1));
		put(thread, 16, CALLER(2));
		thread.regs->bp = fps[i];
		check_note("frame pointer", fps[i]);
		EXPECT_EQ(walked_id(thread), i < 4 ? user_id(cut, 3) : user_id(whole, 3));
		expect_no_failure();
	}
}

TEST(UserWalk, GuessEndsWhereTheFramePointerWasLost)
{
	struct user_thread thread = new_user_thread(1, SP);

	tell_row(LEAF, CFA_SP | FP_LOST, 8, 0);
	tell_caller(CALLER(1), CFA_FP | FP_AT_CFA | GUESS, 16, -16);
	put(thread, 0, CALLER(1));
	thread.regs->bp = SP + 8;
	EXPECT_EQ(walked_id(thread), user_id((const __u64[]){LEAF, CALLER(1), CUT}, 3));
}

/* struct ucontext: the flags, the link and the alternate stack are 40 bytes; then r8 to r15, rdi, rsi, rbp at
 * 120, rbx, rdx, rax, rcx, rsp at 160, and rip at 168. */
static void put_context(struct user_thread thread, __u64 offset, __u64 fp, __u64 sp, __u64 pc)
{
	put(thread, offset + 120, fp);
	put(thread, offset + 160, sp);
	put(thread, offset + 168, pc);
}

#define TRAMPOLINE 0x7f0000001000ULL
#define INTERRUPTED 0x600000ULL

/* The handler returns to the trampoline at 8; the interrupted function's own address is looked up. */
TEST(UserWalk, GoesOnWhereASignalHasInterrupted)
{
	struct user_thread thread = new_user_thread(1, SP);
	const __u64 frames[] = {LEAF, TRAMPOLINE, INTERRUPTED, CALLER(1), CALLER(2)};

	tell_row(LEAF, CFA_SP | FP_LOST, 16, 0);
	tell_caller(TRAMPOLINE, CFA_CONTEXT, 0, 0);
	tell_row(INTERRUPTED, CFA_SP, 8, 0);
	tell_caller(CALLER(1), CFA_FP | FP_AT_CFA, 16, -16);
	tell_caller(CALLER(2), CFA_NONE, 0, 0);
	put(thread, 8, TRAMPOLINE);
	put_context(thread, 16, SP + 800, SP + 600, INTERRUPTED);
	put(thread, 600, CALLER(1));
	put(thread, 800, 0);
	put(thread, 808, CALLER(2));
	EXPECT_EQ(walked_id(thread), user_id(frames, 5));
	expect_no_failure();
	put_context(thread, 16, SP + 800, SP + 604, INTERRUPTED);
	expect_failure(thread, WIRE_COUNT_USER_WALK_NO_MEMORY);
}

#define OTHER_STACK 0x7f1000000000ULL

/* The handler has a stack of its own. */
TEST(UserWalk, GoesOnOnTheStackThatASignalHasInterrupted)
{
	struct user_thread thread = new_user_thread(1, SP);
	const __u64 frames[] = {LEAF, TRAMPOLINE, INTERRUPTED, CALLER(1)};

	host_map(thread.task, OTHER_STACK, OTHER_STACK + 0x2000, VM_WRITE | VM_STACK);
	host_memory(thread.task, OTHER_STACK + 0x1000);
	know_code(thread);
	tell_row(LEAF, CFA_SP, 16, 0);
	tell_caller(TRAMPOLINE, CFA_CONTEXT, 0, 0);
	tell_row(INTERRUPTED, CFA_SP, 24, 0);
	tell_caller(CALLER(1), CFA_NONE, 0, 0);
	put(thread, 8, TRAMPOLINE);
	put_context(thread, 16, 0, OTHER_STACK + 0x1fe8, INTERRUPTED);
	host_write_word(thread.task, OTHER_STACK + 0x1ff8, CALLER(1)); /* the last word of the mapping */
	EXPECT_EQ(walked_id(thread), user_id(frames, 4));
	expect_no_failure();
	put_context(thread, 16, 0, OTHER_STACK + 0x1ff0, INTERRUPTED); /* the same word would be beyond it */
	expect_failure(thread, WIRE_COUNT_USER_WALK_NO_MEMORY);
}

TEST(UserWalk, DoesNotFollowASignalToWhereNothingIsMapped)
{
	struct user_thread thread = new_user_thread(1, SP);

	tell_row(LEAF, CFA_SP, 16, 0);
	tell_caller(TRAMPOLINE, CFA_CONTEXT, 0, 0);
	tell_row(INTERRUPTED, CFA_NONE, 0, 0);
	put(thread, 8, TRAMPOLINE);
	put_context(thread, 16, 0, OTHER_STACK, INTERRUPTED);
	expect_failure(thread, WIRE_COUNT_USER_WALK_NO_MEMORY);
}

TEST(UserWalk, StackPointerHasToRise)
{
	for (__s64 offset = -8; offset <= 8; offset += 8) {
		struct user_thread thread;

		set_up();
		thread = new_user_thread(1, SP);
		tell_row(LEAF, CFA_SP, offset, 0);
		put(thread, -16, 0);
		put(thread, -8, 0);
		put(thread, 0, 0);
		check_note("offset", offset);
		if (offset > 0)
			EXPECT_EQ(walked_id(thread), user_id((const __u64[]){LEAF}, 1));
		else
			expect_failure(thread, WIRE_COUNT_USER_WALK_NO_MEMORY);
	}
}

/* The caller's frame pointer leads back: below its stack pointer, and to it, where it finds itself and
 * another one. */
TEST(UserWalk, StackPointerHasToRiseAboveCallersToo)
{
	for (__u32 i = 0; i < 2; i++) {
		struct user_thread thread;

		set_up();
		thread = new_user_thread(1, SP);
		tell_row(LEAF, CFA_SP, 64, 0);
		tell_caller(CALLER(1), CFA_FP | FP_AT_CFA, 16, 8);
		tell_caller(CALLER(2), CFA_NONE, 0, 0);
		thread.regs->bp = i ? SP + 48 : SP + 16;
		put(thread, 24, CALLER(2));
		put(thread, 56, CALLER(1));
		put(thread, 72, SP + 96);
		put(thread, 104, CALLER(2));
		expect_failure(thread, WIRE_COUNT_USER_WALK_NO_MEMORY);
	}
}

/* The frame pointer lies at or below the stack pointer: no CFA of it is above. */
TEST(UserWalk, FramePointerHasToLeadAboveTheStackPointer)
{
	for (__s64 offset = -8; offset <= 8; offset += 8) {
		struct user_thread thread;

		set_up();
		thread = new_user_thread(1, SP);
		tell_row(LEAF, CFA_FP, 16, 0);
		thread.regs->bp = SP + offset - 16;
		put(thread, offset - 8, 0);
		check_note("offset", offset);
		if (offset > 0)
			EXPECT_NE(walked_id(thread), 0);
		else
			expect_failure(thread, WIRE_COUNT_USER_WALK_NO_MEMORY);
	}
}

/* From such a stack pointer on, a window would hold halves of words: here of a null and a return address. */
TEST(UserWalk, StackPointerThatIsNoWordDoesNotShiftWords)
{
	struct user_thread thread = new_user_thread(1, SP + 4);

	tell_row(LEAF, CFA_FP, 16, 0);
	tell_caller(CALLER(1), CFA_NONE, 0, 0);
	thread.regs->bp = SP + 96;
	put(thread, 96, CALLER(1) << 32);
	put(thread, 104, 0);
	EXPECT_NE(walked_id(thread), user_id((const __u64[]){LEAF, CALLER(1)}, 2));
}

TEST(UserWalk, FramePointerHasToBeAWord)
{
	for (__u64 rest = 1; rest < 8; rest++) {
		struct user_thread thread;

		set_up();
		thread = new_user_thread(1, SP);
		tell_row(LEAF, CFA_FP, 16, 0);
		thread.regs->bp = SP + 96 + rest;
		expect_failure(thread, WIRE_COUNT_USER_WALK_NO_MEMORY);
	}
}

/* 256 frames, each of 8 bytes; one more is one too many, and no failure. */
TEST(UserWalk, SoManyFramesAreWalked)
{
	struct user_thread thread = new_user_thread(1, SP);
	__u64 frames[257] = {LEAF};

	tell_row(LEAF, CFA_SP, 8, 0);
	for (__u32 i = 1; i <= 256; i++) {
		frames[i] = CALLER(i);
		tell_caller(frames[i], CFA_SP, 8, 0);
		put(thread, 8 * (i - 1), frames[i]);
	}
	put(thread, 8 * 255, 0);
	EXPECT_EQ(walked_id(thread), user_id(frames, 256));
	put(thread, 8 * 255, frames[256]);
	put(thread, 8 * 256, 0);
	EXPECT_EQ(walked_id(thread), 0);
	expect_no_failure();
}

/* An id of 0 would say that there is none. */
TEST(UserWalk, EachFrameAndItsOrderMakeTheName)
{
	struct user_thread thread = new_user_thread(1, SP);

	tell_row(LEAF, CFA_SP, 8, 0);
	for (__u32 i = 1; i < 4; i++)
		tell_caller(CALLER(i), CFA_SP, 8, 0);
	for (__u32 order = 0; order < 2; order++) {
		const __u64 frames[] = {LEAF, CALLER(1 + order), CALLER(2 - order)};

		put(thread, 0, frames[1]);
		put(thread, 8, frames[2]);
		put(thread, 16, 0);
		EXPECT_EQ(walked_id(thread), user_id(frames, 3));
	}
}
