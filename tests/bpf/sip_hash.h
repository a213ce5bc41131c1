/*
 * SipHash-1-3 of bytes, written from the paper of its authors (Jean-Philippe Aumasson and Daniel J.
 * Bernstein, "SipHash: a fast short-input PRF", 2012) and not from the code that it tests: see wire_hash.h.
 */
#ifndef OFFCPU_TESTS_BPF_SIP_HASH_H_
#define OFFCPU_TESTS_BPF_SIP_HASH_H_

#include <linux/types.h>

static inline __u64 sip_rotated(__u64 word, unsigned bits)
{
	return word << bits | word >> (64 - bits);
}

static inline void sip_round(__u64 *v)
{
	v[0] += v[1];
	v[2] += v[3];
	v[1] = sip_rotated(v[1], 13);
	v[3] = sip_rotated(v[3], 16);
	v[1] ^= v[0];
	v[3] ^= v[2];
	v[0] = sip_rotated(v[0], 32);
	v[2] += v[1];
	v[0] += v[3];
	v[1] = sip_rotated(v[1], 17);
	v[3] = sip_rotated(v[3], 21);
	v[1] ^= v[2];
	v[3] ^= v[0];
	v[2] = sip_rotated(v[2], 32);
}

/* A word of the message, of little-endian bytes: the last one has those that are left, and the length. */
static inline __u64 sip_word(const unsigned char *bytes, __u32 length, __u32 index)
{
	__u64 word = 0;
	__u32 left = length - 8 * index;

	for (__u32 i = 0; i < 8 && i < left; i++)
		word |= (__u64)bytes[8 * index + i] << (8 * i);
	return left < 8 ? word | (__u64)(length & 0xff) << 56 : word;
}

static inline __u64 sip_hash_1_3(__u64 k0, __u64 k1, const void *message, __u32 length)
{
	__u64 v[4];

	__builtin_memcpy(v, "uespemosmodnarodarenegylsetybdet",
			 sizeof(v)); /* "somepseudorandomlygeneratedbytes" */
	v[0] ^= k0;
	v[1] ^= k1;
	v[2] ^= k0;
	v[3] ^= k1;
	for (__u32 i = 0; i <= length / 8; i++) {
		const __u64 word = sip_word((const unsigned char *)message, length, i);

		v[3] ^= word;
		sip_round(v);
		v[0] ^= word;
	}
	v[2] ^= 0xff;
	for (int i = 0; i < 3; i++)
		sip_round(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

#endif /* OFFCPU_TESTS_BPF_SIP_HASH_H_ */
