/* Stands in for libbpf's header of this name: on the host a program is a function of its context and its
 * arguments. */
#ifndef OFFCPU_TESTS_BPF_HOST_BPF_TRACING_H_
#define OFFCPU_TESTS_BPF_HOST_BPF_TRACING_H_

#define BPF_PROG(name, args...) name(void *ctx, ##args)

#endif /* OFFCPU_TESTS_BPF_HOST_BPF_TRACING_H_ */
