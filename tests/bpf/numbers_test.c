/* The numbers of threads where user space has a pid namespace of its own: at level 2 of the kernel's. */
#include "tests/bpf/waking.h"
#include "tests/bpf/lifecycle_script.h"
#include "tests/bpf/schedule.h"

static struct pid_namespace {
	int nothing;
} host_pids, outer_pids, own_pids, other_pids, inner_pids;

struct place {
	struct pid_namespace *namespace;
	int number;
};

/* The numbers of a thread from the host's namespace to its own. */
#define NUMBERS(...)                                                                                         \
	(const struct place[]){__VA_ARGS__},                                                                 \
		sizeof((const struct place[]){__VA_ARGS__}) / sizeof(struct place)

static struct pid *new_pid(const struct place *places, __u32 count)
{
	struct pid *pid = host_allocate(sizeof(*pid) + count * sizeof(struct upid));

	pid->level = count - 1;
	for (__u32 i = 0; i < count; i++)
		pid->numbers[i] = (struct upid){.nr = places[i].number, .ns = places[i].namespace};
	return pid;
}

/* A number of the host, and the same without its hundreds in user space's namespace. */
static struct pid *pid_of(int number)
{
	return new_pid(NUMBERS({&host_pids, number}, {&outer_pids, number + 50}, {&own_pids, number % 100}));
}

static struct task_struct *new_own_process(int number)
{
	struct task_struct *task = host_new_process(number);

	task->thread_pid = pid_of(number);
	return task;
}

static struct task_struct *new_own_thread(struct task_struct *leader, int number)
{
	struct task_struct *task = host_new_thread(leader, number);

	task->thread_pid = pid_of(number);
	return task;
}

static struct task_struct *new_outside_process(int number)
{
	struct task_struct *task = host_new_process(number);

	task->thread_pid = new_pid(NUMBERS({&host_pids, number}));
	return task;
}

/* Our number there is 1, which is settings->own_tgid. */
static void enter_namespace(void)
{
	settings->own_pids = 1;
	host.current = new_own_process(501);
	ASSERT_EQ(learn_namespace(NULL), 1);
}

static void begin(void)
{
	begin_script();
	for (__u32 cpu = 0; cpu < HOST_CPUS; cpu++)
		script.idle[cpu]->thread_pid = new_pid(NUMBERS({&host_pids, 0}));
	enter_namespace();
}

TEST(Numbers, AreTheKernelsWhereUserSpaceIsInItsFirstNamespace)
{
	struct task_struct *task = host_new_thread(host_new_process(7), 8);

	EXPECT_EQ(tgid_of(task), 7);
	EXPECT_EQ(tid_of(task), 8);
}

TEST(Numbers, NamespaceOfUserSpaceIsLearntFromItsThread)
{
	enter_namespace();
	EXPECT_EQ(control.pid_level, 2);
	EXPECT_EQ(control.pid_namespace, (__u64)&own_pids);
}

TEST(Numbers, AreThoseOfThatNamespace)
{
	struct task_struct *leader = new_own_process(207), *thread = new_own_thread(leader, 208);

	enter_namespace();
	EXPECT_EQ(tgid_of(leader), 7);
	EXPECT_EQ(tgid_of(thread), 7);
	EXPECT_EQ(tid_of(thread), 8);
}

/* A container in a container: what it has a number for here is ours. */
TEST(Numbers, ThreadsOfNamespacesBelowHaveOneHere)
{
	struct task_struct *task = host_new_process(207);

	enter_namespace();
	task->thread_pid =
		new_pid(NUMBERS({&host_pids, 207}, {&outer_pids, 257}, {&own_pids, 7}, {&inner_pids, 1}));
	EXPECT_EQ(tid_of(task), 7);
}

TEST(Numbers, ThreadsOfNamespacesAboveAndBesideHaveNone)
{
	struct task_struct *task = host_new_process(207);

	enter_namespace();
	task->thread_pid = new_pid(NUMBERS({&host_pids, 207}));
	EXPECT_EQ(tid_of(task), 0);
	EXPECT_FALSE(task_is_recorded(task));
	task->thread_pid = new_pid(NUMBERS({&host_pids, 207}, {&outer_pids, 257}));
	EXPECT_EQ(tid_of(task), 0);
	task->thread_pid = new_pid(NUMBERS({&host_pids, 207}, {&outer_pids, 257}, {&other_pids, 7}));
	EXPECT_EQ(tid_of(task), 0);
	EXPECT_FALSE(task_is_recorded(task));
}

TEST(Numbers, FiltersGoByThem)
{
	struct task_struct *leader = new_own_process(207), *thread = new_own_thread(leader, 208);

	enter_namespace();
	EXPECT_TRUE(task_is_recorded(thread));
	EXPECT_FALSE(task_is_recorded(host.current)); /* the recorder */
	settings->selects = settings->filter_pids = 1;
	add_to_set(&pids, 207, 0);
	EXPECT_FALSE(task_is_recorded(thread));
	add_to_set(&pids, 7, 0);
	EXPECT_TRUE(task_is_recorded(thread));
	settings->filter_tids = 1;
	add_to_set(&tids, 208, 0);
	EXPECT_FALSE(task_is_recorded(thread));
	add_to_set(&tids, 8, 0);
	EXPECT_TRUE(task_is_recorded(thread));
	settings->exclude_pids = 1;
	add_to_set(&excluded_pids, 7, 0);
	EXPECT_FALSE(task_is_recorded(thread));
}

TEST(Numbers, ChildrenAreFollowedByThem)
{
	struct task_struct *parent = new_own_process(207), *child = new_own_process(209);

	enter_namespace();
	settings->selects = settings->filter_pids = settings->follow_forks = 1;
	add_to_set(&pids, 7, 0);
	sched_process_fork(NULL, parent, child);
	EXPECT_EQ(in_set(&pids, 9), child->start_boottime);
	EXPECT_EQ(in_set(&pids, 209), NOT_THERE);
	host_release(child, 0);
	child->signal->live.counter = 0;
	sched_process_free(NULL, child);
	EXPECT_EQ(in_set(&pids, 9), NOT_THERE);
}

TEST(Numbers, NothingIsKeptOfThreadsOutside)
{
	struct task_struct *parent = new_own_process(207), *child = new_outside_process(209);

	enter_namespace();
	sched_process_fork(NULL, parent, child);
	EXPECT_EQ(host_count(&tasks), 0);
}

TEST(Numbers, AreInTheRecordOfAWait)
{
	struct task_struct *leader, *thread;

	begin();
	leader = new_own_process(207);
	thread = new_own_thread(leader, 208);
	list(leader);
	list(thread);
	come_at(thread, BEFORE(1000));
	record();
	sleep_for(thread, 5000);
	ASSERT_TRUE(sent_interval(0));
	EXPECT_EQ(sent_interval(0)->process.tgid, 7);
	EXPECT_EQ(sent_interval(0)->process.tid, 8);
	EXPECT_EQ(sent_interval(0)->process.start_ns, leader->start_boottime);
	EXPECT_EQ(sent_interval(0)->blocked_ns, 5000);
}

/* It has no number any more, anywhere. */
TEST(Numbers, ThreadThatWasReleasedKeepsThem)
{
	struct task_struct *leader, *thread;

	begin();
	leader = new_own_process(207);
	thread = new_own_thread(leader, 208);
	list(thread);
	come_at(thread, BEFORE(1000));
	record();
	host_release(thread, 99);
	sleep_for(thread, 5000);
	ASSERT_TRUE(sent_interval(0));
	EXPECT_EQ(sent_interval(0)->process.tgid, 7);
	EXPECT_EQ(sent_interval(0)->process.tid, 8);
}

/* It is the first thread from then on, and ends as that. */
TEST(Numbers, ThreadThatCallsExecveTakesThoseOfTheFirst)
{
	struct task_struct *leader = new_own_process(207), *thread = new_own_thread(leader, 208);

	enter_namespace();
	list(thread);
	thread->pid = 207;
	thread->thread_pid = leader->thread_pid;
	thread->group_leader = thread;
	sched_process_exec(NULL, thread, 208, NULL);
	host_release(thread, 99);
	EXPECT_EQ(tgid_of(thread), 7);
	EXPECT_EQ(tid_of(thread), 7);
}

TEST(Numbers, WakersOutsideAreOneProcessWithoutUserStacks)
{
	struct task_struct *waker, *wakee;
	const struct wake *wake;

	record_wakers();
	begin();
	settings->can_read_user = 1;
	settings->capture_bytes_per_second = 1 << 30;
	record();
	waker = new_outside_process(300);
	wakee = new_own_process(207);
	host_name(waker, "outside");
	storage_of(waker);
	wake = wake_by(waker, wakee, FRAMES(CODE));
	ASSERT_TRUE(wake);
	ASSERT_EQ(wake->record.count, 1);
	EXPECT_EQ(wake->wakers[0].process.tgid, 0);
	EXPECT_EQ(wake->wakers[0].process.tid, 0);
	EXPECT_EQ(wake->wakers[0].process.start_ns, 0);
	EXPECT_EQ(wake->wakers[0].process.exec_id, 0);
	EXPECT_EQ(wake->wakers[0].flags, 0);
	EXPECT_EQ(__builtin_strcmp(wake->wakers[0].comm, "outside"), 0);
	EXPECT_EQ(wake->wakers[0].cookie, 0);
	EXPECT_EQ(wake->wakers[0].no_user, WIRE_NO_USER_NOT_ASKED);
}

/* By what they are: numbers cannot name them. */
TEST(Numbers, ThreadsOutsideThatWereAskedForAreCounted)
{
	struct task_struct *outside;
	struct wire_glob any = {.star = 1, .accept = 1};
	__u32 first = 0;

	begin();
	outside = new_outside_process(300);
	host_name(outside, "worker");
	run_on(0, outside);
	record();
	sleep_for(outside, 1000);
	EXPECT_EQ(counted(WIRE_COUNT_UNSEEN).count, 0); /* a recording of all that is in the namespace */
	settings->selects = settings->globs = 1;
	bpf_map_update_elem(&globs, &first, &any, BPF_ANY);
	sleep_for(outside, 1000);
	sleep_for(outside, 1000);
	EXPECT_EQ(counted(WIRE_COUNT_UNSEEN).count, 2);
	settings->filter_pids = 1;
	add_to_set(&pids, 300, 0);
	sleep_for(outside, 1000);
	EXPECT_EQ(counted(WIRE_COUNT_UNSEEN).count, 2);
}
