/* Whose user stacks are asked for when a thread wakes another one. */
#include "tests/bpf/waking.h"

/* A waker with storage, which can be captured: a stack of a page, a budget that is full. */
static struct task_struct *new_waker(void)
{
	struct task_struct *waker = host_new_process(100);

	record_wakers();
	settings->can_read_user = settings->has_task_work = 1;
	settings->capture_bytes_per_second = 1 << 20;
	settings->task_works_per_second = 1000;
	settings->process_ns_per_second = SECOND;
	host_map(waker, 0x10000, 0x11000, VM_WRITE);
	host_memory(waker, 0x10000);
	host_regs(waker)->sp = 0x10100;
	bpf_task_storage_get(&tasks, waker, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	return waker;
}

/* What is known of `waker`, which wakes a thread that has slept for so long. */
static struct wire_waker waker_after(struct task_struct *waker, struct task_struct *wakee, __u64 slept_ns)
{
	host.now_ns = 10 * SECOND;
	make_wake(wakee);
	wake_of_task(wakee)->out_ns = 10 * SECOND - slept_ns;
	return wake_by(waker, wakee, FRAMES(CODE))->wakers[0];
}

static void expect_none(struct wire_waker seen, __u32 reason)
{
	EXPECT_EQ(seen.cookie, 0);
	EXPECT_EQ(seen.no_user, reason);
}

/* Asked for by task work: under a cookie of its context, 2, of this CPU, 0, and the first one. */
TEST(WakerUser, StackIsAskedForUnderACookieOfWakers)
{
	struct task_struct *waker = new_waker();
	struct wire_waker seen = waker_after(waker, host_new_process(200), 5 * MILLISECOND);

	EXPECT_EQ(seen.cookie, 2ULL << 46 | 1);
	EXPECT_EQ(seen.no_user, WIRE_USER_PENDING);
	EXPECT_EQ(host_count(&requests), 1);
	EXPECT_EQ(host_return_to_user(waker), 1);
	EXPECT_EQ(host_records(&captures), 1);
}

TEST(WakerUser, IsAskedForFromTheLeastWaitOn)
{
	struct task_struct *waker = new_waker();

	settings->min_wait_ns = 1000;
	expect_none(waker_after(waker, host_new_process(200), 999), WIRE_NO_USER_NOT_ASKED);
	EXPECT_EQ(waker_after(waker, host_new_process(200), 1000).no_user, WIRE_USER_PENDING);
}

/* A thread that is leaving has not waited yet, whatever it did before. */
TEST(WakerUser, ThreadThatIsLeavingHasNotWaited)
{
	struct task_struct *waker = new_waker(), *wakee = host_new_process(200);

	settings->min_wait_ns = 1;
	wakee->on_cpu = 1;
	expect_none(waker_after(waker, wakee, 5 * MILLISECOND), WIRE_NO_USER_NOT_ASKED);
}

/* Clocks of CPUs may be apart. */
TEST(WakerUser, SleepThatBeginsLaterHasNotBegun)
{
	struct task_struct *waker = new_waker();

	settings->min_wait_ns = 1;
	expect_none(waker_after(waker, host_new_process(200), -1ULL), WIRE_NO_USER_NOT_ASKED);
}

TEST(WakerUser, WhoIsNotRecordedMakesNobodyAsk)
{
	struct task_struct *waker = new_waker(), *wakee = host_new_process(200);

	settings->own_tgid = 200;
	expect_none(waker_after(waker, wakee, 5 * MILLISECOND), WIRE_NO_USER_NOT_ASKED);
}

/* The filters are about who waits: any thread wakes. */
TEST(WakerUser, WakerNeedNotBeRecorded)
{
	settings->own_tgid = 100;
	EXPECT_EQ(waker_after(new_waker(), host_new_process(200), 5 * MILLISECOND).no_user,
		  WIRE_USER_PENDING);
}

/* Whether anybody would ask or not. */
TEST(WakerUser, ThreadsOfTheKernelHaveNone)
{
	static const __u32 flags[] = {PF_KTHREAD, PF_IO_WORKER, PF_USER_WORKER};

	for (int i = 0; i < 3; i++) {
		struct task_struct *waker = new_waker();

		waker->flags = flags[i];
		settings->min_wait_ns = 0;
		expect_none(waker_after(waker, host_new_process(200), MILLISECOND),
			    WIRE_NO_USER_KERNEL_THREAD);
		settings->min_wait_ns = SECOND;
		expect_none(waker_after(waker, host_new_process(200), MILLISECOND),
			    WIRE_NO_USER_KERNEL_THREAD);
	}
}

/* An allocation might wake somebody: none is made here. */
TEST(WakerUser, WithoutStorageNobodyIsAsked)
{
	struct task_struct *waker = new_waker();

	host_clear(&tasks);
	expect_none(waker_after(waker, host_new_process(200), 5 * MILLISECOND), WIRE_NO_USER_NO_BUFFER);
	EXPECT_EQ(host_count(&tasks), 0);
}

TEST(WakerUser, KernelThatCannotReadUserMemorySaysSo)
{
	struct task_struct *waker = new_waker();

	settings->can_read_user = 0;
	expect_none(waker_after(waker, host_new_process(200), 5 * MILLISECOND), WIRE_NO_USER_UNSUPPORTED);
}

/* What a wake after such a sleep says of its waker, where so much is left of the budget of a second. */
static __u32 told_with(__u64 left_ns, __u64 slept_ns)
{
	struct task_struct *waker = new_waker();
	__u32 key = CONTEXT_WAKER;
	struct budget *budget = host_value(&budgets, &key, 0);

	settings->capture_bytes_per_second = 4 * WIRE_STACK_GENEROUS_BYTES;
	*budget = (struct budget){.last_ns = 10 * SECOND, .task_work_ns = SECOND, .bytes_ns = left_ns};
	return waker_after(waker, host_new_process(200), slept_ns).no_user;
}

/* A long wait may use the last quarter of a second's bytes, which its 16 KiB cost; a short one leaves it, and
 * its 4 KiB cost a sixteenth. */
TEST(WakerUser, WaitOfAMillisecondMayUseTheLastQuarter)
{
	EXPECT_EQ(told_with(SECOND / 4, MILLISECOND - 1), WIRE_NO_USER_BUDGET);
	EXPECT_EQ(told_with(SECOND / 4, MILLISECOND), WIRE_USER_PENDING);
	EXPECT_EQ(told_with(SECOND / 4 - 1, MILLISECOND), WIRE_NO_USER_BUDGET);
	EXPECT_EQ(told_with(SECOND / 4 + SECOND / 16, MILLISECOND - 1), WIRE_USER_PENDING);
	EXPECT_EQ(told_with(SECOND / 4 + SECOND / 16 - 1, MILLISECOND - 1), WIRE_NO_USER_BUDGET);
}
