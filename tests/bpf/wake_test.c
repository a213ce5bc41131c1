/* Which wait a wake belongs to, who had woken the waker before, and whose user stacks are asked for. */
#include "tests/bpf/waking.h"

/* A process that sleeps since `ns`, while wakers are recorded. */
static struct task_struct *new_sleeper(int pid, __u64 ns)
{
	struct task_struct *task = host_new_process(pid);

	record_wakers();
	make_wake(task);
	host.now_ns = ns;
	note_departure(task, TASK_INTERRUPTIBLE);
	return task;
}

static struct wake *wake_at(__u64 ns, struct task_struct *waker, struct task_struct *wakee)
{
	host.now_ns = ns;
	return wake_by(waker, wakee, FRAMES(CODE));
}

TEST(Wake, IsNotNotedWithoutStorage)
{
	struct task_struct *wakee = host_new_process(200);

	record_wakers();
	host.current = host_new_process(100);
	set_frames(FRAMES(CODE));
	sched_waking(NULL, wakee);
	EXPECT_EQ(host_count(&wakes), 0);
	EXPECT_EQ(sent_records(WIRE_KERNEL_STACK), 0);
}

TEST(Wake, IsNotedWhileRecordingOnly)
{
	struct task_struct *waker = host_new_process(100);

	record_wakers();
	control.phase = WIRE_WAITING;
	EXPECT_EQ(wake_at(10, waker, host_new_process(200))->fresh, 0);
	control.phase = WIRE_ENDED;
	EXPECT_EQ(wake_at(10, waker, host_new_process(201))->fresh, 0);
	control.phase = WIRE_RECORDING;
	EXPECT_EQ(wake_at(10, waker, host_new_process(202))->fresh, 1);
}

TEST(Wake, HasNoStorageWhereWakersAreNotRecorded)
{
	struct task_struct *task = host_new_process(100);

	make_wake(task);
	EXPECT_EQ(host_count(&wakes), 0);
	EXPECT_TRUE(!take_wake(task, IS_CURRENT));
	EXPECT_EQ(host_count(&wakes), 0);
}

/* A thread sleeps since it was first seen, as far as anybody knows, or since it went to sleep. */
TEST(Wake, SleepBeginsWhenAThreadLeavesToSleep)
{
	struct task_struct *task = host_new_process(100);

	record_wakers();
	host.now_ns = 50;
	make_wake(task);
	EXPECT_EQ(wake_of_task(task)->out_ns, 50);
	host.now_ns = 60;
	make_wake(task);
	EXPECT_EQ(wake_of_task(task)->out_ns, 50);
	note_departure(task, 0); /* preempted */
	EXPECT_EQ(wake_of_task(task)->out_ns, 50);
	note_departure(task, TASK_UNINTERRUPTIBLE);
	EXPECT_EQ(wake_of_task(task)->out_ns, 60);
}

/* 300 waits from 10 on, 200 is woken at 20 and wakes 300 at 30: who woke 200 is what 300 waited for, too. */
TEST(Wake, ChainGoesOnWithWhoWokeTheWaker)
{
	struct task_struct *first = new_sleeper(100, 1), *second = new_sleeper(200, 5),
			   *third = new_sleeper(300, 10);
	struct wake *wake;

	wake_at(20, first, second);
	wake = wake_at(30, second, third);
	EXPECT_EQ(wake->record.count, 2);
	EXPECT_EQ(wake->wakers[0].process.tgid, 200);
	EXPECT_EQ(wake->wakers[0].at_ns, 30);
	EXPECT_EQ(wake->wakers[1].process.tgid, 100);
	EXPECT_EQ(wake->wakers[1].at_ns, 20);
}

/* How many wakers the wake of a thread has that sleeps since `since_ns`, by one that was woken at 20. */
static __u32 wakers_since(__u64 since_ns)
{
	struct task_struct *second = new_sleeper(200, 10), *third = new_sleeper(300, since_ns);

	wake_at(20, new_sleeper(100, 1), second);
	return wake_at(30, second, third)->record.count;
}

/* What was before a thread went to sleep, it has not waited for. */
TEST(Wake, ChainEndsWithTheWakesBeforeTheWait)
{
	EXPECT_EQ(wakers_since(19), 2);
	EXPECT_EQ(wakers_since(20), 1);
	EXPECT_EQ(wakers_since(21), 1);
}

/* Six threads wake one another, at 10, 20 and so on, and the seventh waits for all of them: the last four are
 * reported. */
TEST(Wake, ChainHasAtMostFourLinks)
{
	struct task_struct *tasks_of_chain[7];
	struct wake *wake = NULL;

	for (int i = 0; i < 7; i++)
		tasks_of_chain[i] = new_sleeper(100 + i, 1);
	for (int i = 0; i < 6; i++) {
		wake = wake_at(10 * (i + 1), tasks_of_chain[i], tasks_of_chain[i + 1]);
		check_note("wake", i);
		EXPECT_EQ(wake->record.count, i < 4 ? i + 1 : 4);
	}
	for (int i = 0; i < 4; i++) {
		EXPECT_EQ(wake->wakers[i].process.tgid, 105 - i);
		EXPECT_EQ(wake->wakers[i].at_ns, 60 - 10 * i);
	}
}

/* Nobody woke the interrupt that woke the waker. */
TEST(Wake, InterruptEndsAChain)
{
	struct task_struct *first = new_sleeper(100, 1), *second = new_sleeper(200, 5),
			   *third = new_sleeper(300, 6);
	struct wake *wake;

	wake_at(10, first, second); /* that wake is over with the next one */
	host.now_ns = 11;
	wake_by(first, second, FRAMES(CODE, INTERRUPT(0)));
	wake = wake_at(30, second, third);
	EXPECT_EQ(wake->record.count, 2);
	EXPECT_EQ(wake->wakers[1].flags, WIRE_WAKER_INTERRUPT);
	EXPECT_EQ(wake->wakers[1].at_ns, 11);
}

/* All is copied: what the waker does later changes nothing. */
TEST(Wake, ChainIsACopy)
{
	struct task_struct *first = new_sleeper(100, 1), *second = new_sleeper(200, 1),
			   *third = new_sleeper(300, 1);
	struct wake *wake;

	wake_at(20, first, second);
	wake = wake_at(30, second, third);
	wake_at(40, third, second);
	EXPECT_EQ(wake->wakers[1].process.tgid, 100);
	EXPECT_EQ(wake->wakers[1].at_ns, 20);
}

TEST(Wake, ChainIsCutAndCountedForWantOfStorage)
{
	struct wake *wake;

	record_wakers();
	wake = wake_at(20, host_new_process(100), host_new_process(200));
	EXPECT_EQ(wake->record.count, 1);
	EXPECT_EQ(counted(WIRE_COUNT_WAKER_CUT).count, 1);
}

static struct task_struct *new_woken(__u64 switches)
{
	struct task_struct *task = host_new_process(200);

	task->nvcsw = switches - 3;
	task->nivcsw = 3;
	wake_at(10, host_new_process(100), task);
	return task;
}

TEST(Wake, BelongsToTheWaitOfItsNumber)
{
	struct task_struct *task;

	record_wakers();
	task = new_woken(10);
	EXPECT_TRUE(take_wake(task, ABOUT_TO_RUN) == wake_of_task(task));
	task = new_woken(10);
	task->nvcsw++; /* it has run and left again since */
	EXPECT_TRUE(!take_wake(task, ABOUT_TO_RUN));
	task = new_woken(10);
	task->nivcsw--;
	EXPECT_TRUE(!take_wake(task, ABOUT_TO_RUN));
}

/* A thread that has not left its CPU yet when it is woken is counted to leave it, once, if it does. */
TEST(Wake, OfAThreadThatIsLeavingMayBelongToTheNextWait)
{
	static const bool expected[] = {true, true, false};

	record_wakers();
	for (int later = 0; later < 3; later++) {
		struct task_struct *task = host_new_process(200);

		task->on_cpu = 1;
		task->nvcsw = 10;
		wake_at(10, host_new_process(100), task);
		task->nvcsw += later;
		check_note("waits later", later);
		EXPECT_EQ(!!take_wake(task, ABOUT_TO_RUN), expected[later]);
	}
}

/* It has not begun to wait when it was woken: who woke the waker was before. */
TEST(Wake, OfAThreadThatIsLeavingHasNoChain)
{
	struct task_struct *first = new_sleeper(100, 1), *second = new_sleeper(200, 1),
			   *third = new_sleeper(300, 1);

	wake_at(20, first, second);
	third->on_cpu = 1;
	EXPECT_EQ(wake_at(30, second, third)->record.count, 1);
}

TEST(Wake, IsTakenOnce)
{
	struct task_struct *task;

	record_wakers();
	task = new_woken(10);
	EXPECT_TRUE(take_wake(task, IS_CURRENT));
	EXPECT_TRUE(!take_wake(task, IS_CURRENT));
	wake_at(20, host_new_process(100), task);
	EXPECT_TRUE(take_wake(task, IS_CURRENT));
}

/* A wake that was not the wait's is none of a later wait either. */
TEST(Wake, ThatDoesNotFitIsUsedUp)
{
	struct task_struct *task;

	record_wakers();
	task = new_woken(10);
	task->nvcsw++;
	EXPECT_TRUE(!take_wake(task, IS_CURRENT));
	task->nvcsw--;
	EXPECT_TRUE(!take_wake(task, IS_CURRENT));
}

TEST(Wake, OfAnUnknownWakerIsNone)
{
	struct task_struct *task = host_new_process(200);

	record_wakers();
	wake_by(host_new_process(100), task, NULL, 0);
	EXPECT_EQ(wake_of_task(task)->fresh, 1);
	EXPECT_TRUE(!take_wake(task, IS_CURRENT));
}

/* Storage can be made in the thread's own context only, and where it is missing there is no wake. */
TEST(Wake, TakingMakesStorageOfTheCurrentThread)
{
	struct task_struct *task = host_new_process(200);

	record_wakers();
	EXPECT_TRUE(!take_wake(task, ABOUT_TO_RUN));
	EXPECT_EQ(host_count(&wakes), 0);
	EXPECT_TRUE(!take_wake(task, IS_CURRENT));
	EXPECT_EQ(host_count(&wakes), 1);
}
