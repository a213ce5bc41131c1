/* Samples of threads that run: what each says, by where its CPU's event met it. */
#include "tests/bpf/host/programs.h"

#define USER_CS 0x33
#define KERNEL_CS 0x10
#define ENTRY 0x5000ULL /* the code by which the kernel is entered, 0x100 bytes of it */

/* A thread that runs on CPU 1 and is recorded, with storage; its kernel stack has two frames. */
static struct task_struct *run_thread(void)
{
	struct task_struct *task = host_new_thread(host_new_process(100), 101);

	host_run_on(task, 1);
	host_regs(task)->orig_ax = 7; /* poll */
	host.context_frames[0] = 0x9000;
	host.context_frames[1] = 0x9100;
	host.context_count = 2;
	host.now_ns = 4711;
	control.phase = WIRE_RECORDING;
	control.sample_period_ns = 10 * MILLISECOND;
	settings->entry_begin = ENTRY;
	settings->entry_end = ENTRY + 0x100;
	bpf_task_storage_get(&tasks, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	return task;
}

/* Captures are asked for by task work. */
static void capture(void)
{
	settings->can_read_user = settings->has_task_work = 1;
	settings->capture_bytes_per_second = 1 << 20;
	settings->task_works_per_second = 1000;
	host.now_ns = 10 * SECOND; /* the budgets are full */
}

static const struct wire_sample *sample_at(__u64 ip, __u64 cs)
{
	struct bpf_perf_event_data ctx = {.ip = ip, .cs = cs, .sample_period = 12345};
	__u32 before = sent_records(WIRE_SAMPLE);

	sample(&ctx);
	return sent_record(WIRE_SAMPLE, before);
}

TEST(Sample, ThreadInUserModeHasNoKernelStackAndNoSystemCall)
{
	const struct wire_sample *sent;

	run_thread();
	sent = sample_at(0x400000, USER_CS);
	ASSERT_TRUE(sent);
	EXPECT_EQ(sent->in_user, 1);
	EXPECT_EQ(sent->kernel_stack, 0);
	EXPECT_EQ(sent->syscall, -1);
	EXPECT_EQ(sent_records(WIRE_KERNEL_STACK), 0);
}

/* All addresses are taken for those to return to: the leaf's is where it was interrupted, and one more is
 * reported. */
TEST(Sample, ThreadInTheKernelHasBoth)
{
	const struct stack_definition *stack;
	const struct wire_sample *sent;

	run_thread();
	sent = sample_at(0x9000, KERNEL_CS);
	stack = sent_record(WIRE_KERNEL_STACK, 0);
	ASSERT_TRUE(sent);
	ASSERT_TRUE(stack);
	EXPECT_EQ(sent->in_user, 0);
	EXPECT_EQ(sent->syscall, 7);
	EXPECT_EQ(sent->kernel_stack, stack->head.id);
	EXPECT_EQ(stack->head.count, 2);
	EXPECT_EQ(stack->frames[0], 0x9001);
	EXPECT_EQ(stack->frames[1], 0x9100);
}

/* Its registers may still be those of the kernel entry before. */
TEST(Sample, ThreadInTheCodeOfTheKernelsEntryHasNoUserSide)
{
	const struct wire_sample *sent;

	run_thread();
	capture();
	sent = sample_at(ENTRY, KERNEL_CS);
	EXPECT_EQ(sent->in_user, 0);
	EXPECT_EQ(sent->syscall, -1);
	EXPECT_EQ(sent->cookie, 0);
	EXPECT_EQ(sent->no_user, WIRE_NO_USER_UNREADABLE);
	EXPECT_NE(sent->kernel_stack, 0);
	EXPECT_EQ(host_count(&requests), 0);
}

TEST(Sample, EntryEndsBeforeItsEnd)
{
	run_thread();
	EXPECT_EQ(sample_at(ENTRY - 1, KERNEL_CS)->syscall, 7);
	EXPECT_EQ(sample_at(ENTRY, KERNEL_CS)->syscall, -1);
	EXPECT_EQ(sample_at(ENTRY + 0xff, KERNEL_CS)->syscall, -1);
	EXPECT_EQ(sample_at(ENTRY + 0x100, KERNEL_CS)->syscall, 7);
	settings->entry_begin = settings->entry_end = 0; /* not known */
	EXPECT_EQ(sample_at(ENTRY, KERNEL_CS)->syscall, 7);
	EXPECT_EQ(sample_at(0, KERNEL_CS)->syscall, 7);
}

TEST(Sample, NamesItsThreadAndTime)
{
	struct task_struct *task = run_thread();
	const struct wire_sample *sent;

	host_name(task, "fifteen letters");
	task->group_leader->start_boottime = 1111;
	task->self_exec_id = 3;
	task->cgroups->dfl_cgrp->kn->id = 77;
	sent = sample_at(0x400000, USER_CS);
	EXPECT_EQ(sent->process.tgid, 100);
	EXPECT_EQ(sent->process.tid, 101);
	EXPECT_EQ(sent->process.start_ns, 1111);
	EXPECT_EQ(sent->process.exec_id, 3);
	EXPECT_EQ(sent->cgroup, 77);
	EXPECT_EQ(sent->at_ns, 4711);
	EXPECT_BYTES(sent->comm, "fifteen letters", WIRE_COMM_BYTES);
	EXPECT_EQ(host_record(&intervals, 0).length, 88);
	host.runqueues[1].clock = 815;
	settings->has_rq_clock = 1;
	EXPECT_EQ(sample_at(0x400000, USER_CS)->at_ns, 815);
}

/* A cookie of CPU 1, of samples, and the first one. */
TEST(Sample, AsksForItsUserStack)
{
	struct task_struct *task = run_thread();
	const struct wire_sample *sent;

	capture();
	sent = sample_at(0x400000, USER_CS);
	EXPECT_EQ(sent->cookie, 1ULL << 48 | 1ULL << 46 | 1);
	EXPECT_EQ(sent->no_user, WIRE_USER_PENDING);
	EXPECT_EQ(host_count(&requests), 1);
	/* It stays the cookie of the kernel entry. */
	EXPECT_EQ(sample_at(0x9000, KERNEL_CS)->cookie, sent->cookie);
	EXPECT_EQ(host_count(&requests), 1);
	EXPECT_EQ(((struct task_state *)host_value(&tasks, task, 0))->cookie, sent->cookie);
}

TEST(Sample, SaysWhyThereIsNoUserStack)
{
	struct task_struct *task = run_thread();

	EXPECT_EQ(sample_at(0x9000, KERNEL_CS)->no_user, WIRE_NO_USER_UNSUPPORTED);
	task->flags = PF_IO_WORKER;
	EXPECT_EQ(sample_at(0x9000, KERNEL_CS)->no_user, WIRE_NO_USER_KERNEL_THREAD);
	EXPECT_EQ(sample_at(0x9000, KERNEL_CS)->cookie, 0);
}

/* Its stack is worth as much as that of a long wait: it may use the last quarter of a second's bytes. */
TEST(Sample, MayUseTheLastQuarterOfABudget)
{
	struct budget *budget;
	__u32 key = CONTEXT_SAMPLE;

	run_thread();
	capture();
	settings->capture_bytes_per_second = 4 * WIRE_STACK_GENEROUS_BYTES;
	budget = host_value(&budgets, &key, 1);
	*budget = (struct budget){.last_ns = 10 * SECOND, .task_work_ns = SECOND, .bytes_ns = SECOND / 4 - 1};
	EXPECT_EQ(sample_at(0x400000, USER_CS)->no_user, WIRE_NO_USER_BUDGET);
	budget->bytes_ns = SECOND / 4;
	EXPECT_EQ(sample_at(0x400000, USER_CS)->no_user, WIRE_USER_PENDING);
	EXPECT_EQ(budget->bytes_ns, 0);
}

TEST(Sample, IsCountedWithItsPeriod)
{
	run_thread();
	sample_at(0x400000, USER_CS);
	settings->own_tgid = 100; /* what is not recorded, too */
	EXPECT_TRUE(!sample_at(0x400000, USER_CS));
	EXPECT_EQ(counted(WIRE_COUNT_SAMPLE).count, 2);
	EXPECT_EQ(counted(WIRE_COUNT_SAMPLE).ns, 2 * 12345);
}

TEST(Sample, IsTakenWhileRecordingOnly)
{
	run_thread();
	control.phase = WIRE_WAITING;
	EXPECT_TRUE(!sample_at(0x400000, USER_CS));
	control.phase = WIRE_ENDED;
	EXPECT_TRUE(!sample_at(0x400000, USER_CS));
	EXPECT_EQ(counted(WIRE_COUNT_SAMPLE).count, 0);
	EXPECT_EQ(host_records(&intervals), 0);
}

/* Events of 10 ms that fire 50 ms apart: four are missing between them. */
TEST(Sample, ThatDidNotFireIsCounted)
{
	run_thread();
	control.clock_period_ns = 10 * MILLISECOND;
	host.now_ns = SECOND;
	sample_at(0x400000, USER_CS);
	host.now_ns = SECOND + 50 * MILLISECOND;
	sample_at(0x400000, USER_CS);
	EXPECT_EQ(counted(WIRE_COUNT_SAMPLE_MISSED).count, 4);
	EXPECT_EQ(counted(WIRE_COUNT_SAMPLE_MISSED).ns, 40 * MILLISECOND);
}

TEST(Sample, OfAThreadWithoutStorageIsLostWithItsTime)
{
	run_thread();
	host_clear(&tasks);
	EXPECT_TRUE(!sample_at(0x9000, KERNEL_CS));
	EXPECT_EQ(counted(WIRE_COUNT_SAMPLE_NO_STORAGE).count, 1);
	EXPECT_EQ(counted(WIRE_COUNT_SAMPLE_NO_STORAGE).ns, 10 * MILLISECOND);
	EXPECT_EQ(host_count(&tasks), 0); /* an interrupt allocates nothing */
}

TEST(Sample, ThatFindsTheRingBusyIsLostWithItsTime)
{
	run_thread();
	host.rings_are_busy = true;
	EXPECT_TRUE(!sample_at(0x400000, USER_CS));
	EXPECT_EQ(counted(WIRE_COUNT_SAMPLE_RING_BUSY).count, 1);
	EXPECT_EQ(counted(WIRE_COUNT_SAMPLE_RING_BUSY).ns, 10 * MILLISECOND);
	EXPECT_EQ(counted(WIRE_COUNT_SAMPLE_RING_FULL).count, 0);
}

/* A sample takes 96 bytes: 42 of them 4032 of 4096, and there is no room for one more. */
TEST(Sample, ThatFindsTheRingFullIsLostWithItsTime)
{
	host_resize(&intervals, 4096);
	run_thread();
	for (int i = 0; i < 42; i++)
		EXPECT_TRUE(sample_at(0x400000, USER_CS));
	EXPECT_TRUE(!sample_at(0x400000, USER_CS));
	EXPECT_EQ(counted(WIRE_COUNT_SAMPLE_RING_FULL).count, 1);
	EXPECT_EQ(counted(WIRE_COUNT_SAMPLE_RING_FULL).ns, 10 * MILLISECOND);
	EXPECT_EQ(counted(WIRE_COUNT_SAMPLE_RING_BUSY).count, 0);
}

/* A quarter of 16384 bytes is 4096. A sample takes 96: 42 take 4032, 43 take 4128. */
TEST(Sample, WakesUserSpaceAtAQuarterOfTheRing)
{
	host_resize(&intervals, 16384);
	run_thread();
	for (int i = 0; i < 44; i++)
		sample_at(0x400000, USER_CS);
	EXPECT_EQ(host_record(&intervals, 41).flags, BPF_RB_NO_WAKEUP);
	EXPECT_EQ(host_record(&intervals, 42).flags, BPF_RB_FORCE_WAKEUP);
	EXPECT_EQ(host_record(&intervals, 43).flags, BPF_RB_NO_WAKEUP);
}

/* Where a test has no hardware that counts: in the kernel, and not in its entry. */
TEST(Sample, OfATestsInterruptIsInTheKernel)
{
	const struct wire_sample *sent;

	run_thread();
	sample_nmi(NULL, NULL, 0, 0);
	sent = sent_record(WIRE_SAMPLE, 0);
	ASSERT_TRUE(sent);
	EXPECT_EQ(sent->in_user, 0);
	EXPECT_EQ(sent->syscall, 7);
	EXPECT_NE(sent->kernel_stack, 0);
	EXPECT_EQ(counted(WIRE_COUNT_SAMPLE).count, 1);
	control.phase = WIRE_ENDED;
	sample_nmi(NULL, NULL, 0, 0);
	EXPECT_EQ(sent_records(WIRE_SAMPLE), 1);
	EXPECT_EQ(counted(WIRE_COUNT_SAMPLE).count, 1);
}
