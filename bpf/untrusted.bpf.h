/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * Tasks and mappings for reads of pointers in them. Where the kernel's verifier comes to a read of a pointer
 * in an object that it trusts, it looks for a type whose name would tell that this pointer is to be trusted
 * too, among all types of the kernel, one after the other: this took two thirds of the time to load the
 * programs.
 */
#ifndef OFFCPU_BPF_UNTRUSTED_BPF_H_
#define OFFCPU_BPF_UNTRUSTED_BPF_H_

#include "config.bpf.h"

/* Kernels that have task work have this. Older ones have it as well, but no stack left for what the compiler
 * puts aside around a call. */
#if OFFCPU_TASK_WORK_ARGS
extern void *bpf_rdonly_cast(const void *object, __u32 type) __ksym;
#define UNTRUSTED(type, object) ((type *)bpf_rdonly_cast(object, bpf_core_type_id_kernel(type)))
#else
#define UNTRUSTED(type, object) (object)
#endif

static __always_inline struct task_struct *untrusted(struct task_struct *task)
{
	return UNTRUSTED(struct task_struct, task);
}

/* A field of an object whose address is a number, into a variable of the field's size: 0 where nothing can be
 * read. Older kernels let programs read what is not theirs by a call alone; that it goes straight to where it
 * is wanted spares the stack. */
#if OFFCPU_TASK_WORK_ARGS
#define READ_FIELD(to, type, object, field)                                                                  \
	({                                                                                                   \
		type *from_ = UNTRUSTED(type, (type *)(object));                                             \
		(to) = (__typeof__(to))from_->field;                                                         \
	})
#else
#define READ_FIELD(to, type, object, field)                                                                  \
	({                                                                                                   \
		type *from_ = (type *)(object);                                                              \
		bpf_core_read(&(to), sizeof(to), &from_->field);                                             \
	})
#endif

/* A pointer as a number. The verifier does not let programs count with pointers, but the difference of two of
 * them is a number. On kernels without such casts, reading one as if it were data takes a call. */
static __always_inline __u64 address_of(const void *object)
{
#if OFFCPU_TASK_WORK_ARGS
	__u64 address = (__u64)object - (__u64)bpf_rdonly_cast(NULL, 0);

	barrier_var(address); /* nothing else comes in between */
	return address;
#else
	__u64 address = 0;

	bpf_probe_read_kernel(&address, sizeof(address), &object);
	return address;
#endif
}

#endif /* OFFCPU_BPF_UNTRUSTED_BPF_H_ */
