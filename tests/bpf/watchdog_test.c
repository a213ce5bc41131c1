/* What captures take of a process's time, and when it has no more of them for a while. */
#include "tests/bpf/host/programs.h"

#define SHARE (50 * MILLISECOND) /* of the process, in a second */

static struct task_struct *task;

static void begin(void)
{
	settings->process_ns_per_second = SHARE;
	task = host_new_process(10);
	host_run_on(task, 0);
	host.now_ns = 100 * SECOND;
}

/* A capture by the current thread that ends now. */
static void capture_for(__u64 ns)
{
	book_capture(host.now_ns - ns, task->nivcsw, task->nvcsw, CONTEXT_SWITCH);
}

TEST(CaptureTime, IsCountedAndSoIsTheLongest)
{
	begin();
	capture_for(3000);
	capture_for(5000);
	capture_for(4999);
	EXPECT_EQ(counted(WIRE_COUNT_CAPTURE_TIME).count, 3);
	EXPECT_EQ(counted(WIRE_COUNT_CAPTURE_TIME).ns, 12999);
	EXPECT_EQ(counted(WIRE_COUNT_CAPTURE_LONGEST).ns, 5000);
	EXPECT_EQ(counted(WIRE_COUNT_CAPTURE_LONGEST).count, 0);
}

/* A capture that slept for a page took no CPU time, but the process's. */
TEST(CaptureTime, IsNotCpuTimeIfItSlept)
{
	begin();
	task->nvcsw = 4;
	book_capture(host.now_ns - 5000, task->nivcsw, 3, CONTEXT_SWITCH);
	EXPECT_EQ(counted(WIRE_COUNT_CAPTURE_TIME).count, 0);
	EXPECT_EQ(counted(WIRE_COUNT_CAPTURE_LONGEST).ns, 5000);
	EXPECT_EQ(((struct space *)host_value(&spaces, task, 0))->time.spent_ns, 5000);
}

TEST(CaptureTime, IsUnknownIfOthersHadTheCpu)
{
	begin();
	task->nivcsw = 4;
	book_capture(host.now_ns - SECOND, 3, task->nvcsw, CONTEXT_SWITCH);
	EXPECT_EQ(counted(WIRE_COUNT_CAPTURE_TIME).count, 0);
	EXPECT_EQ(counted(WIRE_COUNT_CAPTURE_LONGEST).ns, 0);
	EXPECT_FALSE(is_switched_off(task));
}

TEST(Watchdog, ProcessThatHasLostMoreThanItsShareIsSwitchedOff)
{
	begin();
	capture_for(SHARE - 1000);
	capture_for(1000);
	EXPECT_FALSE(is_switched_off(task));
	EXPECT_EQ(counted(WIRE_COUNT_SWITCHED_OFF).count, 0);
	capture_for(1);
	EXPECT_TRUE(is_switched_off(task));
	EXPECT_EQ(counted(WIRE_COUNT_SWITCHED_OFF).count, 1);
}

TEST(Watchdog, ThreadsOfAProcessLoseItsTime)
{
	struct task_struct *other;

	begin();
	other = host_new_thread(task, 11);
	capture_for(SHARE);
	host_run_on(other, 1);
	book_capture(host.now_ns - 1, 0, 0, CONTEXT_SWITCH);
	EXPECT_TRUE(is_switched_off(task));
	EXPECT_TRUE(is_switched_off(other));
	EXPECT_FALSE(is_switched_off(host_new_process(20)));
}

TEST(Watchdog, SwitchedOffProcessHasCapturesAgainAfterTenSeconds)
{
	begin();
	capture_for(SHARE + 1);
	host.now_ns += 10 * SECOND - 1;
	EXPECT_TRUE(is_switched_off(task));
	host.now_ns += 1;
	EXPECT_FALSE(is_switched_off(task));
}

/* What was asked for before is made all the same. */
TEST(Watchdog, ProcessThatIsSwitchedOffIsNotSwitchedOffTwice)
{
	begin();
	capture_for(SHARE + 1);
	host.now_ns += 500 * MILLISECOND;
	capture_for(SHARE + 1);
	EXPECT_EQ(counted(WIRE_COUNT_SWITCHED_OFF).count, 1);
	host.now_ns += 10 * SECOND - 500 * MILLISECOND;
	EXPECT_FALSE(is_switched_off(task));
	capture_for(SHARE + 1);
	EXPECT_EQ(counted(WIRE_COUNT_SWITCHED_OFF).count, 2);
	EXPECT_TRUE(is_switched_off(task));
}

/* The second begins with a capture: the first one here begins it. */
TEST(Watchdog, EachSecondHasItsOwnShare)
{
	begin();
	capture_for(SHARE);
	host.now_ns += SECOND;
	capture_for(1);
	EXPECT_TRUE(is_switched_off(task)); /* it is not over yet */

	host_clear(&spaces);
	capture_for(SHARE);
	host.now_ns += SECOND + 1;
	capture_for(SHARE);
	EXPECT_FALSE(is_switched_off(task));
	capture_for(1);
	EXPECT_TRUE(is_switched_off(task));
}

TEST(Watchdog, NothingIsAllocatedInASample)
{
	begin();
	book_capture(host.now_ns - SECOND, 0, 0, CONTEXT_SAMPLE);
	EXPECT_EQ(host_count(&spaces), 0);
	EXPECT_EQ(counted(WIRE_COUNT_CAPTURE_TIME).ns, SECOND);
	EXPECT_FALSE(is_switched_off(task));
	EXPECT_EQ(host_count(&spaces), 0);
	capture_for(1);
	EXPECT_EQ(host_count(&spaces), 1);
}
