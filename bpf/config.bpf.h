/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* What the BPF programs work by: set once before they are loaded (config), and while they run (control). */
#ifndef OFFCPU_BPF_CONFIG_BPF_H_
#define OFFCPU_BPF_CONFIG_BPF_H_

#include "kernel_types.h"
#include "wire.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#define NS_PER_SECOND 1000000000ULL

const volatile struct wire_config config SEC(".rodata.config") = {};
struct wire_control control = {};

/* The key of this recording, see wire_hash.h. */
static __always_inline struct wire_hash_key hash_key(void)
{
	struct wire_hash_key key = {.low = config.hash_key.low, .high = config.hash_key.high};

	return key;
}

static __always_inline bool lies_in(__u64 address, const volatile struct wire_range *range)
{
	return address - range->begin < range->end - range->begin;
}

#endif /* OFFCPU_BPF_CONFIG_BPF_H_ */
