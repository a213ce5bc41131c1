// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
/*
 * All BPF programs, as one object: they share their maps. Compiled once for each form that the functions of
 * the kernel have had that the programs call, see CMakeLists.txt.
 */
#include "lifecycle.bpf.c"
#include "list.bpf.c"
#include "migrate.bpf.c"
#include "request_cost.bpf.c"
#include "sample.bpf.c"
#include "switch.bpf.c"
#include "wake.bpf.c"

char LICENSE[] SEC("license") = "Dual BSD/GPL";
