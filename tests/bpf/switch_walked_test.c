/* Whether the user stack of a wait comes from a walk, a capture, or a capture that proves the walk. */
#include "tests/bpf/user_script.h"

#define SP (STACK + 0x10000)

static struct user_thread thread;
static __u64 id; /* of its stack */

/* A thread back from a wait, whose stack is one frame that can be walked. The budget is that of `ns`. */
static void begin_after(__u64 ns)
{
	thread = new_user_thread(7, SP);
	host_regs(thread.task)->orig_ax = 202; /* futex */
	tell_row(LEAF, CFA_NONE, 0, 0);
	id = user_id((const __u64[]){LEAF}, 1);
	settings->walks_user = settings->can_read_user = settings->has_task_work = 1;
	settings->capture_bytes_per_second = 1000000;
	settings->task_works_per_second = 1000;
	settings->process_ns_per_second = SECOND;
	host.now_ns = ns;
}

static void know_stack(void)
{
	const __u32 index = wire_bucket(id, WIRE_USER_STACK_BUCKETS);

	((struct wire_user_stack_bucket *)host_value(&user_stacks, &index, 0))->ids[1] = id;
}

static struct user_side side_of(struct task_state *state)
{
	return walked_or_captured(thread.task, state, host.now_ns, false);
}

static void expect_counts(__u64 known, __u64 unknown, __u64 captures)
{
	EXPECT_EQ(counted(WIRE_COUNT_USER_WALKED).count, known);
	EXPECT_EQ(counted(WIRE_COUNT_USER_WALK_UNKNOWN).count, unknown);
	EXPECT_EQ(counted(WIRE_COUNT_TASK_WORK).count, captures);
}

/* The capture says what the walk came to. */
static void expect_to_be_compared(struct user_side side)
{
	EXPECT_NE(side.cookie, 0);
	EXPECT_EQ(side.user_stack, 0);
	EXPECT_EQ(thread.state->walked.cookie, side.cookie);
	EXPECT_EQ(thread.state->walked.user_stack, id);
	EXPECT_EQ(thread.state->walked.code_hash, CODE_HASH);
	EXPECT_EQ(thread.state->walked.pc, LEAF);
	EXPECT_EQ(thread.state->walked.sp, SP);
}

TEST(WalkedSide, KnownStackNeedsNoCapture)
{
	struct user_side side;

	begin_after(SECOND);
	know_stack();
	side = side_of(thread.state);
	EXPECT_EQ(side.user_stack, id);
	EXPECT_EQ(side.cookie, 0);
	expect_counts(1, 0, 0);
}

TEST(WalkedSide, UnknownStackIsCaptured)
{
	begin_after(SECOND);
	expect_to_be_compared(side_of(thread.state));
	expect_counts(0, 1, 1);
}

TEST(WalkedSide, UnknownStackWithoutABudgetIsNone)
{
	struct user_side side;

	begin_after(0);
	side = side_of(thread.state);
	EXPECT_EQ(side.user_stack, 0);
	EXPECT_EQ(side.cookie, 0);
	EXPECT_EQ(side.no_user, WIRE_NO_USER_BUDGET);
	expect_counts(0, 1, 0);
}

TEST(WalkedSide, KnownStackIsProvenByACapture)
{
	begin_after(SECOND);
	know_stack();
	settings->proof_odds = 1;
	expect_to_be_compared(side_of(thread.state));
	expect_counts(1, 0, 1);
}

TEST(WalkedSide, KnownStackWithoutABudgetIsNotProven)
{
	struct user_side side;

	begin_after(0);
	know_stack();
	settings->proof_odds = 1;
	side = side_of(thread.state);
	EXPECT_EQ(side.user_stack, id);
	EXPECT_EQ(side.cookie, 0);
	expect_counts(1, 0, 0);
}

/* The numbers follow from the first one. */
TEST(WalkedSide, OneInSoManyIsProven)
{
	__u32 due = 0;

	begin_after(SECOND);
	this_cpu()->random = 1;
	for (__u32 i = 0; i < 10000; i++)
		due += is_proof_due();
	EXPECT_EQ(due, 0);
	settings->proof_odds = 100;
	for (__u32 i = 0; i < 10000; i++)
		due += is_proof_due();
	EXPECT_LE(50, due);
	EXPECT_LE(due, 150);
}

TEST(WalkedSide, StackWhoseCaptureIsPendingIsNotWalked)
{
	begin_after(SECOND);
	know_stack();
	thread.state->cookie = 4711;
	EXPECT_EQ(side_of(thread.state).cookie, 4711);
	expect_counts(0, 0, 0);
}

TEST(WalkedSide, NothingIsWalkedUnasked)
{
	begin_after(SECOND);
	know_stack();
	settings->walks_user = 0;
	EXPECT_NE(side_of(thread.state).cookie, 0);
	expect_counts(0, 0, 1);
	EXPECT_EQ(thread.state->walked.user_stack, 0);
}

TEST(WalkedSide, ThreadWithoutStorageIsNotWalked)
{
	begin_after(SECOND);
	know_stack();
	EXPECT_EQ(side_of(NULL).user_stack, 0);
	EXPECT_EQ(counted(WIRE_COUNT_USER_WALKED).count, 0);
}
