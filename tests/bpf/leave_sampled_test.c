/* Where the end of a wait is seen in its thread, its stack is walked when it leaves, if the wait is surely
 * recorded, and else when it is back. */
#include "tests/bpf/schedule.h"
#include "tests/bpf/walked_script.h"

static struct task_struct *new_scheduled(void)
{
	struct task_struct *task;
	__u32 bucket;

	settings->walks_user = settings->walks_at_leave = settings->can_read_user = settings->has_stamps = 1;
	begin_script();
	task = new_walked(2);
	bucket = wire_bucket(walked_name(2), WIRE_USER_STACK_BUCKETS);
	((struct wire_user_stack_bucket *)host_value(&user_stacks, &bucket, 0))->ids[0] = walked_name(2);
	list(task);
	run_on(0, task);
	at(0);
	record();
	at(MILLISECOND);
	return task;
}

static void come_back_after(struct task_struct *task, __u64 ns)
{
	at(script.ns + ns - SCRIPT_START);
	wake(task);
	run_on(0, task);
}

/* Its memory is gone when it is back. */
TEST(LeaveSampled, WaitThatIsRecordedIsWalkedWhenItsThreadLeaves)
{
	struct task_struct *task = new_scheduled();

	sleep_on(0, SLEEP, NULL);
	host_take_page(task, WALKED_SP, true);
	come_back_after(task, 5 * MILLISECOND);
	ASSERT_TRUE(sent_interval(0));
	EXPECT_EQ(sent_interval(0)->user_stack, walked_name(2));
	EXPECT_EQ(counted(WIRE_COUNT_USER_WALKED).count, 1);
}

/* A user's T says which waits: longer ones are recorded, and walked then. */
TEST(LeaveSampled, WaitThatMayBeLeftOutIsWalkedWhenItIsOver)
{
	struct task_struct *task = new_scheduled();

	control.sample_ns[0] = MILLISECOND;
	host_take_page(task, WALKED_SP, true);
	sleep_on(0, SLEEP, NULL);
	host_write_word(task, WALKED_SP + 8, WALKED_CALLER);
	come_back_after(task, 5 * MILLISECOND);
	ASSERT_TRUE(sent_interval(0));
	EXPECT_EQ(sent_interval(0)->user_stack, walked_name(2));
	EXPECT_EQ(counted(WIRE_COUNT_USER_WALKED).count, 1);
}

/* What was walked for one wait is not taken for the next one, which left without a walk. */
TEST(LeaveSampled, WalkIsOfTheWaitThatItWasMadeFor)
{
	struct task_struct *task = new_scheduled();

	sleep_on(0, SLEEP, NULL);
	control.sample_ns[0] = WIRE_SAMPLE_MOST_NS;
	host.randoms[0] = ~0U;
	host.random_count = 1;
	come_back_after(task, 1); /* is left out */
	EXPECT_FALSE(sent_interval(0));
	host_write_word(task, WALKED_SP + 8, WALKED_CALLER + 1); /* of which nothing is known */
	sleep_on(0, SLEEP, NULL);
	come_back_after(task, WIRE_SAMPLE_MOST_NS);
	ASSERT_TRUE(sent_interval(0));
	EXPECT_EQ(sent_interval(0)->user_stack, 0);
}

/* Where waits are left out by what they were, no stack is walked in vain. */
TEST(LeaveSampled, WaitsThatAreFilteredAreWalkedWhenTheyAreOver)
{
	struct task_struct *task = new_scheduled();

	settings->walks_at_leave = 0;
	settings->min_wait_ns = MILLISECOND;
	sleep_on(0, SLEEP, NULL);
	come_back_after(task, MILLISECOND - 1);
	EXPECT_EQ(counted(WIRE_COUNT_USER_WALKED).count, 0);
	sleep_on(0, SLEEP, NULL);
	come_back_after(task, MILLISECOND);
	EXPECT_EQ(counted(WIRE_COUNT_USER_WALKED).count, 1);
	EXPECT_EQ(sent_interval(0)->user_stack, walked_name(2));
}
