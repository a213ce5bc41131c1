/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * Rows of the tables by which the kernel unwinds its own stacks (ORC, x86-64): for an address, how far the
 * CFA is from a register, and where the caller's frame pointer was saved. The tables lie in the kernel's
 * memory, sorted by address: .orc_unwind_ip has a distance of 4 bytes for each row, .orc_unwind the rows of 6
 * bytes (arch/x86/include/asm/orc_types.h, since 6.4; 7.x numbers the registers in another way). What was
 * found is kept in an array by address, as one word a row, so that a place that several CPUs write is never
 * half of two rows.
 *
 * Modules have tables of their own, which are found through the kernel's list of modules. A row of a module
 * is kept when the module is gone. If other code lies there then, a walk by it differs from what the kernel
 * tells, and its rows are looked for again.
 */
#ifndef OFFCPU_BPF_ORC_BPF_H_
#define OFFCPU_BPF_ORC_BPF_H_

#include "kernel_frames.bpf.h"

#define ORC_PLACES 16384
#define ORC_SEARCH_STEPS 24 /* for up to 2^24 rows */
#define ORC_MODULES 1024    /* are looked through at most */

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, ORC_PLACES);
	__type(key, __u32);
	__type(value, __u64);
} orc_rows SEC(".maps");

/* As the kernel stores it. */
struct orc_entry_bytes {
	__s16 sp_offset;
	__s16 bp_offset;
	__u16 bits; /* sp_reg: 4, bp_reg: 4, type: 3, signal: 1 */
} __attribute__((packed));

/* The others have another number in each form of the tables: see wire_orc_registers. */
enum {
	ORC_REG_UNDEFINED = 0,
	ORC_REG_BP = 4,
};

enum orc_type {
	ORC_TYPE_UNDEFINED,
	ORC_TYPE_END_OF_STACK,
	ORC_TYPE_CALL,
	ORC_TYPE_REGS,
	ORC_TYPE_REGS_PARTIAL,
	ORC_TYPE_NONE = 7, /* of ours: there is no row */
};

/* What the CFA is computed from. */
enum orc_cfa {
	ORC_CFA_SP,
	ORC_CFA_BP,
	ORC_CFA_AT_BP, /* it lies in memory there */
	ORC_CFA_OTHER, /* of registers that are not followed */
};

/* Where the caller's frame pointer is. */
enum orc_bp {
	ORC_BP_SAME,
	ORC_BP_AT_CFA,
	ORC_BP_AT_BP,
};

/* Parts of the word of a row, from its lowest bit on: 31 of the address from the beginning of the text, 14 of
 * the CFA's offset and 10 of the frame pointer's, both signed and in words, the four enums, and a bit that is
 * set. */
#define ORC_ADDRESS_BITS 31
#define ORC_ADDRESSES (1ULL << ORC_ADDRESS_BITS)

static __always_inline __u64 pack_orc_row(__u64 address, __s16 cfa_offset, __s16 bp_offset, __u64 cfa,
					  __u64 bp, __u64 type, __u64 is_signal)
{
	return address | (__u64)(cfa_offset >> 3 & 0x3fff) << 31 | (__u64)(bp_offset >> 3 & 0x3ff) << 45 |
	       cfa << 55 | bp << 57 | type << 59 | is_signal << 62 | 1ULL << 63;
}

static __always_inline __u64 orc_word(__u64 address, const struct orc_entry_bytes *entry)
{
	const struct wire_orc_registers *registers = &control.orc_registers;
	__u64 sp_reg = entry->bits & 15, bp_reg = entry->bits >> 4 & 15, cfa, bp = ORC_BP_SAME;

	cfa = sp_reg == registers->sp		 ? ORC_CFA_SP
	      : sp_reg == ORC_REG_BP		 ? ORC_CFA_BP
	      : sp_reg == registers->bp_indirect ? ORC_CFA_AT_BP
						 : ORC_CFA_OTHER;
	if (bp_reg == registers->prev_sp)
		bp = ORC_BP_AT_CFA;
	else if (bp_reg == ORC_REG_BP)
		bp = ORC_BP_AT_BP;
	else if (bp_reg != ORC_REG_UNDEFINED)
		cfa = ORC_CFA_OTHER;
	if (entry->sp_offset & 7 || entry->bp_offset & 7 || entry->bp_offset < -4096 ||
	    entry->bp_offset >= 4096)
		cfa = ORC_CFA_OTHER;
	return pack_orc_row(address, entry->sp_offset, entry->bp_offset, cfa, bp, entry->bits >> 8 & 7,
			    entry->bits >> 11 & 1);
}

static __always_inline __s64 orc_cfa_offset(__u64 word)
{
	return ((__s64)(word << 19) >> 50) * 8;
}

static __always_inline __s64 orc_bp_offset(__u64 word)
{
	return ((__s64)(word << 9) >> 54) * 8;
}

static __always_inline enum orc_cfa orc_cfa_of(__u64 word)
{
	return word >> 55 & 3;
}

static __always_inline enum orc_bp orc_bp_of(__u64 word)
{
	return word >> 57 & 3;
}

static __always_inline enum orc_type orc_type_of(__u64 word)
{
	return word >> 59 & 7;
}

/* Does the frame of this row lie below one that was interrupted, so that its caller's address is no return
 * address? */
static __always_inline bool orc_is_signal(__u64 word)
{
	return word >> 62 & 1;
}

struct orc_search {
	__u64 address;
	__u64 addresses; /* of .orc_unwind_ip */
	__u32 low, high; /* the row is in between, as far as it is known */
	__u8 failed;
};

/* Halves the search; bpf_loop calls it until it returns 1. */
static long search_orc_half(__u32 index, struct orc_search *search)
{
	__u32 middle = search->low + (search->high - search->low) / 2;
	__u64 place = search->addresses + 4ULL * middle;
	__s32 distance;

	if (search->high - search->low <= 1)
		return 1;
	if (bpf_probe_read_kernel(&distance, sizeof(distance), (void *)place)) {
		search->failed = 1;
		return 1;
	}
	if (place + (__s64)distance <= search->address)
		search->low = middle;
	else
		search->high = middle;
	return 0;
}

/* The row for `address` from tables of so many rows, the last one that does not begin behind it; 0: there is
 * none. A global function, so that the verifier goes through it once. */
__noinline __u64 search_orc(__u64 address, __u64 addresses, __u64 entries, __u32 rows)
{
	struct orc_search search = {.address = address, .addresses = addresses, .high = rows};
	struct orc_entry_bytes entry = {};

	bpf_loop(ORC_SEARCH_STEPS, search_orc_half, &search, 0);
	if (search.failed || search.high - search.low != 1 ||
	    bpf_probe_read_kernel(&entry, sizeof(entry), (void *)(entries + sizeof(entry) * search.low)))
		return 0;
	return orc_word(address - walk_config.text.begin, &entry);
}

struct module_search {
	__u64 address;
	struct list_head *next; /* of the kernel's list */
	__u64 addresses, entries;
	__u32 rows;
};

/* Looks at one module; bpf_loop calls it until it returns 1. Modules come and go meanwhile: what is read may
 * be of none, and does no more harm than any other wrong row. */
static long search_module(__u32 index, struct module_search *search)
{
	struct module *module;
	__u64 begin;

	if ((__u64)search->next == walk_config.modules || !search->next)
		return 1;
	module = (void *)search->next - bpf_core_field_offset(struct module, list);
	begin = (__u64)BPF_CORE_READ(module, mem[0].base);
	if (search->address - begin < BPF_CORE_READ(module, mem[0].size)) {
		search->addresses = (__u64)BPF_CORE_READ(module, arch.orc_unwind_ip);
		search->entries = (__u64)BPF_CORE_READ(module, arch.orc_unwind);
		search->rows = BPF_CORE_READ(module, arch.num_orcs);
		return 1;
	}
	search->next = BPF_CORE_READ(module, list.next);
	return 0;
}

/* The row for `address`, which is not in the kernel's own text, from the tables of its module; 0: there is
 * none. */
__noinline __u64 search_orc_of_modules(__u64 address)
{
	struct module_search search = {.address = address};

	if (!walk_config.modules || !bpf_core_field_exists(struct module, arch.num_orcs) ||
	    !bpf_core_field_exists(struct module, mem) ||
	    bpf_probe_read_kernel(&search.next, sizeof(search.next), (void *)walk_config.modules))
		return 0;
	bpf_loop(ORC_MODULES, search_module, &search, 0);
	if (!search.rows)
		return 0;
	return search_orc(address, search.addresses, search.entries, search.rows);
}

/* The row for `address`, of the type ORC_TYPE_NONE where there is none: in code that was compiled while the
 * kernel runs, and in that of a module that has come since it was looked for. */
static __always_inline __u64 find_orc_row(__u64 address)
{
	__u64 word;

	if (lies_in(address, &walk_config.text))
		word = search_orc(address, walk_config.addresses, walk_config.entries, walk_config.rows);
	else
		word = search_orc_of_modules(address);
	return word ?: pack_orc_row(address - walk_config.text.begin, 0, 0, 0, 0, ORC_TYPE_NONE, 0);
}

static __always_inline __u32 orc_place(__u64 address)
{
	return (address * 0x9e3779b97f4a7c15ULL) >> 50;
}

/* Likewise, from those that are known; 0: the address is none of code. */
static __always_inline __u64 orc_row(__u64 address)
{
	__u64 offset = address - walk_config.text.begin, word;
	__u32 key = orc_place(address);
	__u64 *place = bpf_map_lookup_elem(&orc_rows, &key);

	if (!place || offset >= ORC_ADDRESSES)
		return 0;
	word = *(volatile __u64 *)place;
	if (word && (word & (ORC_ADDRESSES - 1)) == offset)
		return word;
	word = find_orc_row(address);
	*(volatile __u64 *)place = word;
	return word;
}

/* The row for `address` is looked for again when it is needed. */
static __always_inline void forget_orc_row(__u64 address)
{
	__u32 key = orc_place(address);
	__u64 *place = bpf_map_lookup_elem(&orc_rows, &key);

	if (place)
		*(volatile __u64 *)place = 0;
}

/* What the kernel takes for a row where it has none: that the code keeps a frame pointer, as BPF programs do.
 */
static __always_inline __u64 frame_pointer_row(void)
{
	return pack_orc_row(0, 16, -16, ORC_CFA_BP, ORC_BP_AT_CFA, ORC_TYPE_CALL, 0);
}

#endif /* OFFCPU_BPF_ORC_BPF_H_ */
