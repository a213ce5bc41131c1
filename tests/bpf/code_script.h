/* Processes that have code mapped, and the hash of it by the tests' own arithmetic: that of the user and of
 * the names of the mappings. */
#ifndef OFFCPU_TESTS_BPF_CODE_SCRIPT_H_
#define OFFCPU_TESTS_BPF_CODE_SCRIPT_H_

#include "tests/bpf/mixing.h"

#define CODE(n) (0x400000ULL + 0x10000 * (n))
#define CODE_BYTES 0x2000ULL
#define STACK 0x7ffc00000000ULL
#define STACK_END (STACK + 0x20000)

/* The current thread, with a stack and without code. Mappings may be looked at by thousands. */
static inline struct task_struct *new_process(int pid)
{
	struct task_struct *task = host_new_process(pid);

	host_run_on(task, 0);
	settings->reads_mappings = 1;
	settings->mappings_per_second = 1000000;
	host.now_ns += SECOND; /* of which the budget is full */
	host_map(task, STACK, STACK_END, VM_WRITE | VM_STACK);
	bpf_task_storage_get(&tasks, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	host_regs(task)->sp = STACK + 0x1000;
	return task;
}

static inline struct task_state *state_of(struct task_struct *task)
{
	return bpf_task_storage_get(&tasks, task, 0, 0);
}

/* Maps two pages of a file: all that a hash tells differs between two numbers. */
static inline struct vm_area_struct *map_code(struct task_struct *task, __u32 n)
{
	struct vm_area_struct *vma = host_map(task, CODE(n), CODE(n) + CODE_BYTES, VM_EXEC);

	vma->vm_pgoff = 16 + n;
	vma->vm_file = host_file(1000 + n);
	vma->vm_file->f_inode->i_sb->s_dev = 0x801;
	vma->vm_file->f_inode->i_generation = 70 + n;
	vma->vm_file->f_inode->i_ctime_sec = 1600000000 + n;
	vma->vm_file->f_inode->i_ctime_nsec = 5 + n;
	return vma;
}

/* Such a mapping as records have it. */
static inline struct wire_mapping mapping_of(__u32 n)
{
	return (struct wire_mapping){.begin = 0x400000 + 0x10000 * (__u64)n,
				     .end = 0x402000 + 0x10000 * (__u64)n,
				     .offset = 4096 * (16 + (__u64)n),
				     .inode = 1000 + n,
				     .device = 0x801 | (70 + (__u64)n) << 32,
				     .changed_ns = (1600000000 + (__u64)n) * 1000000000 + 5 + n};
}

/* The name of a mapping of a file. */
static inline __u64 mapping_name(const struct wire_mapping *mapping)
{
	struct mixture mixture = {};

	mix_in(&mixture, OF_MAPPING);
	mix_in(&mixture, mapping->begin);
	mix_in(&mixture, mapping->end);
	mix_in(&mixture, mapping->offset);
	mix_in(&mixture, mapping->inode);
	mix_in(&mixture, mapping->device);
	mix_in(&mixture, mapping->changed_ns);
	return name_of(&mixture);
}

/* The hash of mappings of a process of this user. */
static inline __u64 hash_of_users_mappings(__u32 uid, const struct wire_mapping *mappings, __u32 count)
{
	struct mixture mixture = {};

	mix_in(&mixture, OF_CODE);
	mix_in(&mixture, uid);
	for (__u32 i = 0; i < count; i++)
		mix_in(&mixture, mapping_name(&mappings[i]));
	return name_of(&mixture);
}

static inline __u64 hash_of_mappings(const struct wire_mapping *mappings, __u32 count)
{
	return hash_of_users_mappings(0, mappings, count);
}

/* The same for code 0, 1 and so on. */
static inline __u64 hash_of_code(__u32 count)
{
	struct wire_mapping mappings[300];

	EXPECT_TRUE(count <= 300);
	for (__u32 i = 0; i < count && i < 300; i++)
		mappings[i] = mapping_of(i);
	return hash_of_mappings(mappings, count);
}

static inline __u64 sequence_of(struct task_struct *task)
{
	return 1 + (__u64)task->mm->mm_lock_seq.sequence;
}

/* What a capture would tell of the current thread's code. */
static inline struct wire_code told_code(enum context context)
{
	struct code_work *work = host_allocate(sizeof(*work));

	tell_code(work, context);
	return work->code;
}

#endif /* OFFCPU_TESTS_BPF_CODE_SCRIPT_H_ */
