/* User stacks are known again by where they begin and by the words that a walk has read: hits, and each kind
 * of miss. */
#include "tests/bpf/user_script.h"

#define SP (STACK + 0x10000)
#define CALLER(n) (0x500000ULL + 0x1000 * (n))

static void put(struct user_thread thread, __u64 offset, __u64 word)
{
	host_write_word(thread.task, SP + offset, word);
}

/* All rows are gone: nothing can be walked any more, but what was is remembered. */
static void forget_rows(void)
{
	const __u32 first = 0;

	__builtin_memset(host_value(&user_rows, &first, 0), 0,
			 WIRE_USER_ROW_BUCKETS * sizeof(struct wire_user_row_bucket));
}

/* The leaf, and three callers of 512 bytes each. */
static struct user_thread new_stack(void)
{
	struct user_thread thread = new_user_thread(1, SP);

	tell_row(LEAF, CFA_SP, 512, 0);
	for (__u32 i = 1; i <= 3; i++) {
		put(thread, 512 * i - 8, CALLER(i));
		tell_caller(CALLER(i), CFA_SP, 512, 0);
	}
	return thread;
}

static __u64 stack_id(void)
{
	return user_id((const __u64[]){LEAF, CALLER(1), CALLER(2), CALLER(3)}, 4);
}

static struct user_thread new_remembered(void)
{
	struct user_thread thread = new_stack();

	EXPECT_EQ(walked_id(thread), stack_id());
	forget_rows();
	return thread;
}

static void expect_forgotten(struct user_thread thread)
{
	EXPECT_EQ(walked_id(thread), 0);
	EXPECT_EQ(counted(WIRE_COUNT_USER_WALK_NO_ROW).count, 1);
}

TEST(UserMemo, StackThatWasWalkedIsRemembered)
{
	struct user_thread thread = new_remembered();

	EXPECT_EQ(walked_id(thread), stack_id());
	EXPECT_EQ(walked_id(thread), stack_id());
	EXPECT_EQ(counted(WIRE_COUNT_USER_WALK_NO_ROW).count, 0);
}

/* Under another key it would have another id. */
TEST(UserMemo, StackThatIsRememberedIsNotHashed)
{
	struct user_thread thread = new_remembered();
	__u64 id = stack_id();

	settings->hash_key.low ^= 1;
	EXPECT_NE(stack_id(), id);
	EXPECT_EQ(walked_id(thread), id);
}

/* Four return addresses, the last of which is null. */
TEST(UserMemo, EachWordThatWasReadHasToBeTheSame)
{
	for (__u32 i = 1; i <= 4; i++) {
		struct user_thread thread;

		set_up();
		thread = new_remembered();
		put(thread, 512 * i - 8, 1);
		check_note("word", i);
		expect_forgotten(thread);
	}
}

TEST(UserMemo, WordsThatNoWalkReadDoNotMatter)
{
	struct user_thread thread = new_remembered();

	put(thread, 512, 1);
	put(thread, 2048, 1);
	EXPECT_EQ(walked_id(thread), stack_id());
}

/* Memos have places by where a walk begins: this one is put where the other walk looks. */
static void move_memo(struct user_thread thread, __u64 pc, __u64 sp, __u64 code_hash)
{
	__u64 word = *(__u64 *)host_memory(thread.task, SP), other = *(__u64 *)host_memory(thread.task, sp);
	struct user_memo *from = memo_of(CODE_HASH, LEAF, SP, word), *to = memo_of(code_hash, pc, sp, other);

	EXPECT_EQ(from->id, stack_id());
	if (to != from)
		__builtin_memcpy(to, from, sizeof(*to));
}

TEST(UserMemo, WalkHasToBeginAtTheSameAddress)
{
	struct user_thread thread = new_remembered();

	thread.regs->ip = LEAF + 1;
	move_memo(thread, LEAF + 1, SP, CODE_HASH);
	expect_forgotten(thread);
}

/* All words up there are the same at the other stack pointer's offsets. */
TEST(UserMemo, WalkHasToBeginAtTheSameStackPointer)
{
	struct user_thread thread = new_stack();

	__builtin_memcpy(host_memory(thread.task, SP + 4096), host_memory(thread.task, SP), 4096);
	EXPECT_EQ(walked_id(thread), stack_id());
	forget_rows();
	thread.regs->sp = SP + 4096;
	move_memo(thread, LEAF, SP + 4096, CODE_HASH);
	expect_forgotten(thread);
}

TEST(UserMemo, CodeHasToBeTheSame)
{
	struct user_thread thread = new_remembered();

	thread.state->code.hash = CODE_HASH + 1;
	move_memo(thread, LEAF, SP, CODE_HASH + 1);
	expect_forgotten(thread);
}

TEST(UserMemo, FramePointerThatNobodyNeededDoesNotMatter)
{
	struct user_thread thread = new_remembered();

	thread.regs->bp = 12345;
	EXPECT_EQ(walked_id(thread), stack_id());
}

/* The second frame needs it, as it was in the register. */
TEST(UserMemo, FramePointerThatWasNeededHasToBeTheSame)
{
	struct user_thread thread = new_user_thread(1, SP);
	__u64 id = user_id((const __u64[]){LEAF, CALLER(1)}, 2);

	tell_row(LEAF, CFA_SP, 8, 0);
	tell_caller(CALLER(1), CFA_FP, 16, 0);
	put(thread, 0, CALLER(1));
	thread.regs->bp = SP + 96;
	EXPECT_EQ(walked_id(thread), id);
	forget_rows();
	EXPECT_EQ(walked_id(thread), id);
	thread.regs->bp = SP + 104;
	expect_forgotten(thread);
}

/* Saved by the leaf, it is read from there: the register does not matter, the word does. */
TEST(UserMemo, FramePointerThatWasSavedIsAWord)
{
	struct user_thread thread = new_user_thread(1, SP);
	__u64 id = user_id((const __u64[]){LEAF, CALLER(1)}, 2);

	tell_row(LEAF, CFA_SP | FP_AT_CFA, 16, -16);
	tell_caller(CALLER(1), CFA_FP, 16, 0);
	put(thread, 0, SP + 96);
	put(thread, 8, CALLER(1));
	EXPECT_EQ(walked_id(thread), id);
	forget_rows();
	thread.regs->bp = 77;
	EXPECT_EQ(walked_id(thread), id);
	put(thread, 0, SP + 104);
	expect_forgotten(thread);
}

/* Its place is taken by a walk that needs no frame pointer, and reads less. */
TEST(UserMemo, WhatAnEarlierWalkNeededDoesNotMatter)
{
	struct user_thread thread = new_user_thread(1, SP);
	__u64 id = user_id((const __u64[]){LEAF, CALLER(1)}, 2);

	tell_row(LEAF, CFA_SP, 8, 0);
	tell_caller(CALLER(1), CFA_FP, 16, 0);
	put(thread, 0, CALLER(1));
	thread.regs->bp = SP + 4000;
	EXPECT_EQ(walked_id(thread), id);
	put(thread, 4008, 1); /* not the same stack: it is walked, by another row */
	tell_caller(CALLER(1), CFA_NONE, 0, 0);
	EXPECT_EQ(walked_id(thread), id);
	forget_rows();
	thread.regs->bp = 77;
	EXPECT_EQ(walked_id(thread), id);
	thread.state->stack.end = SP + 2048;
	EXPECT_EQ(walked_id(thread), id);
}

/* 96 words at most, each frame one of them. */
static void expect_memory_of_frames(__u32 frames, bool is_remembered)
{
	struct user_thread thread;
	__u64 id;

	set_up();
	thread = new_user_thread(1, SP);
	tell_row(LEAF, CFA_SP, 8, 0);
	for (__u32 i = 1; i < frames; i++) {
		put(thread, 8 * (i - 1), CALLER(i));
		tell_caller(CALLER(i), CFA_SP, 8, 0);
	}
	id = walked_id(thread);
	EXPECT_NE(id, 0);
	forget_rows();
	EXPECT_EQ(walked_id(thread), is_remembered ? id : 0);
}

TEST(UserMemo, SoManyWordsAreRemembered)
{
	expect_memory_of_frames(96, true);
	expect_memory_of_frames(97, false);
}

/* A return address whose last byte is the 4096th, and one 8 bytes further up. */
static void expect_memory_of_bytes(__u64 offset, bool is_remembered)
{
	struct user_thread thread;
	__u64 id;

	set_up();
	thread = new_user_thread(1, SP);
	tell_row(LEAF, CFA_SP, (__s64)offset + 8, 0);
	id = walked_id(thread);
	EXPECT_EQ(id, user_id((const __u64[]){LEAF}, 1));
	forget_rows();
	EXPECT_EQ(walked_id(thread), is_remembered ? id : 0);
}

TEST(UserMemo, SoManyBytesAreRemembered)
{
	expect_memory_of_bytes(0, true);
	expect_memory_of_bytes(2040, true);
	expect_memory_of_bytes(2048, true);
	expect_memory_of_bytes(4088, true);
	expect_memory_of_bytes(4096, false);
}

/* The first window is copied for each walk; what lies above it is compared, too. */
TEST(UserMemo, WordAboveTheFirstWindowHasToBeTheSame)
{
	for (__u64 offset = 2040; offset <= 4088; offset += 8) {
		struct user_thread thread;

		set_up();
		thread = new_user_thread(1, SP);
		tell_row(LEAF, CFA_SP, (__s64)offset + 8, 0);
		EXPECT_NE(walked_id(thread), 0);
		forget_rows();
		put(thread, offset, 1);
		expect_forgotten(thread);
	}
}

TEST(UserMemo, PageOfAWordMayBeGone)
{
	struct user_thread thread = new_user_thread(1, SP + 2048);
	__u64 id;

	tell_row(LEAF, CFA_SP, 3000 / 8 * 8, 0); /* in the next page, above the first window */
	id = walked_id(thread);
	EXPECT_NE(id, 0);
	forget_rows();
	EXPECT_EQ(walked_id(thread), id);
	host_take_page(thread.task, SP + 4096, false);
	expect_forgotten(thread);
}

/* The mapping is shorter than it was: what lies behind may be anybody's. */
TEST(UserMemo, WordHasToLieOnTheStackStill)
{
	struct user_thread thread = new_user_thread(1, SP);

	tell_row(LEAF, CFA_SP, 4096, 0);
	EXPECT_NE(walked_id(thread), 0);
	forget_rows();
	thread.state->stack.end = SP + 4088;
	expect_forgotten(thread);
}

TEST(UserMemo, WalkThatFailedIsNotRemembered)
{
	struct user_thread thread = new_stack();

	put(thread, 512 * 4 - 8, CALLER(9)); /* without a row */
	EXPECT_EQ(walked_id(thread), 0);
	EXPECT_EQ(walked_id(thread), 0);
	EXPECT_EQ(counted(WIRE_COUNT_USER_WALK_NO_ROW).count, 2);
	put(thread, 512 * 4 - 8, 0);
	EXPECT_EQ(walked_id(thread), stack_id());
}

/* 257 frames without an end, in 257 words: no name, and none is kept. */
TEST(UserMemo, WalkWithoutAnEndIsNotRemembered)
{
	struct user_thread thread = new_user_thread(1, SP);

	tell_row(LEAF, CFA_SP, 8, 0);
	tell_caller(CALLER(1), CFA_SP, 8, 0);
	for (__u64 offset = 0; offset < 8 * 300; offset += 8)
		put(thread, offset, CALLER(1));
	EXPECT_EQ(walked_id(thread), 0);
	EXPECT_EQ(walked_id(thread), 0);
}

TEST(UserMemo, CpusRememberByThemselves)
{
	struct user_thread thread = new_remembered();

	host.cpu = 1;
	expect_forgotten(thread);
	host.cpu = 0;
	EXPECT_EQ(walked_id(thread), stack_id());
}
