/* Registers, system calls and addresses of AArch64. */
#include "tests/bpf/host/programs.h"

#include <stddef.h>

/* DWARF for the Arm 64-bit Architecture: x0 to x30, sp, and behind them, by our own choice, pc. */
TEST(MachineArm64, RegistersAreInTheOrderOfDwarf)
{
	struct pt_regs regs = {.sp = 131, .pc = 132};
	__u64 registers[WIRE_REGISTERS];

	for (int i = 0; i < 31; i++)
		regs.regs[i] = 100 + i;
	fill_registers(registers, &regs);
	EXPECT_EQ(WIRE_REGISTERS, 33);
	for (int i = 0; i < WIRE_REGISTERS; i++)
		EXPECT_EQ(registers[i], 100 + i);
	EXPECT_EQ(user_pc(&regs), 132);
	EXPECT_EQ(user_sp(&regs), 131);
	EXPECT_EQ(user_fp(&regs), 129);
	EXPECT_EQ(user_ra(&regs), 130);
}

TEST(MachineArm64, SystemCallIsWhatTheThreadEnteredBy)
{
	struct task_struct *task = host_new_process(100);

	host_regs(task)->syscallno = 0; /* io_setup */
	EXPECT_EQ(system_call(task), 0);
	EXPECT_TRUE(is_in_syscall(host_regs(task)));
	host_regs(task)->syscallno = 98; /* futex */
	EXPECT_EQ(system_call(task), 98);
	host_regs(task)->syscallno = -1;
	EXPECT_EQ(system_call(task), -1);
	EXPECT_FALSE(is_in_syscall(host_regs(task)));
}

/* The numbers of AArch32 have other meanings, and are marked. */
TEST(MachineArm64, SystemCallsOfAArch32AreMarked)
{
	struct task_struct *task = host_new_process(100);

	host_regs(task)->syscallno = 162; /* nanosleep of AArch32 */
	task->thread_info.flags = 1UL << 22;
	EXPECT_EQ(system_call(task), 0x100a2);
	EXPECT_TRUE(is_in_compat_call(task));
	task->thread_info.flags = ~(1UL << 22);
	EXPECT_EQ(system_call(task), 162);
	EXPECT_FALSE(is_in_compat_call(task));
}

TEST(MachineArm64, CodeOfAArch32IsToldByItsState)
{
	struct pt_regs regs = {.pstate = 0x60000010};

	EXPECT_TRUE(is_32_bit(&regs));
	regs.pstate = 0x60000000;
	EXPECT_FALSE(is_32_bit(&regs));
}

/* EL0 with either width of registers, EL1 with either stack pointer. */
TEST(MachineArm64, UserModeIsTheLowestExceptionLevel)
{
	struct bpf_perf_event_data sample = {.pc = 7};

	EXPECT_TRUE(was_in_user_mode(&sample));
	EXPECT_EQ(sampled_pc(&sample), 7);
	sample.pstate = 0x80001000;
	EXPECT_TRUE(was_in_user_mode(&sample));
	sample.pstate = 0x4;
	EXPECT_FALSE(was_in_user_mode(&sample));
	sample.pstate = 0x5;
	EXPECT_FALSE(was_in_user_mode(&sample));
}

/* clone and clone3. */
TEST(MachineArm64, TwoCallsFork)
{
	__u32 count = 0;

	for (long call = -1; call < 1000; call++)
		count += is_fork_call(call);
	EXPECT_EQ(count, 2);
	EXPECT_TRUE(is_fork_call(220));
	EXPECT_TRUE(is_fork_call(435));
}

/* With 52 bits of addresses a signature has bits 63 to 56 and 54 to 52, with 48 those from 48 on but 55. */
TEST(MachineArm64, SignaturesAreRemoved)
{
	EXPECT_EQ(PLAIN_USER_ADDRESS(0x007faaaab0001234ULL), 0xaaaab0001234ULL);
	EXPECT_EQ(PLAIN_USER_ADDRESS(0xaaaab0001234ULL), 0xaaaab0001234ULL);
	EXPECT_EQ(PLAIN_KERNEL_WORD(0x12bf800080012345ULL), 0xffff800080012345ULL);
	EXPECT_EQ(PLAIN_KERNEL_WORD(0xffff800080012345ULL), 0xffff800080012345ULL);
}
