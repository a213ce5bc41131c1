/* The tree that the scripted kernel keeps a process's mappings in: include/linux/maple_tree.h. */
#include "tests/bpf/host/internal.h"

#include <string.h>

#define NODE_WORDS 32
#define NODE_BYTES 256ULL
#define LEAF 1 /* enum maple_type */
#define ARANGE 3
#define LEAF_PIVOTS 15
#define ARANGE_PIVOTS 9
#define ROOT 2ULL /* lower bits of pointers */
#define NODE 4ULL
#define MOST_NODES (2 * HOST_VMAS + 1)

/* A mapping, a gap, or a node: all up to `last` that is behind the one before. */
struct slot {
	__u64 last, pointer;
};

static __u64 new_node(__u32 type, const struct slot *slots, __u32 count, __u64 last)
{
	__u64 memory = (__u64)host_allocate(2 * NODE_BYTES),
	      begin = (memory + NODE_BYTES - 1) & ~(NODE_BYTES - 1);
	__u32 pivots = type == LEAF ? LEAF_PIVOTS : ARANGE_PIVOTS;
	__u64 *words = (__u64 *)begin;

	for (__u32 i = 0; i < count; i++) {
		words[1 + pivots + i] = slots[i].pointer;
		/* The kernel leaves out the pivot that says what the node above has said. */
		if (slots[i].last != last)
			words[1 + i] = slots[i].last;
	}
	return begin | type << 3 | NODE;
}

/* Puts so many slots into nodes of `each`; returns how many nodes there are, which take the slots' places. */
static __u32 put_into_nodes(__u32 type, struct slot *slots, __u32 count, __u32 each)
{
	__u32 nodes = 0;

	for (__u32 i = 0; i < count; i += each) {
		__u32 in_node = count - i < each ? count - i : each;
		__u64 last = slots[i + in_node - 1].last;

		slots[nodes++] = (struct slot){last, new_node(type, slots + i, in_node, last)};
	}
	return nodes;
}

/* With as few slots in a node as the kernel may have, so that there are levels. */
void host_plant_tree(struct host_process *process)
{
	static struct slot slots[MOST_NODES];
	__u32 count = 0;
	__u64 end = 0;

	for (__u32 i = 0; i < process->count; i++) {
		const struct vm_area_struct *vma = process->vmas[i];

		if (vma->vm_start != end)
			slots[count++] = (struct slot){vma->vm_start - 1, 0};
		slots[count++] = (struct slot){vma->vm_end - 1, (__u64)vma};
		end = vma->vm_end;
	}
	slots[count++] = (struct slot){~0ULL, 0};
	count = put_into_nodes(LEAF, slots, count, 8);
	while (count > 1)
		count = put_into_nodes(ARANGE, slots, count, 5);
	process->mm.mm_mt.ma_root = (void *)(slots[0].pointer | ROOT);
}
