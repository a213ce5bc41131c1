/* What a capture holds, byte for byte, and what becomes of one that cannot be made. */
#include "tests/bpf/capture_script.h"

static int capture(__u64 cookie, __u32 wanted)
{
	return send_capture(cookie, wanted, CONTEXT_SWITCH, false);
}

static void set_registers(struct pt_regs *regs)
{
	regs->ax = 1000;
	regs->dx = 1001;
	regs->cx = 1002;
	regs->bx = 1003;
	regs->si = 1004;
	regs->di = 1005;
	regs->bp = 1006;
	regs->r8 = 1008;
	regs->r9 = 1009;
	regs->r10 = 1010;
	regs->r11 = 1011;
	regs->r12 = 1012;
	regs->r13 = 1013;
	regs->r14 = 1014;
	regs->r15 = 1015;
	regs->ip = 1016;
}

/* All but the stack, whose words are those of their addresses. */
TEST(Capture, RecordHasTheThreadItsCodeAndItsStack)
{
	struct task_struct *task = new_captured(7);
	struct wire_capture expected = {.type = 3,
					.stack_bytes = 8192,
					.cookie = 0x1122,
					.process = {.start_ns = 7000, .exec_id = 1, .tgid = 7, .tid = 7},
					.above = WIRE_ABOVE_MORE,
					.in_syscall = 1};

	set_registers(host_regs(task));
	for (__u32 i = 0; i < 17; i++)
		expected.registers[i] = 1000 + i;
	expected.registers[7] = SP;
	expected.at_ns = host.now_ns;
	expected.code = (struct wire_code){.sequence = sequence_of(task), .hash = hash_of_code(1)};
	EXPECT_EQ(capture(0x1122, 8192), WIRE_USER_PENDING);
	ASSERT_EQ(host_records(&captures), 1);
	EXPECT_EQ(host_record(&captures, 0).length, 288 + 8192);
	EXPECT_EQ(host_record(&captures, 0).flags, BPF_RB_NO_WAKEUP);
	/* Only the beginning says of a piece that there is none. */
	EXPECT_BYTES(capture_record(0), &expected, __builtin_offsetof(struct wire_capture, pieces));
	for (__u32 i = 0; i < WIRE_PIECES; i++)
		EXPECT_EQ(capture_record(0)->pieces[i].begin, 0);
	expect_bytes(capture_record(0) + 1, SP, 8192);
}

TEST(Capture, ThreadInUserModeAndOf32BitsIsToldSo)
{
	struct task_struct *task = new_captured(7);

	host_regs(task)->orig_ax = (unsigned long)-1;
	host_regs(task)->cs = 0x23;
	EXPECT_EQ(capture(1, 4096), WIRE_USER_PENDING);
	EXPECT_EQ(capture_record(0)->in_syscall, 0);
	EXPECT_EQ(capture_record(0)->is_32_bit, 1);
}

/* From an address in the middle of a page: the first piece is shorter. */
TEST(Capture, StackMayBeginAnywhere)
{
	struct task_struct *task = new_captured(7);

	host_regs(task)->sp = SP + 0xf38;
	EXPECT_EQ(capture(1, 4096 + 64), WIRE_USER_PENDING);
	EXPECT_EQ(capture_record(0)->stack_bytes, 128 + 4160);
	EXPECT_EQ(capture_record(0)->above, WIRE_ABOVE_MORE);
	expect_bytes(capture_record(0) + 1, SP + 0xf38 - 128, 128 + 4160);
}

/* 8 bytes, a page, and 8 bytes. */
TEST(Capture, StackMayEndAnywhere)
{
	struct task_struct *task = new_captured(7);

	host_regs(task)->sp = SP + 0xff8;
	EXPECT_EQ(capture(1, 4096 + 16), WIRE_USER_PENDING);
	EXPECT_EQ(capture_record(0)->stack_bytes, 128 + 4112);
	expect_bytes(capture_record(0) + 1, SP + 0xff8 - 128, 128 + 4112);
}

/* A function that calls nobody may keep its frame there: 128 bytes, in the stack pointer's page or not. */
TEST(Capture, RedZoneComesFirst)
{
	const __u64 below[] = {0x1000, 128, 120, 8};

	for (__u32 i = 0; i < 4; i++) {
		struct task_struct *task = new_captured(7);

		host_regs(task)->sp = SP + below[i];
		fill_memory(task, SP - 4096, SP);
		EXPECT_EQ(capture(1, 4096), WIRE_USER_PENDING);
		EXPECT_EQ(capture_record(i)->red_zone_bytes, 128);
		EXPECT_EQ(capture_record(i)->stack_bytes, 128 + 4096);
		expect_bytes(capture_record(i) + 1, SP + below[i] - 128, 128 + 4096);
	}
}

TEST(Capture, RedZoneInAPageThatIsNotResidentIsLeftOut)
{
	struct task_struct *task = new_captured(7);

	host_regs(task)->sp = SP + 120;
	EXPECT_EQ(capture(1, 4096), WIRE_USER_PENDING);
	EXPECT_EQ(capture_record(0)->red_zone_bytes, 0);
	EXPECT_EQ(capture_record(0)->stack_bytes, 4096);
	expect_bytes(capture_record(0) + 1, SP + 120, 4096);
}

TEST(Capture, RedZoneBeginsWithTheStack)
{
	struct task_struct *task = new_captured(7);

	host_map(task, STACK - 4096, STACK, VM_WRITE);
	fill_memory(task, STACK - 4096, STACK + 8192);
	host_regs(task)->sp = STACK + 64;
	EXPECT_EQ(capture(1, 4096), WIRE_USER_PENDING);
	EXPECT_EQ(capture_record(0)->red_zone_bytes, 64);
	expect_bytes(capture_record(0) + 1, STACK, 64 + 4096);
}

/* It is no part of the stack that a capture is for. */
TEST(Capture, RedZoneAloneIsNoStack)
{
	struct task_struct *task = new_captured(7);

	fill_memory(task, SP - 4096, SP);
	host_take_page(task, SP, false);
	EXPECT_EQ(capture(1, 4096), WIRE_NO_USER_UNREADABLE);
	EXPECT_EQ(send_capture(1, 4096, CONTEXT_SWITCH, true), TRY_AGAIN);
}

/* The ABI of i386 has none: a signal may have overwritten what is there. */
TEST(Capture, ProgramOf32BitsHasNoRedZone)
{
	struct task_struct *task = new_captured(7);

	host_regs(task)->sp = SP + 0x800;
	host_regs(task)->cs = 0x23;
	EXPECT_EQ(capture(1, 4096), WIRE_USER_PENDING);
	EXPECT_EQ(capture_record(0)->red_zone_bytes, 0);
	EXPECT_EQ(capture_record(0)->stack_bytes, 4096);
}

TEST(Capture, LargestStackIsCaptured)
{
	struct task_struct *task = new_captured(7);

	host_regs(task)->sp = SP - 8;
	fill_memory(task, SP - 136, SP);
	EXPECT_EQ(capture(1, 65536), WIRE_USER_PENDING);
	EXPECT_EQ(capture_record(0)->stack_bytes, 128 + 65536);
	expect_bytes(capture_record(0) + 1, SP - 136, 128 + 65536);
}

/* 64 bytes are left of it. */
TEST(Capture, StackEndsWithItsMapping)
{
	struct task_struct *task = new_captured(7);

	host_regs(task)->sp = STACK_END - 64;
	EXPECT_EQ(capture(1, 4096), WIRE_USER_PENDING);
	EXPECT_EQ(capture_record(0)->stack_bytes, 128 + 64);
	EXPECT_EQ(capture_record(0)->above, WIRE_ABOVE_END);
	expect_bytes(capture_record(0) + 1, STACK_END - 64 - 128, 128 + 64);
}

TEST(Capture, StackEndsBeforeAPageThatIsNotResident)
{
	struct task_struct *task = new_captured(7);

	host_take_page(task, SP + 4096, false);
	EXPECT_EQ(capture(1, 8192), WIRE_USER_PENDING);
	EXPECT_EQ(capture_record(0)->stack_bytes, 4096);
	EXPECT_EQ(capture_record(0)->above, WIRE_ABOVE_UNREAD);
}

TEST(Capture, StackThatIsNotResidentCannotBeCaptured)
{
	struct task_struct *task = new_captured(7);

	host_take_page(task, SP, false);
	EXPECT_EQ(capture(1, 8192), WIRE_NO_USER_UNREADABLE);
	EXPECT_EQ(host_records(&captures), 0);
}

/* The mapping of it could not be found: one page is taken, of which it is not known what lies above. */
TEST(Capture, StackThatIsUnknownIsOnePage)
{
	struct task_struct *task = new_captured(7);

	host_unmap(task, STACK);
	EXPECT_EQ(capture(1, 8192), WIRE_USER_PENDING);
	EXPECT_EQ(capture_record(0)->stack_bytes, 4096);
	EXPECT_EQ(capture_record(0)->above, WIRE_ABOVE_UNREAD);
	EXPECT_EQ(counted(WIRE_COUNT_STACK_UNKNOWN).count, 1);
}

/* What was paid for 8192 bytes, of which 4096 are there: 4096 us are given back of a budget of 1 MB. */
TEST(Capture, BytesThatAreNotThereAreRefunded)
{
	struct task_struct *task = new_captured(7);

	budget_of(CONTEXT_SWITCH)->bytes_ns = 5;
	host_regs(task)->sp = STACK_END - 4096;
	EXPECT_EQ(capture(1, 8192), WIRE_USER_PENDING);
	EXPECT_EQ(budget_of(CONTEXT_SWITCH)->bytes_ns, 5 + 4096000);
	EXPECT_EQ(capture(1, 4096), WIRE_USER_PENDING);
	EXPECT_EQ(budget_of(CONTEXT_SWITCH)->bytes_ns, 5 + 4096000);
}

TEST(Capture, AllIsRefundedWithoutABuffer)
{
	new_captured(7);
	settings->buffers = 1;
	EXPECT_TRUE(claim_buffer());
	EXPECT_EQ(capture(1, 8192), WIRE_NO_USER_NO_BUFFER);
	EXPECT_EQ(budget_of(CONTEXT_SWITCH)->bytes_ns, 8192000);
	EXPECT_EQ(host_records(&captures), 0);
}

TEST(Capture, ThreadWithoutStorageHasNone)
{
	new_captured(7);
	host_clear(&tasks);
	EXPECT_EQ(capture(1, 8192), WIRE_NO_USER_NO_BUFFER);
	EXPECT_EQ(budget_of(CONTEXT_SWITCH)->bytes_ns, 8192000);
}

static __u32 busy_buffers(void)
{
	__u32 count = 0;

	for (__u32 i = 0; i < 8; i++)
		count += !!((struct capture_buffer *)host_value(&buffers, &i, 0))->busy;
	return count;
}

TEST(Capture, BufferIsGivenBackAfterEachEnd)
{
	struct task_struct *task = new_captured(7);

	capture(1, 4096);
	EXPECT_EQ(busy_buffers(), 0);
	host.rings_are_busy = true;
	capture(1, 4096);
	EXPECT_EQ(busy_buffers(), 0);
	host_take_page(task, SP, false);
	capture(1, 4096);
	send_capture(1, 4096, CONTEXT_SWITCH, true);
	EXPECT_EQ(busy_buffers(), 0);
}

/* A record takes 288 + 4096 + 8 = 4392 bytes, of which the ring holds one. */
TEST(Capture, RingMayBeFullOrBusy)
{
	new_captured(7);
	host_resize(&captures, 8192);
	EXPECT_EQ(capture(1, 4096), WIRE_USER_PENDING);
	EXPECT_EQ(capture(2, 4096), WIRE_NO_USER_RING_FULL);
	EXPECT_EQ(counted(WIRE_COUNT_CAPTURE_RING_FULL).count, 1);
	host_drain(&captures);
	host.rings_are_busy = true;
	EXPECT_EQ(capture(3, 4096), WIRE_NO_USER_RING_FULL);
	EXPECT_EQ(counted(WIRE_COUNT_CAPTURE_RING_FULL).count, 1);
	EXPECT_EQ(counted(WIRE_COUNT_CAPTURE_RING_BUSY).count, 1);
}

static struct walked walked_at(__u64 cookie, __u64 pc, __u64 sp)
{
	return (struct walked){.cookie = cookie, .pc = pc, .sp = sp, .user_stack = 99, .code_hash = 98};
}

/* The same capture, and the same place in the code and on the stack. */
TEST(Capture, WalkedStackIsToldIfItIsTheSame)
{
	struct task_struct *task = new_captured(7);
	const struct walked walks[] = {walked_at(5, 1016, SP), walked_at(6, 1016, SP), walked_at(5, 1017, SP),
				       walked_at(5, 1016, SP + 8)};

	set_registers(host_regs(task));
	for (__u32 i = 0; i < 4; i++) {
		state_of(task)->walked = walks[i];
		EXPECT_EQ(capture(5, 4096), WIRE_USER_PENDING);
		EXPECT_EQ(capture_record(i)->walked, i == 0 ? 99 : 0);
		EXPECT_EQ(capture_record(i)->walked_code, 98);
	}
}

TEST(Capture, ThreadHasSeenTheCodeOfItsCapture)
{
	struct task_struct *task = new_captured(7);

	EXPECT_EQ(capture(5, 4096), WIRE_USER_PENDING);
	EXPECT_EQ(state_of(task)->code.hash, hash_of_code(1));
	EXPECT_EQ(state_of(task)->code.sequence, sequence_of(task));
	state_of(task)->code.hash = 3;
	EXPECT_EQ(send_capture(5, 4096, CONTEXT_SAMPLE, false), WIRE_USER_PENDING);
	EXPECT_EQ(state_of(task)->code.hash, 3); /* a walk may have been interrupted */
}

/* The code is unknown: 200 mappings are too many to look at. */
TEST(Capture, CodeThatIsUnknownIsCounted)
{
	struct task_struct *task = new_captured(7);

	EXPECT_EQ(capture(5, 4096), WIRE_USER_PENDING);
	EXPECT_EQ(counted(WIRE_COUNT_CODE_UNKNOWN).count, 0);
	for (__u32 i = 1; i < 300; i++)
		map_code(task, i);
	EXPECT_EQ(capture(5, 4096), WIRE_USER_PENDING);
	EXPECT_EQ(counted(WIRE_COUNT_CODE_UNKNOWN).count, 1);
	EXPECT_EQ(capture_record(1)->code.hash, 0);
	EXPECT_EQ(capture_record(1)->code.sequence, sequence_of(task));
}

static void end_change(void)
{
	host.current->mm->mm_lock_seq.sequence += host.current->mm->mm_lock_seq.sequence & 1;
}

/* The change has ended when the stack is being copied. */
TEST(Capture, CodeThatWasBeingChangedIsLookedAtAgain)
{
	struct task_struct *task = new_captured(7);

	task->mm->mm_lock_seq.sequence++;
	host.on_user_read = end_change;
	EXPECT_EQ(capture(5, 4096), WIRE_USER_PENDING);
	EXPECT_EQ(capture_record(0)->code.hash, hash_of_code(1));
	EXPECT_EQ(capture_record(0)->code.sequence, sequence_of(task));
	EXPECT_EQ(counted(WIRE_COUNT_CODE_UNKNOWN).count, 0);
}

TEST(Capture, FirstTryTakesWhatIsThereOfMemoryThatMayNotFault)
{
	struct task_struct *task = new_captured(7);

	host_unmap(task, STACK);
	host_map(task, STACK, STACK_END, VM_WRITE | VM_SHARED);
	host_take_page(task, SP + 4096, false);
	EXPECT_EQ(send_capture(5, 8192, CONTEXT_SWITCH, true), WIRE_USER_PENDING);
	EXPECT_EQ(capture_record(0)->stack_bytes, 4096);
}

TEST(Capture, FirstTryLeavesAPageThatMayBeFaultedIn)
{
	struct task_struct *task = new_captured(7);

	host_take_page(task, SP + 4096, false);
	EXPECT_EQ(send_capture(5, 8192, CONTEXT_SWITCH, true), 0x100);
	EXPECT_EQ(host_records(&captures), 0);
	EXPECT_EQ(send_capture(5, 4096, CONTEXT_SWITCH, true), WIRE_USER_PENDING);
	EXPECT_EQ(send_capture(5, 8192, CONTEXT_SWITCH, false), WIRE_USER_PENDING);
	EXPECT_EQ(capture_record(1)->stack_bytes, 4096);
}
