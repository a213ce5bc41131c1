/*
 * Compiled with OFFCPU_TASK_WORK_ARGS=0, as for kernels before 6.18: the user stack of a wait is walked when
 * its thread leaves.
 */
#include "tests/bpf/schedule.h"
#include "tests/bpf/walked_script.h"

/* On a CPU, its stack walked if it leaves, and its state of 0 ms after the start. */
static struct task_struct *new_scheduled(void)
{
	struct task_struct *task;

	settings->ends_at_switch = settings->walks_user = settings->can_read_user = 1;
	settings->capture_bytes_per_second = 1000000;
	settings->process_ns_per_second = SECOND;
	begin_script();
	task = new_walked(2);
	list(task);
	run_on(0, task);
	at(0);
	record();
	at(MILLISECOND);
	return task;
}

/* The worker has walked such a stack before. */
static void know_stack(__u64 id)
{
	__u32 bucket = wire_bucket(id, WIRE_USER_STACK_BUCKETS);

	((struct wire_user_stack_bucket *)host_value(&user_stacks, &bucket, 0))->ids[0] = id;
}

static void sleep_and_return(struct task_struct *task)
{
	sleep_for(task, 5 * MILLISECOND);
}

TEST(Leave, KnownStackNeedsNoCapture)
{
	struct task_struct *task = new_scheduled();

	know_stack(walked_name(2));
	sleep_and_return(task);
	ASSERT_TRUE(sent_interval(0));
	EXPECT_EQ(sent_interval(0)->user_stack, walked_name(2));
	EXPECT_EQ(sent_interval(0)->cookie, 0);
	EXPECT_EQ(sent_interval(0)->blocked_ns, 5 * MILLISECOND);
	EXPECT_EQ(host_records(&captures), 0);
	EXPECT_EQ(counted(WIRE_COUNT_USER_WALKED).count, 1);
}

/* The capture says what was walked, so that the two are compared. */
TEST(Leave, UnknownStackIsCapturedAtOnce)
{
	struct task_struct *task = new_scheduled();
	const struct wire_capture *capture;

	sleep_and_return(task);
	ASSERT_EQ(host_records(&captures), 1);
	capture = host_record(&captures, 0).bytes;
	EXPECT_EQ(capture->walked, walked_name(2));
	EXPECT_EQ(capture->walked_code, hash_of_code(2));
	EXPECT_EQ(sent_interval(0)->cookie, capture->cookie);
	EXPECT_EQ(sent_interval(0)->user_stack, 0);
	EXPECT_EQ(counted(WIRE_COUNT_USER_WALK_UNKNOWN).count, 1);
}

/* One walk in one is proven. */
TEST(Leave, ProofIsACaptureOfAKnownStack)
{
	struct task_struct *task = new_scheduled();

	settings->proof_odds = 1;
	know_stack(walked_name(2));
	sleep_and_return(task);
	ASSERT_EQ(host_records(&captures), 1);
	EXPECT_EQ(((const struct wire_capture *)host_record(&captures, 0).bytes)->walked, walked_name(2));
	EXPECT_NE(sent_interval(0)->cookie, 0);
}

/* Where the budget is spent, too: the walk is as good. */
TEST(Leave, ProofThatCannotBeMadeIsLeftOut)
{
	struct task_struct *task = new_scheduled();

	settings->proof_odds = 1;
	settings->capture_bytes_per_second = 1;
	know_stack(walked_name(2));
	sleep_and_return(task);
	EXPECT_EQ(sent_interval(0)->user_stack, walked_name(2));
	EXPECT_EQ(sent_interval(0)->cookie, 0);
}

/* The stack is that of the wait that it was walked for. */
TEST(Leave, StackIsOfOneWait)
{
	struct task_struct *task = new_scheduled();

	know_stack(walked_name(2));
	sleep_and_return(task);
	host_take_page(task, WALKED_SP, true);
	sleep_and_return(task);
	EXPECT_EQ(sent_interval(1)->user_stack, 0);
	EXPECT_EQ(sent_interval(1)->cookie, 0);
	EXPECT_EQ(sent_interval(1)->no_user, WIRE_NO_USER_UNREADABLE);
}

TEST(Leave, ShortWaitsAreAddedUp)
{
	struct task_struct *task = new_scheduled();
	const struct wire_sum *sum;

	settings->sums = 1;
	know_stack(walked_name(2));
	for (__u32 i = 0; i < 3; i++)
		sleep_for(task, MILLISECOND / 2);
	EXPECT_FALSE(sent_interval(0));
	EXPECT_EQ(flush_sums(NULL, 0), 0);
	sum = sent_record(WIRE_SUM, 0);
	ASSERT_TRUE(sum);
	EXPECT_EQ(sum->count, 3);
	EXPECT_EQ(sum->interval.user_stack, walked_name(2));
	EXPECT_EQ(sum->interval.blocked_ns, 3 * MILLISECOND / 2);
}

TEST(Leave, ThreadsOfTheKernelAreNotWalked)
{
	struct task_struct *task = new_scheduled();

	task->flags |= PF_IO_WORKER;
	settings->kernel_threads = 1;
	sleep_and_return(task);
	EXPECT_EQ(counted(WIRE_COUNT_USER_WALKED).count, 0);
	EXPECT_EQ(host_records(&captures), 0);
}

/* It waits for its first CPU: nothing of it could be read. */
TEST(Leave, NewThreadHasNotLeft)
{
	struct task_struct *task = new_scheduled(), *child = host_new_thread(task, 8);

	fork_thread(task, child);
	at(3 * MILLISECOND);
	run_on(1, child);
	ASSERT_TRUE(sent_interval(0));
	EXPECT_EQ(sent_interval(0)->user_stack, 0);
	EXPECT_EQ(sent_interval(0)->no_user, WIRE_NO_USER_NOT_SEEN_LEAVING);
}

/* A walk whose code had to be looked at is proven as any other. */
TEST(Leave, WalkThatHasLookedAtItsMappingsIsProven)
{
	struct task_struct *task = new_scheduled();
	const struct wire_capture *capture;

	host_map(task, 0x20000000, 0x20001000, VM_WRITE);
	sleep_and_return(task);
	ASSERT_EQ(host_records(&captures), 1);
	capture = host_record(&captures, 0).bytes;
	EXPECT_EQ(capture->walked, walked_name(2));
	EXPECT_EQ(capture->walked_code, hash_of_code(2));
}

/* It was found for a wait that was left out, and the thread has lost its address space since. */
TEST(Leave, StackOfAWaitThatWasLeftOutIsNotTheNextOnes)
{
	struct task_struct *task = new_scheduled();

	know_stack(walked_name(2));
	settings->min_wait_ns = 2 * MILLISECOND;
	sleep_for(task, MILLISECOND);
	EXPECT_FALSE(sent_interval(0));
	task->mm = NULL;
	sleep_and_return(task);
	ASSERT_TRUE(sent_interval(0));
	EXPECT_EQ(sent_interval(0)->user_stack, 0);
	EXPECT_EQ(sent_interval(0)->no_user, WIRE_NO_USER_EXITING);
}
