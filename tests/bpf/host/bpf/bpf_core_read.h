/*
 * Stands in for libbpf's header of this name. Fields are where the host's compiler puts them. Which of them
 * the kernel has is what a test says: see host_hide_field. Reads through a null pointer give 0, as they do in
 * the kernel.
 */
#ifndef OFFCPU_TESTS_BPF_HOST_BPF_CORE_READ_H_
#define OFFCPU_TESTS_BPF_HOST_BPF_CORE_READ_H_

_Bool host_has_field(const char *text);

#define bpf_core_field_exists(field...) host_has_field(#field)
#define bpf_core_field_offset(type, field) __builtin_offsetof(type, field)
#define bpf_core_type_id_kernel(type) 0
#define bpf_core_type_size(type) sizeof(type)

#define bpf_core_read(to, bytes, from) bpf_probe_read_kernel(to, bytes, from)

#define HOST_READ_1(from, a)                                                                                 \
	({                                                                                                   \
		__typeof__(from) from1 = (from);                                                             \
		from1 ? from1->a : (__typeof__(from1->a))0;                                                  \
	})
#define HOST_READ_2(from, a, b)                                                                              \
	({                                                                                                   \
		__typeof__(HOST_READ_1(from, a)) from2 = HOST_READ_1(from, a);                               \
		HOST_READ_1(from2, b);                                                                       \
	})
#define HOST_READ_3(from, a, b, c)                                                                           \
	({                                                                                                   \
		__typeof__(HOST_READ_2(from, a, b)) from3 = HOST_READ_2(from, a, b);                         \
		HOST_READ_1(from3, c);                                                                       \
	})
#define HOST_READ(_1, _2, _3, name, ...) name
#define BPF_CORE_READ(from, fields...) HOST_READ(fields, HOST_READ_3, HOST_READ_2, HOST_READ_1)(from, fields)

#endif /* OFFCPU_TESTS_BPF_HOST_BPF_CORE_READ_H_ */
