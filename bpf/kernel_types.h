/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * The kernel's types, cut down to the fields that the programs read. CO-RE finds the real offsets when the
 * programs are loaded, so the build needs no BTF of the machine it runs on. Names after ___ are variants of
 * older kernels. What differs between machines is in a header for each.
 */
#ifndef OFFCPU_BPF_KERNEL_TYPES_H_
#define OFFCPU_BPF_KERNEL_TYPES_H_

typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef unsigned long long __u64;
typedef signed char __s8;
typedef short __s16;
typedef int __s32;
typedef long long __s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;
typedef _Bool bool;
#define true 1
#define false 0
#define NULL ((void *)0)

enum bpf_map_type {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_CGROUP_ARRAY = 8,
	BPF_MAP_TYPE_LRU_HASH = 9,
	BPF_MAP_TYPE_RINGBUF = 27,
	BPF_MAP_TYPE_TASK_STORAGE = 29,
};
#define BPF_ANY 0
#define BPF_NOEXIST 1
#define BPF_F_NO_PREALLOC 1
#define BPF_F_MMAPABLE (1 << 10)
#define BPF_LOCAL_STORAGE_GET_F_CREATE 1
#define BPF_RB_NO_WAKEUP 1
#define BPF_RB_FORCE_WAKEUP 2
#define BPF_RB_AVAIL_DATA 0
#define BPF_RB_RING_SIZE 1
#define BPF_RB_PROD_POS 3

#define PF_EXITING 0x00000004
#define PF_IO_WORKER 0x00000010
#define PF_USER_WORKER 0x00004000 /* since 6.4 */
#define PF_KTHREAD 0x00200000
/* Threads that never run in user mode: the kernel's, and those that it makes in processes, for io_uring. */
#define PF_KERNELS_OWN (PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER)

#define TASK_INTERRUPTIBLE 0x1
#define TASK_UNINTERRUPTIBLE 0x2
#define TASK_STOPPED_OR_TRACED 0xc
#define TASK_DEAD 0x80
#define TASK_NOLOAD 0x400 /* with TASK_UNINTERRUPTIBLE: idle */

#define VM_READ 0x1
#define VM_WRITE 0x2
#define VM_EXEC 0x4
#define VM_SHARED 0x8
#define VM_MAYSHARE 0x80
#define VM_STACK 0x100 /* grows down */
#define VM_PFNMAP 0x400
#define VM_IO 0x4000
#define VM_HUGETLB 0x400000
#define VM_MIXEDMAP 0x10000000

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct list_head {
	struct list_head *next;
};

struct sched_info {
	unsigned long pcount;
	unsigned long long run_delay;
	unsigned long long last_arrival;
	unsigned long long last_queued;
};

struct rq {
	__u64 clock;
	__u64 clock_task; /* without what interrupts and the hypervisor took */
};

struct cfs_rq {
	struct rq *rq;
	int throttle_count; /* CONFIG_CFS_BANDWIDTH: of it and of those above it */
};

struct sched_entity {
	__u64 exec_start;
	__u64 sum_exec_runtime;
	struct cfs_rq *cfs_rq; /* CONFIG_FAIR_GROUP_SCHED */
	/* From 6.12 on: the thread has gone to sleep and is still in the queue of its CPU. */
	unsigned char sched_delayed;
};

struct seqcount {
	unsigned int sequence;
};

typedef struct {
	__s64 counter;
} atomic64_t;

struct rw_semaphore {
	atomic64_t count; /* the lowest bit: it is held for writing; not on real-time kernels */
	atomic64_t owner; /* who holds it for writing, with flags in the lowest bits */
};

#if defined(__TARGET_ARCH_x86)
#include "kernel_types_x86.h"
#elif defined(__TARGET_ARCH_arm64)
#include "kernel_types_arm64.h"
#else
#error "for which machine? -D__TARGET_ARCH_x86 or -D__TARGET_ARCH_arm64"
#endif

struct maple_tree {
	void *ma_root;
};

struct xol_area {
	unsigned long vaddr; /* of the trampoline that probed functions return to */
};

struct uprobes_state {
	struct xol_area *xol_area;
};

/* A function that is to return to the trampoline. */
struct return_instance {
	unsigned long stack;	      /* where its return address lies */
	unsigned long orig_ret_vaddr; /* what that was */
	struct return_instance *next; /* further out */
};

struct uprobe_task {
	struct return_instance *return_instances;
};

struct mm_struct {
	mm_context_t context;
	struct seqcount mm_lock_seq; /* CONFIG_PER_VMA_LOCK, 6.14 and later */
	struct rw_semaphore mmap_lock;
	unsigned long exec_vm; /* pages that may be executed and not written */
	unsigned long total_vm;
	int map_count;
	struct maple_tree mm_mt;
	struct uprobes_state uprobes_state; /* CONFIG_UPROBES */
};

struct mm_struct___counter {
	int mm_lock_seq; /* 6.4 to 6.13 */
};

struct super_block {
	unsigned int s_dev;
};

struct inode {
	unsigned long i_ino;
	struct super_block *i_sb;
	__u32 i_generation;
	__s64 i_ctime_sec; /* 6.11 and later */
	__u32 i_ctime_nsec;
};

struct timespec64 {
	__s64 tv_sec;
	long tv_nsec;
};

struct inode___timespec {
	struct timespec64 __i_ctime; /* 6.6 to 6.10 */
};

struct inode___old {
	struct timespec64 i_ctime; /* to 6.5 */
};

struct file {
	struct inode *f_inode;
};

struct userfaultfd_ctx;
struct vm_operations_struct;

struct vm_userfaultfd_ctx {
	struct userfaultfd_ctx *ctx;
};

struct vm_area_struct {
	unsigned long vm_start;
	unsigned long vm_end;
	struct mm_struct *vm_mm;
	const unsigned long vm_flags;
	unsigned long vm_pgoff;
	struct file *vm_file;
	const struct vm_operations_struct *vm_ops;
	struct vm_userfaultfd_ctx vm_userfaultfd_ctx; /* CONFIG_USERFAULTFD */
};

typedef struct {
	int counter;
} atomic_t;

struct signal_struct {
	atomic_t live; /* threads that have not begun to exit */
};

typedef struct {
	__u32 val;
} kuid_t;

struct pid_namespace;

struct upid {
	int nr;
	struct pid_namespace *ns;
};

struct pid {
	unsigned int level;	/* of the namespace that it was made in; the first one's is 0 */
	struct upid numbers[1]; /* one of each namespace from the first one to that */
};

struct cred {
	kuid_t uid;
	kuid_t euid;
};

struct kernfs_node {
	__u64 id;
};

struct cgroup {
	struct kernfs_node *kn;
};

struct css_set {
	struct cgroup *dfl_cgrp; /* of the hierarchy of version 2 */
};

struct task_struct {
	struct thread_info thread_info;
	const struct cred *cred;
	unsigned int flags;
	unsigned int on_rq;  /* 0: asleep, or on its way there */
	unsigned int on_cpu; /* a byte since 7.x: only unsigned fields adapt to that */
	struct sched_entity se;
	struct sched_info sched_info;
	struct mm_struct *mm;
	void *stack; /* the kernel's */
	int pid;
	int tgid;
	struct task_struct *group_leader;
	struct pid *thread_pid; /* NULL: the thread is released */
	__u64 start_boottime;
	unsigned long nvcsw;
	unsigned long nivcsw;
	unsigned int __state;
	char comm[16] __attribute__((aligned(8))); /* compared by words */
	struct signal_struct *signal;
	struct css_set *cgroups;
	__u64 self_exec_id;
	struct thread_struct thread;
	struct uprobe_task *utask; /* CONFIG_UPROBES */
	int prio;
};

struct task_struct___throttled {
	bool throttled; /* from 6.18 on */
};

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

#pragma clang attribute pop

/* What a program of a perf event is given, as in the kernel's interface: the registers where the event fired.
 */
struct bpf_perf_event_data {
#if defined(__TARGET_ARCH_x86)
	unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di;
	unsigned long orig_ax, ip, cs, flags, sp, ss;
#else
	unsigned long regs[31], sp, pc, pstate;
#endif
	__u64 sample_period;
};

struct linux_binprm;

/* Defined, not only declared: libbpf compares the kinds of a kernel function's argument types. */
struct bpf_map {
	__u32 id;
};

/* Kept by the kernel inside a map's value; found there by the type's name. */
struct bpf_task_work {
	__u64 opaque;
} __attribute__((aligned(8)));

#endif /* OFFCPU_BPF_KERNEL_TYPES_H_ */
