/* Kernel stacks are known again by the words that a walk has read of them. */
#include "tests/bpf/kernel_script.h"

#define CHAIN 3 /* calls; frames are 5, and words that a walk reads as many */

static void begin_memos(void)
{
	begin_kernel();
	settings->keeps_stacks = 1;
	host.task_count = -16; /* the helper cannot tell: rows are believed */
}

/* The id, and whether it took a walk: walks begin with their counts set, which are spoiled here. */
static __u64 id_of(struct task_struct *task, bool *is_walked)
{
	struct walk_memory *memory = walk_memory();
	__u64 id;

	memory->walk.count = 0x1234;
	id = remembered_or_walked_id(task);
	*is_walked = memory->walk.count != 0x1234;
	return id;
}

static void expect_walked(struct task_struct *task, __u64 id)
{
	bool is_walked;

	EXPECT_EQ(id_of(task, &is_walked), id);
	EXPECT_TRUE(is_walked);
}

static void expect_remembered(struct task_struct *task, __u64 id)
{
	bool is_walked;

	EXPECT_EQ(id_of(task, &is_walked), id);
	EXPECT_FALSE(is_walked);
}

static __u64 chain_id(__u32 count)
{
	__u64 frames[WIRE_KERNEL_FRAMES];

	chain_frames(frames, count);
	return kernel_id(frames, count + 2);
}

TEST(KernelMemo, SameWordsOfAnyThreadAreRemembered)
{
	begin_memos();
	expect_walked(new_chain(1, CHAIN), chain_id(CHAIN));
	expect_remembered(new_chain(1, CHAIN), chain_id(CHAIN));
	expect_remembered(new_chain(2, CHAIN), chain_id(CHAIN));
	EXPECT_EQ(counted(WIRE_COUNT_KERNEL_WALKED).count, 3);
	EXPECT_EQ(host_records(&intervals), 1);
}

/* Under another key it would have another id. */
TEST(KernelMemo, StackThatIsRememberedIsNotHashed)
{
	__u64 id = chain_id(CHAIN);

	begin_memos();
	expect_walked(new_chain(1, CHAIN), id);
	settings->hash_key.low ^= 1;
	EXPECT_NE(chain_id(CHAIN), id);
	expect_remembered(new_chain(1, CHAIN), id);
}

/* Each return address, and so the frame that it leads to, is another in its turn. */
TEST(KernelMemo, AnotherWordIsNotRemembered)
{
	__u64 frames[CHAIN + 2];

	for (__u32 i = 0; i < CHAIN + 1; i++) {
		struct task_struct *task;

		begin_memos();
		expect_walked(new_chain(1, CHAIN), chain_id(CHAIN));
		task = new_chain(2, CHAIN);
		*word_at(task, i ? OLD_BYTES + 16 * i - 8 : OLD_IP) = RETURN(i ? 1 : 0) + 1;
		chain_frames(frames, CHAIN);
		frames[i]++;
		check_note("frame", i);
		expect_walked(task, kernel_id(frames, CHAIN + 2));
	}
}

/* The last word that is read tells of the entry. */
TEST(KernelMemo, AnotherLastWordIsNotRemembered)
{
	__u64 frames[CHAIN + 2];
	struct task_struct *task;

	begin_memos();
	expect_walked(new_chain(1, CHAIN), chain_id(CHAIN));
	task = new_chain(2, CHAIN);
	*word_at(task, OLD_BYTES + 16 * CHAIN + 8) = RETURN(2) + 1;
	chain_frames(frames, CHAIN);
	frames[CHAIN + 1]++;
	expect_walked(task, kernel_id(frames, CHAIN + 2));
}

TEST(KernelMemo, WordsThatNoWalkReadDoNotMatter)
{
	struct task_struct *task;

	begin_memos();
	expect_walked(new_chain(1, CHAIN), chain_id(CHAIN));
	task = new_chain(2, CHAIN);
	*word_at(task, OLD_BP) = 99;
	*word_at(task, OLD_BYTES) = 99;
	expect_remembered(task, chain_id(CHAIN));
}

/* Another stack whose length has the same place: its first bytes are equal, and are not compared. */
TEST(KernelMemo, AnotherLengthIsNotRemembered)
{
	__u64 bytes = OLD_BYTES + 16 * (CHAIN + 1), other = bytes + 8;
	struct task_struct *task;

	while ((wire_place(other, (__u64)-1, 0) & 127) != (wire_place(bytes, (__u64)-1, 0) & 127))
		other += 8;
	begin_memos();
	expect_walked(new_chain(1, CHAIN), chain_id(CHAIN));
	task = new_sleeper(2, other);
	__builtin_memcpy(word_at(task, 0), word_at(new_chain(3, CHAIN), 0), bytes);
	expect_walked(task, 0); /* where the registers would be nothing can be read */
}

/* Frame pointers: two stacks whose saved ones lead to the same offset, and one whose leads elsewhere. */
static struct task_struct *new_framed(int pid, __u64 offset)
{
	struct task_struct *task = new_sleeper(pid, 416);

	*word_at(task, OLD_IP) = RETURN(0);
	*word_at(task, OLD_BP) = (__u64)word_at(task, offset);
	*word_at(task, offset + 8) = RETURN(1);
	*word_at(task, 408) = RETURN(2);
	*word_at(task, offset) = (__u64)word_at(task, 400);
	return task;
}

static void begin_frames(void)
{
	begin_memos();
	add_row(FUNCTION(0), 16, -16, BITS(REG_BP, REG_PREV_SP, TYPE_CALL));
	add_row(FUNCTION(1), 16, -16, BITS(REG_BP, REG_PREV_SP, TYPE_CALL));
	add_entry(2);
}

TEST(KernelMemo, PlacesAreComparedByTheirOffsets)
{
	const __u64 frames[] = {RETURN(0), RETURN(1), RETURN(2)};

	begin_frames();
	expect_walked(new_framed(1, 200), kernel_id(frames, 3));
	expect_remembered(new_framed(2, 200), kernel_id(frames, 3));
}

TEST(KernelMemo, AnotherPlaceIsNotRemembered)
{
	const __u64 frames[] = {RETURN(0), RETURN(1), RETURN(2)},
		    others[] = {RETURN(0), RETURN(1) + 1, RETURN(2)};
	struct task_struct *task;

	begin_frames();
	expect_walked(new_framed(1, 200), kernel_id(frames, 3));
	task = new_framed(2, 200); /* all words are there, and the frame pointer leads to others */
	*word_at(task, OLD_BP) = (__u64)word_at(task, 240);
	*word_at(task, 240) = (__u64)word_at(task, 400);
	*word_at(task, 248) = RETURN(1) + 1;
	expect_walked(task, kernel_id(others, 3));
}

/* 48 words: the first address, and 47 return addresses; and one more. */
TEST(KernelMemo, SoManyWordsAreRemembered)
{
	begin_memos();
	expect_walked(new_chain(1, 46), chain_id(46));
	expect_remembered(new_chain(2, 46), chain_id(46));
	expect_walked(new_chain(3, 47), chain_id(47));
	expect_walked(new_chain(4, 47), chain_id(47));
}

TEST(KernelMemo, ModulesAndGuessesAreNotRemembered)
{
	const __u64 frames[] = {MODULE + 5, RETURN(2)};

	for (__u32 i = 0; i < 4; i++) {
		struct task_struct *task = new_sleeper(1, OLD_BYTES + 16);

		begin_memos();
		add_entry(2);
		set_row(tables_at(1), MODULE, 16, 0, BITS(REG_SP, REG_NONE, TYPE_CALL));
		if (i < 2)
			add_module(begin_modules(), MODULE, MODULE_BYTES, tables_at(1));
		helper_tells(frames, 2);
		*word_at(task, OLD_IP) = MODULE + 5;
		*word_at(task, OLD_BP) = (__u64)word_at(task, OLD_BYTES);
		*word_at(task, OLD_BYTES + 8) = RETURN(2);
		expect_walked(task, kernel_id(frames, 2));
		expect_walked(task, kernel_id(frames, 2));
	}
}

TEST(KernelMemo, NothingIsRememberedUnlessStacksAreKept)
{
	begin_memos();
	settings->keeps_stacks = 0;
	expect_walked(new_chain(1, CHAIN), chain_id(CHAIN));
	expect_walked(new_chain(1, CHAIN), chain_id(CHAIN));
}

/* User space has thrown its frames away. */
TEST(KernelMemo, StackThatHasToBeSentAgainIsWalked)
{
	const __u64 id = chain_id(CHAIN);
	const __u32 place = id % 4096;

	begin_memos();
	expect_walked(new_chain(1, CHAIN), id);
	host_clear(&sent);
	*(__u64 *)host_value(&sent_places, &place, 0) = 0;
	expect_walked(new_chain(1, CHAIN), id);
	EXPECT_EQ(host_records(&intervals), 2);
	expect_remembered(new_chain(1, CHAIN), id);
}

TEST(KernelMemo, StackThatWasNotSentIsNotRemembered)
{
	begin_memos();
	host.rings_are_busy = true;
	expect_walked(new_chain(1, CHAIN), chain_id(CHAIN));
	expect_walked(new_chain(1, CHAIN), chain_id(CHAIN));
	EXPECT_EQ(counted(WIRE_COUNT_DEFINITION_DELAYED).count, 2);
}

TEST(KernelMemo, CpusRememberByThemselves)
{
	begin_memos();
	expect_walked(new_chain(1, CHAIN), chain_id(CHAIN));
	host.cpu = 1;
	expect_walked(new_chain(1, CHAIN), chain_id(CHAIN));
	expect_remembered(new_chain(1, CHAIN), chain_id(CHAIN));
}

TEST(KernelMemo, NothingIsRememberedAfterADifference)
{
	begin_memos();
	expect_walked(new_chain(1, CHAIN), chain_id(CHAIN));
	control.kernel_walk_differs = 1;
	EXPECT_EQ(remembered_or_walked_id(new_chain(1, CHAIN)), 0);
}

/* Tests have everything walked that was remembered. */
TEST(KernelMemo, WrongMemoEndsWalksWhereAllAreCompared)
{
	struct task_struct *task;
	const __u64 frames[] = {RETURN(3)};
	struct stack_definition known = {.head = {.id = kernel_id(frames, 1)}};

	begin_memos();
	walk_settings->checks_all = 1;
	task = new_chain(1, CHAIN);
	expect_walked(task, chain_id(CHAIN));
	expect_walked(task, chain_id(CHAIN));
	EXPECT_EQ(control.kernel_walk_differs, 0);
	send_once(&known, false);
	kernel_memo_of(task, OLD_BYTES + 16 * (CHAIN + 1))->id = kernel_id(frames, 1);
	expect_walked(task, chain_id(CHAIN));
	EXPECT_EQ(control.kernel_walk_differs, 1);
}
