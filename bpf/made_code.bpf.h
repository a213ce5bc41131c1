/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * Code that a process makes while it runs, and replaces: the versions of it that a walk has met. What tells
 * one version from another is read in the process's memory, where the walker has found it: see wire.h. Reads
 * only what is resident.
 */
#ifndef OFFCPU_BPF_MADE_CODE_BPF_H_
#define OFFCPU_BPF_MADE_CODE_BPF_H_

#include "user_rows.bpf.h"

#define MADE_VERSIONS 48 /* that are remembered of one walk */

struct made_code {
	__u32 count;   /* of all; those beyond MADE_VERSIONS are left out */
	__u64 mixture; /* of the versions */
	__u64 rows[MADE_VERSIONS];
};

static __always_inline void begin_made_code(struct made_code *made)
{
	made->count = 0;
	made->mixture = 0;
}

/* 0: it cannot be read. */
static __always_inline __u64 version_by(__u64 row)
{
	__u64 address = version_address(row), words[2];
	__u32 behind;

	if (bpf_probe_read_user(words, sizeof(words), (void *)address) ||
	    bpf_probe_read_user(&behind, sizeof(behind), (void *)(address + version_offset(row))))
		return 0;
	return wire_code_version(words[0], words[1], behind);
}

static __always_inline __u64 version_added(__u64 mixture, __u64 version)
{
	return (mixture ^ version) * 0x9e3779b97f4a7c15ULL;
}

/* The version of the code that a row with WIRE_ROW_VERSIONED leads to. */
static __always_inline __u64 noted_version(struct made_code *made, __u64 row)
{
	__u64 version = version_by(row);
	__u32 index = made->count++;

	if (index < MADE_VERSIONS)
		made->rows[index] = row;
	made->mixture = version_added(made->mixture, version);
	return version;
}

/* Is all of the code the same as when it was noted? A function of its own, so that the verifier goes through
 * it once. */
static __noinline bool made_code_is_alike(const struct made_code *made)
{
	__u64 mixture = 0;

	for (__u32 i = 0; i < MADE_VERSIONS; i++) {
		if (i >= made->count)
			break;
		mixture = version_added(mixture, version_by(made->rows[i]));
	}
	return mixture == made->mixture;
}

#endif /* OFFCPU_BPF_MADE_CODE_BPF_H_ */
