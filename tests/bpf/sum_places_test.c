/* Where sums are kept, which one makes room for another, and how they are flushed. */
#include "tests/bpf/schedule.h"

#define NOON (50 * SECOND + 500 * MILLISECOND)

static struct task_struct *task;
static __u64 end_ns;

static void begin(void)
{
	settings->sums = 1;
	begin_script();
	task = host_new_process(10);
	end_ns = NOON;
}

/* An interval whose system call keeps it apart from others: it does not choose the place. */
static bool sum(int syscall)
{
	struct times times = {.end_ns = end_ns, .waited_ns = 1000, .runnable_ns = 100};

	end_ns += 1000;
	return sum_interval(task, &times, 8, (struct user_side){.user_stack = 7}, WIRE_KIND_SLEEPING,
			    syscall);
}

static const struct wire_sum *sent_sum(__u32 index)
{
	return sent_record(WIRE_SUM, index);
}

/* Which sums were sent, by their system calls. */
static void expect_sent(__u32 index, int syscall, __u64 count)
{
	ASSERT_TRUE(sent_sum(index));
	check_note("sum", index);
	EXPECT_EQ(sent_sum(index)->interval.syscall, syscall);
	EXPECT_EQ(sent_sum(index)->count, count);
}

static __u32 *busy_flag(__u32 cpu)
{
	__u32 zero = 0;

	return host_value(&sums_busy, &zero, cpu);
}

TEST(SumPlaces, TwoSumsThatMeetHaveTwoPlaces)
{
	begin();
	for (int i = 0; i < 3; i++) {
		EXPECT_TRUE(sum(1));
		EXPECT_TRUE(sum(2));
	}
	EXPECT_EQ(host_records(&intervals), 0);
	EXPECT_EQ(flush_sums(NULL, 0), 0);
	EXPECT_EQ(sent_records(WIRE_SUM), 2);
	EXPECT_EQ(sent_sum(0)->count + sent_sum(1)->count, 6);
}

TEST(SumPlaces, ThirdSumTakesThePlaceOfTheOneThatWasUsedLessLately)
{
	begin();
	sum(1);
	sum(2);
	sum(3);
	EXPECT_EQ(sent_records(WIRE_SUM), 1);
	expect_sent(0, 1, 1);
	sum(2);
	sum(4);
	EXPECT_EQ(sent_records(WIRE_SUM), 2);
	expect_sent(1, 3, 1);
	sum(4);
	sum(5);
	EXPECT_EQ(sent_records(WIRE_SUM), 3);
	expect_sent(2, 2, 2);
}

TEST(SumPlaces, SumThatMakesRoomLosesNothing)
{
	__u64 told = 0;

	begin();
	for (int i = 0; i < 300; i++)
		EXPECT_TRUE(sum(i % 3));
	EXPECT_EQ(flush_sums(NULL, 0), 0);
	for (__u32 i = 0; i < host_records(&intervals); i++)
		told += ((const struct wire_sum *)host_record(&intervals, i).bytes)->count;
	EXPECT_EQ(told, 300);
}

/* The ring is locked: the sums stay, and who finds no place is sent by itself, if it can. */
TEST(SumPlaces, SumThatCannotBeSentStays)
{
	begin();
	sum(1);
	sum(2);
	host.rings_are_busy = 1;
	EXPECT_FALSE(sum(3));
	EXPECT_TRUE(sum(1));
	EXPECT_TRUE(sum(2));
	EXPECT_EQ(flush_sums(NULL, 0), 2);
	EXPECT_TRUE(sum(1));
	host.rings_are_busy = 0;
	EXPECT_EQ(flush_sums(NULL, 0), 0);
	EXPECT_EQ(sent_records(WIRE_SUM), 2);
	EXPECT_EQ(sent_sum(0)->count + sent_sum(1)->count, 5);
}

TEST(SumPlaces, FlushTellsHowManyAreLeft)
{
	begin();
	host_resize(&intervals, 256); /* one sum of 160 bytes */
	sum(1);
	sum(2);
	EXPECT_EQ(flush_sums(NULL, 0), 1);
	EXPECT_EQ(flush_sums(NULL, 0), 1);
	host_drain(&intervals);
	EXPECT_EQ(flush_sums(NULL, 0), 0);
	EXPECT_EQ(host_records(&intervals), 1);
}

TEST(SumPlaces, CpusHaveTheirOwn)
{
	begin();
	host.cpu = 1;
	sum(1);
	host.cpu = HOST_CPUS - 1;
	sum(1);
	sum(1);
	EXPECT_EQ(flush_sums(NULL, 0), 0);
	EXPECT_EQ(flush_sums(NULL, 2), 0);
	EXPECT_EQ(host_records(&intervals), 0);
	EXPECT_EQ(flush_sums(NULL, 1), 0);
	expect_sent(0, 1, 1);
	EXPECT_EQ(flush_sums(NULL, HOST_CPUS - 1), 0);
	expect_sent(1, 1, 2);
}

/* All 512 places of a CPU are flushed, the last one too. */
TEST(SumPlaces, EveryPlaceIsFlushed)
{
	begin();
	for (__u32 index = 0; index < 512; index++)
		((struct sum_place *)host_value(&sums, &index, 0))->sum.count = 1;
	EXPECT_EQ(flush_sums(NULL, 0), 0);
	EXPECT_EQ(host_records(&intervals), 512);
	for (__u32 index = 0; index < 512; index++)
		EXPECT_EQ(((struct sum_place *)host_value(&sums, &index, 0))->sum.count, 0);
}

TEST(SumPlaces, BothPlacesAreOfTheCpu)
{
	begin();
	for (__u64 place = 0; place < 512; place++)
		for (__u32 way = 0; way < 2; way++) {
			__u32 index = 3 * 512 + (place ^ way);

			host.cpu = 3;
			EXPECT_EQ(sum_place_of(place, way), host_value(&sums, &index, 0));
		}
}

TEST(SumPlaces, CpuWithoutPlacesSumsNothing)
{
	begin();
	host.cpu = HOST_CPUS;
	EXPECT_FALSE(sum(1));
}

/* The recorder's flush may interrupt a program at a place of the same CPU. */
TEST(SumPlaces, NothingIsFlushedWhileAProgramIsAtAPlace)
{
	begin();
	sum(1);
	EXPECT_EQ(*busy_flag(0), 0);
	*busy_flag(0) = 1;
	EXPECT_EQ(flush_sums(NULL, 0), 512);
	EXPECT_EQ(host_records(&intervals), 0);
	*busy_flag(0) = 0;
	EXPECT_EQ(flush_sums(NULL, 0), 0);
	EXPECT_EQ(host_records(&intervals), 1);
}

/* A CPU that is offline is flushed by another one, which says nothing of its programs. */
TEST(SumPlaces, OtherCpusAreFlushedWhereverAProgramIs)
{
	begin();
	host.cpu = 1;
	sum(1);
	host.cpu = 0;
	*busy_flag(0) = 1;
	EXPECT_EQ(flush_sums(NULL, 1), 0);
	EXPECT_EQ(host_records(&intervals), 1);
}

/* What chooses the place keeps sums apart as well: others may meet there. */
TEST(SumPlaces, SumInAPlaceIsOfItsOwnKeyOnly)
{
	const struct times times = {.end_ns = NOON, .waited_ns = 1000};
	const struct sum_key key = {.kernel_stack = 8, .side = {.user_stack = 7}, .kind = 1, .bucket = 2};
	struct sum_key other = key;
	struct sum_place place = {};

	begin();
	begin_sum(&place, task, &times, &key);
	EXPECT_FALSE(is_sum_of(&place, task, &key)); /* nothing is in it yet */
	add_to_sum(&place.sum, &times);
	EXPECT_TRUE(is_sum_of(&place, task, &key));
	other.kernel_stack = 9;
	EXPECT_FALSE(is_sum_of(&place, task, &other));
	other = key;
	other.side.user_stack = 9;
	EXPECT_FALSE(is_sum_of(&place, task, &other));
	other = key;
	other.kind = 2;
	EXPECT_FALSE(is_sum_of(&place, task, &other));
	other = key;
	other.bucket = 3;
	EXPECT_FALSE(is_sum_of(&place, task, &other));
	task->tgid = 11;
	EXPECT_FALSE(is_sum_of(&place, task, &key));
}

TEST(SumPlaces, PlaceThatIsEmptyIsTakenFirst)
{
	struct sum_place first = {.sum = {.count = 1, .interval.end_ns = 5}};
	struct sum_place second = {.sum.interval.end_ns = 9};

	EXPECT_EQ(place_to_clear(&first, &second), &second);
	EXPECT_EQ(place_to_clear(&second, &first), &second);
	second.sum.count = 1;
	EXPECT_EQ(place_to_clear(&first, &second), &first);
	EXPECT_EQ(place_to_clear(&second, &first), &first);
}

TEST(SumPlaces, SumThatFindsNoRoomIsNotBusyAfterwards)
{
	begin();
	sum(1);
	sum(2);
	host.rings_are_busy = 1;
	sum(3);
	EXPECT_EQ(*busy_flag(0), 0);
}
