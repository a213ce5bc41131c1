/* Definitions are sent once a name: what is noted where, and when something is sent again. */
#include "tests/bpf/mixing.h"

static struct stack_definition stack_of(__u64 id, __u32 count)
{
	struct stack_definition stack = {.head = {.id = id, .count = count}};

	for (__u32 i = 0; i < count; i++)
		stack.frames[i] = 100 + i;
	return stack;
}

static void send_it(__u64 id, bool may_be_nmi)
{
	struct stack_definition stack = stack_of(id, 2);

	send_once(&stack, may_be_nmi);
}

static __u64 place_of_id(__u64 id)
{
	__u32 key = id % 4096;

	return *(__u64 *)host_value(&sent_places, &key, 0);
}

TEST(Sent, StackIsSentWithItsFramesAndNotAgain)
{
	const __u64 frames[] = {100, 101};
	const struct wire_kernel_stack *record;

	send_it(77, false);
	send_it(77, false);
	ASSERT_EQ(host_records(&intervals), 1);
	record = host_record(&intervals, 0).bytes;
	EXPECT_EQ(host_record(&intervals, 0).length, 16 + 2 * 8);
	EXPECT_EQ(host_record(&intervals, 0).flags, BPF_RB_NO_WAKEUP);
	EXPECT_EQ(record->type, WIRE_KERNEL_STACK);
	EXPECT_EQ(record->count, 2);
	EXPECT_EQ(record->id, 77);
	EXPECT_BYTES(record + 1, frames, sizeof(frames));
}

TEST(Sent, LongestStackIsSent)
{
	struct stack_definition longest = stack_of(5, 127);

	send_once(&longest, false);
	EXPECT_EQ(host_record(&intervals, 0).length, 16 + 127 * 8);
	longest.head.id = 6;
	longest.head.count = 128;
	send_once(&longest, false);
	EXPECT_EQ(host_records(&intervals), 1);
	EXPECT_FALSE(is_sent(6, false));
}

TEST(Sent, StackThatFoundNoRoomIsSentAgain)
{
	host.rings_are_busy = true;
	send_it(77, false);
	EXPECT_EQ(counted(WIRE_COUNT_DEFINITION_DELAYED).count, 1);
	EXPECT_FALSE(is_sent(77, false));
	host.rings_are_busy = false;
	send_it(77, false);
	EXPECT_EQ(host_records(&intervals), 1);
	EXPECT_TRUE(is_sent(77, false));
	EXPECT_EQ(counted(WIRE_COUNT_DEFINITION_DELAYED).count, 1);
}

/* Each takes 16 + 127 * 8 + 8 = 1040 bytes: 4096 hold three of them. */
TEST(Sent, FullRingDelaysAStack)
{
	struct stack_definition longest = stack_of(1, 127);

	host_resize(&intervals, 4096);
	for (__u64 id = 1; id <= 4; id++) {
		longest.head.id = id;
		send_once(&longest, false);
	}
	EXPECT_EQ(host_records(&intervals), 3);
	EXPECT_FALSE(is_sent(4, false));
	host_drain(&intervals);
	send_once(&longest, false);
	EXPECT_TRUE(is_sent(4, false));
}

TEST(Sent, WhoThrowsADefinitionAwayHasItSentAgain)
{
	send_it(77, false);
	host_clear(&sent);
	send_it(77, false);
	EXPECT_EQ(host_records(&intervals), 2);
}

/* Names 4096 apart share a place. */
TEST(Sent, NameInItsPlaceIsFoundWithoutTheMap)
{
	send_it(77, false);
	EXPECT_EQ(place_of_id(77), 0);
	EXPECT_TRUE(is_sent(77, false));
	EXPECT_EQ(place_of_id(77), 77);
	host_clear(&sent);
	EXPECT_TRUE(is_sent(77, false));
	EXPECT_FALSE(is_sent(77 + 4096, false));
}

TEST(Sent, NameIsKnownToTheMapIfAnotherIsInItsPlace)
{
	send_it(77, false);
	send_it(77 + 4096, false);
	for (__u32 i = 0; i < 3; i++) {
		EXPECT_TRUE(is_sent(77, false));
		EXPECT_TRUE(is_sent(77 + 4096, false));
	}
	EXPECT_EQ(host_records(&intervals), 2);
}

/* An NMI may have interrupted who holds a lock of the map, and writes nothing but a place. */
TEST(Sent, NmiNotesANameInItsPlaceAlone)
{
	send_it(77, true);
	EXPECT_EQ(place_of_id(77), 77);
	EXPECT_EQ(host_count(&sent), 0);
	EXPECT_TRUE(is_sent(77, true));
	EXPECT_TRUE(is_sent(77, false));
}

TEST(Sent, NmiSendsAgainWhatAnotherNameHasTakenThePlaceOf)
{
	send_it(77, true);
	send_it(77 + 4096, true);
	send_it(77, true);
	EXPECT_EQ(host_records(&intervals), 3);
	EXPECT_EQ(host_count(&sent), 0);
}

TEST(Sent, NmiLeavesThePlaceToWhoIsThere)
{
	send_it(77, false);
	EXPECT_TRUE(is_sent(77, true));
	EXPECT_EQ(place_of_id(77), 0);
}
