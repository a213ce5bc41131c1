/* Registers, system calls and addresses of x86-64. */
#include "tests/bpf/host/programs.h"

#include <stddef.h>

/* Rows of unwind tables number registers so: rax rdx rcx rbx rsi rdi rbp rsp r8..r15 rip. */
TEST(Machine, RegistersAreInTheOrderOfDwarf)
{
	const struct pt_regs regs = {.ax = 100,
				     .dx = 101,
				     .cx = 102,
				     .bx = 103,
				     .si = 104,
				     .di = 105,
				     .bp = 106,
				     .sp = 107,
				     .r8 = 108,
				     .r9 = 109,
				     .r10 = 110,
				     .r11 = 111,
				     .r12 = 112,
				     .r13 = 113,
				     .r14 = 114,
				     .r15 = 115,
				     .ip = 116};
	__u64 registers[WIRE_REGISTERS];

	fill_registers(registers, &regs);
	for (int i = 0; i < WIRE_REGISTERS; i++)
		EXPECT_EQ(registers[i], 100 + i);
}

/* Kernel stacks are read at these places: each register has 8 bytes, from r15 on. */
TEST(Machine, RegistersAreStoredWhereTheKernelStoresThem)
{
	struct task_struct *task = host_new_process(100);

	EXPECT_EQ(REGS_BP, offsetof(struct pt_regs, bp));
	EXPECT_EQ(REGS_IP, offsetof(struct pt_regs, ip));
	EXPECT_EQ(REGS_SP, offsetof(struct pt_regs, sp));
	EXPECT_EQ(address_of_regs(task), (__u64)host_regs(task));
}

TEST(Machine, SystemCallIsWhatTheThreadEnteredBy)
{
	struct task_struct *task = host_new_process(100);

	host_regs(task)->orig_ax = 0; /* read */
	EXPECT_EQ(system_call(task), 0);
	EXPECT_TRUE(is_in_syscall(host_regs(task)));
	host_regs(task)->orig_ax = 232; /* epoll_wait */
	EXPECT_EQ(system_call(task), 232);
	EXPECT_TRUE(is_in_syscall(host_regs(task)));
}

TEST(Machine, InterruptsAndFaultsAreNoSystemCalls)
{
	struct task_struct *task = host_new_process(100);

	host_regs(task)->orig_ax = -1UL;
	EXPECT_EQ(system_call(task), -1);
	EXPECT_FALSE(is_in_syscall(host_regs(task)));
	task->thread_info.status = 2; /* TS_COMPAT */
	EXPECT_EQ(system_call(task), -1);
}

/* The numbers of i386 have other meanings, and are marked. */
TEST(Machine, SystemCallsOfI386AreMarked)
{
	struct task_struct *task = host_new_process(100);

	host_regs(task)->orig_ax = 162; /* nanosleep of i386 */
	task->thread_info.status = 2;
	EXPECT_EQ(system_call(task), 0x100a2);
	EXPECT_TRUE(is_in_compat_call(task));
	task->thread_info.status = ~2u; /* everything else */
	EXPECT_EQ(system_call(task), 162);
	EXPECT_FALSE(is_in_compat_call(task));
}

/* Their registers are nobody's, or those of who made them. */
TEST(Machine, ThreadsOfTheKernelAreInNoSystemCall)
{
	static const __u32 flags[] = {PF_KTHREAD, PF_IO_WORKER, PF_USER_WORKER};
	struct task_struct *task = host_new_process(100);

	host_regs(task)->orig_ax = 426;
	for (int i = 0; i < 3; i++) {
		task->flags = flags[i];
		EXPECT_EQ(system_call(task), -1);
	}
	task->flags = PF_EXITING;
	EXPECT_EQ(system_call(task), 426);
}

TEST(Machine, CodeOfI386IsToldByItsSegment)
{
	struct pt_regs regs = {.cs = 0x23};

	EXPECT_TRUE(is_32_bit(&regs));
	regs.cs = 0x33; /* of 64-bit user mode */
	EXPECT_FALSE(is_32_bit(&regs));
	regs.cs = 0x10; /* of the kernel */
	EXPECT_FALSE(is_32_bit(&regs));
}

/* clone, fork, vfork and clone3. */
TEST(Machine, FourCallsFork)
{
	__u32 count = 0;

	for (long call = -1; call < 1000; call++)
		count += is_fork_call(call);
	EXPECT_EQ(count, 4);
	EXPECT_TRUE(is_fork_call(56));
	EXPECT_TRUE(is_fork_call(57));
	EXPECT_TRUE(is_fork_call(58));
	EXPECT_TRUE(is_fork_call(435));
}

TEST(Machine, AddressIsAPointersNumber)
{
	char byte;

	EXPECT_EQ(address_of(&byte), (__u64)&byte);
	EXPECT_EQ(address_of(NULL), 0);
	EXPECT_EQ(address_of((void *)-1ULL), -1ULL);
}

/* Begin is in a range, its end is not; without both there is none. */
TEST(Machine, RangesEndBeforeTheirEnd)
{
	const volatile struct wire_range range = {.begin = 0x1000, .end = 0x2000}, none = {},
					 empty = {.begin = 0x1000, .end = 0x1000},
					 top = {.begin = -2ULL, .end = -1ULL};

	EXPECT_FALSE(lies_in(0xfff, &range));
	EXPECT_TRUE(lies_in(0x1000, &range));
	EXPECT_TRUE(lies_in(0x1fff, &range));
	EXPECT_FALSE(lies_in(0x2000, &range));
	EXPECT_FALSE(lies_in(0, &range));
	EXPECT_FALSE(lies_in(-1ULL, &range));
	EXPECT_FALSE(lies_in(0, &none));
	EXPECT_FALSE(lies_in(0x1000, &empty));
	EXPECT_TRUE(lies_in(-2ULL, &top));
	EXPECT_FALSE(lies_in(-1ULL, &top));
}
