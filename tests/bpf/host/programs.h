/*
 * The BPF programs as ordinary C: bpf/offcpu.bpf.c whole, as the kernel gets it, with every static function
 * in reach of the test that includes this. A test's source includes it once, behind nothing but check.h. Each
 * test begins with empty maps, a configuration of zeros and no tasks; `settings` and `wakers` are the
 * writable faces of the configuration.
 */
#ifndef OFFCPU_TESTS_BPF_HOST_PROGRAMS_H_
#define OFFCPU_TESTS_BPF_HOST_PROGRAMS_H_

#include "tests/bpf/host/check.h"
#include "tests/bpf/host/kernel.h"

#include "bpf/offcpu.bpf.c"
#include "tests/bpf/host/hash_key.h"

#define SECOND NS_PER_SECOND
#define MILLISECOND 1000000ULL
#define MICROSECOND 1000ULL

/* Volatile, so that the compiler does not know that these are constants, and leave writes to them out. */
static struct wire_config *volatile settings = (struct wire_config *)&config;
static struct wire_waker_config *volatile waker_settings = (struct wire_waker_config *)&waker_config;
static struct wire_kernel_walk_config *volatile walk_settings =
	(struct wire_kernel_walk_config *)&walk_config;

#define HOST_UINT(map, name) (sizeof(*(map).name) / sizeof(int))
#define HOST_ADD(map)                                                                                        \
	host_add_map(&(map), #map, HOST_UINT(map, type), sizeof(*(map).key), sizeof(*(map).value),           \
		     HOST_UINT(map, max_entries))
#define HOST_ADD_RING(map) host_add_map(&(map), #map, HOST_UINT(map, type), 0, 0, HOST_UINT(map, max_entries))
/* Storage of tasks has no number of entries. */
#define HOST_ADD_STORAGE(map)                                                                                \
	host_add_map(&(map), #map, HOST_UINT(map, type), sizeof(*(map).key), sizeof(*(map).value), 0)

static inline void add_maps(void)
{
	HOST_ADD(budgets);
	HOST_ADD(buffers);
	HOST_ADD(cgroups);
	HOST_ADD(counters);
	HOST_ADD(cpus);
	HOST_ADD(excluded_pids);
	HOST_ADD(globs);
	HOST_ADD(kept_stacks);
	HOST_ADD(kernel_memos);
	HOST_ADD(known_lists);
#if defined(__TARGET_ARCH_x86)
	HOST_ADD(orc_rows);
#endif
	HOST_ADD(pids);
	HOST_ADD(requests);
	HOST_ADD(sampled_cpus);
	HOST_ADD(scratches);
	HOST_ADD(sent);
	HOST_ADD(sent_places);
	HOST_ADD(stack_hints);
	HOST_ADD(stolen);
	HOST_ADD(sums);
	HOST_ADD(sums_busy);
	HOST_ADD(tids);
	HOST_ADD(uids);
	HOST_ADD(user_memos);
	HOST_ADD(user_rows);
	HOST_ADD(user_stacks);
	HOST_ADD(users);
	HOST_ADD(user_walks);
	HOST_ADD(walk_memories);
	HOST_ADD_RING(captures);
	HOST_ADD_RING(intervals);
	HOST_ADD_STORAGE(accounts);
	HOST_ADD_STORAGE(spaces);
	HOST_ADD_STORAGE(tasks);
	HOST_ADD_STORAGE(wakes);
	host_add_map(&stamps, "stamps", BPF_MAP_TYPE_ARRAY, sizeof(__u32), PLACE_BYTES, 1);
}

/* The sizes that the recorder gives maps before it loads them: see src/bpf_programs/settings.cc. */
static inline void size_maps(void)
{
	host_resize(&cpus, HOST_CPUS);
	host_resize(&kernel_memos, WIRE_KERNEL_MEMOS);
	host_resize(&stamps, WIRE_STAMPS);
	host_resize(&sums, WIRE_SUM_PLACES * HOST_CPUS);
	host_resize(&user_memos, WIRE_USER_MEMOS);
	host_resize(&user_rows, WIRE_USER_ROW_BUCKETS);
	host_resize(&user_stacks, WIRE_USER_STACK_BUCKETS);
}

/* Runs before each test. */
static inline void set_up(void)
{
	host_reset();
	add_maps();
	size_maps();
	host_make_writable(&config, sizeof(config));
	host_make_writable(&waker_config, sizeof(waker_config));
	host_make_writable(&walk_config, sizeof(walk_config));
	__builtin_memset(settings, 0, sizeof(*settings));
	__builtin_memset(waker_settings, 0, sizeof(*waker_settings));
	__builtin_memset(walk_settings, 0, sizeof(*walk_settings));
	__builtin_memset(&control, 0, sizeof(control));
	settings->hash_key = (struct wire_hash_key){.low = HOST_KEY_LOW, .high = HOST_KEY_HIGH};
	settings->buffers = 8;
	settings->own_tgid = 1;
}

/* A counter's sum over all CPUs, as user space reads it. */
static inline struct wire_counter counted(__u32 id)
{
	struct wire_counter sum = {};

	for (__u32 cpu = 0; cpu < HOST_CPUS; cpu++) {
		const struct wire_counter *counter = host_value(&counters, &id, cpu);

		sum.count += counter->count;
		sum.ns += counter->ns;
	}
	return sum;
}

/* How many records of a type the ring of intervals holds, and one of them. */
static inline const void *sent_record(__u32 type, __u32 index)
{
	for (__u32 i = 0; i < host_records(&intervals); i++) {
		const __u32 *record = host_record(&intervals, i).bytes;

		if (*record == type && index-- == 0)
			return record;
	}
	return NULL;
}

static inline __u32 sent_records(__u32 type)
{
	__u32 count = 0;

	while (sent_record(type, count))
		count++;
	return count;
}

#endif /* OFFCPU_TESTS_BPF_HOST_PROGRAMS_H_ */
