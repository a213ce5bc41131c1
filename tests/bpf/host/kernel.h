/*
 * A kernel that tests script, for the BPF code compiled as ordinary C: tasks made of structs, CPUs, clocks
 * that stand still unless a test moves them, random numbers, memory of which pages may be missing, and maps
 * and rings of the sizes that a test gives them. kernel.c implements the kernel's helpers over it. Not
 * thread-safe, like everything in these tests. All of it is new for each test: see programs.h.
 */
#ifndef OFFCPU_TESTS_BPF_HOST_KERNEL_H_
#define OFFCPU_TESTS_BPF_HOST_KERNEL_H_

#include "bpf/kernel_types.h"

#include <bpf/bpf_helpers.h>

#define HOST_CPUS 4
#define HOST_FRAMES 127
#define HOST_RANDOMS 64
#define HOST_STACK_BYTES 16384 /* of a kernel stack */
#define HOST_PAGE 4096ULL
#define HOST_SEQ_BYTES (1 << 20)

/* What helpers answer, and what a test may look at. All of it is 0 when a test begins, unless it says
 * otherwise. */
struct host_kernel {
	__u64 now_ns;  /* CLOCK_MONOTONIC */
	__u64 tick_ns; /* that every reading of it takes */
	__u32 cpu;     /* that programs run on */
	struct task_struct *current;
	struct rq runqueues[HOST_CPUS]; /* new threads have the first one */

	__u32 randoms[HOST_RANDOMS]; /* the next random numbers; a sequence that is always the same follows */
	__u32 random_count;
	__u32 random_calls; /* how many have been asked for */

	/* Kernel stacks, as the kernel's helpers tell them; a negative count is an error. */
	__u64 context_frames[HOST_FRAMES];
	long context_count;
	__u64 task_frames[HOST_FRAMES];
	long task_count;

	__u32 below_cgroups;  /* bit: index of a control group that the current task is below */
	_Bool no_storage;     /* nothing can be allocated for a task */
	_Bool rings_are_busy; /* what was interrupted holds the lock of every ring */
	_Bool refuses_task_work;
	__u64 unreadable_begin, unreadable_end; /* kernel memory that cannot be read */

	__u32 nodes_read; /* of trees of mappings */
	__u32 vmas_seen;  /* mappings that were read there */
	__u32 user_reads; /* of user memory, whether they succeeded or not */

	/* What others do meanwhile; NULL: nothing. */
	void (*on_vma)(void);	     /* before each mapping is read, counted in vmas_seen */
	void (*on_user_read)(void);  /* before each read, counted in user_reads */
	void (*on_clock)(void);	     /* before each reading */
	void (*on_reserve)(void);    /* before there is room in a ring for a record */
	void (*on_task_work)(void);  /* before the kernel answers who asks for it */
	void (*on_task_stack)(void); /* runs before a helper copies a task's kernel stack */

	_Alignas(8) char seq[HOST_SEQ_BYTES]; /* what iterators have written */
	__u32 seq_bytes;
};

extern struct host_kernel host;

/* Forgets everything, maps and tasks included. */
void host_reset(void);
/* Memory that lasts until host_reset, zeroed. */
void *host_allocate(__u64 bytes);
/* A field that this kernel does not have, by the text that the program asks for it with. */
void host_hide_field(const char *text);
/* A field that was hidden: of an older kernel, or of a newer one. */
void host_show_field(const char *text);
/* Lets constants of the programs be written, as libbpf writes them before programs are loaded. */
void host_make_writable(const volatile void *begin, __u64 bytes);

/* A process with its first thread, and another thread of a process. They have an address space without
 * mappings, a control group, credentials and a kernel stack, on which the user's registers lie. */
struct task_struct *host_new_process(int pid);
struct task_struct *host_new_thread(struct task_struct *leader, int tid);
/* It has ended, but for its last run. Its leader is released as well, and its memory is another thread's. */
void host_release(struct task_struct *thread, __u64 other_start_boottime);
/* A thread of the kernel, without an address space. */
struct task_struct *host_new_kernel_thread(int tid);
struct pt_regs *host_regs(struct task_struct *task);
/* Names a thread; zeros follow the name. */
void host_name(struct task_struct *task, const char *name);
void host_run_on(struct task_struct *task, __u32 cpu);

/* Adds a mapping to the process of a task and tells the kernel's numbers of it. */
struct vm_area_struct *host_map(struct task_struct *task, __u64 begin, __u64 end, __u64 flags);
void host_unmap(struct task_struct *task, __u64 begin);
/* A file of this inode for mappings. */
struct file *host_file(__u64 inode);
/* The memory at an address that is mapped already by host_map; made resident, zeroed at first. */
void *host_memory(struct task_struct *task, __u64 address);
void host_write_word(struct task_struct *task, __u64 address, __u64 word);
/* A page that is not in memory. It can be faulted in, unless `forever`. */
void host_take_page(struct task_struct *task, __u64 address, _Bool forever);

/* What the programs' maps are. Sizes may be changed by host_resize before the first access. */
void host_add_map(void *map, const char *name, __u32 type, __u32 key_bytes, __u32 value_bytes, __u32 entries);
void host_resize(void *map, __u32 entries);
/* The value of an element on a CPU, as user space reads a map; NULL: there is none. */
void *host_value(void *map, const void *key, __u32 cpu);
/* How many elements a hash has, or how many tasks have storage. */
__u32 host_count(void *map);
/* Throws away all elements of a storage map or hash. */
void host_clear(void *map);

struct host_record {
	const void *bytes; /* NULL: there are not so many */
	__u64 length;
	__u64 flags; /* how it was submitted */
};

/* Records that were sent and not yet drained, oldest first. */
struct host_record host_record(void *ring, __u32 index);
__u32 host_records(void *ring);
/* User space has read all records. */
void host_drain(void *ring);

/* Runs the task work that was asked for, as the task does on its way to user mode. Returns how many there
 * was. */
__u32 host_return_to_user(struct task_struct *task);

#endif /* OFFCPU_TESTS_BPF_HOST_KERNEL_H_ */
