/* Lists of code that are kept for all processes. */
#include "tests/bpf/code_script.h"

static struct code_list *list_of(__u64 hash, __u32 count)
{
	struct code_list *list = host_allocate(sizeof(*list));

	list->head.hash = hash;
	list->head.count = count;
	for (__u32 i = 0; i < count && i < WIRE_MAPPINGS; i++) {
		list->mappings[i].begin = hash + i;
		list->names[i] = ~hash - i;
	}
	return list;
}

static void expect_kept(__u64 hash, __u32 count)
{
	const struct known_list *known = known_list_of(hash);

	check_note("hash", hash);
	ASSERT_TRUE(known);
	EXPECT_EQ(known->count, count);
	for (__u32 i = 0; i < count; i++) {
		EXPECT_EQ(known->begins[i], hash + i);
		EXPECT_EQ(known->names[i], ~hash - i);
	}
}

TEST(KnownLists, ListIsKeptByItsHash)
{
	EXPECT_FALSE(known_list_of(77));
	keep_list(list_of(77, 5));
	expect_kept(77, 5);
	EXPECT_FALSE(known_list_of(77 + 512));
}

/* 512 places, two for each hash: those whose last 9 bits differ in the lowest one share both. */
TEST(KnownLists, ThirdOneOfTwoPlacesTakesTheFirst)
{
	keep_list(list_of(512, 1));
	keep_list(list_of(1024, 2));
	expect_kept(512, 1);
	expect_kept(1024, 2);
	keep_list(list_of(1536, 3));
	expect_kept(1536, 3);
	EXPECT_FALSE(known_list_of(512));
	expect_kept(1024, 2);
}

TEST(KnownLists, ListThatMayNotBeWholeIsNotKept)
{
	keep_list(list_of(5, 128));
	EXPECT_FALSE(known_list_of(5));
	keep_list(list_of(5, 127));
	expect_kept(5, 127);
	keep_list(list_of(0, 1));
	EXPECT_FALSE(known_list_of(0) && known_list_of(0)->count);
}

TEST(KnownLists, PlaceThatIsBeingWrittenIsLeftAlone)
{
	__u32 place = 9;

	((struct known_list *)host_value(&known_lists, &place, 0))->busy = 1;
	keep_list(list_of(9, 1));
	EXPECT_FALSE(known_list_of(9));
}
