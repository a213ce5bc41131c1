/* Which threads are recorded: each filter alone, and all of them together. */
#include "tests/bpf/host/programs.h"

/* What a task is, and which filters would let it pass. */
struct candidate {
	_Bool in_pids, in_excluded_pids, in_tids, in_uids, fits_glob, fits_excluded_glob, in_cgroup,
		in_excluded_cgroup;
};

static const struct candidate perfect = {
	.in_pids = true, .in_tids = true, .in_uids = true, .fits_glob = true, .in_cgroup = true};

static void add_to_set(void *set, __u32 key)
{
	__u64 value = 0;

	bpf_map_update_elem(set, &key, &value, BPF_ANY);
}

/* A glob of a single symbol between stars: it fits a name that has this byte. */
static void add_glob(__u32 index, char byte)
{
	struct wire_glob glob = {.star = 3, .accept = 2};

	glob.symbol[(unsigned char)byte] = 1;
	bpf_map_update_elem(&globs, &index, &glob, BPF_ANY);
}

/* Sets that hold 100 and 101, and leave out 101 and 201; the thread 10; the user 1000; names with a 'w' and
 * without an 'x'; the first control group and not the second. */
static void fill_sets(void)
{
	add_to_set(&pids, 100);
	add_to_set(&pids, 101);
	add_to_set(&excluded_pids, 101);
	add_to_set(&excluded_pids, 201);
	add_to_set(&tids, 10);
	add_to_set(&uids, 1000);
	add_glob(0, 'w');
	add_glob(1, 'x');
	settings->selects = 1;
}

static struct task_struct *make_candidate(struct task_struct *task, struct candidate is)
{
	static const char *const names[] = {"v", "w", "vx", "wx"};

	task->tgid = (is.in_pids ? 100 : 200) + is.in_excluded_pids;
	task->pid = is.in_tids ? 10 : 20;
	((struct cred *)task->cred)->euid.val = is.in_uids ? 1000 : 1001;
	host_name(task, names[is.fits_glob + 2 * is.fits_excluded_glob]);
	host.below_cgroups = is.in_cgroup | (__u32)is.in_excluded_cgroup << 1;
	return task;
}

static struct task_struct *new_candidate(struct candidate is)
{
	return make_candidate(host_new_process(100), is);
}

TEST(Filter, WithoutFiltersEveryProcessIsRecorded)
{
	struct task_struct *task = host_new_process(100);

	EXPECT_TRUE(task_is_recorded(task));
	EXPECT_TRUE(current_is_recorded(task));
}

TEST(Filter, IdleThreadsAreNeverRecorded)
{
	struct task_struct *idle = host_new_kernel_thread(0);

	settings->kernel_threads = 1;
	EXPECT_FALSE(task_is_recorded(idle));
	EXPECT_FALSE(current_is_recorded(idle));
}

TEST(Filter, TheProfilerIsNeverRecorded)
{
	struct task_struct *own = host_new_process(41), *thread = host_new_thread(own, 42);

	settings->own_tgid = 41;
	settings->selects = settings->filter_pids = 1;
	add_to_set(&pids, 41);
	EXPECT_FALSE(task_is_recorded(own));
	EXPECT_FALSE(task_is_recorded(thread));
	EXPECT_FALSE(current_is_recorded(thread));
	settings->own_tgid = 42; /* the number of a thread, and of no process */
	EXPECT_TRUE(task_is_recorded(thread));
}

TEST(Filter, KernelThreadsAreRecordedWhenAskedFor)
{
	struct task_struct *thread = host_new_kernel_thread(7);

	EXPECT_FALSE(task_is_recorded(thread));
	EXPECT_FALSE(current_is_recorded(thread));
	settings->kernel_threads = 1;
	EXPECT_TRUE(task_is_recorded(thread));
	EXPECT_TRUE(current_is_recorded(thread));
}

/* They belong to a process, and wait for it. */
TEST(Filter, WorkersOfIoUringAreNoKernelThreads)
{
	struct task_struct *worker = host_new_thread(host_new_process(100), 101);

	worker->flags = PF_IO_WORKER | PF_USER_WORKER;
	EXPECT_TRUE(task_is_recorded(worker));
}

TEST(Filter, ProcessesAreToldByTgidAndNotByTid)
{
	struct task_struct *thread = host_new_thread(host_new_process(100), 10);

	fill_sets();
	settings->filter_pids = 1;
	EXPECT_TRUE(task_is_recorded(thread));
	thread->tgid = 10;
	thread->pid = 100;
	EXPECT_FALSE(task_is_recorded(thread));
}

TEST(Filter, ThreadsAreToldByTidAndNotByTgid)
{
	struct task_struct *thread = host_new_thread(host_new_process(100), 10);

	fill_sets();
	settings->filter_tids = 1;
	EXPECT_TRUE(task_is_recorded(thread));
	thread->tgid = 10;
	thread->pid = 100;
	EXPECT_FALSE(task_is_recorded(thread));
}

TEST(Filter, UserIsTheEffectiveOne)
{
	struct task_struct *task = new_candidate((struct candidate){});

	fill_sets();
	settings->filter_uids = 1;
	EXPECT_FALSE(task_is_recorded(task));
	((struct cred *)task->cred)->euid.val = 1000;
	EXPECT_TRUE(task_is_recorded(task));
}

/* The kernel can tell of no other task which control group it is below. */
TEST(Filter, ControlGroupsAreAskedOfTheCurrentTaskOnly)
{
	struct task_struct *task = new_candidate((struct candidate){.in_excluded_cgroup = true});

	fill_sets();
	settings->cgroups = settings->excluded_cgroups = 1;
	EXPECT_TRUE(task_is_recorded(task));
	EXPECT_FALSE(current_is_recorded(task));
}

TEST(Filter, OneOfSeveralControlGroupsIsEnough)
{
	struct task_struct *task = host_new_process(100);

	settings->selects = 1;
	settings->cgroups = WIRE_CGROUPS;
	for (__u32 i = 0; i < WIRE_CGROUPS; i++) {
		host.below_cgroups = 1u << i;
		EXPECT_TRUE(current_is_recorded(task));
	}
	host.below_cgroups = ~0u << WIRE_CGROUPS; /* behind the last one */
	EXPECT_FALSE(current_is_recorded(task));
	host.below_cgroups = 1u << 3; /* behind those that are asked for */
	settings->cgroups = 3;
	EXPECT_FALSE(current_is_recorded(task));
}

/* Those that are left out stand in the map behind the others. */
TEST(Filter, AnyOfSeveralExcludedControlGroupsIsEnough)
{
	struct task_struct *task = host_new_process(100);

	settings->selects = 1;
	settings->cgroups = 2;
	settings->excluded_cgroups = 3;
	for (__u32 i = 2; i < 5; i++) {
		host.below_cgroups = 1 | 1u << i;
		EXPECT_FALSE(current_is_recorded(task));
	}
	host.below_cgroups = 3 | 1 << 5;
	EXPECT_TRUE(current_is_recorded(task));
	host.below_cgroups = 1 << 5;
	EXPECT_FALSE(current_is_recorded(task));
}

/* A place of the map that nobody has written fits no name. */
TEST(Filter, NoNameFitsWhereGlobsAreMissing)
{
	struct task_struct *task = new_candidate(perfect);

	settings->selects = settings->globs = 1;
	EXPECT_FALSE(task_is_recorded(task));
	settings->globs = 0;
	settings->excluded_globs = 1;
	EXPECT_TRUE(task_is_recorded(task));
}

/* Bits of the filters that are on, in the order of wire_config's fields. */
enum filter {
	PIDS = 1,
	EXCLUDED_PIDS = 2,
	TIDS = 4,
	UIDS = 8,
	GLOBS = 16,
	EXCLUDED_GLOBS = 32,
	CGROUPS = 64,
	EXCLUDED_CGROUPS = 128,
	FILTERS = 256,
};

static void switch_on(__u32 filters)
{
	settings->filter_pids = !!(filters & PIDS);
	settings->exclude_pids = !!(filters & EXCLUDED_PIDS);
	settings->filter_tids = !!(filters & TIDS);
	settings->filter_uids = !!(filters & UIDS);
	settings->globs = !!(filters & GLOBS);
	settings->excluded_globs = !!(filters & EXCLUDED_GLOBS);
	settings->cgroups = !!(filters & CGROUPS);
	settings->excluded_cgroups = !!(filters & EXCLUDED_CGROUPS);
}

static struct candidate candidate_of(__u32 bits)
{
	return (struct candidate){.in_pids = !!(bits & PIDS),
				  .in_excluded_pids = !!(bits & EXCLUDED_PIDS),
				  .in_tids = !!(bits & TIDS),
				  .in_uids = !!(bits & UIDS),
				  .fits_glob = !!(bits & GLOBS),
				  .fits_excluded_glob = !!(bits & EXCLUDED_GLOBS),
				  .in_cgroup = !!(bits & CGROUPS),
				  .in_excluded_cgroup = !!(bits & EXCLUDED_CGROUPS)};
}

/* Without globs or control groups to be in, those to be out of stand first in their maps. */
static void place_excluded(struct candidate is, __u32 filters)
{
	add_glob(0, filters & GLOBS ? 'w' : 'x');
	host.below_cgroups =
		filters & CGROUPS ? is.in_cgroup | (__u32)is.in_excluded_cgroup << 1 : is.in_excluded_cgroup;
}

/* A thread is recorded if every filter that is on lets it pass: sets that it has to be in, and sets that it
 * has to be out of. All filters, all threads. */
TEST(Filter, EveryFilterThatIsOnHasToLetAThreadPass)
{
	struct task_struct *task = host_new_process(100);
	const __u32 wants = PIDS | TIDS | UIDS | GLOBS | CGROUPS, groups = CGROUPS | EXCLUDED_CGROUPS;

	fill_sets();
	for (__u32 filters = 0; filters < FILTERS; filters++) {
		switch_on(filters);
		for (__u32 bits = 0; bits < FILTERS; bits++) {
			/* A bit that is set in neither way keeps it out. */
			__u32 objections = (bits ^ wants) & filters;

			make_candidate(task, candidate_of(bits));
			place_excluded(candidate_of(bits), filters);
			check_note("filters and thread", filters << 8 | bits);
			EXPECT_EQ(current_is_recorded(task), !objections);
			EXPECT_EQ(task_is_recorded(task), !(objections & ~groups));
		}
	}
}

TEST(Filter, SetsAreNotLookedAtWhereNothingSelects)
{
	struct task_struct *task = new_candidate((struct candidate){.in_excluded_pids = true});

	fill_sets();
	switch_on(FILTERS - 1);
	settings->selects = 0;
	EXPECT_TRUE(task_is_recorded(task));
	EXPECT_TRUE(current_is_recorded(task));
}

/* A thread's control group, name and user may change while it waits, and a command joins; its numbers stay.
 */
TEST(Filter, OnlyWhatMayChangeMakesASelectionChange)
{
	const __u32 changing = UIDS | GLOBS | EXCLUDED_GLOBS | CGROUPS | EXCLUDED_CGROUPS;

	for (__u32 filters = 0; filters < FILTERS; filters++) {
		switch_on(filters);
		check_note("filters", filters);
		EXPECT_EQ(selection_may_change(), !!(filters & changing));
	}
	switch_on(0);
	settings->command_tgid = 7;
	EXPECT_TRUE(selection_may_change());
}
