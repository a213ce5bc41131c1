/* What walks of user stacks need of memory and of code: edges of the stack, pages, windows, versions of the
 * code. */
#include "tests/bpf/user_script.h"

#define SP (STACK + 0x10000)
#define CALLER(n) (0x500000ULL + 0x1000 * (n))

static void expect_failure(struct user_thread thread, __u32 id)
{
	EXPECT_EQ(walked_id(thread), 0);
	EXPECT_EQ(counted(id).count, 1);
}

/* The leaf's return address lies at this offset; it is null. */
static struct user_thread new_leaf(__u64 sp, __u64 offset)
{
	struct user_thread thread = new_user_thread(1, sp);

	tell_row(LEAF, CFA_SP, (__s64)offset + 8, 0);
	return thread;
}

static const __u64 leaf_frames[] = {LEAF};

TEST(UserMemory, LastWordOfTheStackIsRead)
{
	EXPECT_EQ(walked_id(new_leaf(STACK_END - 64, 56)), user_id(leaf_frames, 1));
}

TEST(UserMemory, NothingIsReadBehindTheStack)
{
	struct user_thread thread = new_leaf(STACK_END - 64, 64);

	host_map(thread.task, STACK_END, STACK_END + HOST_PAGE, VM_WRITE);
	host_memory(thread.task, STACK_END);
	see_code(thread.state, thread.task, 1 + (__u64)thread.task->mm->mm_lock_seq.sequence, CODE_HASH);
	expect_failure(thread, WIRE_COUNT_USER_WALK_NO_MEMORY);
}

TEST(UserMemory, StackPointerMayBeTheFirstOrLastOfItsMapping)
{
	EXPECT_EQ(walked_id(new_leaf(STACK, 0)), user_id(leaf_frames, 1));
	set_up();
	EXPECT_EQ(walked_id(new_leaf(STACK_END - 8, 0)), user_id(leaf_frames, 1));
}

TEST(UserMemory, StackPointerOutsideOfMappingsHasNoStack)
{
	expect_failure(new_leaf(STACK_END, 0), WIRE_COUNT_USER_WALK_NO_MEMORY);
	set_up();
	expect_failure(new_leaf(STACK - 8, 0), WIRE_COUNT_USER_WALK_NO_MEMORY);
}

/* A leaf that has saved the frame pointer so far below its stack pointer `sp`. */
static struct user_thread new_saved_below(__u64 sp, __u64 distance)
{
	struct user_thread thread = new_user_thread(1, sp);

	tell_row(LEAF, CFA_SP | FP_AT_CFA, 8, -8 - (__s64)distance);
	tell_caller(CALLER(1), CFA_FP, 16, 0);
	host_write_word(thread.task, sp, CALLER(1));
	host_write_word(thread.task, sp - distance, sp + 96);
	return thread;
}

static const __u64 leaf_and_caller[] = {LEAF, CALLER(1)};

/* In the stack pointer's page, and in the one below. */
TEST(UserMemory, RedZoneIsRead)
{
	EXPECT_EQ(walked_id(new_saved_below(SP + 512, 128)), user_id(leaf_and_caller, 2));
	set_up();
	EXPECT_EQ(walked_id(new_saved_below(SP + 8, 128)), user_id(leaf_and_caller, 2));
}

TEST(UserMemory, NothingIsReadBelowTheRedZone)
{
	expect_failure(new_saved_below(SP + 512, 136), WIRE_COUNT_USER_WALK_NO_MEMORY);
}

TEST(UserMemory, RedZoneThatIsNotResidentIsNotNeeded)
{
	struct user_thread thread = new_saved_below(SP + 8, 16);

	host_take_page(thread.task, SP - 8, false);
	expect_failure(thread, WIRE_COUNT_USER_WALK_NO_MEMORY);
	tell_row(LEAF, CFA_SP, 8, 0);
	tell_caller(CALLER(1), CFA_NONE, 0, 0);
	EXPECT_EQ(walked_id(thread), user_id(leaf_and_caller, 2));
}

TEST(UserMemory, RedZoneBeginsWithTheStack)
{
	struct user_thread thread = new_saved_below(STACK + 64, 72);

	host_map(thread.task, STACK - HOST_PAGE, STACK, VM_WRITE);
	know_code(thread);
	expect_failure(thread, WIRE_COUNT_USER_WALK_NO_MEMORY);
}

/* A page and 8 bytes up; the stack pointer's own page is not asked for more than is there. */
TEST(UserMemory, PageThatIsNotResidentEndsTheWalk)
{
	struct user_thread thread = new_leaf(SP, 4096);

	EXPECT_EQ(walked_id(thread), user_id(leaf_frames, 1));
	host_take_page(thread.task, SP + 4096, false);
	expect_failure(thread, WIRE_COUNT_USER_WALK_NO_MEMORY);
	host_memory(thread.task, SP + 4096);
	EXPECT_EQ(walked_id(thread), user_id(leaf_frames, 1));
}

/* 512 bytes below the end of a page whose next one is not resident. */
TEST(UserMemory, RestOfAPageIsReadBeforeOneThatIsNotResident)
{
	struct user_thread thread = new_leaf(SP + 4096 - 512, 504);

	host_take_page(thread.task, SP + 4096, false);
	EXPECT_EQ(walked_id(thread), user_id(leaf_frames, 1));
}

TEST(UserMemory, PagesThatAreNotNeededMayBeMissing)
{
	struct user_thread thread = new_leaf(SP, 6000 * 8);

	host_take_page(thread.task, SP + 4096, true);
	host_take_page(thread.task, SP + 8192, true);
	EXPECT_EQ(walked_id(thread), user_id(leaf_frames, 1));
}

TEST(UserMemory, StackPointerThatIsNoWordEndsTheWalk)
{
	expect_failure(new_leaf(SP + 4, 8), WIRE_COUNT_USER_WALK_NO_MEMORY);
}

/* Frames of 8, 2040, 2048 and 2056 bytes: on both sides of what is copied at one time, and across pages. */
TEST(UserMemory, WalkGoesOnBehindEachWindow)
{
	const __u64 sizes[] = {8, 2040, 2048, 2056, 4096, 4104, 1000, 64, 72};

	for (__u64 start = 0; start < 4096; start += 520) {
		struct user_thread thread;
		__u64 frames[10] = {LEAF}, at = SP + start;

		set_up();
		thread = new_user_thread(1, at);
		for (__u32 i = 0; i < 9; i++) {
			at += sizes[i];
			if (i)
				tell_caller(frames[i], CFA_SP, (__s64)sizes[i], 0);
			else
				tell_row(LEAF, CFA_SP, (__s64)sizes[i], 0);
			frames[i + 1] = CALLER(i + 1);
			host_write_word(thread.task, at - 8, i < 8 ? frames[i + 1] : 0);
		}
		check_note("start", start);
		EXPECT_EQ(walked_id(thread), user_id(frames, 9));
	}
}

/* What functions save of their callers' registers lies below the return address: 64 bytes come along with it.
 */
TEST(UserMemory, WindowBeginsBelowTheReturnAddress)
{
	const __u64 sp = SP + 128; /* the red zone is in the same page */
	struct user_thread thread = new_user_thread(1, sp);

	tell_row(LEAF, CFA_SP | FP_AT_CFA, 8008, -72);
	tell_caller(CALLER(1), CFA_FP, 16, 0);
	host_write_word(thread.task, sp + 8000, CALLER(1));
	host_write_word(thread.task, sp + 8008 - 72, sp + 8100 / 8 * 8);
	EXPECT_EQ(walked_id(thread), user_id((const __u64[]){LEAF, CALLER(1)}, 2));
	EXPECT_EQ(host.user_reads, 2); /* a window at the stack pointer, and one for both words */
}

TEST(UserMemory, MappingOfTheStackIsFoundOnce)
{
	struct user_thread thread = new_leaf(SP, 0);

	EXPECT_NE(walked_id(thread), 0);
	EXPECT_NE(walked_id(thread), 0);
	EXPECT_EQ(host.vmas_seen, 1);
}

/* Something was mapped below; the code is seen again as it was. */
TEST(UserMemory, MappingOfTheStackIsLookedForAgainAfterAChange)
{
	struct user_thread thread = new_leaf(SP, 4096);

	EXPECT_NE(walked_id(thread), 0);
	host_unmap(thread.task, STACK);
	host_map(thread.task, STACK, SP + 4096, VM_WRITE);
	see_code(thread.state, thread.task, 1 + (__u64)thread.task->mm->mm_lock_seq.sequence, CODE_HASH);
	expect_failure(thread, WIRE_COUNT_USER_WALK_NO_MEMORY);
}

TEST(UserCode, WalkNeedsTheCodeThatIsMappedNow)
{
	struct user_thread thread = new_leaf(SP, 0);

	EXPECT_NE(walked_id(thread), 0);
	host_map(thread.task, 0x600000, 0x601000, VM_EXEC);
	expect_failure(thread, WIRE_COUNT_USER_WALK_NO_CODE);
}

TEST(UserCode, MappingsThatAreBeingChangedHaveNoCode)
{
	struct user_thread thread = new_leaf(SP, 0);

	thread.task->mm->mm_lock_seq.sequence |= 1;
	expect_failure(thread, WIRE_COUNT_USER_WALK_NO_CODE);
}

TEST(UserCode, AnotherProgramHasOtherCode)
{
	struct user_thread thread = new_leaf(SP, 0);

	thread.task->self_exec_id++;
	expect_failure(thread, WIRE_COUNT_USER_WALK_NO_CODE);
	thread.task->self_exec_id--;
	thread.state->code.mm++;
	EXPECT_EQ(walked_id(thread), 0);
}

static struct space *space_with(struct user_thread thread, __u64 sequence)
{
	struct space *space = space_of(thread.task, false);

	space->mm = (__u64)thread.task->mm;
	space->exec_id = thread.task->self_exec_id;
	space->hash = CODE_HASH;
	space->sequence = sequence;
	return space;
}

TEST(UserCode, HashThatAnotherThreadHasFoundIsTaken)
{
	struct user_thread thread = new_leaf(SP, 0);
	__u64 sequence = 1 + (__u64)thread.task->mm->mm_lock_seq.sequence;

	thread.state->code = (struct code_seen){};
	space_with(thread, sequence);
	EXPECT_EQ(walked_id(thread), user_id(leaf_frames, 1));
	EXPECT_EQ(thread.state->code.sequence, sequence);
	EXPECT_EQ(thread.state->code.hash, CODE_HASH);
}

/* It is of an earlier moment, of another program, or of another address space. */
TEST(UserCode, HashOfAnotherMomentIsNotTaken)
{
	for (__u32 i = 0; i < 3; i++) {
		struct user_thread thread;
		struct space *space;

		set_up();
		thread = new_leaf(SP, 0);
		thread.state->code = (struct code_seen){};
		space = space_with(thread, 1 + (__u64)thread.task->mm->mm_lock_seq.sequence);
		space->sequence -= i == 0 ? 2 : 0;
		space->exec_id += i == 1;
		space->mm += i == 2;
		expect_failure(thread, WIRE_COUNT_USER_WALK_NO_CODE);
		EXPECT_EQ(thread.state->code.sequence, 0);
	}
}

/* Rows are of one code: the same addresses in another one have none. */
TEST(UserCode, RowsOfOtherCodeAreNotTaken)
{
	struct user_thread thread = new_leaf(SP, 0);

	thread.state->code.hash = CODE_HASH + 1;
	expect_failure(thread, WIRE_COUNT_USER_WALK_NO_ROW);
}

TEST(UserCode, ThreadWithoutAnAddressSpaceIsNotWalked)
{
	struct user_thread thread = new_leaf(SP, 0);

	thread.task->mm = NULL;
	EXPECT_EQ(walked_id(thread), 0);
	EXPECT_EQ(counted(WIRE_COUNT_USER_WALK_NO_CODE).count, 0);
	EXPECT_EQ(walked_user_stack(NULL), 0);
}
