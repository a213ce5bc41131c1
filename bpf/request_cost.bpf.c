// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
/*
 * What asking for a capture costs a thread, besides the capture: the kernel lets the CPU interrupt itself, to
 * make a task work of what was asked for. In some virtual machines that takes tens of microseconds. The
 * recorder runs this program and takes the time.
 */
#include "request.bpf.h"

#define NO_COOKIE 0

static int on_return_to_recorder(struct bpf_map *map, void *key, void *value)
{
	__u64 cookie = NO_COOKIE;

	bpf_map_delete_elem(&requests, &cookie);
	return 0;
}

/* Asks for nothing, or, with 0, does not even ask. Returns whether it has asked. */
SEC("?raw_tp")
int BPF_PROG(ask_for_nothing, __u64 asks)
{
	struct request fresh = {}, *request;
	__u64 cookie = NO_COOKIE;

	if (!asks || bpf_map_update_elem(&requests, &cookie, &fresh, BPF_NOEXIST))
		return 0;
	request = bpf_map_lookup_elem(&requests, &cookie);
	if (request &&
	    !schedule_task_work(bpf_get_current_task_btf(), &request->work, &requests, on_return_to_recorder))
		return 1;
	bpf_map_delete_elem(&requests, &cookie);
	return 0;
}
