/* Maps, task storage, ring buffers and task work of the scripted kernel. */
#include "tests/bpf/host/internal.h"

#include <stdlib.h>
#include <string.h>

#define HOST_MAPS 64
#define RECORDS 65536
#define TASK_WORKS 1024
#define BUSY_RECORD (1ULL << 63) /* among the flags of a record: reserved and not yet submitted */

struct element {
	struct element *next;
	void *key; /* bytes; of a task's storage, the task */
	char *value;
};

struct host_map {
	void *map;
	const char *name;
	__u32 type, key_bytes, value_bytes, entries, count;
	char *values;		  /* of arrays, one after another, for each CPU where it has its own */
	struct element *elements; /* the newest first */
	struct host_record *records;
	__u32 record_count;
	__u64 ring_bytes;    /* in use */
	__u64 ring_position; /* bytes that were ever written to it */
};

struct task_work {
	struct task_struct *task;
	void *map;
	const void *work;
	int (*callback)(struct bpf_map *, void *, void *);
};

static struct host_map maps[HOST_MAPS];
static __u32 map_count;
static struct task_work task_works[TASK_WORKS];
static __u32 task_work_count;

void host_reset_maps(void)
{
	map_count = task_work_count = 0;
}

static struct host_map *find_map(void *map)
{
	for (__u32 i = 0; i < map_count; i++)
		if (maps[i].map == map)
			return &maps[i];
	abort(); /* a map that programs.h does not name */
}

void host_add_map(void *map, const char *name, __u32 type, __u32 key_bytes, __u32 value_bytes, __u32 entries)
{
	if (map_count >= HOST_MAPS)
		abort();
	maps[map_count++] = (struct host_map){.map = map,
					      .name = name,
					      .type = type,
					      .key_bytes = key_bytes,
					      .value_bytes = value_bytes,
					      .entries = entries};
}

void host_resize(void *map, __u32 entries)
{
	struct host_map *found = find_map(map);

	if (found->values || found->count || found->record_count)
		abort(); /* too late, as it would be for libbpf */
	found->entries = entries;
}

static _Bool is_array(const struct host_map *map)
{
	return map->type == BPF_MAP_TYPE_ARRAY || map->type == BPF_MAP_TYPE_PERCPU_ARRAY;
}

static struct element *find_element(struct host_map *map, const void *key)
{
	for (struct element *each = map->elements; each; each = each->next)
		if (map->type == BPF_MAP_TYPE_TASK_STORAGE ? each->key == key
							   : !memcmp(each->key, key, map->key_bytes))
			return each;
	return NULL;
}

static struct element *add_element(struct host_map *map, const void *key)
{
	struct element *element = host_allocate(sizeof(*element));

	element->value = host_allocate(map->value_bytes);
	if (map->type == BPF_MAP_TYPE_TASK_STORAGE) {
		element->key = (void *)key;
	} else {
		element->key = host_allocate(map->key_bytes);
		memcpy(element->key, key, map->key_bytes);
	}
	element->next = map->elements;
	map->elements = element;
	map->count++;
	return element;
}

static void remove_element(struct host_map *map, struct element *element)
{
	struct element **link = &map->elements;

	while (*link != element)
		link = &(*link)->next;
	*link = element->next;
	map->count--;
}

static void *array_value(struct host_map *map, const void *key, __u32 cpu)
{
	__u32 index = *(const __u32 *)key;
	__u64 cpus = map->type == BPF_MAP_TYPE_PERCPU_ARRAY ? HOST_CPUS : 1;

	if (index >= map->entries)
		return NULL;
	if (!map->values)
		map->values = host_allocate(map->entries * cpus * map->value_bytes);
	return map->values + (index * cpus + (cpus > 1 ? cpu : 0)) * map->value_bytes;
}

void *host_value(void *map, const void *key, __u32 cpu)
{
	struct host_map *found = find_map(map);
	struct element *element;

	if (is_array(found))
		return array_value(found, key, cpu);
	element = find_element(found, key);
	return element ? element->value : NULL;
}

__u32 host_count(void *map)
{
	return find_map(map)->count;
}

void host_clear(void *map)
{
	struct host_map *found = find_map(map);

	found->elements = NULL;
	found->count = 0;
}

void *bpf_map_lookup_elem(void *map, const void *key)
{
	return host_value(map, key, host.cpu);
}

long bpf_map_update_elem(void *map, const void *key, const void *value, __u64 flags)
{
	struct host_map *found = find_map(map);
	struct element *element;

	if (is_array(found)) {
		void *place = array_value(found, key, host.cpu);

		if (!place)
			return -7; /* E2BIG */
		memcpy(place, value, found->value_bytes);
		return 0;
	}
	element = find_element(found, key);
	if (element && flags == BPF_NOEXIST)
		return -17; /* EEXIST */
	if (!element && found->count >= found->entries) {
		struct element *oldest = found->elements;

		if (found->type != BPF_MAP_TYPE_LRU_HASH)
			return -7; /* E2BIG */
		while (oldest->next)
			oldest = oldest->next;
		remove_element(found, oldest);
	}
	element = element ?: add_element(found, key);
	memcpy(element->value, value, found->value_bytes);
	return 0;
}

long bpf_map_delete_elem(void *map, const void *key)
{
	struct host_map *found = find_map(map);
	struct element *element = find_element(found, key);

	if (!element)
		return -2; /* ENOENT */
	remove_element(found, element);
	return 0;
}

void *bpf_task_storage_get(void *map, struct task_struct *task, void *value, __u64 flags)
{
	struct host_map *found = find_map(map);
	struct element *element = find_element(found, task);

	if (!element && flags & BPF_LOCAL_STORAGE_GET_F_CREATE && !host.no_storage)
		element = add_element(found, task);
	return element ? element->value : NULL;
}

/* ---- rings ---- */

/* A record takes whole words, one of them for its header (kernel/bpf/ringbuf.c). */
static __u64 taken(__u64 bytes)
{
	return (bytes + 8 + 7) & ~7ULL;
}

void *bpf_ringbuf_reserve(void *ring, __u64 bytes, __u64 flags)
{
	struct host_map *found = find_map(ring);
	struct host_record *record;

	if (host.on_reserve)
		host.on_reserve();
	/* The kernel never fills a ring to its last byte. */
	if (host.rings_are_busy || found->ring_bytes + taken(bytes) > found->entries - 1)
		return NULL;
	if (!found->records)
		found->records = host_allocate(RECORDS * sizeof(*found->records));
	if (found->record_count >= RECORDS)
		abort();
	record = &found->records[found->record_count++];
	record->bytes = host_allocate(bytes);
	record->length = bytes;
	record->flags = BUSY_RECORD;
	found->ring_bytes += taken(bytes);
	found->ring_position += taken(bytes);
	return (void *)record->bytes;
}

void bpf_ringbuf_submit(void *bytes, __u64 flags)
{
	for (__u32 i = 0; i < map_count; i++)
		for (__u32 j = maps[i].record_count; j-- > 0;)
			if (maps[i].records[j].bytes == bytes) {
				maps[i].records[j].flags = flags;
				return;
			}
	abort();
}

long bpf_ringbuf_output(void *ring, void *bytes, __u64 count, __u64 flags)
{
	void *record = bpf_ringbuf_reserve(ring, count, 0);

	if (!record)
		return -11; /* EAGAIN */
	memcpy(record, bytes, count);
	bpf_ringbuf_submit(record, flags);
	return 0;
}

__u64 bpf_ringbuf_query(void *ring, __u64 what)
{
	struct host_map *found = find_map(ring);

	if (what == BPF_RB_PROD_POS)
		return found->ring_position;
	return what == BPF_RB_AVAIL_DATA ? found->ring_bytes : found->entries;
}

struct host_record host_record(void *ring, __u32 index)
{
	struct host_map *found = find_map(ring);

	if (index >= found->record_count)
		return (struct host_record){0};
	if (found->records[index].flags & BUSY_RECORD)
		abort(); /* a program has ended without submitting what it reserved */
	return found->records[index];
}

__u32 host_records(void *ring)
{
	return find_map(ring)->record_count;
}

void host_drain(void *ring)
{
	struct host_map *found = find_map(ring);

	found->record_count = 0;
	found->ring_bytes = 0;
}

/* ---- task work ---- */

int bpf_task_work_schedule_resume_impl(struct task_struct *task, struct bpf_task_work *work, void *map,
				       int (*callback)(struct bpf_map *, void *, void *), void *aux)
{
	if (host.on_task_work)
		host.on_task_work();
	if (host.refuses_task_work || task_work_count >= TASK_WORKS)
		return -16; /* EBUSY */
	task_works[task_work_count++] =
		(struct task_work){.task = task, .map = map, .work = work, .callback = callback};
	return 0;
}

static void run_task_work(const struct task_work *asked)
{
	for (struct element *each = find_map(asked->map)->elements; each; each = each->next)
		if (each->value == asked->work) {
			asked->callback(asked->map, each->key, each->value);
			return;
		}
}

__u32 host_return_to_user(struct task_struct *task)
{
	__u32 count = 0, kept = 0;
	struct task_struct *before = host.current;

	host.current = task;
	for (__u32 i = 0; i < task_work_count; i++) {
		if (task_works[i].task != task) {
			task_works[kept++] = task_works[i];
			continue;
		}
		run_task_work(&task_works[i]);
		count++;
	}
	task_work_count = kept;
	host.current = before;
	return count;
}
