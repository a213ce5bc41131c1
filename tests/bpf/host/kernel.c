/* Tasks, clocks, memory and stacks of the scripted kernel. */
#include "tests/bpf/host/internal.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define HIDDEN_FIELDS 16
#define ALLOCATIONS 65536
#define MAPPINGS 65536

struct host_kernel host;

static const char *hidden_fields[HIDDEN_FIELDS];
static __u32 hidden_field_count;
static void *allocations[ALLOCATIONS];
static __u32 allocation_count;
static const void *mappings[MAPPINGS]; /* of all processes, at places that follow from their addresses */
static const void *mapping_read;       /* last, since a node was */

void host_reset(void)
{
	while (allocation_count)
		free(allocations[--allocation_count]);
	host_reset_maps();
	hidden_field_count = 0;
	memset(mappings, 0, sizeof(mappings));
	mapping_read = NULL;
	memset(&host, 0, sizeof(host));
	/* Kernels of today: what older ones had instead is asked for by tests of theirs. */
	host_hide_field("throttled->throttled");
}

void *host_allocate(__u64 bytes)
{
	void *memory = calloc(1, bytes);

	if (!memory || allocation_count >= ALLOCATIONS)
		abort();
	allocations[allocation_count++] = memory;
	return memory;
}

void host_hide_field(const char *text)
{
	if (hidden_field_count >= HIDDEN_FIELDS)
		abort();
	hidden_fields[hidden_field_count++] = text;
}

void host_show_field(const char *text)
{
	for (__u32 i = 0; i < hidden_field_count; i++)
		if (!strcmp(hidden_fields[i], text))
			hidden_fields[i] = hidden_fields[--hidden_field_count];
}

_Bool host_has_field(const char *text)
{
	for (__u32 i = 0; i < hidden_field_count; i++)
		if (!strcmp(hidden_fields[i], text))
			return false;
	return true;
}

void host_make_writable(const volatile void *begin, __u64 bytes)
{
	__u64 first = (__u64)begin & ~(HOST_PAGE - 1), end = (__u64)begin + bytes;

	if (mprotect((void *)first, end - first, PROT_READ | PROT_WRITE))
		abort();
}

/* ---- tasks ---- */

static struct task_struct *new_task(int tid)
{
	struct task_struct *task = host_allocate(sizeof(*task));
	struct cfs_rq *queue = host_allocate(sizeof(*queue));

	queue->rq = &host.runqueues[0];
	task->pid = tid;
	task->thread_pid = (struct pid *)task; /* which is not looked at */
	task->self_exec_id = 1;
	task->prio = 120;
	task->se.cfs_rq = queue;
	task->stack = host_allocate(HOST_STACK_BYTES);
#if defined(__TARGET_ARCH_x86)
	host_regs(task)->orig_ax = (unsigned long)-1;
	host_regs(task)->cs = 0x33; /* of 64-bit user mode */
#else
	host_regs(task)->syscallno = -1;
#endif
	return task;
}

static void join_process(struct task_struct *task, struct host_process *process)
{
	task->mm = &process->mm;
	task->signal = &process->signal;
	task->cred = &process->cred;
	task->cgroups = &process->css_set;
	process->signal.live.counter++;
}

static struct host_process *new_process(void)
{
	struct host_process *process = host_allocate(sizeof(*process));

	process->css_set.dfl_cgrp = &process->cgroup;
	process->cgroup.kn = &process->node;
	process->mm.mm_lock_seq.sequence = 2;
	host_plant_tree(process);
	return process;
}

struct task_struct *host_new_process(int pid)
{
	struct task_struct *task = new_task(pid);

	task->tgid = pid;
	task->group_leader = task;
	task->start_boottime = (__u64)pid * 1000;
	join_process(task, new_process());
	return task;
}

struct task_struct *host_new_thread(struct task_struct *leader, int tid)
{
	struct task_struct *task = new_task(tid);

	task->tgid = leader->tgid;
	task->group_leader = leader;
	task->start_boottime = (__u64)tid * 1000;
	task->self_exec_id = leader->self_exec_id;
	join_process(task, host_process_of(leader));
	return task;
}

void host_release(struct task_struct *thread, __u64 other_start_boottime)
{
	thread->thread_pid = NULL;
	thread->group_leader = host_allocate(sizeof(*thread));
	thread->group_leader->start_boottime = other_start_boottime;
}

struct task_struct *host_new_kernel_thread(int tid)
{
	struct task_struct *task = host_new_process(tid);

	task->mm = NULL;
	task->flags |= PF_KTHREAD;
	return task;
}

struct host_process *host_process_of(struct task_struct *task)
{
	return (struct host_process *)task->mm;
}

struct pt_regs *host_regs(struct task_struct *task)
{
	return (struct pt_regs *)((char *)task->stack + HOST_STACK_BYTES - sizeof(struct pt_regs));
}

void host_name(struct task_struct *task, const char *name)
{
	memset(task->comm, 0, sizeof(task->comm));
	memcpy(task->comm, name, strnlen(name, sizeof(task->comm) - 1));
}

void host_run_on(struct task_struct *task, __u32 cpu)
{
	host.current = task;
	host.cpu = cpu;
	task->se.cfs_rq->rq = &host.runqueues[cpu];
}

__u64 bpf_ktime_get_ns(void)
{
	if (host.on_clock)
		host.on_clock();
	host.now_ns += host.tick_ns;
	return host.now_ns;
}

__u32 bpf_get_prandom_u32(void)
{
	__u32 call = host.random_calls++;

	if (call < host.random_count)
		return host.randoms[call];
	return (__u32)((call + 1) * 0x9e3779b97f4a7c15ULL >> 32);
}

__u32 bpf_get_smp_processor_id(void)
{
	return host.cpu;
}

struct task_struct *bpf_get_current_task_btf(void)
{
	return host.current;
}

long bpf_task_pt_regs(struct task_struct *task)
{
	return (long)host_regs(task);
}

long bpf_current_task_under_cgroup(void *map, __u32 index)
{
	return host.below_cgroups >> index & 1;
}

/* ---- mappings ---- */

static void tell_pages(struct host_process *process)
{
	host_plant_tree(process);
	process->mm.map_count = process->count;
	process->mm.total_vm = 0;
	process->mm.exec_vm = 0;
	for (__u32 i = 0; i < process->count; i++) {
		struct vm_area_struct *vma = process->vmas[i];

		process->mm.total_vm += (vma->vm_end - vma->vm_start) / HOST_PAGE;
		if ((vma->vm_flags & (VM_EXEC | VM_WRITE | VM_STACK)) == VM_EXEC)
			process->mm.exec_vm += (vma->vm_end - vma->vm_start) / HOST_PAGE;
	}
	process->mm.mm_lock_seq.sequence += 2;
}

static const void **place_of_mapping(const void *mapping)
{
	__u32 place = ((__u64)mapping >> 4) * 0x9e3779b1U % MAPPINGS;

	while (mappings[place] && mappings[place] != mapping)
		place = (place + 1) % MAPPINGS;
	return &mappings[place];
}

/* A program reads this object: does it begin to read a mapping? */
static void see_object(const void *object)
{
	if (!object || *place_of_mapping(object) != object || mapping_read == object)
		return;
	mapping_read = object;
	host.vmas_seen++;
	if (host.on_vma)
		host.on_vma();
}

struct vm_area_struct *host_map(struct task_struct *task, __u64 begin, __u64 end, __u64 flags)
{
	struct host_process *process = host_process_of(task);
	struct vm_area_struct *vma = host_allocate(sizeof(*vma));
	__u32 index = process->count;

	if (process->count >= HOST_VMAS)
		abort();
	vma->vm_start = begin;
	vma->vm_end = end;
	vma->vm_mm = &process->mm;
	memcpy((void *)&vma->vm_flags, &flags, sizeof(flags));
	for (; index && process->vmas[index - 1]->vm_start > begin; index--)
		process->vmas[index] = process->vmas[index - 1];
	process->vmas[index] = vma;
	process->count++;
	*place_of_mapping(vma) = vma;
	tell_pages(process);
	return vma;
}

void host_unmap(struct task_struct *task, __u64 begin)
{
	struct host_process *process = host_process_of(task);
	__u32 kept = 0;

	for (__u32 i = 0; i < process->count; i++)
		if (process->vmas[i]->vm_start != begin)
			process->vmas[kept++] = process->vmas[i];
	process->count = kept;
	tell_pages(process);
}

struct file *host_file(__u64 inode_number)
{
	struct file *file = host_allocate(sizeof(*file));

	file->f_inode = host_allocate(sizeof(*file->f_inode));
	file->f_inode->i_ino = inode_number;
	file->f_inode->i_sb = host_allocate(sizeof(*file->f_inode->i_sb));
	file->f_inode->i_sb->s_dev = 0x801;
	return file;
}

void bpf_rcu_read_lock(void)
{
}

void bpf_rcu_read_unlock(void)
{
}

void *bpf_rdonly_cast(const void *object, __u32 type)
{
	see_object(object);
	return (void *)object;
}

/* ---- memory ---- */

static struct host_page *page_of(struct task_struct *task, __u64 address)
{
	struct host_process *process = host_process_of(task);
	struct host_page *page;

	for (page = process ? process->pages : NULL; page; page = page->next)
		if (page->address == (address & ~(HOST_PAGE - 1)))
			return page;
	return NULL;
}

void *host_memory(struct task_struct *task, __u64 address)
{
	struct host_process *process = host_process_of(task);
	struct host_page *page = page_of(task, address);

	if (!page) {
		page = host_allocate(sizeof(*page));
		page->address = address & ~(HOST_PAGE - 1);
		page->next = process->pages;
		process->pages = page;
	}
	page->is_resident = true;
	return page->bytes + (address & (HOST_PAGE - 1));
}

void host_write_word(struct task_struct *task, __u64 address, __u64 word)
{
	memcpy(host_memory(task, address), &word, sizeof(word));
}

void host_take_page(struct task_struct *task, __u64 address, _Bool forever)
{
	struct host_page *page;

	host_memory(task, address);
	page = page_of(task, address);
	page->is_resident = false;
	page->never_comes = forever;
}

/* As the kernel does: all of it or nothing, with zeros where it fails. */
static long read_user(void *to, __u32 bytes, __u64 from, _Bool may_fault)
{
	host.user_reads++;
	if (host.on_user_read)
		host.on_user_read();
	memset(to, 0, bytes);
	for (__u64 at = from; at < from + bytes;) {
		__u64 end = (at | (HOST_PAGE - 1)) + 1;
		struct host_page *page = page_of(host.current, at);

		if (!page || (!page->is_resident && (!may_fault || page->never_comes))) {
			memset(to, 0, bytes);
			return -14; /* EFAULT */
		}
		page->is_resident = true;
		if (end > from + bytes)
			end = from + bytes;
		memcpy((char *)to + (at - from), page->bytes + (at & (HOST_PAGE - 1)), end - at);
		at = end;
	}
	return 0;
}

long bpf_probe_read_user(void *to, __u32 bytes, const void *from)
{
	return read_user(to, bytes, (__u64)from, false);
}

long bpf_copy_from_user(void *to, __u32 bytes, const void *from)
{
	return read_user(to, bytes, (__u64)from, true);
}

static _Bool is_readable(__u64 from, __u32 bytes)
{
	return from >= HOST_PAGE && (from + bytes <= host.unreadable_begin || from >= host.unreadable_end);
}

#define NODE_BYTES 256

long bpf_probe_read_kernel(void *to, __u32 bytes, const void *from)
{
	if (bytes == NODE_BYTES) {
		host.nodes_read++;
		mapping_read = NULL;
	}
	see_object(from); /* by its first field */
	if (!is_readable((__u64)from, bytes)) {
		memset(to, 0, bytes);
		return -14; /* EFAULT */
	}
	memmove(to, from, bytes);
	return 0;
}

long bpf_probe_read_kernel_str(void *to, __u32 bytes, const void *from)
{
	size_t length = strnlen(from, bytes - 1);

	memmove(to, from, length);
	((char *)to)[length] = 0;
	return (long)length + 1;
}

/* ---- the rest ---- */

static long copy_frames(void *to, __u32 bytes, const __u64 *frames, long count)
{
	if (count < 0)
		return count;
	if (count * sizeof(*frames) > bytes)
		count = bytes / sizeof(*frames);
	memcpy(to, frames, count * sizeof(*frames));
	return (long)(count * sizeof(*frames));
}

long bpf_get_stack(void *ctx, void *frames, __u32 bytes, __u64 flags)
{
	return copy_frames(frames, bytes, host.context_frames, host.context_count);
}

long bpf_get_task_stack(struct task_struct *task, void *frames, __u32 bytes, __u64 flags)
{
	if (host.on_task_stack)
		host.on_task_stack();
	return copy_frames(frames, bytes, host.task_frames, host.task_count);
}

long bpf_loop(__u32 count, void *callback, void *context, __u64 flags)
{
	long (*body)(__u32, void *) = (long (*)(__u32, void *))callback;
	__u32 i;

	for (i = 0; i < count; i++)
		if (body(i, context))
			return i + 1;
	return i;
}

long bpf_seq_write(struct seq_file *seq, const void *bytes, __u32 count)
{
	if (host.seq_bytes + count > HOST_SEQ_BYTES)
		return -75; /* EOVERFLOW */
	memcpy(host.seq + host.seq_bytes, bytes, count);
	host.seq_bytes += count;
	return 0;
}
