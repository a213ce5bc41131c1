/* Who a thread is, and what its last departure says of its wait. */
#include "tests/bpf/host/programs.h"

struct named_state {
	__u32 state;
	__u32 kind;
};

/* The values of include/linux/sched.h, alone and as threads have them. */
static const struct named_state states[] = {
	{0x0001, WIRE_KIND_SLEEPING}, /* TASK_INTERRUPTIBLE */
	{0x2001, WIRE_KIND_SLEEPING}, /* with TASK_FREEZABLE */
	{0x0002, WIRE_KIND_DISK},     /* TASK_UNINTERRUPTIBLE */
	{0x0102, WIRE_KIND_DISK},     /* TASK_KILLABLE: with TASK_WAKEKILL */
	{0x2002, WIRE_KIND_DISK},     /* with TASK_FREEZABLE */
	{0x0402, WIRE_KIND_OTHER},    /* TASK_IDLE: with TASK_NOLOAD */
	{0x2402, WIRE_KIND_OTHER},    /* with both */
	{0x0004, WIRE_KIND_STOPPED},  /* __TASK_STOPPED */
	{0x0104, WIRE_KIND_STOPPED},  /* TASK_STOPPED */
	{0x0008, WIRE_KIND_STOPPED},  /* __TASK_TRACED */
	{0x0108, WIRE_KIND_STOPPED},  /* TASK_TRACED */
	{0x0040, WIRE_KIND_OTHER},    /* TASK_PARKED */
	{0x0080, WIRE_KIND_OTHER},    /* TASK_DEAD */
	{0x0200, WIRE_KIND_OTHER},    /* TASK_WAKING */
	{0x0400, WIRE_KIND_OTHER},    /* TASK_NOLOAD */
	{0x0800, WIRE_KIND_OTHER},    /* TASK_NEW */
	{0x1000, WIRE_KIND_OTHER},    /* TASK_RTLOCK_WAIT */
	{0x8000, WIRE_KIND_OTHER},    /* TASK_FROZEN */
};

/* What it has called says nothing of a wait that somebody has to end. */
TEST(Kind, FollowsFromTheStateThatAThreadLeftIn)
{
	for (__u32 i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		check_note("state", states[i].state);
		EXPECT_EQ(kind_of(states[i].state, -1), states[i].kind);
		EXPECT_EQ(kind_of(states[i].state, 24), states[i].kind);
	}
}

/* sched_yield is 24, and 158 of i386. */
TEST(Kind, ThreadThatWantsToRunIsPreemptedUnlessItYields)
{
	__u32 yields = 0;

	for (int call = -1; call < 0x10200; call++)
		yields += kind_of(0, call) == WIRE_KIND_YIELDED;
	EXPECT_EQ(yields, 2);
	EXPECT_EQ(kind_of(0, 24), WIRE_KIND_YIELDED);
	EXPECT_EQ(kind_of(0, 0x10000 | 158), WIRE_KIND_YIELDED);
	EXPECT_EQ(kind_of(0, 158), WIRE_KIND_PREEMPTED); /* arch_prctl */
	EXPECT_EQ(kind_of(0, 0x10000 | 24), WIRE_KIND_PREEMPTED);
	EXPECT_EQ(kind_of(0, -1), WIRE_KIND_PREEMPTED);
}

TEST(Kind, OfAWaitWhoseBeginningWasNotSeenIsOther)
{
	const struct stamp stamp = {.out_state = TASK_INTERRUPTIBLE, .was_throttled = 1};

	EXPECT_EQ(kind_of_wait(&stamp, -1), WIRE_KIND_OTHER);
}

TEST(Kind, OfAThrottledThreadThatWantsToRunIsThrottled)
{
	struct stamp stamp = {.knows_state = 1, .was_throttled = 1};

	EXPECT_EQ(kind_of_wait(&stamp, -1), WIRE_KIND_THROTTLED);
	EXPECT_EQ(kind_of_wait(&stamp, 24), WIRE_KIND_THROTTLED);
	stamp.out_state = TASK_UNINTERRUPTIBLE;
	EXPECT_EQ(kind_of_wait(&stamp, -1), WIRE_KIND_DISK);
	stamp = (struct stamp){.knows_state = 1};
	EXPECT_EQ(kind_of_wait(&stamp, -1), WIRE_KIND_PREEMPTED);
	EXPECT_EQ(kind_of_wait(&stamp, 24), WIRE_KIND_YIELDED);
}

/* Before 6.18: the queue of its group, or of one above, has used up its time. */
TEST(Throttled, IsAThreadWhoseQueueIs)
{
	struct task_struct *task = host_new_process(100);

	EXPECT_FALSE(is_throttled(task));
	task->se.cfs_rq->throttle_count = 1;
	EXPECT_TRUE(is_throttled(task));
	task->se.cfs_rq->throttle_count = 2;
	EXPECT_TRUE(is_throttled(task));
	task->se.cfs_rq->throttle_count = -1;
	EXPECT_FALSE(is_throttled(task));
}

/* Priorities below 100 are of real time: such threads are in no queue of a group. */
TEST(Throttled, NoThreadOfRealTimeIs)
{
	struct task_struct *task = host_new_process(100);

	task->se.cfs_rq->throttle_count = 1;
	task->prio = 99;
	EXPECT_FALSE(is_throttled(task));
	task->prio = 100;
	EXPECT_TRUE(is_throttled(task));
}

TEST(Throttled, NoThreadIsOnAKernelThatDoesNotThrottle)
{
	struct task_struct *task = host_new_process(100);

	task->se.cfs_rq->throttle_count = 1;
	host_hide_field("task->se.cfs_rq->throttle_count");
	EXPECT_FALSE(is_throttled(task));
}

/* From 6.18 on the thread says so itself, and what its queue counts is not asked. */
TEST(Throttled, ThreadSaysSoItselfWhereItDoes)
{
	struct task_struct *task = host_new_process(100);

	host_show_field("throttled->throttled");
	task->se.cfs_rq->throttle_count = 1;
	EXPECT_FALSE(is_throttled(task));
	((struct task_struct___throttled *)task)->throttled = true;
	task->se.cfs_rq->throttle_count = 0;
	EXPECT_TRUE(is_throttled(task));
}

TEST(Task, ControlGroupIsItsNodesId)
{
	struct task_struct *task = host_new_process(100);

	task->cgroups->dfl_cgrp->kn->id = 0x123456789a;
	EXPECT_EQ(control_group_of(task), 0x123456789a);
	host_hide_field("task->cgroups");
	EXPECT_EQ(control_group_of(task), 0);
}

TEST(Task, ProcessIsNamedByItsFirstThreadsStart)
{
	struct task_struct *leader = host_new_process(100), *thread = host_new_thread(leader, 101);
	struct wire_process process;

	leader->start_boottime = 1111;
	thread->start_boottime = 2222;
	thread->self_exec_id = 3333;
	fill_process(&process, thread);
	EXPECT_EQ(process.start_ns, 1111);
	EXPECT_EQ(process.exec_id, 3333);
	EXPECT_EQ(process.tgid, 100);
	EXPECT_EQ(process.tid, 101);
}

TEST(Task, ReleasedThreadIsOfTheProcessThatItWasOf)
{
	struct task_struct *leader = host_new_process(100), *thread = host_new_thread(leader, 101);
	struct wire_process process;

	leader->start_boottime = 1111;
	make_state(thread);
	host_release(thread, 2222);
	make_state(thread);
	fill_process_at_switch(&process, thread);
	EXPECT_EQ(process.start_ns, 1111);
	EXPECT_EQ(process.tgid, 100);
	EXPECT_EQ(process.tid, 101);
}

TEST(Task, ReleasedThreadOfWhichNothingIsKeptIsOfNoProcess)
{
	struct task_struct *thread = host_new_thread(host_new_process(100), 101);
	struct wire_process process;

	host_release(thread, 2222);
	fill_process_at_switch(&process, thread);
	EXPECT_EQ(process.start_ns, 0);
	EXPECT_EQ(process.tgid, 100);
	make_state(thread);
	fill_process_at_switch(&process, thread);
	EXPECT_EQ(process.start_ns, 0);
}

TEST(Task, BothKindsOfSwitchesAreCounted)
{
	struct task_struct *task = host_new_process(100);

	task->nvcsw = 0x100000000;
	task->nivcsw = 7;
	EXPECT_EQ(switches_of(task), 0x100000007);
}
