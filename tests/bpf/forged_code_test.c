/*
 * A process looks for mappings whose hash is that of another process's code: so it would give its own names
 * to the other one's waits. The hash that code had before it had a key lets it find them in a moment; under a
 * key that it does not know the same mappings are as different as any.
 */
#include "tests/bpf/mixing.h"

#include <stdlib.h>

#define KEYS 1000
#define FORGERIES (1 << 16) /* of each of the two mappings that are made up */
#define FACTOR 0x9e3779b97f4a7c15ULL
#define ADDRESS_BITS 0x00007ffffffff000ULL /* of a page */

/* The hash without a key, and back. */
static __u64 old_mix(__u64 hash, __u64 word)
{
	hash = (hash ^ word) * FACTOR;
	return hash ^ hash >> 29;
}

static __u64 old_unmix(__u64 mixed, __u64 word)
{
	__u64 inverse = FACTOR;

	for (int i = 0; i < 5; i++)
		inverse *= 2 - FACTOR * inverse;
	mixed ^= mixed >> 29 ^ mixed >> 58;
	return mixed * inverse ^ word;
}

static __u64 old_hash(__u64 hash, const struct wire_mapping *mappings, __u32 count)
{
	for (__u32 i = 0; i < count; i++) {
		const struct wire_mapping *mapping = &mappings[i];

		hash = old_mix(old_mix(hash, mapping->begin), mapping->end);
		hash = old_mix(old_mix(hash, mapping->offset), mapping->inode);
		hash = old_mix(old_mix(hash, mapping->device), mapping->changed_ns);
	}
	return hash;
}

#define OLD_BEGIN 0x13198a2e03707344ULL

static __u64 old_name(const struct wire_mapping *mappings, __u32 count)
{
	return old_hash(OLD_BEGIN, mappings, count) | 1;
}

static __u64 name_under(struct wire_hash_key key, const struct wire_mapping *mappings, __u32 count)
{
	struct task_struct *task = host_new_process(1);
	struct wire_hash hash = wire_hash_begin(key, WIRE_HASH_CODE);
	struct mapping_look *look = host_allocate(sizeof(*look));

	settings->hash_key = key;
	for (__u32 i = 0; i < count; i++) {
		look->mapping = mappings[i];
		wire_hash_add(&hash, name_of_mapping(look, task));
	}
	return wire_hash_end(hash);
}

struct state {
	__u64 word;
	__u64 begin;
};

static int by_fixed_bits(const void *a, const void *b)
{
	__u64 left = ((const struct state *)a)->word & ~ADDRESS_BITS;
	__u64 right = ((const struct state *)b)->word & ~ADDRESS_BITS;

	return left < right ? -1 : left > right;
}

/*
 * Adds to the forger's own code, forged[0], two anonymous mappings behind it. From the front: where the first
 * one begins. From the back: where the second one does. Between them is the end of the first, which is free
 * but for the bits that no address of a page has, so these have to meet.
 */
static bool forge(const struct wire_mapping *code, __u32 count, struct wire_mapping *forged)
{
	struct state *front = malloc(FORGERIES * sizeof(*front));
	__u64 own = old_hash(OLD_BEGIN, forged, 1), wanted = old_hash(OLD_BEGIN, code, count);
	bool is_found = false;

	for (__u64 i = 0; i < FORGERIES; i++) {
		front[i].begin = 0x10000000 + i * HOST_PAGE;
		front[i].word = old_mix(own, front[i].begin);
	}
	qsort(front, FORGERIES, sizeof(*front), by_fixed_bits);
	for (__u64 i = 0; i < FORGERIES && !is_found; i++) {
		__u64 begin = 0x7e0000000000 + i * HOST_PAGE, hash = wanted;
		struct state back = {}, *found;

		for (int zero = 0; zero < 4; zero++)
			hash = old_unmix(hash, 0);
		hash = old_unmix(old_unmix(hash, begin + HOST_PAGE), begin);
		for (int zero = 0; zero < 4; zero++)
			hash = old_unmix(hash, 0);
		back.word = old_unmix(hash, 0); /* exclusive-or the end */
		found = bsearch(&back, front, FORGERIES, sizeof(*front), by_fixed_bits);
		if (!found)
			continue;
		forged[1] = (struct wire_mapping){.begin = found->begin, .end = found->word ^ back.word};
		forged[2] = (struct wire_mapping){.begin = begin, .end = begin + HOST_PAGE};
		is_found = forged[1].begin < forged[1].end && forged[1].end <= begin;
	}
	free(front);
	return is_found;
}

static const struct wire_mapping server[] = {
	{.begin = 0x400000,
	 .end = 0x500000,
	 .offset = 0x1000,
	 .inode = 77,
	 .device = 0x801,
	 .changed_ns = 12345},
	{.begin = 0x7f0000000000, .end = 0x7f0000200000, .offset = 0x28000, .inode = 9, .device = 0x801},
};
/* A renamed copy of the server. */
static const struct wire_mapping copy = {.begin = 0x400000,
					 .end = 0x500000,
					 .offset = 0x1000,
					 .inode = 1077,
					 .device = 0x801,
					 .changed_ns = 54321};

TEST(ForgedCode, TheOldHashIsForgedAndTheKeyedOneIsNot)
{
	struct wire_mapping forged[3] = {copy};

	ASSERT_TRUE(forge(server, 2, forged));
	EXPECT_EQ(forged[1].end & (HOST_PAGE - 1), 0);
	EXPECT_EQ(old_name(forged, 3), old_name(server, 2));
	for (__u32 i = 0; i < KEYS; i++) {
		struct wire_hash_key key = random_key();

		EXPECT_NE(name_under(key, forged, 3), name_under(key, server, 2));
	}
}

/* A secret to begin with is no help: these two differences are one, whatever the state before them. */
TEST(ForgedCode, DifferencesThatCancelForEveryStateDoNotUnderAKey)
{
	struct wire_mapping other = server[0];

	other.inode ^= 1ULL << 63;
	other.device ^= 1ULL << 63 | 1ULL << 34;
	for (__u32 i = 0; i < KEYS; i++) {
		struct wire_hash_key key = random_key();

		EXPECT_EQ(old_hash(key.low, &other, 1), old_hash(key.low, &server[0], 1));
		EXPECT_NE(name_under(key, &other, 1), name_under(key, &server[0], 1));
	}
}
