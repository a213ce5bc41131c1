/* What the sources of the scripted kernel share. */
#ifndef OFFCPU_TESTS_BPF_HOST_INTERNAL_H_
#define OFFCPU_TESTS_BPF_HOST_INTERNAL_H_

#include "tests/bpf/host/kernel.h"

#define HOST_VMAS 512

struct host_page {
	struct host_page *next;
	__u64 address;
	_Bool is_resident, never_comes;
	char bytes[HOST_PAGE] __attribute__((aligned(8)));
};

struct host_process {
	struct mm_struct mm; /* tasks point to it: it stands first */
	struct signal_struct signal;
	struct cred cred;
	struct css_set css_set;
	struct cgroup cgroup;
	struct kernfs_node node;
	struct vm_area_struct *vmas[HOST_VMAS]; /* by address */
	__u32 count;
	struct host_page *pages;
};

struct host_process *host_process_of(struct task_struct *task);
/* Makes the tree of its mappings anew. */
void host_plant_tree(struct host_process *process);
/* Forgets maps, rings and task work. */
void host_reset_maps(void);
/* The element that holds this address in its value; NULL: none. */
const void *host_key_of(void *map, const void *in_value);

#endif /* OFFCPU_TESTS_BPF_HOST_INTERNAL_H_ */
