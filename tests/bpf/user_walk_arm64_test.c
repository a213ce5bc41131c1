/* Walks of user stacks of AArch64: return addresses that are anywhere in a frame, or in their register. */
#include "tests/bpf/user_script.h"

#define SP (STACK + 0x10000)
#define CALLER(n) (0xaaaab0500000ULL + 0x1000 * (n))
#define SIGNED(address) ((address) | 0x0051000000000000ULL)

static void put(struct user_thread thread, __u64 offset, __u64 word)
{
	host_write_word(thread.task, SP + offset, word);
}

static void tell(__u64 address, __u64 rules, __s64 cfa_offset, __s64 fp_offset, __s64 ra_offset)
{
	tell_word(address, arm64_row_word(rules, cfa_offset, fp_offset, ra_offset));
}

static void expect_failure(struct user_thread thread)
{
	EXPECT_EQ(walked_id(thread), 0);
	EXPECT_EQ(counted(WIRE_COUNT_USER_WALK_NO_MEMORY).count, 1);
}

/* stp x29, x30, [sp, #-48]!: both at the bottom of the frame. */
TEST(UserWalkArm64, ReturnAddressLiesAtTheBottomOfItsFrame)
{
	struct user_thread thread = new_user_thread(1, SP);

	tell(LEAF, CFA_SP | FP_AT_CFA, 48, -48, -40);
	tell(CALLER(1) - 1, CFA_SP | FP_AT_CFA, 32, -32, -24);
	tell(CALLER(2) - 1, CFA_NONE, 0, 0, -8);
	put(thread, 8, SIGNED(CALLER(1)));
	put(thread, 48 + 8, CALLER(2));
	EXPECT_EQ(walked_id(thread), user_id((const __u64[]){LEAF, CALLER(1), CALLER(2)}, 3));
}

/* A leaf without a frame: its caller's frame begins where the stack pointer is. */
TEST(UserWalkArm64, LeafsReturnAddressIsInItsRegister)
{
	struct user_thread thread = new_user_thread(1, SP);

	thread.regs->regs[30] = SIGNED(CALLER(1));
	tell(LEAF, CFA_SP, 0, 0, 0);
	tell(CALLER(1) - 1, CFA_SP, 16, 0, -8);
	tell(CALLER(2) - 1, CFA_NONE, 0, 0, -8);
	put(thread, 8, SIGNED(CALLER(2)));
	EXPECT_EQ(walked_id(thread), user_id((const __u64[]){LEAF, CALLER(1), CALLER(2)}, 3));
}

TEST(UserWalkArm64, LeafMayHaveAFrameAndLeaveTheRegisterAlone)
{
	struct user_thread thread = new_user_thread(1, SP);

	thread.regs->regs[30] = CALLER(1);
	tell(LEAF, CFA_SP, 64, 0, 0);
	tell(CALLER(1) - 1, CFA_NONE, 0, 0, -8);
	EXPECT_EQ(walked_id(thread), user_id((const __u64[]){LEAF, CALLER(1)}, 2));
}

/* What has called holds the address behind that call in the register, if anything. */
TEST(UserWalkArm64, CallersReturnAddressIsNotInTheRegister)
{
	struct user_thread thread = new_user_thread(1, SP);

	thread.regs->regs[30] = CALLER(1);
	tell(LEAF, CFA_SP, 16, 0, 0);
	tell(CALLER(1) - 1, CFA_SP, 32, 0, 0);
	expect_failure(thread);
}

/* A frame that saves its return address is more than nothing. */
TEST(UserWalkArm64, FramesRise)
{
	struct user_thread thread = new_user_thread(1, SP);

	put(thread, 8, CALLER(1));
	tell(LEAF, CFA_SP, 0, 0, 8);
	expect_failure(thread);
}

TEST(UserWalkArm64, RegisterOf0EndsTheWalk)
{
	struct user_thread thread = new_user_thread(1, SP);

	tell(LEAF, CFA_SP, 0, 0, 0);
	EXPECT_EQ(walked_id(thread), user_id((const __u64[]){LEAF}, 1));
}

/* The register of a leaf is a part of what a walk begins with. */
TEST(UserWalkArm64, MemoIsOfOneReturnAddress)
{
	struct user_thread thread = new_user_thread(1, SP);

	tell(LEAF, CFA_SP, 16, 0, 0);
	tell(CALLER(1) - 1, CFA_NONE, 0, 0, -8);
	tell(CALLER(2) - 1, CFA_NONE, 0, 0, -8);
	thread.regs->regs[30] = CALLER(1);
	EXPECT_EQ(walked_id(thread), user_id((const __u64[]){LEAF, CALLER(1)}, 2));
	thread.regs->regs[30] = CALLER(2);
	EXPECT_EQ(walked_id(thread), user_id((const __u64[]){LEAF, CALLER(2)}, 2));
	thread.regs->regs[30] = CALLER(1);
	EXPECT_EQ(walked_id(thread), user_id((const __u64[]){LEAF, CALLER(1)}, 2));
}

/* A siginfo of 128 bytes, and at 184 of the context behind it x0 to x30, sp and pc. */
TEST(UserWalkArm64, TrampolinesLeadToWhatWasInterrupted)
{
	struct user_thread thread = new_user_thread(1, SP);
	const __u64 x0 = 128 + 184;

	tell(LEAF, CFA_CONTEXT, 0, 0, -8);
	put(thread, x0 + 8 * 29, SP + 2048);
	put(thread, x0 + 8 * 30, CALLER(2));
	put(thread, x0 + 8 * 31, SP + 1024);
	put(thread, x0 + 8 * 32, CALLER(1));
	tell(CALLER(1), CFA_SP, 0, 0, 0); /* it was interrupted there: its address is its own */
	tell(CALLER(2) - 1, CFA_FP | FP_AT_CFA, 16, -16, -8);
	tell(CALLER(3) - 1, CFA_NONE, 0, 0, -8);
	put(thread, 2048 + 8, SIGNED(CALLER(3)));
	EXPECT_EQ(walked_id(thread), user_id((const __u64[]){LEAF, CALLER(1), CALLER(2), CALLER(3)}, 4));
}

/* Offsets are signed: 20 bits of the CFA's, 16 of the frame pointer's and 12 of the return address's, in
 * words. */
TEST(UserWalkArm64, OffsetsReachAsFarAsTheirBits)
{
	const __u64 word = arm64_row_word(CFA_SP | FP_AT_CFA, 8 * 0x7ffff, -8 * 0x8000, -8 * 0x800);

	EXPECT_EQ(row_cfa_offset(word), 8 * 0x7ffff);
	EXPECT_EQ(row_fp_offset(word), -8 * 0x8000);
	EXPECT_EQ(row_ra_offset(word), -8 * 0x800);
	EXPECT_EQ(row_ra_offset(arm64_row_word(CFA_SP, -8, 8 * 0x7fff, 8 * 0x7ff)), 8 * 0x7ff);
	EXPECT_EQ(row_shown(word, 0), 0);
	EXPECT_FALSE(word & (WIRE_ROW_KEPT_SP | WIRE_ROW_VERSIONED | WIRE_ROW_GUESS));
}
