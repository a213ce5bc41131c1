/* The hash that names are made by: SipHash-1-3, by answers that are known, by its authors' paper, and by what
 * a hash under a secret key has to be like. */
#include "tests/bpf/mixing.h"

static __u64 hash_words(struct wire_hash_key key, const __u64 *words, __u32 count)
{
	struct wire_hash hash = wire_hash_begin(key, words[0]);

	for (__u32 i = 1; i < count; i++)
		wire_hash_add(&hash, words[i]);
	return wire_hash_end(hash);
}

/* What CPython 3.11 says with PYTHONHASHSEED=0, which is a key of zeros: hash(bytes(range(8 * count))). */
TEST(WireHash, KnownAnswersOfPython)
{
	const __u64 answers[] = {0xead411e67ebe2eea, 0x8972188433a5c5b7};
	const __u64 words[] = {0x0706050403020100, 0x0f0e0d0c0b0a0908};

	for (__u32 count = 1; count <= 2; count++)
		EXPECT_EQ(hash_words((struct wire_hash_key){}, words, count), answers[count - 1]);
}

/* The reference by other answers: CPython's for 1 and 63 bytes, and one with the key of the paper's appendix.
 */
TEST(WireHash, ReferenceIsRight)
{
	unsigned char bytes[63];

	for (__u32 i = 0; i < sizeof(bytes); i++)
		bytes[i] = i;
	EXPECT_EQ(sip_hash_1_3(0, 0, bytes, 1), 0x68a914128e01e473);
	EXPECT_EQ(sip_hash_1_3(0, 0, bytes, 63), 0x385d3e39e5f37359);
	EXPECT_EQ(sip_hash_1_3(HOST_KEY_LOW, HOST_KEY_HIGH, bytes, 0), 0xabac0158050fc4dc);
}

/* Hashes up to 300 words: one byte has the length, which 32 words fill. */
TEST(WireHash, IsAsThePaperSays)
{
	__u64 words[300];

	for (__u32 count = 1; count <= 300; count++) {
		struct wire_hash_key key = random_key();

		for (__u32 i = 0; i < count; i++)
			words[i] = random_word();
		EXPECT_EQ(hash_words(key, words, count), sip_hash_1_3(key.low, key.high, words, 8 * count));
	}
}

/* 0 stands for no name. This state comes to it: the round of the last block leaves 0xff in the third word
 * alone, which the finalization takes away, and all its rounds leave zeros as they are. */
TEST(WireHash, NothingIsNamedZero)
{
	const __u64 third = (0xffULL << 32) - (0xffULL << 15);
	struct wire_hash hash = {.v0 = -(0xffULL << 2), .v1 = 0xffULL << 2, .v3 = third >> 16 | third << 48};

	hash.v2 = third - hash.v3;
	EXPECT_EQ(wire_hash_end(hash), 1);
	hash.v1++;
	EXPECT_NE(wire_hash_end(hash), 1);
}

#define ROUNDS 2000

/* How often a bit of the name changes with one of a word or of the key, of so many times: half of them, and
 * no less than 9 standard deviations (22 each) off it. */
static void expect_avalanche(struct wire_hash_key flip, const __u64 *flips)
{
	__u32 changed[64] = {};

	for (__u32 round = 0; round < ROUNDS; round++) {
		struct wire_hash_key key = random_key(), other = key;
		__u64 words[3], others[3], difference;

		other.low ^= flip.low;
		other.high ^= flip.high;
		for (__u32 i = 0; i < 3; i++) {
			words[i] = random_word();
			others[i] = words[i] ^ flips[i];
		}
		difference = hash_words(key, words, 3) ^ hash_words(other, others, 3);
		for (__u32 bit = 0; bit < 64; bit++)
			changed[bit] += difference >> bit & 1;
	}
	for (__u32 bit = 0; bit < 64; bit++) {
		EXPECT_LT(ROUNDS / 2 - 200, changed[bit]);
		EXPECT_LT(changed[bit], ROUNDS / 2 + 200);
	}
}

TEST(WireHash, EachBitOfAWordChangesHalfOfTheName)
{
	for (__u32 bit = 0; bit < 3 * 64; bit++) {
		__u64 flips[3] = {};

		flips[bit / 64] = 1ULL << bit % 64;
		expect_avalanche((struct wire_hash_key){}, flips);
	}
}

TEST(WireHash, EachBitOfTheKeyChangesHalfOfTheName)
{
	const __u64 flips[3] = {};

	for (__u32 bit = 0; bit < 64; bit++) {
		expect_avalanche((struct wire_hash_key){.low = 1ULL << bit}, flips);
		expect_avalanche((struct wire_hash_key){.high = 1ULL << bit}, flips);
	}
}

TEST(WireHash, RowsOfOneVersionNeverShareAKey)
{
	const __u64 begin = wire_user_rows_begin(random_key(), 77);

	for (__u32 i = 0; i < 1000; i++) {
		/* The multiplication can be undone: the inverse of an odd number is its own power. */
		__u64 address = random_word();
		__u64 factor = 0x9e3779b97f4a7c15ULL, inverse = factor;

		for (__u32 step = 0; step < 5; step++)
			inverse *= 2 - factor * inverse;
		EXPECT_EQ(wire_user_row_key(begin, address) * inverse ^ begin, address);
	}
}

TEST(WireHash, PlacesAreUsedEvenly)
{
	__u32 used[WIRE_PLACES] = {};

	for (__u64 i = 0; i < 100 * WIRE_PLACES; i++)
		used[wire_place(0x400000 + 16 * i, 0x7ffc00000000 - 64 * (i % 7), i % 3)]++;
	for (__u32 i = 0; i < WIRE_PLACES; i++) {
		EXPECT_LT(50, used[i]);
		EXPECT_LT(used[i], 200);
	}
}
