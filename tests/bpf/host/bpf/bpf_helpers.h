/*
 * Stands in for libbpf's header of this name where the BPF programs are compiled for the host: maps are
 * described alike, and helpers are ordinary functions, which kernel.c implements over a kernel that tests
 * script.
 */
#ifndef OFFCPU_TESTS_BPF_HOST_BPF_HELPERS_H_
#define OFFCPU_TESTS_BPF_HOST_BPF_HELPERS_H_

#define __uint(name, val) int(*name)[val]
#define __type(name, val) __typeof__(val) *name
/* Programs and maps need no section here. Constants have one, which programs.h makes writable for the tests.
 */
#define SEC(name)
#define __always_inline inline __attribute__((always_inline))
#define __noinline __attribute__((noinline))
#define __weak __attribute__((weak))
#define __ksym
#define barrier() __asm__ volatile("" ::: "memory")
#define barrier_var(var) __asm__ volatile("" : "+r"(var))

struct seq_file;
struct bpf_map;
struct task_struct;
struct vm_area_struct;

void *bpf_map_lookup_elem(void *map, const void *key);
long bpf_map_update_elem(void *map, const void *key, const void *value, __u64 flags);
long bpf_map_delete_elem(void *map, const void *key);
void *bpf_task_storage_get(void *map, struct task_struct *task, void *value, __u64 flags);

__u64 bpf_ktime_get_ns(void);
__u32 bpf_get_prandom_u32(void);
__u32 bpf_get_smp_processor_id(void);
struct task_struct *bpf_get_current_task_btf(void);
long bpf_task_pt_regs(struct task_struct *task);
long bpf_current_task_under_cgroup(void *map, __u32 index);

long bpf_probe_read_kernel(void *to, __u32 bytes, const void *from);
long bpf_probe_read_kernel_str(void *to, __u32 bytes, const void *from);
long bpf_probe_read_user(void *to, __u32 bytes, const void *from);
long bpf_copy_from_user(void *to, __u32 bytes, const void *from);

long bpf_get_stack(void *ctx, void *frames, __u32 bytes, __u64 flags);
long bpf_get_task_stack(struct task_struct *task, void *frames, __u32 bytes, __u64 flags);
long bpf_loop(__u32 count, void *callback, void *context, __u64 flags);
long bpf_seq_write(struct seq_file *seq, const void *bytes, __u32 count);

void *bpf_ringbuf_reserve(void *ring, __u64 bytes, __u64 flags);
void bpf_ringbuf_submit(void *record, __u64 flags);
long bpf_ringbuf_output(void *ring, void *record, __u64 bytes, __u64 flags);
__u64 bpf_ringbuf_query(void *ring, __u64 what);

#endif /* OFFCPU_TESTS_BPF_HOST_BPF_HELPERS_H_ */
