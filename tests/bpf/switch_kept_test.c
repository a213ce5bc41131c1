/* Which waits are recorded at all, by their length and their kind, and of which kind they are. */
#include "tests/bpf/schedule.h"

static struct task_struct *task;

/* A thread that leaves its CPU at 0, when recording begins. */
static void begin_with(bool preempt, __u32 state)
{
	begin_script();
	task = host_new_process(10);
	list(task);
	come_at(task, BEFORE(100));
	at(0);
	record();
	switch_cpu(0, script.idle[0], preempt, state);
}

static const __u32 losses[] = {WIRE_COUNT_BELOW_MIN_WAIT, WIRE_COUNT_ABOVE_MAX_WAIT, WIRE_COUNT_OTHER_KIND};

/* The wait that ends at this time has a record, or it is lost for this one reason. */
static void expect_told_at(__u64 ns)
{
	come_at(task, ns);
	EXPECT_EQ(sent_records(WIRE_INTERVAL), 1);
	for (int i = 0; i < 3; i++)
		EXPECT_EQ(counted(losses[i]).count, 0);
}

static void expect_lost_at(__u64 ns, __u32 reason)
{
	come_at(task, ns);
	EXPECT_EQ(sent_records(WIRE_INTERVAL), 0);
	for (int i = 0; i < 3; i++) {
		EXPECT_EQ(counted(losses[i]).count, losses[i] == reason);
		EXPECT_EQ(counted(losses[i]).ns, losses[i] == reason ? ns : 0);
	}
}

TEST(WaitLengths, ShorterOnesThanTheLeastAreLost)
{
	settings->min_wait_ns = 1000;
	begin_with(false, SLEEP);
	expect_lost_at(999, WIRE_COUNT_BELOW_MIN_WAIT);
}

TEST(WaitLengths, LeastIsTold)
{
	settings->min_wait_ns = 1000;
	begin_with(false, SLEEP);
	expect_told_at(1000);
}

TEST(WaitLengths, LongerOnesThanTheLongestAreLost)
{
	settings->max_wait_ns = 1000;
	begin_with(false, SLEEP);
	expect_lost_at(1001, WIRE_COUNT_ABOVE_MAX_WAIT);
}

TEST(WaitLengths, LongestIsTold)
{
	settings->max_wait_ns = 1000;
	begin_with(false, SLEEP);
	expect_told_at(1000);
}

TEST(WaitLengths, AllAreToldWithoutLimits)
{
	begin_with(false, SLEEP);
	expect_told_at(3600 * SECOND);
}

TEST(WaitLengths, WaitOfNoTimeIsTold)
{
	begin_with(false, SLEEP);
	expect_told_at(0);
}

/* A lost wait takes its stamp with it: the next one begins where the thread leaves again. */
TEST(WaitLengths, LostWaitIsOver)
{
	settings->min_wait_ns = 1000;
	begin_with(false, SLEEP);
	come_at(task, 500);
	at(2000);
	sleep_on(0, SLEEP, NULL);
	come_at(task, 3500);
	ASSERT_EQ(sent_records(WIRE_INTERVAL), 1);
	EXPECT_EQ(sent_interval(0)->blocked_ns, 1500);
}

TEST(WaitKinds, OnlyThoseThatAreAskedForAreTold)
{
	settings->kinds = 1 << WIRE_KIND_SLEEPING;
	begin_with(false, SLEEP);
	expect_told_at(1000);
}

TEST(WaitKinds, OthersAreLost)
{
	settings->kinds = 1 << WIRE_KIND_SLEEPING | 1 << WIRE_KIND_DISK;
	begin_with(true, 0);
	expect_lost_at(1000, WIRE_COUNT_OTHER_KIND);
}

/* Its kind in the record. */
static __u32 kind_after(bool preempt, __u32 state)
{
	begin_with(preempt, state);
	come_at(task, 1000);
	return sent_interval(sent_records(WIRE_INTERVAL) - 1)->kind;
}

TEST(WaitKinds, FollowFromTheStateOfTheThread)
{
	EXPECT_EQ(kind_after(false, TASK_INTERRUPTIBLE), WIRE_KIND_SLEEPING);
	EXPECT_EQ(kind_after(false, TASK_UNINTERRUPTIBLE), WIRE_KIND_DISK);
	EXPECT_EQ(kind_after(false, TASK_UNINTERRUPTIBLE | TASK_NOLOAD), WIRE_KIND_OTHER);
	EXPECT_EQ(kind_after(false, 4), WIRE_KIND_STOPPED);
	EXPECT_EQ(kind_after(false, 8), WIRE_KIND_STOPPED); /* traced */
	EXPECT_EQ(kind_after(false, 0x40), WIRE_KIND_OTHER);
}

/* One that is taken from its CPU on its way to sleep does not sleep: its state says so, and is not believed.
 */
TEST(WaitKinds, PreemptedThreadIsNotAsleep)
{
	EXPECT_EQ(kind_after(true, 0), WIRE_KIND_PREEMPTED);
	EXPECT_EQ(kind_after(true, TASK_INTERRUPTIBLE), WIRE_KIND_PREEMPTED);
	EXPECT_EQ(kind_after(false, 0), WIRE_KIND_PREEMPTED);
}

TEST(WaitKinds, YieldIsASystemCall)
{
	begin_with(false, 0);
	host_regs(task)->orig_ax = 24;
	come_at(task, 1000);
	EXPECT_EQ(sent_interval(0)->kind, WIRE_KIND_YIELDED);
	EXPECT_EQ(sent_interval(0)->syscall, 24);
}

/* Kernels before 6.18 throttle the queues of groups; real-time threads have other queues. */
TEST(WaitKinds, ThrottledThreadIsToldAsSuch)
{
	begin_with(false, SLEEP);
	come_at(task, 1000);
	task->se.cfs_rq->throttle_count = 1;
	at(2000);
	preempt_on(0, NULL);
	task->se.cfs_rq->throttle_count = 0;
	come_at(task, 3000);
	EXPECT_EQ(sent_interval(1)->kind, WIRE_KIND_THROTTLED);
	at(4000);
	task->se.cfs_rq->throttle_count = 1;
	sleep_on(0, SLEEP, NULL); /* which would sleep as well if it were not throttled */
	come_at(task, 5000);
	EXPECT_EQ(sent_interval(2)->kind, WIRE_KIND_SLEEPING);
	task->prio = 99;
	at(6000);
	preempt_on(0, NULL);
	come_at(task, 7000);
	EXPECT_EQ(sent_interval(3)->kind, WIRE_KIND_PREEMPTED);
}

TEST(UserSide, KernelThreadHasNone)
{
	begin_with(false, SLEEP);
	task->flags |= PF_IO_WORKER;
	come_at(task, 1000);
	EXPECT_EQ(sent_interval(0)->no_user, WIRE_NO_USER_KERNEL_THREAD);
	EXPECT_EQ(sent_interval(0)->syscall, -1);
}

/* Where captures cannot be deferred, those of a wait are made when it begins. */
TEST(UserSide, WithoutTaskWorkItIsWhatWasCapturedWhenTheThreadLeft)
{
	struct task_state *state;

	settings->ends_at_switch = 1;
	begin_with(false, SLEEP);
	state = host_value(&tasks, task, 0);
	state->cookie = 77;
	come_at(task, 1000);
	EXPECT_EQ(sent_interval(0)->cookie, 77);
	EXPECT_EQ(sent_interval(0)->no_user, WIRE_USER_PENDING);
	EXPECT_EQ(state->cookie, 0);
	at(2000);
	sleep_on(0, SLEEP, NULL);
	come_at(task, 3000);
	EXPECT_EQ(sent_interval(1)->cookie, 0);
	EXPECT_EQ(sent_interval(1)->no_user, WIRE_NO_USER_UNSUPPORTED);
	settings->can_read_user = 1;
	state->cookie = 0;
	at(4000);
	host.rings_are_busy = 1; /* no capture */
	sleep_on(0, SLEEP, NULL);
	host.rings_are_busy = 0;
	come_at(task, 5000);
	EXPECT_EQ(sent_interval(2)->no_user, WIRE_NO_USER_BUDGET);
	task->flags |= PF_USER_WORKER;
	at(6000);
	sleep_on(0, SLEEP, NULL);
	come_at(task, 7000);
	EXPECT_EQ(sent_interval(3)->no_user, WIRE_NO_USER_KERNEL_THREAD);
}

/* Nobody wakes a thread that was preempted, or one that wants to run all the time. */
TEST(Wakers, OnlyWaitsThatSomebodyEndsHaveAnUnknownOne)
{
	waker_settings->enabled = 1;
	begin_with(true, 0);
	come_at(task, 1000);
	EXPECT_EQ(counted(WIRE_COUNT_WAKER_UNKNOWN).count, 0);
	at(2000);
	sleep_on(0, SLEEP, NULL);
	come_at(task, 2700);
	EXPECT_EQ(counted(WIRE_COUNT_WAKER_UNKNOWN).count, 1);
	EXPECT_EQ(counted(WIRE_COUNT_WAKER_UNKNOWN).ns, 700);
	at(3000);
	sleep_on(0, SLEEP, NULL);
	wake(task);
	at(3900);
	run_on(0, task);
	EXPECT_EQ(counted(WIRE_COUNT_WAKER_UNKNOWN).count, 1);
	EXPECT_EQ(sent_records(WIRE_INTERVAL), 3);
}
