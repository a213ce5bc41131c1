/* What the programs tell of threads as they stand: each field, and what they may say of one that runs
 * meanwhile. */
#include "tests/bpf/listing.h"

static const struct wire_thread *list(struct task_struct *task)
{
	return list_with(list_threads, task);
}

/* A thread that sleeps in poll, and has since 5000. */
static struct task_struct *new_sleeper(void)
{
	struct task_struct *task = host_new_thread(host_new_process(100), 101);
	struct stamp *stamp = &storage_of(task)->stamp;

	task->__state = TASK_INTERRUPTIBLE;
	task->nvcsw = 20;
	task->nivcsw = 3;
	host_regs(task)->orig_ax = 7;
	*stamp = (struct stamp){
		.out_ns = 5000, .out_state = TASK_INTERRUPTIBLE, .knows_state = 1, .has_run = 1};
	host.task_frames[0] = 0x9000;
	host.task_frames[1] = 0x9100;
	host.task_count = 2;
	control.phase = WIRE_RECORDING;
	return task;
}

TEST(ListThreads, TellsWhoAThreadIs)
{
	struct task_struct *task = new_sleeper();
	const struct wire_thread *told;

	host_name(task, "fifteen letters");
	task->self_exec_id = 4;
	task->cgroups->dfl_cgrp->kn->id = 77;
	told = list(task);
	ASSERT_TRUE(told);
	EXPECT_EQ(told->process.tgid, 100);
	EXPECT_EQ(told->process.tid, 101);
	EXPECT_EQ(told->process.start_ns, 100000); /* of process 100 */
	EXPECT_EQ(told->process.exec_id, 4);
	EXPECT_EQ(told->cgroup, 77);
	EXPECT_EQ(told->switches, 23);
	EXPECT_EQ(told->is_kernel, 0);
	EXPECT_BYTES(told->comm, "fifteen letters", WIRE_COMM_BYTES);
}

TEST(ListThreads, TellsWhereItsStackLies)
{
	struct task_struct *task = new_sleeper();
	const struct wire_thread *told;

	host_map(task, 0x10000, 0x14000, VM_READ | VM_WRITE);
	host_map(task, 0x14000, 0x15000, VM_READ | VM_WRITE);
	host_regs(task)->sp = 0x12345;
	told = list(task);
	ASSERT_TRUE(told);
	EXPECT_EQ(told->stack_begin, 0x10000);
	EXPECT_EQ(told->stack_end, 0x15000);
	host_regs(task)->sp = 0x15000;
	told = list(task);
	ASSERT_TRUE(told);
	EXPECT_EQ(told->stack_begin, 0);
	EXPECT_EQ(told->stack_end, 0);
}

TEST(ListThreads, TellsItsStampAndWhatTheKernelHasBookedSince)
{
	struct task_struct *task = new_sleeper();
	const struct wire_thread *told;

	storage_of(task)->stamp.out_run_delay = 300;
	storage_of(task)->stamp.arrivals = 8;
	storage_of(task)->cookie = 4711;
	task->sched_info.pcount = 10;
	task->sched_info.run_delay = 400;
	task->sched_info.last_queued = 6000;
	task->sched_info.last_arrival = 5500;
	told = list(task);
	EXPECT_EQ(told->out_ns, 5000);
	EXPECT_EQ(told->out_run_delay, 300);
	EXPECT_EQ(told->run_delay, 400);
	EXPECT_EQ(told->queued_ns, 6000);
	EXPECT_EQ(told->arrived_ns, 5500);
	EXPECT_EQ(told->arrivals, 10);
	EXPECT_EQ(told->new_arrivals, 2);
	EXPECT_EQ(told->has_run, 1);
	EXPECT_EQ(told->cookie, 4711);
}

/* Its CPU has been idle since 9000 of its clock, of which interrupts have taken 1000, and the one that lists
 * it goes on. */
TEST(ListThreads, TellsHowLongAThreadHasBeenOffTheCpuWithoutAStamp)
{
	struct task_struct *task = new_sleeper(), *caller = host_new_thread(host_new_process(200), 200);

	settings->has_rq_clock = 1;
	storage_of(task)->stamp = (struct stamp){};
	host.runqueues[0].clock = 9000;
	host.runqueues[0].clock_task = 8000;
	task->se.exec_start = 4500; /* of clock_task */
	host.runqueues[1].clock = 20000;
	caller->se.cfs_rq->rq = &host.runqueues[1];
	host.current = caller;
	EXPECT_EQ(list(task)->off_cpu_ns, 20000 - (9000 - (8000 - 4500)));
	host.runqueues[1].clock = 100; /* has not been looked at for long */
	EXPECT_EQ(list(task)->off_cpu_ns, 0);
	host.runqueues[1].clock = 20000;
	task->on_cpu = 1;
	EXPECT_EQ(list(task)->off_cpu_ns, 0);
	task->on_cpu = 0;
	settings->has_rq_clock = 0;
	EXPECT_EQ(list(task)->off_cpu_ns, 0);
}

/* It left to sleep, and is on its way to the disk by now. */
TEST(ListThreads, TellsHowItLeftAndWhatItDoesNow)
{
	struct task_struct *task = new_sleeper();
	const struct wire_thread *told;

	task->__state = TASK_UNINTERRUPTIBLE;
	told = list(task);
	EXPECT_EQ(told->kind, WIRE_KIND_SLEEPING);
	EXPECT_EQ(told->state, WIRE_KIND_DISK);
	EXPECT_EQ(told->syscall, 7);
	host_regs(task)->orig_ax = 24; /* sched_yield */
	task->__state = storage_of(task)->stamp.out_state = 0;
	told = list(task);
	EXPECT_EQ(told->kind, WIRE_KIND_YIELDED);
	EXPECT_EQ(told->state, WIRE_KIND_YIELDED);
	storage_of(task)->stamp.was_throttled = 1;
	EXPECT_EQ(list(task)->kind, WIRE_KIND_THROTTLED);
}

/* The kernel books the sleep of a thread that it has moved as waiting for a CPU. */
TEST(ListThreads, ThreadThatWasMovedAsleepDoesNotWaitForACpu)
{
	struct task_struct *task = new_sleeper();
	struct stamp *stamp = &storage_of(task)->stamp;
	const struct wire_thread *told;

	stamp->out_run_delay = 300;
	task->sched_info.run_delay = 350;
	task->sched_info.last_queued = 4000;
	told = list(task);
	EXPECT_EQ(told->run_delay, 350);
	EXPECT_EQ(told->queued_ns, 4000);
	stamp->was_moved = 1;
	told = list(task);
	EXPECT_EQ(told->run_delay, 300);
	EXPECT_EQ(told->queued_ns, 0);
}

TEST(ListThreads, WithoutStorageNothingIsKnownOfItsWait)
{
	struct task_struct *task = new_sleeper();
	const struct wire_thread *told;

	host_clear(&tasks);
	task->sched_info.pcount = 10;
	told = list(task);
	EXPECT_EQ(told->out_ns, 0);
	EXPECT_EQ(told->out_run_delay, 0);
	EXPECT_EQ(told->new_arrivals, 0);
	EXPECT_EQ(told->arrivals, 10);
	EXPECT_EQ(told->has_run, 1);
	EXPECT_EQ(told->kind, WIRE_KIND_OTHER);
	EXPECT_EQ(told->state, WIRE_KIND_SLEEPING);
	EXPECT_EQ(told->cookie, 0);
	EXPECT_EQ(host_count(&tasks), 0);
}

TEST(ListThreads, TellsBothStacksOfAThreadThatIsOffTheCpu)
{
	struct task_struct *task = new_sleeper();
	const struct wire_thread *told;
	const __u64 *frames;

	host_regs(task)->ax = 1000;
	host_regs(task)->sp = 1007;
	host_regs(task)->ip = 1016;
	told = list(task);
	frames = (const __u64 *)(told + 1);
	ASSERT_EQ(host.seq_bytes, 320 + 2 * 8);
	EXPECT_EQ(told->on_cpu, 0);
	EXPECT_EQ(told->count, 2);
	EXPECT_EQ(frames[0], 0x9000);
	EXPECT_EQ(frames[1], 0x9100);
	EXPECT_EQ(told->has_user, 1);
	EXPECT_EQ(told->in_syscall, 1);
	EXPECT_EQ(told->is_32_bit, 0);
	EXPECT_EQ(told->registers[0], 1000);
	EXPECT_EQ(told->registers[7], 1007);
	EXPECT_EQ(told->registers[16], 1016);
	host_regs(task)->cs = 0x23;
	host_regs(task)->orig_ax = -1UL;
	told = list(task);
	EXPECT_EQ(told->is_32_bit, 1);
	EXPECT_EQ(told->in_syscall, 0);
}

TEST(ListThreads, LongestKernelStackIsWhole)
{
	struct task_struct *task = new_sleeper();
	const __u64 *frames;

	host.task_count = WIRE_KERNEL_FRAMES;
	host.task_frames[WIRE_KERNEL_FRAMES - 1] = 0x9999;
	EXPECT_EQ(list(task)->count, 127);
	frames = (const __u64 *)(host.seq + 320);
	ASSERT_EQ(host.seq_bytes, 320 + 127 * 8);
	EXPECT_EQ(frames[126], 0x9999);
}

TEST(ListThreads, KernelStackThatCannotBeTakenIsEmpty)
{
	struct task_struct *task = new_sleeper();

	host.task_count = -14;
	EXPECT_EQ(list(task)->count, 0);
	EXPECT_EQ(host.seq_bytes, 320);
	EXPECT_EQ(list(task)->has_user, 1);
}

/* It has no stacks then: nothing is left of those of a thread that was listed before in the same memory. */
TEST(ListThreads, ThreadThatRunsHasNoStacks)
{
	struct task_struct *task = new_sleeper();
	const struct wire_thread *told;

	list(task);
	task->on_cpu = 1;
	told = list(task);
	EXPECT_EQ(told->on_cpu, 1);
	EXPECT_EQ(told->count, 0);
	EXPECT_EQ(told->has_user, 0);
	EXPECT_EQ(told->in_syscall, 0);
	EXPECT_EQ(host.seq_bytes, 320);
}

static struct task_struct *switching;

/* It runs while its stack is taken, and is off the CPU again. */
static void switch_in_between(void)
{
	switching->nvcsw++;
}

static void arrive_in_between(void)
{
	switching->on_cpu = 1;
}

TEST(ListThreads, StacksOfAThreadThatRunsMeanwhileAreDropped)
{
	const struct wire_thread *told;

	switching = new_sleeper();
	host.on_task_stack = switch_in_between;
	told = list(switching);
	EXPECT_EQ(told->switches, 23); /* as it was before */
	EXPECT_EQ(told->on_cpu, 1);
	EXPECT_EQ(told->count, 0);
	EXPECT_EQ(told->has_user, 0);
	EXPECT_EQ(host.seq_bytes, 320);
	host.on_task_stack = arrive_in_between;
	EXPECT_EQ(list(switching)->on_cpu, 1);
	EXPECT_EQ(host.seq_bytes, 320);
}

TEST(ListThreads, ThreadsOfTheKernelHaveNoUserSide)
{
	static const __u32 flags[] = {PF_KTHREAD, PF_IO_WORKER, PF_USER_WORKER};
	struct task_struct *task = new_sleeper();

	settings->kernel_threads = 1;
	EXPECT_EQ(list(task)->has_user, 1); /* in the same memory */
	for (int i = 0; i < 3; i++) {
		task->flags = flags[i];
		EXPECT_EQ(list(task)->is_kernel, 1);
		EXPECT_EQ(list(task)->has_user, 0);
		EXPECT_EQ(list(task)->count, 2);
	}
	task->flags = 0;
	task->mm = NULL; /* it is exiting */
	EXPECT_EQ(list(task)->has_user, 0);
	EXPECT_EQ(list(task)->is_kernel, 0);
}

/* A zombie waits for nothing. */
TEST(ListThreads, DeadThreadsAreLeftOut)
{
	struct task_struct *task = new_sleeper();

	task->__state = TASK_DEAD;
	EXPECT_TRUE(!list(task));
	task->__state = TASK_DEAD | TASK_NOLOAD;
	EXPECT_TRUE(!list(task));
	EXPECT_TRUE(!list(NULL));
}

TEST(ListThreads, OthersAreLeftOut)
{
	struct task_struct *task = new_sleeper();

	settings->own_tgid = 100;
	EXPECT_TRUE(!list(task));
}

TEST(ListThreads, ThreadThatFindsNoBufferIsCounted)
{
	struct task_struct *task = new_sleeper();
	struct capture_buffer *buffer = NULL;

	for (__u32 i = 0; i < 8; i++) {
		buffer = host_value(&buffers, &i, 0);
		buffer->busy = i != 7;
	}
	EXPECT_TRUE(list(task)); /* the last one is free, and is given back */
	EXPECT_EQ(buffer->busy, 0);
	EXPECT_EQ(counted(WIRE_COUNT_NOT_LISTED).count, 0);
	buffer->busy = 1;
	EXPECT_TRUE(!list(task));
	EXPECT_EQ(counted(WIRE_COUNT_NOT_LISTED).count, 1);
}

/* Where one is in the middle of execve when recording ends, the wait was the program's before: it has come
 * back from it, and this was noted. */
TEST(ListThreads, WaitThatRecordingEndedInIsOfTheProgramBefore)
{
	struct task_struct *task = new_sleeper();

	task->self_exec_id = 9;
	EXPECT_EQ(list(task)->process.exec_id, 9);
	storage_of(task)->late_exec_id = 8 + 1;
	EXPECT_EQ(list(task)->process.exec_id, 8);
	storage_of(task)->late_exec_id = 0 + 1; /* no program has been given it yet */
	EXPECT_EQ(list(task)->process.exec_id, 0);
}

/* Both have to agree. */
TEST(ListThreads, ProcessIsToldAsItsAccountTellsItAfterTheEnd)
{
	struct task_struct *task = new_sleeper();
	struct wire_account *account;

	settings->ledger = 1;
	account = make_account(task);
	name_account(account, task);
	task->self_exec_id++;
	storage_of(task)->late_exec_id = 77;
	EXPECT_EQ(list(task)->process.exec_id, 76); /* accounts change while recording */
	control.phase = WIRE_ENDED;
	EXPECT_EQ(list(task)->process.exec_id, 1);
	control.phase = WIRE_LISTING;
	EXPECT_EQ(list(task)->process.exec_id, 1);
	EXPECT_EQ(list(task)->process.tid, 101);
}
