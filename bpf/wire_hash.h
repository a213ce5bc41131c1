/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * What names of stacks and of code are made by: SipHash-1-3 (Aumasson and Bernstein, 2012) of 64-bit words
 * under a key of this recording, which is secret. Programs choose what is hashed (addresses of mappings,
 * frames), and a name stands for the same in all processes: an attacker who could make two lists of code with
 * one name would have his functions' names on another process's waits. Without the key he cannot find two
 * that are alike, however many he tries, and names tell nothing of the key.
 *
 * Each kind of name begins with a word of its own. Included by wire.h alone.
 */
#ifndef OFFCPU_BPF_WIRE_HASH_H_
#define OFFCPU_BPF_WIRE_HASH_H_

#define WIRE_INLINE static inline __attribute__((always_inline))

struct wire_hash_key {
	uint64_t low, high;
};
WIRE_ASSERT(sizeof(struct wire_hash_key) == 16);

/* First words. */
WIRE_ENUM(wire_hash_kind){
	WIRE_HASH_CODE = 1,   WIRE_HASH_VDSO,	   WIRE_HASH_KERNEL_STACK,
	WIRE_HASH_USER_STACK, WIRE_HASH_USER_ROWS, WIRE_HASH_MAPPING,
};

struct wire_hash {
	uint64_t v0, v1, v2, v3;
	uint64_t bytes;
};

WIRE_INLINE uint64_t wire_rotate(uint64_t word, int bits)
{
	return word << bits | word >> (64 - bits);
}

WIRE_INLINE void wire_hash_round(struct wire_hash *hash)
{
	hash->v0 += hash->v1;
	hash->v1 = wire_rotate(hash->v1, 13) ^ hash->v0;
	hash->v0 = wire_rotate(hash->v0, 32);
	hash->v2 += hash->v3;
	hash->v3 = wire_rotate(hash->v3, 16) ^ hash->v2;
	hash->v0 += hash->v3;
	hash->v3 = wire_rotate(hash->v3, 21) ^ hash->v0;
	hash->v2 += hash->v1;
	hash->v1 = wire_rotate(hash->v1, 17) ^ hash->v2;
	hash->v2 = wire_rotate(hash->v2, 32);
}

WIRE_INLINE void wire_hash_block(struct wire_hash *hash, uint64_t block)
{
	hash->v3 ^= block;
	wire_hash_round(hash);
	hash->v0 ^= block;
}

WIRE_INLINE void wire_hash_add(struct wire_hash *hash, uint64_t word)
{
	wire_hash_block(hash, word);
	hash->bytes += sizeof(word);
}

WIRE_INLINE struct wire_hash wire_hash_begin(struct wire_hash_key key, uint64_t kind)
{
	struct wire_hash hash;

	hash.v0 = key.low ^ 0x736f6d6570736575ULL;
	hash.v1 = key.high ^ 0x646f72616e646f6dULL;
	hash.v2 = key.low ^ 0x6c7967656e657261ULL;
	hash.v3 = key.high ^ 0x7465646279746573ULL;
	hash.bytes = 0;
	wire_hash_add(&hash, kind);
	return hash;
}

/* Never 0, which names nothing. */
WIRE_INLINE uint64_t wire_hash_end(struct wire_hash hash)
{
	uint64_t name;

	wire_hash_block(&hash, hash.bytes << 56);
	hash.v2 ^= 0xff;
	wire_hash_round(&hash);
	wire_hash_round(&hash);
	wire_hash_round(&hash);
	name = hash.v0 ^ hash.v1 ^ hash.v2 ^ hash.v3;
	return name ? name : 1;
}

/* The name of a user stack is of the code that is mapped and of its frames' addresses, leaf first. */
WIRE_INLINE struct wire_hash wire_user_stack_begin(struct wire_hash_key key, uint64_t code_hash)
{
	struct wire_hash hash = wire_hash_begin(key, WIRE_HASH_USER_STACK);

	wire_hash_add(&hash, code_hash);
	return hash;
}

/* The secret of a version of the code: what the keys of its rows are made of. */
WIRE_INLINE uint64_t wire_user_rows_begin(struct wire_hash_key key, uint64_t code_hash)
{
	struct wire_hash hash = wire_hash_begin(key, WIRE_HASH_USER_ROWS);

	wire_hash_add(&hash, code_hash);
	return wire_hash_end(hash);
}

/*
 * The key of the row for an address. Two addresses never share one in one version of the code, and those of
 * two versions do if their secrets differ by just what the addresses do: one chance in 2^64. Such a row would
 * name nothing, either: a walk by it comes to a name that is of its own code, see wire_user_stack_begin.
 */
WIRE_INLINE uint64_t wire_user_row_key(uint64_t rows_begin, uint64_t address)
{
	return (rows_begin ^ address) * 0x9e3779b97f4a7c15ULL;
}

/* One number of three, which tells them apart but for chance. One multiplication for each word, and none
 * waits for another. */
WIRE_INLINE uint64_t wire_mixture(uint64_t a, uint64_t b, uint64_t c)
{
	return a * 0x9e3779b97f4a7c15ULL + b * 0xbf58476d1ce4e5b9ULL + c * 0x94d049bb133111ebULL;
}

/* What tells code that a process has made from what it makes there at another time. The hash of its code
 * tells the process. Never 0, which is no version. */
WIRE_INLINE uint64_t wire_code_version(uint64_t low, uint64_t high, uint32_t behind)
{
	uint64_t version = wire_mixture(low, high, behind);

	return version ? version : 1;
}

/* A place for what is compared as a whole where it is found, so that two in one place cost time and nothing
 * else: 9 bits, the best first. */
WIRE_INLINE uint32_t wire_place(uint64_t a, uint64_t b, uint64_t c)
{
	return (uint32_t)(wire_mixture(a, b, c) >> 55);
}
#define WIRE_PLACES 512

#endif /* OFFCPU_BPF_WIRE_HASH_H_ */
