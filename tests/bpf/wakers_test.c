/* Who a waker is, by the frames of its kernel stack, and which of them are its own. */
#include "tests/bpf/mixing.h"
#include "tests/bpf/waking.h"

/* What is known of a waker: its flags, how many frames its stack has, and where they begin. */
struct seen {
	__u32 wakers, flags, count;
	__u64 first, last;
};

/* Programs send each stack once: the last one that was sent is the one of this wake. */
static struct seen see(struct task_struct *waker, const __u64 *frames, long count)
{
	struct wake *wake = wake_by(waker, host_new_process(200), frames, count);
	__u32 sent = sent_records(WIRE_KERNEL_STACK);
	const struct stack_definition *stack = sent ? sent_record(WIRE_KERNEL_STACK, sent - 1) : NULL;
	struct seen seen = {.wakers = wake->record.count};

	if (!wake->record.count || !stack)
		return seen;
	EXPECT_EQ(wake->wakers[0].kernel_stack, stack->head.id);
	seen.flags = wake->wakers[0].flags;
	seen.count = stack->head.count;
	seen.first = stack->frames[0];
	seen.last = stack->frames[stack->head.count - 1];
	return seen;
}

static void expect_thread(struct seen seen, __u64 first, __u64 last, __u32 count)
{
	EXPECT_EQ(seen.wakers, 1);
	EXPECT_EQ(seen.flags, 0);
	EXPECT_EQ(seen.first, first);
	EXPECT_EQ(seen.last, last);
	EXPECT_EQ(seen.count, count);
}

static void expect_interrupt(struct seen seen, __u64 first, __u64 last, __u32 count)
{
	EXPECT_EQ(seen.wakers, 1);
	EXPECT_EQ(seen.flags, WIRE_WAKER_INTERRUPT);
	EXPECT_EQ(seen.first, first);
	EXPECT_EQ(seen.last, last);
	EXPECT_EQ(seen.count, count);
}

TEST(Wakers, ThreadWakesFromItsOwnFrames)
{
	record_wakers();
	expect_thread(see(host_new_process(100), FRAMES(GLUE, TRY_TO_WAKE_UP, CODE, CODE + 1)),
		      TRY_TO_WAKE_UP, CODE + 1, 3);
}

TEST(Wakers, ThreadIsNamed)
{
	struct task_struct *leader = host_new_process(100), *waker = host_new_thread(leader, 101);
	struct wake *wake;

	record_wakers();
	host_name(waker, "fifteen letters");
	leader->start_boottime = 4711;
	waker->self_exec_id = 5;
	host.now_ns = 777;
	wake = wake_by(waker, host_new_process(200), FRAMES(CODE));
	EXPECT_EQ(wake->wakers[0].at_ns, 777);
	EXPECT_EQ(wake->wakers[0].process.tgid, 100);
	EXPECT_EQ(wake->wakers[0].process.tid, 101);
	EXPECT_EQ(wake->wakers[0].process.start_ns, 4711); /* of its process */
	EXPECT_EQ(wake->wakers[0].process.exec_id, 5);
	EXPECT_BYTES(wake->wakers[0].comm, "fifteen letters", WIRE_COMM_BYTES);
}

/* The thread that it interrupts has nothing to do with it: neither its name nor its frames are kept. */
TEST(Wakers, InterruptIsToldByEachOfItsEntries)
{
	struct task_struct *waker = host_new_process(100);
	static const char zeros[WIRE_COMM_BYTES];
	struct wake *wake;

	record_wakers();
	for (int i = 0; i < WIRE_INTERRUPT_ENTRIES; i++) {
		check_note("entry", i);
		expect_interrupt(see(waker, FRAMES(GLUE, TRY_TO_WAKE_UP, CODE, INTERRUPT(i), CODE + 1)),
				 TRY_TO_WAKE_UP, INTERRUPT(i), 3);
	}
	host_name(waker, "victim");
	wake = wake_by(waker, host_new_process(200), FRAMES(GLUE, CODE + 7, INTERRUPT(0), CODE));
	EXPECT_EQ(wake->wakers[0].process.tgid, 0);
	EXPECT_EQ(wake->wakers[0].process.tid, 0);
	EXPECT_EQ(wake->wakers[0].process.start_ns, 0);
	EXPECT_EQ(wake->wakers[0].process.exec_id, 0);
	EXPECT_BYTES(wake->wakers[0].comm, zeros, WIRE_COMM_BYTES);
	EXPECT_EQ(wake->wakers[0].cookie, 0);
	EXPECT_EQ(wake->wakers[0].no_user, WIRE_NO_USER_KERNEL_THREAD);
}

/* An interrupt of an interrupt: the inner one wakes. */
TEST(Wakers, InnermostInterruptIsTheWaker)
{
	record_wakers();
	expect_interrupt(see(host_new_process(100), FRAMES(CODE, INTERRUPT(1), CODE + 1, INTERRUPT(2))), CODE,
			 INTERRUPT(1), 2);
}

/* What was pending runs in a thread that lets it, and means nothing. */
TEST(Wakers, SoftirqInAThreadIsAnInterrupt)
{
	struct task_struct *waker = host_new_process(100);

	record_wakers();
	expect_interrupt(see(waker, FRAMES(CODE, SOFTIRQ(0), CODE + 1)), CODE, SOFTIRQ(0), 2);
	expect_interrupt(see(waker, FRAMES(CODE, SOFTIRQ(1), CODE + 1)), CODE, SOFTIRQ(1), 2);
	/* Its frames end with the outer function. */
	expect_interrupt(see(waker, FRAMES(CODE, SOFTIRQ(0), SOFTIRQ(1), CODE + 2)), CODE, SOFTIRQ(1), 3);
}

/* A packet to the host itself is delivered as a part of sending it. */
TEST(Wakers, BacklogInAThreadIsTheThreads)
{
	struct task_struct *waker = host_new_process(100);

	record_wakers();
	expect_thread(see(waker, FRAMES(CODE, BACKLOG, SOFTIRQ(0), CODE + 1)), CODE, CODE + 1, 4);
	expect_thread(see(waker, FRAMES(CODE, BACKLOG, CODE + 2)), CODE, CODE + 2, 3);
	expect_interrupt(see(waker, FRAMES(CODE, BACKLOG, SOFTIRQ(0), INTERRUPT(0), CODE + 1)), CODE,
			 INTERRUPT(0), 4);
}

/* There nobody has sent the packets. */
TEST(Wakers, SoftirqInAKernelThreadIsAnInterrupt)
{
	struct task_struct *waker = host_new_kernel_thread(20);

	record_wakers();
	expect_interrupt(see(waker, FRAMES(CODE, BACKLOG, SOFTIRQ(0), CODE + 1)), CODE, SOFTIRQ(0), 3);
	expect_interrupt(see(waker, FRAMES(CODE, SOFTIRQ(1), CODE + 1)), CODE, SOFTIRQ(1), 2);
	expect_thread(see(waker, FRAMES(CODE + 2, CODE + 1)), CODE + 2, CODE + 1, 2);
}

/* The idle thread is no thread: what it wakes, the machine does. */
TEST(Wakers, IdleThreadIsAnInterrupt)
{
	struct task_struct *idle = host_new_process(0);

	record_wakers();
	expect_interrupt(see(idle, FRAMES(CODE, BACKLOG, SOFTIRQ(0), CODE + 1)), CODE, SOFTIRQ(0), 3);
	expect_interrupt(see(idle, FRAMES(CODE, CODE + 1)), CODE, CODE + 1, 2);
}

/* Glue lies in front of try_to_wake_up, in fewer than 8 frames. */
TEST(Wakers, GlueIsLookedForInEightFrames)
{
	struct task_struct *waker = host_new_process(100);
	__u64 frames[12];

	record_wakers();
	for (__u32 at = 0; at < 12; at++) {
		for (__u32 i = 0; i < 12; i++)
			frames[i] = i == at ? TRY_TO_WAKE_UP + at : GLUE + i;
		check_note("try_to_wake_up at", at);
		if (at < 8)
			expect_thread(see(waker, frames, 12), TRY_TO_WAKE_UP + at, at == 11 ? 0 : GLUE + 11,
				      12 - at);
		else
			expect_thread(see(waker, frames, 12), GLUE,
				      at == 11 ? TRY_TO_WAKE_UP + 11 : GLUE + 11, 12);
	}
}

/* The first byte of a function is in it, the one behind its last is not. */
TEST(Wakers, FunctionsEndBeforeTheirEnd)
{
	struct task_struct *waker = host_new_process(100);

	record_wakers();
	EXPECT_EQ(see(waker, FRAMES(GLUE, TRY_TO_WAKE_UP + 0xff, CODE)).count, 2);
	EXPECT_EQ(see(waker, FRAMES(GLUE, TRY_TO_WAKE_UP + 0x100, CODE)).count, 3);
	EXPECT_EQ(see(waker, FRAMES(GLUE, TRY_TO_WAKE_UP - 1, CODE)).count, 3);
	EXPECT_EQ(see(waker, FRAMES(CODE, INTERRUPT(3) + 0xff)).flags, WIRE_WAKER_INTERRUPT);
	EXPECT_EQ(see(waker, FRAMES(CODE, INTERRUPT(3) + 0x100)).flags, 0);
	EXPECT_EQ(see(waker, FRAMES(CODE, INTERRUPT(3) - 1)).flags, 0);
	EXPECT_EQ(see(waker, FRAMES(CODE, SOFTIRQ(1) + 0xff)).flags, WIRE_WAKER_INTERRUPT);
	EXPECT_EQ(see(waker, FRAMES(CODE, SOFTIRQ(1) + 0x100)).flags, 0);
	EXPECT_EQ(see(waker, FRAMES(BACKLOG + 0xff, SOFTIRQ(1))).flags, 0);
	EXPECT_EQ(see(waker, FRAMES(BACKLOG + 0x100, SOFTIRQ(1))).flags, WIRE_WAKER_INTERRUPT);
}

/* Where a stack has as many frames as the kernel tells, the interrupt's entry may lie further out. */
TEST(Wakers, StackWithAsManyFramesAsAreToldIsOfNobody)
{
	struct task_struct *waker = host_new_process(100);
	__u64 frames[20];

	record_wakers();
	for (__u32 i = 0; i < 20; i++)
		frames[i] = CODE + i;
	expect_thread(see(waker, frames, 19), CODE, CODE + 18, 19);
	EXPECT_EQ(see(waker, frames, 20).wakers, 0);
	EXPECT_EQ(sent_records(WIRE_KERNEL_STACK), 1); /* of the first one */
	frames[19] = INTERRUPT(0);
	expect_interrupt(see(waker, frames, 20), CODE, INTERRUPT(0), 20);
	frames[19] = SOFTIRQ(0);
	expect_interrupt(see(waker, frames, 20), CODE, SOFTIRQ(0), 20);
}

TEST(Wakers, LongestStackIsKeptWhole)
{
	__u64 frames[WIRE_KERNEL_FRAMES];

	record_wakers();
	waker_settings->max_frames = WIRE_KERNEL_FRAMES;
	for (__u32 i = 0; i < WIRE_KERNEL_FRAMES; i++)
		frames[i] = CODE + i;
	frames[WIRE_KERNEL_FRAMES - 1] = INTERRUPT(2);
	expect_interrupt(see(host_new_process(100), frames, WIRE_KERNEL_FRAMES), CODE, INTERRUPT(2), 127);
}

TEST(Wakers, WithoutFramesNobodyIsKnown)
{
	struct task_struct *waker = host_new_process(100);

	record_wakers();
	EXPECT_EQ(see(waker, NULL, 0).wakers, 0);
	EXPECT_EQ(see(waker, NULL, -14).wakers, 0);
	EXPECT_EQ(counted(WIRE_COUNT_KERNEL_STACK_FAILED).count, 2);
}

/* Four programs that were interrupted hold the memory of this CPU. */
TEST(Wakers, WithoutMemoryForFramesNobodyIsKnown)
{
	struct task_struct *waker = host_new_process(100);
	__u32 zero = 0;
	struct scratch *scratch = bpf_map_lookup_elem(&scratches, &zero);

	record_wakers();
	scratch->depth = 3;
	EXPECT_EQ(see(waker, FRAMES(CODE)).wakers, 1);
	EXPECT_EQ(scratch->depth, 3);
	scratch->depth = 4;
	EXPECT_EQ(see(waker, FRAMES(CODE + 1)).wakers, 0);
	EXPECT_EQ(scratch->depth, 4);
	EXPECT_EQ(counted(WIRE_COUNT_NO_SCRATCH).count, 1);
}

TEST(Wakers, StackIsNamedByItsOwnFramesAlone)
{
	struct task_struct *waker = host_new_process(100), *wakee = host_new_process(200);
	const __u64 own[] = {TRY_TO_WAKE_UP, CODE, INTERRUPT(0)};

	record_wakers();
	EXPECT_EQ(wake_by(waker, wakee, own, 3)->wakers[0].kernel_stack, kernel_id(own, 3));
	EXPECT_EQ(wake_by(waker, wakee, FRAMES(GLUE, GLUE + 1, own[0], own[1], own[2], CODE + 4))
			  ->wakers[0]
			  .kernel_stack,
		  kernel_id(own, 3));
	EXPECT_EQ(wake_by(waker, wakee, FRAMES(own[0], own[1]))->wakers[0].kernel_stack, kernel_id(own, 2));
	EXPECT_EQ(sent_records(WIRE_KERNEL_STACK), 2); /* one a name */
}
