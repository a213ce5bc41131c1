/* Whose place in the array of stamps is whose, and where stamps are otherwise. */
#include "tests/bpf/host/programs.h"

#define PLACES 65536 /* so many threads' numbers apart, two threads have one place */

static struct task_struct *task, *rival; /* of one place */

static void begin(void)
{
	settings->has_stamps = 1;
	task = host_new_process(10);
	rival = host_new_process(10 + PLACES);
}

/* A stamp in which nothing is 0. */
static struct stamp used_stamp(__u32 tid)
{
	struct stamp stamp;

	__builtin_memset(&stamp, 0x55, sizeof(stamp));
	stamp.tid = tid;
	return stamp;
}

static bool is_clear(const struct stamp *stamp, __u32 tid)
{
	struct stamp clear = {.tid = tid};

	return !__builtin_memcmp(stamp, &clear, sizeof(clear));
}

TEST(Stamps, PlaceBelongsToTheFirstThreadThatClaimsIt)
{
	begin();
	EXPECT_FALSE(placed_stamp(task));
	claim_stamp(task, true);
	claim_stamp(rival, true);
	ASSERT_TRUE(placed_stamp(task));
	EXPECT_EQ(placed_stamp(task)->tid, 10);
	EXPECT_FALSE(placed_stamp(rival));
}

TEST(Stamps, ThreadsOfDifferentPlacesAreNoRivals)
{
	struct task_struct *last;

	begin();
	last = host_new_process(PLACES - 1);
	claim_stamp(task, true);
	claim_stamp(last, true);
	ASSERT_TRUE(placed_stamp(last));
	EXPECT_NE(placed_stamp(last), placed_stamp(task));
	EXPECT_EQ((char *)placed_stamp(last) - (char *)placed_stamp(task), (PLACES - 1 - 10) * 64);
}

TEST(Stamps, ThreadWhosePlaceIsTakenHasItsStampInItsStorage)
{
	struct task_state state = {}, rivals_state = {};

	begin();
	claim_stamp(task, true);
	claim_stamp(rival, true);
	EXPECT_EQ(stamp_of(rival, &rivals_state), &rivals_state.stamp);
	EXPECT_FALSE(stamp_of(rival, NULL));
	EXPECT_EQ(stamp_of(task, &state), placed_stamp(task));
	EXPECT_EQ(stamp_of(task, NULL), placed_stamp(task));
}

TEST(Stamps, AllStampsAreInStorageWithoutAnArray)
{
	struct task_state state = {};

	begin();
	settings->has_stamps = 0;
	claim_stamp(task, true);
	EXPECT_FALSE(placed_stamp(task));
	EXPECT_FALSE(has_free_place(task));
	EXPECT_FALSE(late_stamp(task));
	EXPECT_EQ(stamp_of(task, &state), &state.stamp);
	release_stamp(task);
}

/* A place that a new thread finds taken under its own number belonged to one whose end nobody saw. */
TEST(Stamps, NewThreadOfAnOldNumberFindsAClearPlace)
{
	begin();
	claim_stamp(task, true);
	*placed_stamp(task) = used_stamp(10);
	claim_stamp(task, true);
	EXPECT_TRUE(is_clear(placed_stamp(task), 10));
}

TEST(Stamps, ThreadThatIsSeenAgainKeepsItsStamp)
{
	struct stamp stamp = used_stamp(10);

	begin();
	claim_stamp(task, false);
	*placed_stamp(task) = stamp;
	claim_stamp(task, false);
	EXPECT_BYTES(placed_stamp(task), &stamp, sizeof(stamp));
}

TEST(Stamps, RivalLeavesAPlaceAsItIs)
{
	struct stamp stamp = used_stamp(10);

	begin();
	claim_stamp(task, true);
	*placed_stamp(task) = stamp;
	claim_stamp(rival, true);
	release_stamp(rival);
	EXPECT_BYTES(placed_stamp(task), &stamp, sizeof(stamp));
}

TEST(Stamps, ReleasedPlaceIsClearAndFree)
{
	struct stamp *place;

	begin();
	claim_stamp(task, true);
	place = placed_stamp(task);
	*place = used_stamp(10);
	release_stamp(task);
	EXPECT_TRUE(is_clear(place, 0));
	EXPECT_FALSE(placed_stamp(task));
	claim_stamp(rival, true);
	EXPECT_EQ(placed_stamp(rival), place);
}

TEST(Stamps, PlaceIsFreeUntilItIsClaimed)
{
	begin();
	EXPECT_TRUE(has_free_place(task));
	claim_stamp(rival, true);
	EXPECT_FALSE(has_free_place(task));
	EXPECT_FALSE(has_free_place(rival));
	release_stamp(rival);
	EXPECT_TRUE(has_free_place(task));
}

TEST(Stamps, ThreadWhoseCreationWasNotSeenClaimsItsPlaceLate)
{
	begin();
	ASSERT_TRUE(late_stamp(task));
	EXPECT_EQ(late_stamp(task), placed_stamp(task));
	EXPECT_FALSE(late_stamp(rival));
}

/* What is there under its number was another thread's. */
TEST(Stamps, LateThreadFindsAClearPlace)
{
	begin();
	claim_stamp(task, true);
	*placed_stamp(task) = used_stamp(10);
	EXPECT_TRUE(is_clear(late_stamp(task), 10));
}
