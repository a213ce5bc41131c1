// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
/* A BPF program by itself, run once before the others are loaded: copies the first bytes of a function of the
 * kernel, which tell whether it has been mended. */
#include "kernel_types.h"
#include "wire.h"

#include <bpf/bpf_helpers.h>

__u64 function_address;
__u8 function_code[WIRE_CODE_BYTES];

SEC("syscall")
int read_function(void *ctx)
{
	return (int)bpf_probe_read_kernel(function_code, sizeof(function_code), (void *)function_address);
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
