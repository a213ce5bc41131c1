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

static bool has_woken(__u32 index)
{
	return host_record(&intervals, index).flags == BPF_RB_FORCE_WAKEUP;
}

/* Sends a record of known size as programs do. Returns whether it has woken user space. */
static bool send(__u64 bytes)
{
	static char record[1 << 16];

	EXPECT_EQ(output_record(&intervals, record, bytes), 0);
	return has_woken(host_records(&intervals) - 1);
}

static bool send_reserved(void)
{
	void *record = bpf_ringbuf_reserve(&intervals, 128, 0);

	if (!record)
		return false;
	submit_record(&intervals, record);
	return has_woken(host_records(&intervals) - 1);
}

/* Rings that are empty. */
static void begin_sample(void)
{
	host_drain(&intervals);
	control.woken_by_intervals = bpf_ringbuf_query(&intervals, BPF_RB_PROD_POS);
	host_resize(&intervals, RING_BYTES);
	host_resize(&captures, RING_BYTES);
}

/* Records of all sizes up to 512 and some larger ones fill a ring behind `first` bytes. The first one that
 * reaches a quarter wakes, and each one that is the first a quarter or more behind the last that did. */
static void expect_woken_by_quarters(__u64 first, __u64 takes)
{
	__u64 taken = first + 8, last = 0;

	begin_sample();
	send_bytes(first);
	while (taken + takes < RING_BYTES) {
		taken += takes;
		check_note("size of records, and bytes behind one", takes << 32 | taken);
		EXPECT_EQ(send(takes - 8), taken >= last + QUARTER);
		if (taken >= last + QUARTER)
			last = taken;
	}
}

TEST(Ring, WakesOnceAQuarter)
{
	static const __u64 large[] = {2048, 4096, 4104, 8192, 16376, 16384, 16392, 32768};

	for (__u64 first = 8; first <= 16; first += 8) {
		for (__u64 takes = 24; takes <= 512; takes += 8)
			expect_woken_by_quarters(first, takes);
		for (int i = 0; i < 8; i++)
			expect_woken_by_quarters(first, large[i]);
	}
}

/* Its own bytes are in the ring already. 121 records of 136 bytes are a quarter or more, 120 are not. */
TEST(Ring, RecordThatWasReservedWakesToo)
{
	begin_sample();
	for (int i = 1; i <= 2 * 121; i++) {
		check_note("record", i);
		EXPECT_EQ(send_reserved(), i == 121 || i == 2 * 121);
	}
}

/* What user space has read by itself does not count. */
TEST(Ring, WakesWhenAQuarterIsTakenAndNotBefore)
{
	begin_sample();
	for (int i = 0; i < 10; i++) {
		EXPECT_FALSE(send(QUARTER - 32)); /* takes QUARTER - 24 */
		host_drain(&intervals);
	}
	EXPECT_FALSE(send(QUARTER - 32));
	EXPECT_TRUE(send(16));
}

TEST(Ring, HalfEmptyRingWakesWhenItFillsAgain)
{
	begin_sample();
	EXPECT_TRUE(send(QUARTER - 8));
	host_drain(&intervals);
	EXPECT_FALSE(send(QUARTER - 16));
	EXPECT_TRUE(send(8));
}

static __u64 other_bytes;

/* Another CPU's record, or that of an interrupt, comes in between. */
static void send_other(void)
{
	host.on_reserve = NULL;
	EXPECT_FALSE(send(other_bytes));
}

/* Two that come at once see room for themselves below the bound, and are behind it together. */
static void expect_next_wakes(__u64 bytes)
{
	begin_sample();
	send_bytes(QUARTER - bytes - 24); /* 8 bytes less than a quarter with one of them */
	other_bytes = bytes;
	host.on_reserve = send_other;
	EXPECT_FALSE(send(bytes));
	EXPECT_FALSE(host.on_reserve);
	EXPECT_EQ(host_records(&intervals), 3);
	EXPECT_TRUE(send(8));
	EXPECT_FALSE(send(8));
}

TEST(Ring, RecordBehindTwoThatDidNotSeeOneAnotherWakes)
{
	for (__u64 bytes = 8; bytes < QUARTER - 32; bytes += 8) {
		check_note("bytes of both", bytes);
		expect_next_wakes(bytes);
	}
}

/* User space is not woken by what was not sent. */
TEST(Ring, RecordThatWasNotSentHasNotWoken)
{
	char record[8] = {};

	begin_sample();
	send_bytes(QUARTER - 8);
	host.rings_are_busy = true;
	EXPECT_NE(output_record(&intervals, record, sizeof(record)), 0);
	host.rings_are_busy = false;
	EXPECT_TRUE(send(8));
}

TEST(Ring, EachWakesByItself)
{
	static char record[1 << 14];

	begin_sample();
	EXPECT_TRUE(send(QUARTER));
	EXPECT_EQ(output_record(&captures, record, QUARTER), 0);
	EXPECT_EQ(host_record(&captures, 0).flags, BPF_RB_FORCE_WAKEUP);
}
