// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
/* BPF programs that do nothing, for scripts/bench: what it costs a switch to call a program, whatever that does. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

SEC("tp_btf/sched_switch")
int at_switch(void* ctx) { return 0; }

#if PROGRAMS == 2
SEC("tp_btf/sched_exit_tp")
int at_exit(void* ctx) { return 0; }
#endif

char LICENSE[] SEC("license") = "Dual BSD/GPL";
