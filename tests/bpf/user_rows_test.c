/* Unwind rows of user code as words, each part at its limits, and in buckets: found, torn, missing. */
#include "tests/bpf/user_script.h"

/* 2 bits of the CFA's rule, 2 of the frame pointer's, 24 of each offset in words, and the highest bit. */
TEST(UserRow, EachPartHasItsBits)
{
	EXPECT_EQ(row_cfa(~3ULL), WIRE_CFA_SP);
	EXPECT_EQ(row_cfa(~3ULL | 1), WIRE_CFA_FP);
	EXPECT_EQ(row_cfa(~3ULL | 2), WIRE_CFA_NONE);
	EXPECT_EQ(row_fp(~12ULL), WIRE_FP_SAME);
	EXPECT_EQ(row_fp(~12ULL | 4), WIRE_FP_AT_CFA);
	EXPECT_EQ(row_fp(~12ULL | 8), WIRE_FP_LOST);
	EXPECT_EQ(row_cfa_offset(~(0xffffffULL << 4)), 0);
	EXPECT_EQ(row_cfa_offset(1ULL << 4), 8);
	EXPECT_EQ(row_cfa_offset(0xffffffULL << 4), -8);
	EXPECT_EQ(row_fp_offset(~(0xffffffULL << 28)), 0);
	EXPECT_EQ(row_fp_offset(1ULL << 28), 8);
	EXPECT_EQ(row_fp_offset(0xffffffULL << 28), -8);
}

/* 2^23 - 1 and -2^23 words of 8 bytes. */
TEST(UserRow, OffsetsReachUpToTheirLimits)
{
	EXPECT_EQ(row_cfa_offset(0x7fffffULL << 4), 67108856);
	EXPECT_EQ(row_cfa_offset(0x800000ULL << 4), -67108864);
	EXPECT_EQ(row_fp_offset(0x7fffffULL << 28), 67108856);
	EXPECT_EQ(row_fp_offset(0x800000ULL << 28), -67108864);
	EXPECT_EQ(row_cfa_offset(user_row_word(CFA_FP | FP_LOST, 67108856, -67108864)), 67108856);
	EXPECT_EQ(row_fp_offset(user_row_word(CFA_FP | FP_LOST, 67108856, -67108864)), -67108864);
}

/* A key whose bucket is this one: the bits from 40 on tell. */
static __u64 key_in(__u32 bucket, __u64 rest)
{
	return (__u64)bucket << 40 | rest;
}

static void put_row(__u64 key, __u32 place, __u64 word)
{
	bucket_of(key)->rows[place] = (struct wire_user_row){.check = key ^ word, .row = word};
}

TEST(UserRow, IsFoundAtEachPlaceOfItsBucket)
{
	for (__u32 bucket = 0; bucket < 16384; bucket += 16383)
		for (__u32 place = 0; place < 4; place++)
			put_row(key_in(bucket, 7 + place), place, 1ULL << 63 | (bucket + place) << 4);
	for (__u32 bucket = 0; bucket < 16384; bucket += 16383)
		for (__u32 place = 0; place < 4; place++)
			EXPECT_EQ(user_row(key_in(bucket, 7 + place)), 1ULL << 63 | (bucket + place) << 4);
}

TEST(UserRow, BitsAboveTheBucketsNumberTellKeysApart)
{
	put_row(key_in(5, 7), 0, 1ULL << 63 | 16);
	EXPECT_EQ(user_row(key_in(5, 7)), 1ULL << 63 | 16);
	EXPECT_EQ(user_row(key_in(5, 8)), 0);
	EXPECT_EQ(user_row(key_in(5 + 16384, 7)), 0);
	EXPECT_EQ(user_row(key_in(6, 7)), 0);
}

TEST(UserRow, IsNotFoundInAnEmptyBucket)
{
	EXPECT_EQ(user_row(key_in(5, 7)), 0);
}

/* The word of one row with the check of another. */
TEST(UserRow, HalfOfTwoRowsIsNone)
{
	struct wire_user_row *row = &bucket_of(key_in(5, 7))->rows[2];

	put_row(key_in(5, 7), 2, 1ULL << 63 | 16);
	row->row = 1ULL << 63 | 32;
	EXPECT_EQ(user_row(key_in(5, 7)), 0);
	row->row = 1ULL << 63 | 16;
	row->check = key_in(5, 8) ^ (1ULL << 63 | 32);
	EXPECT_EQ(user_row(key_in(5, 7)), 0);
	EXPECT_EQ(user_row(key_in(5, 8)), 0);
}

TEST(KnownStack, IsFoundAtEachPlaceOfItsBucket)
{
	for (__u32 bucket = 0; bucket < 16384; bucket += 16383) {
		struct wire_user_stack_bucket *stacks = host_value(&user_stacks, &bucket, 0);

		for (__u32 place = 0; place < 8; place++) {
			__u64 id = key_in(bucket, 100 + place);

			EXPECT_FALSE(is_known_stack(id));
			stacks->ids[place] = id;
			EXPECT_TRUE(is_known_stack(id));
		}
		EXPECT_FALSE(is_known_stack(key_in(bucket, 108)));
	}
}
