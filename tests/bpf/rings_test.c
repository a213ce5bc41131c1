/* When a ring is full, and when user space is woken to empty it. */
#include "tests/bpf/host/programs.h"

static void send_bytes(__u64 bytes)
{
	static char record[1 << 16];

	EXPECT_EQ(bpf_ringbuf_output(&intervals, record, bytes, 0), 0);
}

/* A record of 128 bytes takes 136, and the last byte of 4096 is never used: with 3952 taken there are 4088
 * then, with 3960 there would be 4096. */
TEST(Ring, IsFullWhereItsLastByteWouldBeTaken)
{
	host_resize(&intervals, 4096);
	send_bytes(3952 - 8);
	EXPECT_FALSE(ring_is_full(&intervals, 128));
	EXPECT_FALSE(ring_is_full(&intervals, 121)); /* takes as much */
	EXPECT_TRUE(ring_is_full(&intervals, 129));
	host_drain(&intervals);
	send_bytes(3960 - 8);
	EXPECT_TRUE(ring_is_full(&intervals, 128));
	EXPECT_FALSE(ring_is_full(&intervals, 120));
}

TEST(Ring, ThatIsEmptyIsFullForWhatItCannotHold)
{
	host_resize(&intervals, 4096);
	EXPECT_FALSE(ring_is_full(&intervals, 4080)); /* takes 4088 */
	EXPECT_TRUE(ring_is_full(&intervals, 4081));
}

/* It is locked, and has room: that is no reason to make it larger. */
TEST(Ring, ThatIsBusyIsNotFull)
{
	host.rings_are_busy = true;
	EXPECT_TRUE(!bpf_ringbuf_reserve(&intervals, 128, 0));
	EXPECT_FALSE(ring_is_full(&intervals, 128));
}

#define RING_BYTES 65536ULL
#define QUARTER 16384ULL /* of it */
#define SPAN 4096ULL	 /* of records that come at once */

/* What is tried of each record, with so many bytes taken before it. */
typedef void (*try_record)(__u64 before, __u64 bytes, __u64 takes);

static void try_sizes(__u64 before, try_record try)
{
	static const __u64 large[] = {2048, 4088, 4096, 8192, 16376, 16384};

	for (__u64 takes = 16; takes <= 512; takes += 8)
		if (before + takes < RING_BYTES)
			try(before, takes - 8, takes);
	for (int i = 0; i < 6; i++)
		if (before + large[i] + 8 < RING_BYTES)
			try(before, large[i], large[i] + 8);
}

/* Every number of bytes that can be taken, by small records, and behind it records of many sizes. */
static void try_all(try_record try)
{
	for (__u64 first = 8; first <= 16; first += 8) {
		host_drain(&intervals);
		send_bytes(first); /* takes 16 or 24; each of the following ones 16 */
		for (__u64 before = first + 8; before + 16 < RING_BYTES; before += 16) {
			try_sizes(before, try);
			send_bytes(8);
		}
	}
}

/* So every sequence of records wakes user space in each quarter: one of them crosses the bound. */
static void expect_woken_across_bounds(__u64 before, __u64 bytes, __u64 takes)
{
	bool crosses = (before + takes) / QUARTER > before / QUARTER;

	if (!crosses || wake_up(&intervals, bytes) == BPF_RB_FORCE_WAKEUP)
		return;
	check_note("bytes before and of the record", before << 16 | bytes);
	EXPECT_TRUE(false);
}

TEST(Ring, RecordThatReachesTheNextQuarterWakes)
{
	host_resize(&intervals, RING_BYTES);
	try_all(expect_woken_across_bounds);
}

/* Two that come at once may each not see the other: so those behind a bound wake too, as far as a span. */
static void expect_woken_near_bounds_alone(__u64 before, __u64 bytes, __u64 takes)
{
	__u64 after = before + takes;
	bool is_near = after >= QUARTER && after % QUARTER < takes + SPAN;

	if ((wake_up(&intervals, bytes) == BPF_RB_FORCE_WAKEUP) == is_near)
		return;
	check_note("bytes before and of the record", before << 16 | bytes);
	EXPECT_TRUE(false);
}

TEST(Ring, OnlyTheFirstRecordsOfEachFurtherQuarterWake)
{
	host_resize(&intervals, RING_BYTES);
	try_all(expect_woken_near_bounds_alone);
}

/* What is reserved first is counted with its own bytes in the ring, once more: it is not missed either, if it
 * is no larger than a span. */
static void expect_woken_when_reserved(__u64 bound, __u64 bytes)
{
	for (__u64 before = bound - bytes - 8; before < bound; before += 8) {
		host_drain(&intervals);
		send_bytes(before - 8);
		send_bytes(bytes);
		check_note("bytes before and of the record", before << 16 | bytes);
		EXPECT_EQ(wake_up(&intervals, bytes), BPF_RB_FORCE_WAKEUP);
	}
}

TEST(Ring, RecordThatWasReservedFirstWakesToo)
{
	host_resize(&intervals, RING_BYTES);
	for (__u64 quarter = 1; quarter < 4; quarter++) {
		expect_woken_when_reserved(quarter * QUARTER, sizeof(struct wire_sample));
		expect_woken_when_reserved(quarter * QUARTER, sizeof(struct wire_interval));
		expect_woken_when_reserved(quarter * QUARTER, SPAN - 8);
	}
}

TEST(Ring, HalfEmptyRingWakesWhenItFillsAgain)
{
	host_resize(&intervals, RING_BYTES);
	send_bytes(QUARTER - 24); /* takes QUARTER - 16 */
	EXPECT_EQ(wake_up(&intervals, 1), BPF_RB_FORCE_WAKEUP);
	host_drain(&intervals);
	EXPECT_EQ(wake_up(&intervals, 1), BPF_RB_NO_WAKEUP);
	send_bytes(QUARTER - 24);
	EXPECT_EQ(wake_up(&intervals, 1), BPF_RB_FORCE_WAKEUP);
}
