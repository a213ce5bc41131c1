/* Pieces of stacks that lie elsewhere, as the walker has asked for them, and what lies above what was copied.
 */
#include "tests/bpf/capture_script.h"

#define OTHER 0x600000000000ULL /* a mapping of a handler's stack, of 16 pages */

static struct task_struct *new_with_pieces(__u32 pieces, __u64 first, __u64 second)
{
	struct task_struct *task = new_captured(7);
	struct wire_stack_hint hint = {.bytes = 4096, .pieces = pieces, .begins = {first, second}};
	const __u32 tid = 7;

	host_map(task, OTHER, OTHER + 0x10000, VM_WRITE);
	fill_memory(task, OTHER, OTHER + 0x10000);
	bpf_map_update_elem(&stack_hints, &tid, &hint, BPF_ANY);
	return task;
}

static const struct wire_piece *captured_piece(__u32 index)
{
	EXPECT_EQ(send_capture(1, 4096, CONTEXT_SWITCH, false), WIRE_USER_PENDING);
	return &capture_record(host_records(&captures) - 1)->pieces[index];
}

static void expect_piece(const struct wire_piece *piece, __u64 begin, __u32 bytes, __u32 above)
{
	EXPECT_EQ(piece->begin, begin);
	EXPECT_EQ(piece->bytes, bytes);
	EXPECT_EQ(piece->above, above);
}

TEST(Pieces, AreCopiedBehindTheStack)
{
	const struct wire_piece *first;

	new_with_pieces(2, OTHER + 0x1000, STACK_END - 0x2000);
	first = captured_piece(0);
	expect_piece(first, OTHER + 0x1000, 4096, WIRE_ABOVE_MORE);
	expect_piece(first + 1, STACK_END - 0x2000, 4096, WIRE_ABOVE_MORE);
	EXPECT_EQ(first[2].begin, 0);
	EXPECT_EQ(capture_record(0)->stack_bytes, 4096);
	EXPECT_EQ(host_record(&captures, 0).length, 288 + 3 * 4096);
	expect_bytes((const char *)(capture_record(0) + 1), SP, 4096);
	expect_bytes((const char *)(capture_record(0) + 1) + 4096, OTHER + 0x1000, 4096);
	expect_bytes((const char *)(capture_record(0) + 1) + 8192, STACK_END - 0x2000, 4096);
}

TEST(Pieces, AreAsManyAsTheWalkerAskedFor)
{
	new_with_pieces(1, OTHER, OTHER + 0x1000);
	expect_piece(captured_piece(0), OTHER, 4096, WIRE_ABOVE_MORE);
	EXPECT_EQ(captured_piece(1)->begin, 0);
	EXPECT_EQ(host_record(&captures, 0).length, 288 + 2 * 4096);
}

/* The largest stack and four pieces are all that a record has room for. */
TEST(Pieces, LargestStackHasFourOfThem)
{
	struct task_struct *task = new_with_pieces(4, OTHER, OTHER + 0x1000);
	const __u32 tid = 7;
	struct wire_stack_hint *hint = bpf_map_lookup_elem(&stack_hints, &tid);

	hint->begins[2] = OTHER + 0x2000;
	hint->begins[3] = OTHER + 0x3000;
	host_regs(task)->sp = SP - 8;
	fill_memory(task, SP - 136, SP);
	EXPECT_EQ(send_capture(1, 65536, CONTEXT_SWITCH, false), WIRE_USER_PENDING);
	EXPECT_EQ(host_record(&captures, 0).length, 288 + 128 + 65536 + 4 * 4096);
	expect_piece(&capture_record(0)->pieces[3], OTHER + 0x3000, 4096, WIRE_ABOVE_MORE);
	expect_bytes((const char *)(capture_record(0) + 1) + 128 + 65536 + 3 * 4096, OTHER + 0x3000, 4096);
}

TEST(Pieces, EndWithTheirMapping)
{
	new_with_pieces(1, OTHER + 0xff00, 0);
	expect_piece(captured_piece(0), OTHER + 0xff00, 256, WIRE_ABOVE_END);
}

TEST(Pieces, EndBeforeAPageThatIsNotResident)
{
	struct task_struct *task = new_with_pieces(1, OTHER + 0xf00, 0);

	host_take_page(task, OTHER + 0x1000, false);
	expect_piece(captured_piece(0), OTHER + 0xf00, 256, WIRE_ABOVE_UNREAD);
}

/* It begins in what is copied from the stack pointer on: to SP + 4096. */
TEST(Pieces, OverlapWithTheStackIsNotCopiedTwice)
{
	new_with_pieces(1, SP + 0x100, 0);
	expect_piece(captured_piece(0), SP + 0x1000, 256, WIRE_ABOVE_MORE);
}

TEST(Pieces, PieceOfTheStackCopiedAlreadyIsNone)
{
	new_with_pieces(2, SP, SP + 0xfff);
	EXPECT_EQ(captured_piece(0)->begin, 0);
	expect_piece(captured_piece(1), SP + 0x1000, 4095, WIRE_ABOVE_MORE);
}

TEST(Pieces, PieceBehindTheCopyIsAPiece)
{
	new_with_pieces(1, SP + 0x1000, 0);
	expect_piece(captured_piece(0), SP + 0x1000, 4096, WIRE_ABOVE_MORE);
}

TEST(Pieces, AddressOfNoMappingIsNone)
{
	new_with_pieces(2, OTHER - 0x1000, OTHER + 0x10000);
	EXPECT_EQ(captured_piece(0)->begin, 0);
	EXPECT_EQ(captured_piece(1)->begin, 0);
}

/* Whose reads may have effects. */
TEST(Pieces, DeviceIsNeverRead)
{
	const __u64 flags[] = {VM_IO, VM_PFNMAP};

	for (__u32 i = 0; i < 2; i++) {
		struct task_struct *task = new_with_pieces(1, OTHER, 0);

		host_unmap(task, OTHER);
		host_map(task, OTHER, OTHER + 0x10000, VM_WRITE | flags[i]);
		EXPECT_EQ(captured_piece(0)->begin, 0);
	}
}

TEST(Pieces, MappingIsLookedForAgainAfterAChange)
{
	struct task_struct *task = new_with_pieces(1, OTHER + 0x8000, 0);

	EXPECT_EQ(captured_piece(0)->bytes, 4096);
	host_unmap(task, OTHER);
	host_map(task, OTHER, OTHER + 0x8080, VM_WRITE);
	expect_piece(captured_piece(0), OTHER + 0x8000, 128, WIRE_ABOVE_END);
}

TEST(Pieces, LeaveTheMappingOfTheStackKnown)
{
	struct task_struct *task = new_with_pieces(1, OTHER, 0);

	captured_piece(0);
	EXPECT_EQ(state_of(task)->stack.begin, STACK);
	EXPECT_EQ(state_of(task)->other.begin, OTHER);
	EXPECT_EQ(state_of(task)->other.end, OTHER + 0x10000);
}

/* Buffers are used again. */
TEST(Pieces, OfAnEarlierCaptureAreNone)
{
	const __u32 tid = 7;

	new_with_pieces(2, OTHER, OTHER + 0x1000);
	EXPECT_EQ(captured_piece(1)->begin, OTHER + 0x1000);
	bpf_map_delete_elem(&stack_hints, &tid);
	EXPECT_EQ(captured_piece(0)->begin, 0);
	EXPECT_EQ(captured_piece(1)->begin, 0);
	EXPECT_EQ(host_record(&captures, 1).length, 288 + 4096);
}

TEST(Pieces, AreOfOneThread)
{
	struct task_struct *task = new_with_pieces(1, OTHER, 0);

	task->pid = 8;
	EXPECT_EQ(captured_piece(0)->begin, 0);
}

/* Copied up to 100, wanted up to that; the mapping ends there, or further up. */
TEST(Above, IsMoreWhereNoMoreWasWanted)
{
	EXPECT_EQ(what_is_above(100, 100, 100, true), WIRE_ABOVE_MORE);
	EXPECT_EQ(what_is_above(101, 100, 200, false), WIRE_ABOVE_MORE);
}

TEST(Above, IsTheEndOnlyOfAMappingThatIsKnown)
{
	EXPECT_EQ(what_is_above(100, 101, 100, true), WIRE_ABOVE_END);
	EXPECT_EQ(what_is_above(100, 101, 100, false), WIRE_ABOVE_UNREAD);
	EXPECT_EQ(what_is_above(99, 101, 100, true), WIRE_ABOVE_UNREAD);
}
