/* Names of stacks and of code, as tests calculate them: see wire_hash.h. */
#ifndef OFFCPU_TESTS_BPF_MIXING_H_
#define OFFCPU_TESTS_BPF_MIXING_H_

#include "tests/bpf/host/programs.h"
#include "tests/bpf/sip_hash.h"

#define MOST_MIXED 4096

/* First words: see wire_hash_kind. */
enum { OF_CODE = 1, OF_VDSO, OF_KERNEL_STACK, OF_USER_STACK, OF_USER_ROWS, OF_MAPPING };

/* The words that a name is made of. */
struct mixture {
	__u64 words[MOST_MIXED];
	__u32 count;
};

static inline void mix_in(struct mixture *mixture, __u64 word)
{
	EXPECT_TRUE(mixture->count < MOST_MIXED);
	mixture->words[mixture->count++ % MOST_MIXED] = word;
}

static inline void mix_in_all(struct mixture *mixture, const __u64 *words, __u32 count)
{
	for (__u32 i = 0; i < count; i++)
		mix_in(mixture, words[i]);
}

static inline __u64 name_of(const struct mixture *mixture)
{
	const __u64 name = sip_hash_1_3(settings->hash_key.low, settings->hash_key.high, mixture->words,
					mixture->count * sizeof(__u64));

	return name ? name : 1;
}

static inline __u64 kernel_id(const __u64 *frames, __u32 count)
{
	struct mixture mixture = {};

	mix_in(&mixture, OF_KERNEL_STACK);
	mix_in_all(&mixture, frames, count);
	return name_of(&mixture);
}

/* xorshift64: its numbers are the same each time. */
static inline __u64 random_word(void)
{
	static __u64 state = 1;

	state ^= state << 13;
	state ^= state >> 7;
	return state ^= state << 17;
}

static inline struct wire_hash_key random_key(void)
{
	return (struct wire_hash_key){.low = random_word(), .high = random_word()};
}

#endif /* OFFCPU_TESTS_BPF_MIXING_H_ */
