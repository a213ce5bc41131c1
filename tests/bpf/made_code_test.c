/* Code that a process makes while it runs: rows by version, what names have of it, and memos of such walks.
 */
#include "tests/bpf/user_script.h"

#define SP (STACK + 0x10000)
#define MADE 0x7f0000001000ULL	/* a return address in made code */
#define NATIVE 0x500000ULL	/* one in code that is mapped */
#define BLOCK 0x7f0000000f80ULL /* has the version: 16 bytes, and 4 more */
#define BEHIND 0x40		/* from there on */
#define KEPT_SP (1ULL << 60)
#define VERSIONED (1ULL << 61)

/* See wire_code_version: the odd numbers are those of wire_mixture. */
static __u64 version_of(__u64 low, __u64 high, __u32 behind)
{
	return low * 0x9e3779b97f4a7c15ULL + high * 0xbf58476d1ce4e5b9ULL + behind * 0x94d049bb133111ebULL;
}

static void write_version(struct user_thread thread, __u64 low, __u64 high, __u32 behind)
{
	host_write_word(thread.task, BLOCK, low);
	host_write_word(thread.task, BLOCK + 8, high);
	__builtin_memcpy(host_memory(thread.task, BLOCK + BEHIND), &behind, sizeof(behind));
}

static void put_made_row(__u64 key, __u64 word)
{
	struct wire_user_row_bucket *bucket = bucket_of(key);
	__u32 i = 0;

	while (i < 3 && bucket->rows[i].row)
		i++;
	bucket->rows[i] = (struct wire_user_row){.check = key ^ word, .row = word};
}

/* The row of the return address `pc` in this version of made code. */
static void tell_made(__u64 pc, __u64 version, __u64 word)
{
	put_made_row(user_key(CODE_HASH, pc - 1), 1ULL << 63 | VERSIONED | (BEHIND / 4ULL) << 48 | BLOCK);
	put_made_row(user_key(CODE_HASH, (pc - 1) ^ version), word);
}

/* The leaf is called by made code with a frame of 32 bytes, and that by the outermost function. */
static struct user_thread new_stack(void)
{
	struct user_thread thread = new_user_thread(1, SP);

	host_map(thread.task, BLOCK & ~(HOST_PAGE - 1), MADE + HOST_PAGE, VM_EXEC);
	know_code(thread);
	write_version(thread, 7, 1, 42);
	tell_row(LEAF, CFA_SP, 8, 0);
	host_write_word(thread.task, SP, MADE);
	host_write_word(thread.task, SP + 32, NATIVE);
	tell_caller(NATIVE, CFA_NONE, 0, 0);
	return thread;
}

static struct user_thread new_compiled(void)
{
	struct user_thread thread = new_stack();

	tell_made(MADE, version_of(7, 1, 42), user_row_word(CFA_SP, 32, 0));
	return thread;
}

static __u64 compiled_id(__u64 version)
{
	return user_id((const __u64[]){LEAF, MADE, version, NATIVE}, 4);
}

TEST(MadeCode, EachPartOfAWordHasItsBits)
{
	EXPECT_EQ(row_shown(~(0xffULL << 52), 0), 0);
	EXPECT_EQ(row_shown(~(0xffULL << 52), 1), 0);
	EXPECT_EQ(row_shown(15ULL << 52, 0), 15);
	EXPECT_EQ(row_shown(15ULL << 56, 1), 15);
	EXPECT_EQ(version_address(~0xffffffffffffULL), 0);
	EXPECT_EQ(version_address(~0ULL), 0xffffffffffffULL);
	EXPECT_EQ(version_offset(~(0xfffULL << 48)), 0);
	EXPECT_EQ(version_offset(0xfffULL << 48), 16380);
}

TEST(MadeCode, IsWalkedByTheRowOfItsVersion)
{
	struct user_thread thread = new_compiled();

	EXPECT_EQ(walked_id(thread), compiled_id(version_of(7, 1, 42)));
}

/* 16 bytes, each half, and 4 bytes behind. */
TEST(MadeCode, EachWordTellsTheVersion)
{
	const __u64 others[][3] = {{6, 1, 42}, {7, 0, 42}, {7, 1, 43}};

	for (int i = 0; i < 3; i++) {
		struct user_thread thread = new_compiled();

		write_version(thread, others[i][0], others[i][1], others[i][2]);
		EXPECT_EQ(walked_id(thread), 0);
		EXPECT_EQ(counted(WIRE_COUNT_USER_WALK_NO_ROW).count, 1 + i);
	}
}

TEST(MadeCode, HasOneNameForEachVersion)
{
	struct user_thread thread = new_compiled();

	write_version(thread, 7, 1, 43);
	tell_made(MADE, version_of(7, 1, 43), user_row_word(CFA_SP, 32, 0));
	EXPECT_EQ(walked_id(thread), compiled_id(version_of(7, 1, 43)));
}

TEST(MadeCode, WhoseVersionIsNotResidentIsNotWalked)
{
	struct user_thread thread = new_compiled();

	host_take_page(thread.task, BLOCK, false);
	EXPECT_EQ(walked_id(thread), 0);
	EXPECT_EQ(counted(WIRE_COUNT_USER_WALK_NO_ROW).count, 1);
}

/* The frame pointer leads to a frame of 9 words, of which 8 and 3 below it are shown. */
static struct user_thread new_interpreted(__u64 kept_sp)
{
	struct user_thread thread = new_stack();
	const __u64 fp = SP + 0x100;

	thread.regs->bp = fp;
	host_write_word(thread.task, fp - 64, 0xbc);
	host_write_word(thread.task, fp - 24, 0x3e7);
	host_write_word(thread.task, fp - 8, kept_sp);
	host_write_word(thread.task, fp, SP + 0x200);
	host_write_word(thread.task, fp + 8, NATIVE);
	tell_made(MADE, version_of(7, 1, 42),
		  user_row_word(CFA_FP | FP_AT_CFA, 16, -16) | KEPT_SP | 8ULL << 52 | 3ULL << 56);
	return thread;
}

static __u64 interpreted_id(struct user_thread thread, __u64 bcp, __u64 method)
{
	return user_id((const __u64[]){LEAF, MADE, version_of(7, 1, 42), bcp, method, NATIVE}, 6);
}

TEST(MadeCode, WhatIsInterpretedIsPartOfTheName)
{
	struct user_thread thread = new_interpreted(SP + 0x110);

	EXPECT_EQ(walked_id(thread), interpreted_id(thread, 0xbc, 0x3e7));
	host_write_word(thread.task, SP + 0x100 - 64, 0xbd);
	EXPECT_EQ(walked_id(thread), interpreted_id(thread, 0xbd, 0x3e7));
	host_write_word(thread.task, SP + 0x100 - 24, 0x3e8);
	EXPECT_EQ(walked_id(thread), interpreted_id(thread, 0xbd, 0x3e8));
}

/* The caller, which has a frame of 16 bytes, begins there, and not at the CFA. */
TEST(MadeCode, CallerBeginsAtTheStackPointerThatWasKept)
{
	const __u64 all[] = {SP + 0x110 - 24, SP + 0x110, SP + 0x110 + 16};

	for (__u32 i = 0; i < 3; i++) {
		const __u64 kept_sp = all[i];
		struct user_thread thread = new_interpreted(kept_sp);

		tell_caller(NATIVE, CFA_SP, 16, 0);
		host_write_word(thread.task, kept_sp + 8, NATIVE + 0x100);
		tell_caller(NATIVE + 0x100, CFA_NONE, 0, 0);
		EXPECT_EQ(walked_id(thread), user_id((const __u64[]){LEAF, MADE, version_of(7, 1, 42), 0xbc,
								     0x3e7, NATIVE, NATIVE + 0x100},
						     7));
	}
}

/* Unaligned; where the frame itself begins, and below. */
TEST(MadeCode, StackPointerThatDoesNotRiseEndsTheWalk)
{
	const __u64 kept[] = {SP + 0x111, SP + 8, SP};

	for (__u32 i = 0; i < 3; i++) {
		struct user_thread thread = new_interpreted(kept[i]);

		EXPECT_EQ(walked_id(thread), 0);
		EXPECT_EQ(counted(WIRE_COUNT_USER_WALK_NO_MEMORY).count, 1 + i);
	}
}

static void forget_rows(void)
{
	const __u32 first = 0;

	__builtin_memset(host_value(&user_rows, &first, 0), 0,
			 WIRE_USER_ROW_BUCKETS * sizeof(struct wire_user_row_bucket));
}

TEST(MadeCode, IsRememberedWhileItsVersionIsTheSame)
{
	struct user_thread thread = new_compiled();
	const __u64 id = compiled_id(version_of(7, 1, 42));

	EXPECT_EQ(walked_id(thread), id);
	forget_rows();
	EXPECT_EQ(walked_id(thread), id);
	write_version(thread, 7, 1, 43);
	EXPECT_EQ(walked_id(thread), 0);
	write_version(thread, 7, 1, 42);
	/* The memo is of the last walk, which came to no end. */
	EXPECT_EQ(walked_id(thread), 0);
}

/* So many frames of made code with a frame of 8 bytes each. */
static struct user_thread new_deep(__u32 frames)
{
	struct user_thread thread = new_stack();

	for (__u32 i = 0; i < frames; i++)
		host_write_word(thread.task, SP + 8 * i, MADE);
	host_write_word(thread.task, SP + 8 * frames, NATIVE);
	tell_made(MADE, version_of(7, 1, 42), user_row_word(CFA_SP, 8, 0));
	return thread;
}

TEST(MadeCode, MoreVersionsThanAMemoHasRoomForAreWalkedEachTime)
{
	struct user_thread thread = new_deep(48);
	__u64 id = walked_id(thread);

	EXPECT_NE(id, 0);
	forget_rows();
	EXPECT_EQ(walked_id(thread), id);
	thread = new_deep(49);
	EXPECT_NE(walked_id(thread), 0);
	EXPECT_NE(walked_id(thread), id);
	forget_rows();
	EXPECT_EQ(walked_id(thread), 0);
}
