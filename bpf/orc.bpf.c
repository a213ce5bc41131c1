// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
/* The BPF program that is run once, to tell of which form the kernel's unwind tables are. */
#include "orc.bpf.h"

/* The first bytes of the hash of the tables' definition, which the kernel keeps before them; 0: they cannot
 * be read. */
SEC("?syscall")
int read_orc_header(void *ctx)
{
	__u32 hash = 0;

	if (bpf_probe_read_kernel(&hash, sizeof(hash), (void *)orc_config.header))
		return 0;
	return (int)hash;
}
