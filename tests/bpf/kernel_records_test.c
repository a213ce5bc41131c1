/* Walks of the kernel stacks of AArch64 by frame records, over literal words. */
#include "tests/bpf/mixing.h"

#include <stddef.h>

#define TEXT 0xffff800080000000ULL
#define TEXT_END 0xffff800081000000ULL
#define RETURN(n) (TEXT + 0x100ULL * (n) + 0x40)
#define SIGNED(address) (((address)&0x0000ffffffffffffULL) | 0x1234000000000000ULL)
#define RET_FROM_FORK (TEXT + 0x900000)
#define RECORD offsetof(struct pt_regs, stackframe)
#define META_FINAL 1
#define META_REGS 2

/* A thread that was switched out in function 0 with so many bytes of its stack in use below the user's
 * registers, and its first record at an offset from there. */
static struct task_struct *new_sleeper(int pid, __u64 bytes, __u64 first)
{
	struct task_struct *task = host_new_process(pid);
	__u64 sp = (__u64)host_regs(task) - bytes;

	walk_settings->enabled = 1;
	walk_settings->text = (struct wire_range){TEXT, TEXT_END};
	walk_settings->max_frames = WIRE_KERNEL_FRAMES;
	walk_settings->ret_from_fork = RET_FROM_FORK;
	walk_settings->trampolines[0] = RETURN(0x7000);
	walk_settings->trampolines[1] = RETURN(0x7001);
	task->thread.cpu_context.sp = sp;
	task->thread.cpu_context.fp = sp + first;
	task->thread.cpu_context.pc = RETURN(0);
	host_regs(task)->stackframe.type = META_FINAL;
	return task;
}

static __u64 *word_at(struct task_struct *task, __u64 offset)
{
	return (__u64 *)(task->thread.cpu_context.sp + offset);
}

/* A record at an offset, which leads to the one at another. */
static void record_at(struct task_struct *task, __u64 offset, __u64 next, __u64 address)
{
	*word_at(task, offset) = (__u64)word_at(task, next);
	*word_at(task, offset + 8) = address;
}

static void expect_walk(struct task_struct *task, const __u64 *frames, __u32 count)
{
	struct walk_memory *memory = walk_kernel(task);

	ASSERT_TRUE(memory);
	EXPECT_EQ(memory->walked.head.count, count);
	EXPECT_BYTES(memory->walked.frames, frames, count * sizeof(*frames));
	EXPECT_EQ(memory->walked.head.id, kernel_id(frames, count));
}
#define EXPECT_WALK(task, ...)                                                                               \
	expect_walk(task, (const __u64[]){__VA_ARGS__}, sizeof((const __u64[]){__VA_ARGS__}) / sizeof(__u64))

/* Two records, of which the second leads to that of the user's registers; addresses are signed. */
static struct task_struct *new_chain(int pid)
{
	struct task_struct *task = new_sleeper(pid, 160, 0);

	record_at(task, 0, 64, SIGNED(RETURN(1)));
	record_at(task, 64, 160 + RECORD, SIGNED(RETURN(2)));
	return task;
}

TEST(KernelRecords, LeadToTheUsersRegisters)
{
	EXPECT_WALK(new_chain(1), RETURN(0), RETURN(1), RETURN(2));
}

TEST(KernelRecords, AddressesNeedNotBeSigned)
{
	struct task_struct *task = new_sleeper(1, 48, 16);

	record_at(task, 16, 48 + RECORD, RETURN(1));
	EXPECT_WALK(task, RETURN(0), RETURN(1));
}

/* Its registers are all that is on its stack. */
TEST(KernelRecords, NewThreadHasOneFrame)
{
	struct task_struct *task = new_sleeper(1, 0, RECORD);

	task->thread.cpu_context.pc = RET_FROM_FORK;
	EXPECT_WALK(task, RET_FROM_FORK + 1);
}

/* From 6.13 on: a record of zeros in the registers of an exception. What it interrupted is told as it is, and
 * the record that its frame pointer leads to is that of its caller's caller's call. */
TEST(KernelRecords, GoOnBehindExceptions)
{
	struct task_struct *task = new_sleeper(1, 800, 0);
	__u64 regs = 96;

	record_at(task, 0, regs + RECORD, SIGNED(RETURN(1)));
	*word_at(task, regs + RECORD) = *word_at(task, regs + RECORD + 8) = 0;
	*word_at(task, regs + RECORD + 16) = META_REGS;
	*word_at(task, regs + 32 * 8) = RETURN(5);
	*word_at(task, regs + 29 * 8) = (__u64)word_at(task, 600);
	*word_at(task, regs + 30 * 8) = RETURN(6); /* x30 is no caller's in most places */
	record_at(task, 600, 800 + RECORD, SIGNED(RETURN(2)));
	EXPECT_WALK(task, RETURN(0), RETURN(1), RETURN(5), RETURN(2));
}

/* Up to 6.12 that record has the address that was interrupted, and there are no types. */
TEST(KernelRecords, OlderExceptionsHaveARecordOfACall)
{
	struct task_struct *task = new_sleeper(1, 800, 0);

	host_hide_field("((struct pt_regs *)0)->stackframe");
	record_at(task, 0, 400, RETURN(1));
	record_at(task, 400, 600, RETURN(5));
	record_at(task, 600, 800 + offsetof(struct pt_regs___until_6_12, stackframe), RETURN(2));
	EXPECT_WALK(task, RETURN(0), RETURN(1), RETURN(5), RETURN(2));
}

TEST(KernelRecords, RecordOfAnotherTypeEndsNothing)
{
	struct task_struct *task = new_chain(1);

	*word_at(task, 64 + 8) = 0;
	for (__u64 type = 0; type < 4; type++) {
		*word_at(task, 64 + 16) = type;
		EXPECT_FALSE(walk_kernel(task));
	}
}

/* Below the last one, the last one again, off the stack, and not at a word. */
TEST(KernelRecords, LieAboveEachOther)
{
	static const __s64 wrong[] = {0, 8, 56, -64, 72, 68, 160, 168, 0x100000};
	struct task_struct *task = new_chain(1);

	for (int i = 0; i < 9; i++) {
		*word_at(task, 64) = task->thread.cpu_context.sp + wrong[i];
		EXPECT_FALSE(walk_kernel(task));
	}
	*word_at(task, 64) = 0;
	EXPECT_FALSE(walk_kernel(task));
	*word_at(task, 64) = (__u64)word_at(task, 160 + RECORD);
	EXPECT_TRUE(walk_kernel(task));
}

TEST(KernelRecords, TracersTrampolinesEndTheWalk)
{
	struct task_struct *task = new_chain(1);

	for (int i = 0; i < 2; i++) {
		*word_at(task, 8) = SIGNED(walk_settings->trampolines[i]);
		EXPECT_FALSE(walk_kernel(task));
	}
}

TEST(KernelRecords, AsManyFramesAsThereIsRoomFor)
{
	struct task_struct *task = new_sleeper(1, 16 * WIRE_KERNEL_FRAMES, 0);

	for (__u64 i = 0; i < WIRE_KERNEL_FRAMES; i++)
		record_at(task, 16 * i, 16 * (i + 1), RETURN(1));
	EXPECT_FALSE(walk_kernel(task)); /* one more */
	record_at(task, 16 * (WIRE_KERNEL_FRAMES - 2), 16 * WIRE_KERNEL_FRAMES + RECORD, RETURN(1));
	EXPECT_TRUE(walk_kernel(task));
}

/* A stack of the same words but for signatures and places has been walked before. */
TEST(KernelRecords, SignaturesDoNotMatterToMemos)
{
	struct task_struct *task = new_chain(1), *other = new_chain(2);
	struct walk_memory *memory;

	settings->keeps_stacks = 1;
	memory = walk_kernel(task);
	ASSERT_TRUE(memory);
	send_once(&memory->walked, false);
	keep_kernel_memo(task, &memory->made, memory->walked.head.id);
	*word_at(other, 8) = RETURN(1);
	EXPECT_EQ(remembered_kernel_stack(other), memory->walked.head.id);
	*word_at(other, 8) = RETURN(3);
	EXPECT_EQ(remembered_kernel_stack(other), 0);
	*word_at(other, 8) = RETURN(1);
	*word_at(other, 0) += 16;
	EXPECT_EQ(remembered_kernel_stack(other), 0);
	*word_at(other, 0) -= 16;
	other->thread.cpu_context.fp += 8;
	EXPECT_EQ(remembered_kernel_stack(other), 0);
}
