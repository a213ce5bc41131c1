/* What names of stacks and of code are made by, as tests calculate it: see wire_mix. */
#ifndef OFFCPU_TESTS_BPF_MIXING_H_
#define OFFCPU_TESTS_BPF_MIXING_H_

#include "tests/bpf/host/programs.h"

static inline __u64 mixed(__u64 hash, __u64 value)
{
	hash = (hash ^ value) * 0x9e3779b97f4a7c15ULL;
	return hash ^ hash >> 29;
}

static inline __u64 mixed_all(__u64 hash, const __u64 *values, __u32 count)
{
	for (__u32 i = 0; i < count; i++)
		hash = mixed(hash, values[i]);
	return hash;
}

/* The name of a kernel stack: the first number is that of no frames. */
static inline __u64 kernel_id(const __u64 *frames, __u32 count)
{
	return mixed_all(0x243f6a8885a308d3ULL, frames, count);
}

#endif /* OFFCPU_TESTS_BPF_MIXING_H_ */
