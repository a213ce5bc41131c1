/* One record stands for intervals that are alike, and none of them is lost on the way. */
#include "tests/bpf/schedule.h"

#define NOON (50 * SECOND + 500 * MILLISECOND)

static struct task_struct *task;

/* An interval to be summed, all of whose parts tests may change. */
static struct {
	__u64 end_ns, waited_ns, runnable_ns, kernel_stack, user_stack;
	__u32 kind;
	int syscall;
} next;

static void begin(void)
{
	settings->sums = 1;
	begin_script();
	task = host_new_thread(host_new_process(10), 11);
	host_name(task, "worker");
	next.end_ns = NOON;
	next.waited_ns = 1000;
	next.runnable_ns = 100;
	next.kernel_stack = 8;
	next.user_stack = 7;
	next.kind = WIRE_KIND_SLEEPING;
	next.syscall = 35;
}

static bool sum(void)
{
	struct times times = {
		.end_ns = next.end_ns, .waited_ns = next.waited_ns, .runnable_ns = next.runnable_ns};
	struct user_side side = {.user_stack = next.user_stack};

	return sum_interval(task, &times, next.kernel_stack, side, next.kind, next.syscall);
}

static const struct wire_sum *sent_sum(__u32 index)
{
	return sent_record(WIRE_SUM, index);
}

static __u32 flush(__u32 cpu)
{
	return flush_sums(NULL, cpu);
}

/* How many sums have been sent, with those that a second interval leaves. */
static __u32 sums_with_another(void)
{
	EXPECT_TRUE(sum());
	host.cpu = 0;
	flush(0);
	return sent_records(WIRE_SUM);
}

TEST(Sums, IntervalsThatAreAlikeAreAddedUp)
{
	begin();
	EXPECT_TRUE(sum());
	next.end_ns += 5000;
	next.waited_ns = 3000;
	next.runnable_ns = 50;
	EXPECT_TRUE(sum());
	next.end_ns += 5000;
	next.waited_ns = 500;
	next.runnable_ns = 300;
	EXPECT_TRUE(sum());
	EXPECT_EQ(host_records(&intervals), 0);
	EXPECT_EQ(flush(0), 0);
	ASSERT_EQ(sent_records(WIRE_SUM), 1);
	EXPECT_EQ(sent_sum(0)->count, 3);
	EXPECT_EQ(sent_sum(0)->interval.blocked_ns, 900 + 2950 + 200);
	EXPECT_EQ(sent_sum(0)->interval.runnable_ns, 450);
	EXPECT_EQ(sent_sum(0)->longest_ns, 3000);
	EXPECT_EQ(sent_sum(0)->longest_runnable_ns, 300);
	EXPECT_EQ(sent_sum(0)->interval.end_ns, NOON + 10000);
}

TEST(Sums, AllElseIsOfTheFirst)
{
	struct wire_sum expected = {.interval = {.type = WIRE_SUM,
						 .kind = WIRE_KIND_SLEEPING,
						 .user_stack = 7,
						 .kernel_stack = 8,
						 .end_ns = NOON,
						 .blocked_ns = 1800,
						 .runnable_ns = 200,
						 .process = {10000, 1, 10, 11},
						 .syscall = 35,
						 .switches = 5,
						 .cgroup = 99,
						 .comm = "worker"},
				    .count = 2,
				    .longest_ns = 1000,
				    .longest_runnable_ns = 100};
	begin();
	task->nvcsw = 5;
	task->cgroups->dfl_cgrp->kn->id = 99;
	sum();
	task->nvcsw = 6;
	sum();
	flush(0);
	ASSERT_EQ(host_record(&intervals, 0).length, 152);
	EXPECT_BYTES(sent_sum(0), &expected, sizeof(expected));
	EXPECT_EQ(host_record(&intervals, 0).flags, BPF_RB_NO_WAKEUP);
}

/* A place that is used again has nothing of the sum that was there. */
TEST(Sums, SumBeginsAnewAfterItWasSent)
{
	begin();
	next.waited_ns = 5000;
	next.runnable_ns = 4000;
	sum();
	flush(0);
	next.waited_ns = 1000;
	next.runnable_ns = 100;
	sum();
	flush(0);
	flush(0);
	ASSERT_EQ(sent_records(WIRE_SUM), 2);
	EXPECT_EQ(sent_sum(1)->count, 1);
	EXPECT_EQ(sent_sum(1)->interval.blocked_ns, 900);
	EXPECT_EQ(sent_sum(1)->interval.runnable_ns, 100);
	EXPECT_EQ(sent_sum(1)->longest_ns, 1000);
	EXPECT_EQ(sent_sum(1)->longest_runnable_ns, 100);
}

TEST(SumsApart, Stacks)
{
	begin();
	sum();
	next.kernel_stack = 9;
	EXPECT_EQ(sums_with_another(), 2);
	sum();
	next.user_stack = 9;
	EXPECT_EQ(sums_with_another(), 4);
}

TEST(SumsApart, KindsAndSystemCalls)
{
	begin();
	sum();
	next.kind = WIRE_KIND_DISK;
	EXPECT_EQ(sums_with_another(), 2);
	sum();
	next.syscall = 36;
	EXPECT_EQ(sums_with_another(), 4);
}

TEST(SumsApart, Seconds)
{
	begin();
	next.end_ns = 51 * SECOND;
	sum();
	next.end_ns = 51 * SECOND + 1000;
	EXPECT_EQ(sums_with_another(), 2);
}

TEST(SumsApart, BothSidesOfACut)
{
	begin();
	control.cut_ns = NOON;
	sum();
	next.end_ns = NOON + 1000;
	EXPECT_EQ(sums_with_another(), 2);
}

/* Before it the cut is not there yet. */
TEST(Sums, CutThatIsAheadKeepsNothingApart)
{
	begin();
	sum();
	control.cut_ns = NOON + 10000;
	next.end_ns = NOON + 2000;
	EXPECT_EQ(sums_with_another(), 1);
}

/* Two cuts in one second: what lies behind the first one and what lies behind the second. */
TEST(SumsApart, Windows)
{
	begin();
	control.cut_ns = NOON;
	next.end_ns = NOON + 2000;
	sum();
	control.cut_ns = NOON + 3000;
	next.end_ns = NOON + 5000;
	EXPECT_EQ(sums_with_another(), 2);
}

TEST(SumsApart, TimesBetweenOtherBounds)
{
	begin();
	settings->run_queue_bounds_ns[0] = 100;
	sum();
	next.runnable_ns = 101;
	EXPECT_EQ(sums_with_another(), 2);
}

TEST(SumsApart, Processes)
{
	begin();
	sum();
	task = host_new_thread(host_new_process(20), 11);
	host_name(task, "worker");
	task->group_leader->start_boottime = 10000;
	EXPECT_EQ(sums_with_another(), 2);
}

TEST(SumsApart, ProcessesOfOneNumber)
{
	begin();
	sum();
	task->group_leader->start_boottime++;
	EXPECT_EQ(sums_with_another(), 2);
}

TEST(Sums, ReleasedThreadsIntervalsAreItsProcesss)
{
	begin();
	make_state(task);
	sum();
	host_release(task, 4711);
	EXPECT_EQ(sums_with_another(), 1);
	EXPECT_EQ(sent_sum(0)->interval.process.start_ns, 10000);
	EXPECT_EQ(sent_sum(0)->count, 2);
}

TEST(SumsApart, Programs)
{
	begin();
	sum();
	task->self_exec_id++;
	EXPECT_EQ(sums_with_another(), 2);
}

TEST(SumsApart, ControlGroups)
{
	begin();
	sum();
	task->cgroups->dfl_cgrp->kn->id = 5;
	EXPECT_EQ(sums_with_another(), 2);
}

TEST(SumsApart, NamesByEitherHalf)
{
	begin();
	sum();
	host_name(task, "worker-long-nam");
	EXPECT_EQ(sums_with_another(), 2);
	sum();
	host_name(task, "worker-long-mam");
	EXPECT_EQ(sums_with_another(), 4);
}

TEST(SumsApart, ThreadsOnlyIfAskedFor)
{
	begin();
	sum();
	task->pid = 12;
	EXPECT_EQ(sums_with_another(), 1);
	settings->per_thread = 1;
	sum();
	task->pid = 13;
	sum();
	EXPECT_EQ(sums_with_another(), 3);
}

TEST(Sums, WaitThatMayNotBeSummedIsSentByItself)
{
	begin();
	next.waited_ns = 1000000;
	EXPECT_FALSE(sum());
	EXPECT_EQ(flush(0), 0);
	EXPECT_EQ(host_records(&intervals), 0);
}
