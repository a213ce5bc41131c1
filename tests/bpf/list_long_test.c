/* Which waits are listed when only long ones are asked for, and how often. */
#include "tests/bpf/listing.h"

/* A thread that sleeps since 5000 on the scheduler's clock, which is 1000 ahead; recording began at 2000. */
static struct task_struct *new_sleeper(void)
{
	struct task_struct *task = host_new_process(100);
	struct stamp *stamp = &storage_of(task)->stamp;

	task->__state = TASK_INTERRUPTIBLE;
	task->nvcsw = 1;
	*stamp = (struct stamp){
		.out_ns = 5000, .out_state = TASK_INTERRUPTIBLE, .knows_state = 1, .has_run = 1};
	control.phase = WIRE_RECORDING;
	control.start_ns = 2000;
	control.clock_offset = 1000;
	control.list_min_ns = 300;
	control.list_pass = 1;
	return task;
}

static _Bool is_listed(struct task_struct *task, __u64 now)
{
	host.now_ns = now;
	return list_with(list_threads, task);
}

/* 5000 + 300 = 5300, which is 4300 of CLOCK_MONOTONIC. */
TEST(ListLong, WaitIsListedFromItsLengthOn)
{
	struct task_struct *task = new_sleeper();

	EXPECT_FALSE(is_listed(task, 4299));
	EXPECT_TRUE(is_listed(task, 4300));
}

/* What lies before the recording is not counted: 2000 + 300 = 2300. */
TEST(ListLong, WaitFromBeforeTheRecordingIsAsLongAsIt)
{
	struct task_struct *task = new_sleeper();

	storage_of(task)->stamp.out_ns = 1500;
	EXPECT_FALSE(is_listed(task, 1299));
	EXPECT_TRUE(is_listed(task, 1300));
	task = new_sleeper();
	storage_of(task)->stamp = (struct stamp){.arrivals = 1}; /* it has not run since it was first seen */
	EXPECT_FALSE(is_listed(task, 1299));
	EXPECT_TRUE(is_listed(task, 1300));
}

TEST(ListLong, ThreadThatRunsIsNotListed)
{
	struct task_struct *task = new_sleeper();

	storage_of(task)->stamp.out_ns = 0;
	EXPECT_FALSE(is_listed(task, SECOND));
	host_clear(&tasks);
	EXPECT_FALSE(is_listed(task, SECOND)); /* nothing is known of it */
}

TEST(ListLong, AllAreListedWhereNoLengthIsAskedFor)
{
	struct task_struct *task = new_sleeper();

	control.list_min_ns = 0;
	EXPECT_TRUE(is_listed(task, 0));
	control.list_pass = 2;
	EXPECT_TRUE(is_listed(task, 0));
	EXPECT_EQ(storage_of(task)->listed_pass, 0); /* nobody has to know */
}

/* A pass may be shown a task twice; the next one leaves out what is known. */
TEST(ListLong, WaitIsListedInOnePassOnly)
{
	struct task_struct *task = new_sleeper();

	task->nvcsw = 5;
	EXPECT_TRUE(is_listed(task, SECOND));
	EXPECT_TRUE(is_listed(task, SECOND));
	control.list_pass = 2;
	EXPECT_FALSE(is_listed(task, SECOND));
	task->nvcsw = 6; /* another wait */
	EXPECT_TRUE(is_listed(task, SECOND));
	control.list_pass = 3;
	EXPECT_FALSE(is_listed(task, SECOND));
}

/* Until a wait is long enough nothing is noted of it. */
TEST(ListLong, ShortWaitMayBeListedLater)
{
	struct task_struct *task = new_sleeper();

	task->nvcsw = 5;
	EXPECT_FALSE(is_listed(task, 4000));
	control.list_pass = 2;
	EXPECT_TRUE(is_listed(task, SECOND));
}

/* A thread that has never run, and wants to since 5000. */
static struct task_struct *new_thread(void)
{
	struct task_struct *task = new_sleeper();

	task->nvcsw = 0;
	task->__state = 0;
	task->sched_info.last_queued = 5000;
	storage_of(task)->stamp = (struct stamp){.knows_state = 1};
	return task;
}

/* The number of its wait is 0, as is what storage has before any listing. */
TEST(ListLong, FirstWaitOfANewThreadIsListed)
{
	struct task_struct *task = new_thread();

	EXPECT_FALSE(is_listed(task, 4299));
	EXPECT_TRUE(is_listed(task, 4300));
	control.list_pass = 2;
	EXPECT_FALSE(is_listed(task, SECOND));
}

/* It has waited for 200 on another CPU before. */
TEST(ListLong, NewThreadThatWasMovedHasWaitedSinceItWasMade)
{
	struct task_struct *task = new_thread();

	task->sched_info.run_delay = 200;
	EXPECT_FALSE(is_listed(task, 4099));
	EXPECT_TRUE(is_listed(task, 4100));
}

/* It was made just before recording began, at 2000. */
TEST(ListLong, NewThreadFromBeforeTheRecordingIsAsLongAsIt)
{
	struct task_struct *task = new_thread();

	task->sched_info.last_queued = 1900;
	EXPECT_FALSE(is_listed(task, 1299));
	EXPECT_TRUE(is_listed(task, 1300));
}

TEST(ListLong, ThreadThatIsBeingMadeDoesNotWait)
{
	struct task_struct *task = new_thread();

	task->sched_info.last_queued = 0;
	EXPECT_FALSE(is_listed(task, SECOND));
}

/* It was there before the recording, and sleeps: when it last wanted to run says nothing. */
TEST(ListLong, ThreadThatHasRunBeforeItWasSeenWaitsSinceTheStart)
{
	struct task_struct *task = new_thread();

	task->__state = TASK_INTERRUPTIBLE;
	task->sched_info.pcount = storage_of(task)->stamp.arrivals = 1;
	EXPECT_FALSE(is_listed(task, 1299));
	EXPECT_TRUE(is_listed(task, 1300));
}
