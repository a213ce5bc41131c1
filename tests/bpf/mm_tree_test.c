/* Mappings as they are read from the kernel's tree. */
#include "tests/bpf/code_script.h"

#define MAPPING(n) (0x10000000ULL + 0x10000ULL * (n))

static struct mm_reader reader;

/* So many mappings of a page each, with gaps between them but for each third. */
static struct task_struct *new_mapped(__u32 count)
{
	struct task_struct *task = host_new_process(1);

	for (__u32 i = 0; i < count; i++)
		host_map(task, MAPPING(i), i % 3 ? MAPPING(i) + 4096 : MAPPING(i + 1), VM_WRITE);
	begin_reader(&reader, task);
	return task;
}

static bool is_read(__u64 address, __u64 begin)
{
	return read_mapping_at(&reader, address) && reader.mapping.begin == begin;
}

/* Trees of one to four levels; each mapping by its first and its last address, and none beside it. */
TEST(MmTree, MappingIsFoundByItsAddresses)
{
	for (__u32 count = 1; count <= 300; count = count < 20 ? count + 1 : count + 40) {
		new_mapped(count);
		for (__u32 i = 0; i < count; i++) {
			check_note("mapping", i);
			EXPECT_TRUE(is_read(MAPPING(i), MAPPING(i)));
			EXPECT_TRUE(is_read(MAPPING(i) + 4095, MAPPING(i)));
			EXPECT_EQ(is_read(MAPPING(i) + 4096, MAPPING(i)), i % 3 == 0);
		}
		EXPECT_FALSE(read_mapping_at(&reader, MAPPING(0) - 1));
		EXPECT_FALSE(read_mapping_at(&reader, MAPPING(count) + 4096));
		EXPECT_FALSE(read_mapping_at(&reader, 1));
		EXPECT_FALSE(read_mapping_at(&reader, ~0ULL));
	}
}

TEST(MmTree, NodeThatWasReadServesItsNeighbours)
{
	new_mapped(300);
	EXPECT_TRUE(is_read(MAPPING(100), MAPPING(100)));
	host.nodes_read = 0;
	EXPECT_TRUE(is_read(MAPPING(100) + 8, MAPPING(100)));
	EXPECT_EQ(host.nodes_read, 0);
	EXPECT_TRUE(is_read(MAPPING(200), MAPPING(200)));
	EXPECT_TRUE(host.nodes_read > 1);
}

TEST(MmTree, FieldsAreTold)
{
	struct task_struct *task = host_new_process(1);
	struct vm_area_struct *vma = host_map(task, 0x5000, 0x9000, VM_EXEC);

	vma->vm_pgoff = 7;
	vma->vm_file = host_file(3);
	vma->vm_ops = (void *)0x1234;
	begin_reader(&reader, task);
	ASSERT_TRUE(read_mapping_at(&reader, 0x5000));
	EXPECT_EQ(reader.mapping.end, 0x9000);
	EXPECT_EQ(reader.mapping.flags, VM_EXEC);
	EXPECT_EQ(reader.mapping.page_offset, 7);
	EXPECT_EQ(reader.mapping.file, (__u64)vma->vm_file);
	EXPECT_EQ(reader.mapping.ops, 0x1234);
}

/* The kernel gives memory of a mapping to another one: of another process, or elsewhere. */
TEST(MmTree, MappingThatIsAnothersIsNone)
{
	struct task_struct *task = host_new_process(1);
	struct vm_area_struct *vma = host_map(task, 0x5000, 0x9000, VM_EXEC);

	begin_reader(&reader, task);
	vma->vm_mm = host_new_process(2)->mm;
	EXPECT_FALSE(read_mapping_at(&reader, 0x6000));
	vma->vm_mm = task->mm;
	EXPECT_TRUE(read_mapping_at(&reader, 0x6000));
	vma->vm_start = 0x7000;
	EXPECT_FALSE(read_mapping_at(&reader, 0x6fff));
	EXPECT_TRUE(read_mapping_at(&reader, 0x7000));
	vma->vm_end = 0x8000;
	EXPECT_FALSE(read_mapping_at(&reader, 0x8000));
}

static bool is_read_from_root(__u64 root)
{
	struct task_struct *task = new_mapped(1);

	task->mm->mm_mt.ma_root = (void *)root;
	return read_mapping_at(&reader, MAPPING(0));
}

/* What is no pointer to a node: nothing, a mapping alone, a type that there is not, a node that is gone. */
TEST(MmTree, TreeThatIsNoneHasNoMappings)
{
	const __u64 node = (__u64)new_mapped(1)->mm->mm_mt.ma_root & ~255ULL;

	EXPECT_FALSE(is_read_from_root(0));
	EXPECT_FALSE(is_read_from_root(node));
	EXPECT_FALSE(is_read_from_root(node | 0 << 3 | 6)); /* maple_dense */
	EXPECT_FALSE(is_read_from_root(node | 4 << 3 | 6));
	host.unreadable_begin = node;
	host.unreadable_end = node + 256;
	EXPECT_FALSE(is_read_from_root(node | 1 << 3 | 6));
}

/* A node that says of itself that it is below itself. */
TEST(MmTree, TreeWithoutAnEndIsGivenUp)
{
	struct task_struct *task = new_mapped(1);
	__u64 *node = (__u64 *)((__u64)host_allocate(512) + 255 & ~255ULL);

	for (__u32 i = 0; i < 10; i++)
		node[10 + i] = (__u64)node | 3 << 3 | 4;
	task->mm->mm_mt.ma_root = (void *)((__u64)node | 3 << 3 | 6);
	EXPECT_FALSE(read_mapping_at(&reader, MAPPING(0)));
	EXPECT_TRUE(host.nodes_read <= 8);
}

TEST(MmTree, AllMappingsAreReadInTheirOrder)
{
	struct task_struct *task = new_process(1);
	struct code_list *list = host_allocate(sizeof(*list));

	for (__u32 i = 0; i < 200; i++)
		map_code(task, i);
	walk_code(task, list, 201);
	EXPECT_EQ(list->head.hash, hash_of_code(200));
	EXPECT_EQ(host.vmas_seen, 201);
}
