/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * Rows of the tables by which the kernel unwinds its own stacks (ORC, x86-64): for an address, how far the
 * CFA is from a register, and where the caller's frame pointer was saved. The tables lie in the kernel's
 * memory, sorted by address: .orc_unwind_ip has a distance of 4 bytes for each row, .orc_unwind the rows of 6
 * bytes (arch/x86/include/asm/orc_types.h, since 6.4). What was found is kept in an array by address, as one
 * word a row, so that a place that several CPUs write is never half of two rows.
 *
 * Does not know the tables of modules.
 */
#ifndef OFFCPU_BPF_ORC_BPF_H_
#define OFFCPU_BPF_ORC_BPF_H_

#include "config.bpf.h"
#include "sent.bpf.h"

const volatile struct wire_orc_config orc_config SEC(".rodata.orc") = {};

#define ORC_PLACES 16384
#define ORC_SEARCH_STEPS 24 /* for up to 2^24 rows */

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

enum {
	ORC_REG_UNDEFINED = 0,
	ORC_REG_PREV_SP = 1,
	ORC_REG_BP = 4,
	ORC_REG_SP = 5,
	ORC_REG_BP_INDIRECT = 8,
};

enum orc_type {
	ORC_TYPE_UNDEFINED,
	ORC_TYPE_END_OF_STACK,
	ORC_TYPE_CALL,
	ORC_TYPE_REGS,
	ORC_TYPE_REGS_PARTIAL,
};

/* What the CFA is told from. */
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

/* Parts of the word of a row, from its lowest bit on: 27 of the address from the beginning of the text, 14 of
 * the CFA's offset and 10 of the frame pointer's, both signed and in words, and the four enums. Never 0: no
 * row has both offsets 0 and the type 0, but for those that are of no use. */
#define ORC_ADDRESS_BITS 27

static __always_inline __u64 orc_word(__u64 address, const struct orc_entry_bytes *entry)
{
	__u64 sp_reg = entry->bits & 15, bp_reg = entry->bits >> 4 & 15, cfa, bp = ORC_BP_SAME;

	cfa = sp_reg == ORC_REG_SP	      ? ORC_CFA_SP
	      : sp_reg == ORC_REG_BP	      ? ORC_CFA_BP
	      : sp_reg == ORC_REG_BP_INDIRECT ? ORC_CFA_AT_BP
					      : ORC_CFA_OTHER;
	if (bp_reg == ORC_REG_PREV_SP)
		bp = ORC_BP_AT_CFA;
	else if (bp_reg == ORC_REG_BP)
		bp = ORC_BP_AT_BP;
	else if (bp_reg != ORC_REG_UNDEFINED)
		cfa = ORC_CFA_OTHER;
	if (entry->sp_offset & 7 || entry->bp_offset & 7 || entry->bp_offset < -4096 ||
	    entry->bp_offset >= 4096)
		cfa = ORC_CFA_OTHER;
	return address | (__u64)(entry->sp_offset >> 3 & 0x3fff) << 27 |
	       (__u64)(entry->bp_offset >> 3 & 0x3ff) << 41 | cfa << 51 | bp << 53 |
	       (__u64)(entry->bits >> 8 & 7) << 55 | (__u64)(entry->bits >> 11 & 1) << 58 | 1ULL << 59;
}

static __always_inline __s64 orc_cfa_offset(__u64 word)
{
	return (__s64)(word << 23) >> 50 << 3;
}

static __always_inline __s64 orc_bp_offset(__u64 word)
{
	return (__s64)(word << 13) >> 54 << 3;
}

static __always_inline enum orc_cfa orc_cfa_of(__u64 word)
{
	return word >> 51 & 3;
}

static __always_inline enum orc_bp orc_bp_of(__u64 word)
{
	return word >> 53 & 3;
}

static __always_inline enum orc_type orc_type_of(__u64 word)
{
	return word >> 55 & 7;
}

/* Does the frame of this row lie below one that was interrupted, so that its caller's address is no return
 * address? */
static __always_inline bool orc_is_signal(__u64 word)
{
	return word >> 58 & 1;
}

/* The row for `address` from the tables; 0: there is none. A global function, so that the verifier goes
 * through it once. */
__noinline __u64 search_orc(__u64 address)
{
	__u32 low = 0, high = orc_config.rows;
	struct orc_entry_bytes entry = {};
	__s32 distance;

	for (int i = 0; i < ORC_SEARCH_STEPS; i++) { /* the last one that does not begin behind it */
		__u32 middle = low + (high - low) / 2;
		__u64 place = orc_config.addresses + 4ULL * middle;

		if (high - low <= 1)
			break;
		if (bpf_probe_read_kernel(&distance, sizeof(distance), (void *)place))
			return 0;
		if (place + (__s64)distance <= address)
			low = middle;
		else
			high = middle;
	}
	if (high - low != 1 ||
	    bpf_probe_read_kernel(&entry, sizeof(entry), (void *)(orc_config.entries + sizeof(entry) * low)))
		return 0;
	return orc_word(address - orc_config.text.begin, &entry);
}

/* Are the tables of this address? Not of code of modules, and of what was compiled while the kernel runs. */
static __always_inline bool has_orc(__u64 address)
{
	return address - orc_config.text.begin < orc_config.text.end - orc_config.text.begin;
}

/* What the kernel takes for a row where it has none: that the code keeps a frame pointer, as BPF programs do.
 */
static __always_inline __u64 frame_pointer_row(void)
{
	const struct orc_entry_bytes entry = {
		.sp_offset = 16,
		.bp_offset = -16,
		.bits = ORC_REG_BP | ORC_REG_PREV_SP << 4 | ORC_TYPE_CALL << 8,
	};

	return orc_word(0, &entry);
}

/* The row for `address`, which the tables are of, 0: there is none. */
static __always_inline __u64 orc_row(__u64 address)
{
	__u64 offset = address - orc_config.text.begin, word;
	__u32 key = (address * 0x9e3779b97f4a7c15ULL) >> 50;
	__u64 *place = bpf_map_lookup_elem(&orc_rows, &key);

	if (!place)
		return 0;
	word = *(volatile __u64 *)place;
	if (word && (word & ((1ULL << ORC_ADDRESS_BITS) - 1)) == offset)
		return word;
	word = search_orc(address);
	if (word)
		*(volatile __u64 *)place = word;
	return word;
}

#endif /* OFFCPU_BPF_ORC_BPF_H_ */
