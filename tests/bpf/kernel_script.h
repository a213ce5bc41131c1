/*
 * Kernel code that tests make up, by rows of the tables that the kernel unwinds its stacks by, and stacks of
 * threads that were switched out, by their words. Code lies at addresses of which there is no memory, as
 * nothing reads it.
 */
#ifndef OFFCPU_TESTS_BPF_KERNEL_SCRIPT_H_
#define OFFCPU_TESTS_BPF_KERNEL_SCRIPT_H_

#include "tests/bpf/mixing.h"

#include <sys/mman.h>

/* Functions of 256 bytes. A distance of 4 bytes leads to them from the tables. */
#define TABLES 0x200000000000ULL
#define TEXT 0x200001000000ULL
#define TEXT_END 0x200002000000ULL
#define FUNCTION(n) (TEXT + 0x100ULL * (n))
#define RETURN(n) (FUNCTION(n) + 0x40) /* an address in its middle */
#define MODULE 0x200010000000ULL
#define MODULE_BYTES 0x10000

/* Registers and types of rows, as Linux 6.4 numbers them (arch/x86/include/asm/orc_types.h). */
enum { REG_NONE = 0, REG_PREV_SP = 1, REG_DX = 2, REG_BP = 4, REG_SP = 5, REG_BP_INDIRECT = 8 };
enum { TYPE_UNDEFINED, TYPE_END, TYPE_CALL, TYPE_REGS, TYPE_PARTIAL };
#define SIGNAL 0x800 /* beside a type, shifted */
#define BITS(sp_reg, bp_reg, type) ((sp_reg) | (bp_reg) << 4 | (type) << 8)

#define MOST_ROWS 1024

/* Tables of one part of the code, in memory that the programs read as the kernel's. */
struct tables {
	__s32 distances[MOST_ROWS];
	__s16 rows[MOST_ROWS][3];
	__u32 count;
};

static inline struct tables *tables_at(__u32 index)
{
	return (struct tables *)(TABLES + 0x10000ULL * index);
}

static inline void set_row(struct tables *tables, __u64 address, __s16 sp_offset, __s16 bp_offset, __u16 bits)
{
	__u32 index = tables->count++;

	tables->distances[index] = (__s32)(address - (__u64)&tables->distances[index]);
	tables->rows[index][0] = sp_offset;
	tables->rows[index][1] = bp_offset;
	tables->rows[index][2] = (__s16)bits;
}

/* Adds a row to the kernel's own, behind those that are there. */
static inline void add_row(__u64 address, __s16 sp_offset, __s16 bp_offset, __u16 bits)
{
	set_row(tables_at(0), address, sp_offset, bp_offset, bits);
	walk_settings->rows = tables_at(0)->count;
}

/* A function whose frame takes so many bytes from its stack pointer up to the one of its caller. */
static inline void add_function(__u32 n, __s16 frame_bytes)
{
	add_row(FUNCTION(n), frame_bytes, 0, BITS(REG_SP, REG_NONE, TYPE_CALL));
}

/* The function by which the kernel is entered: the user's registers lie at its stack pointer. */
static inline void add_entry(__u32 n)
{
	add_row(FUNCTION(n), 0, 0, BITS(REG_SP, REG_NONE, TYPE_REGS));
}

/* Each test of kernel code begins with it: no rows, neither in the tables nor kept, and no modules. */
static inline void begin_kernel(void)
{
	static void *memory;
	const __u32 first = 0;

	if (!memory)
		memory = mmap((void *)TABLES, 0x40000, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	EXPECT_EQ(memory, TABLES);
	__builtin_memset(memory, 0, 0x40000);
	__builtin_memset(host_value(&orc_rows, &first, 0), 0, ORC_PLACES * sizeof(__u64));
	walk_settings->rows = 0;
	walk_settings->enabled = 1;
	walk_settings->modules = 0;
	walk_settings->text = (struct wire_range){TEXT, TEXT_END};
	walk_settings->addresses = (__u64)tables_at(0)->distances;
	walk_settings->entries = (__u64)tables_at(0)->rows;
	walk_settings->max_frames = WIRE_KERNEL_FRAMES;
	walk_settings->ret_from_fork = TEXT + 0x900001;
	walk_settings->trampolines[0] = TEXT + 0x900002;
	walk_settings->trampolines[1] = TEXT + 0x900003;
	control.orc_registers = (struct wire_orc_registers){
		.sp = REG_SP, .prev_sp = REG_PREV_SP, .bp_indirect = REG_BP_INDIRECT};
}

/* Modules are nodes of a list that begins and ends at its head. */
static inline struct list_head *begin_modules(void)
{
	struct list_head *head = host_allocate(sizeof(*head));

	head->next = head;
	walk_settings->modules = (__u64)head;
	return head;
}

/* Adds a module in front of the others; its rows lie in tables of their own. */
static inline struct module *add_module(struct list_head *head, __u64 begin, __u32 bytes,
					struct tables *tables)
{
	struct module *module = host_allocate(sizeof(*module));

	module->mem[0].base = (void *)begin;
	module->mem[0].size = bytes;
	module->arch.num_orcs = tables->count;
	module->arch.orc_unwind_ip = tables->distances;
	module->arch.orc_unwind = tables->rows;
	module->list.next = head->next;
	head->next = &module->list;
	return module;
}

/* A thread that was switched out with so many bytes of its stack in use below the user's registers. */
static inline struct task_struct *new_sleeper(int pid, __u64 bytes)
{
	struct task_struct *task = host_new_process(pid);

	task->thread.sp = (__u64)host_regs(task) - bytes;
	return task;
}

/* A word of its stack by its offset from where it was switched out. */
static inline __u64 *word_at(struct task_struct *task, __u64 offset)
{
	return (__u64 *)(task->thread.sp + offset);
}

/* Where the switch lies on the stack, by the kernel's struct inactive_task_frame. */
#define OLD_BP 40
#define OLD_IP 48
#define OLD_BYTES 56

/* A chain of calls by functions of 16 bytes each: 0, then 1 so many times, then the entry 2. The sleeper's
 * frames are count + 2, and its stack is as long as they need. */
static inline struct task_struct *new_chain(int pid, __u32 count)
{
	struct task_struct *task = new_sleeper(pid, OLD_BYTES + 16ULL * (count + 1));

	if (!walk_settings->rows) {
		add_function(0, 16);
		add_function(1, 16);
		add_entry(2);
	}
	*word_at(task, OLD_IP) = RETURN(0);
	for (__u32 i = 0; i < count; i++)
		*word_at(task, OLD_BYTES + 16 * i + 8) = RETURN(1);
	*word_at(task, OLD_BYTES + 16 * count + 8) = RETURN(2);
	return task;
}

/* The frames of such a chain. */
static inline void chain_frames(__u64 *frames, __u32 count)
{
	frames[0] = RETURN(0);
	for (__u32 i = 1; i <= count; i++)
		frames[i] = RETURN(1);
	frames[count + 1] = RETURN(2);
}

/* What the kernel's helper tells of the stack of a task. */
static inline void helper_tells(const __u64 *frames, __u32 count)
{
	__builtin_memcpy(host.task_frames, frames, count * sizeof(*frames));
	host.task_count = count;
}

#endif /* OFFCPU_TESTS_BPF_KERNEL_SCRIPT_H_ */
