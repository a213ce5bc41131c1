/* Rows of the kernel's tables as words: each part of them at its limits. */
#include "tests/bpf/kernel_script.h"

static __u64 word_of(__s16 sp_offset, __s16 bp_offset, __u16 bits)
{
	struct orc_entry_bytes entry = {.sp_offset = sp_offset, .bp_offset = bp_offset, .bits = bits};

	return orc_word(0, &entry);
}

static __u64 word_of_bits(__u16 bits)
{
	return word_of(8, 0, bits);
}

/* From the lowest bit on: 31 of the address, 14 of the CFA's offset in words, 10 of the frame pointer's, 2,
 * 2, 3, 1, and one that is set. */
TEST(OrcWord, EachPartHasItsBits)
{
	EXPECT_EQ(pack_orc_row(0, 0, 0, 0, 0, 0, 0), 1ULL << 63);
	EXPECT_EQ(pack_orc_row(0x7fffffff, 0, 0, 0, 0, 0, 0), 1ULL << 63 | 0x7fffffff);
	EXPECT_EQ(pack_orc_row(0, 8, 0, 0, 0, 0, 0), 1ULL << 63 | 1ULL << 31);
	EXPECT_EQ(pack_orc_row(0, -8, 0, 0, 0, 0, 0), 1ULL << 63 | 0x3fffULL << 31);
	EXPECT_EQ(pack_orc_row(0, 0, 8, 0, 0, 0, 0), 1ULL << 63 | 1ULL << 45);
	EXPECT_EQ(pack_orc_row(0, 0, -8, 0, 0, 0, 0), 1ULL << 63 | 0x3ffULL << 45);
	EXPECT_EQ(pack_orc_row(0, 0, 0, 3, 0, 0, 0), 1ULL << 63 | 3ULL << 55);
	EXPECT_EQ(pack_orc_row(0, 0, 0, 0, 2, 0, 0), 1ULL << 63 | 2ULL << 57);
	EXPECT_EQ(pack_orc_row(0, 0, 0, 0, 0, 7, 0), 1ULL << 63 | 7ULL << 59);
	EXPECT_EQ(pack_orc_row(0, 0, 0, 0, 0, 0, 1), 3ULL << 62);
}

/* All bits set but those of one part: none of it is seen in it. */
TEST(OrcWord, PartsAreReadApart)
{
	EXPECT_EQ(orc_cfa_offset(~(0x3fffULL << 31)), 0);
	EXPECT_EQ(orc_cfa_offset(0x3fffULL << 31), -8);
	EXPECT_EQ(orc_bp_offset(~(0x3ffULL << 45)), 0);
	EXPECT_EQ(orc_bp_offset(0x3ffULL << 45), -8);
	EXPECT_EQ(orc_cfa_of(~(3ULL << 55)), 0);
	EXPECT_EQ(orc_cfa_of(3ULL << 55), 3);
	EXPECT_EQ(orc_bp_of(~(3ULL << 57)), 0);
	EXPECT_EQ(orc_bp_of(2ULL << 57), 2);
	EXPECT_EQ(orc_type_of(~(7ULL << 59)), 0);
	EXPECT_EQ(orc_type_of(7ULL << 59), 7);
	EXPECT_FALSE(orc_is_signal(~(1ULL << 62)));
	EXPECT_TRUE(orc_is_signal(1ULL << 62));
}

/* The kernel has 16 bits for the CFA's offset: the largest multiples of 8 are -32768 and 32760. */
TEST(OrcWord, CfaOffsetIsKeptUpToItsLimits)
{
	const __s16 offsets[] = {-32768, -32760, -8, 0, 8, 16, 32752, 32760};

	begin_kernel();
	for (__u32 i = 0; i < sizeof(offsets) / sizeof(*offsets); i++) {
		__u64 word = word_of(offsets[i], 0, BITS(REG_SP, REG_NONE, TYPE_CALL));

		check_note("offset", offsets[i]);
		EXPECT_EQ(orc_cfa_offset(word), offsets[i]);
		EXPECT_EQ(orc_cfa_of(word), ORC_CFA_SP);
	}
}

/* 10 bits, in words: -4096 to 4088. What is beyond cannot be followed. */
TEST(OrcWord, FramePointerOffsetIsKeptUpToItsLimits)
{
	const __s16 kept[] = {-4096, -4088, -8, 0, 8, 4080, 4088}, beyond[] = {-4104, 4096, -32768, 32760};

	begin_kernel();
	for (__u32 i = 0; i < sizeof(kept) / sizeof(*kept); i++) {
		__u64 word = word_of(16, kept[i], BITS(REG_SP, REG_PREV_SP, TYPE_CALL));

		check_note("offset", kept[i]);
		EXPECT_EQ(orc_bp_offset(word), kept[i]);
		EXPECT_EQ(orc_cfa_of(word), ORC_CFA_SP);
		EXPECT_EQ(orc_bp_of(word), ORC_BP_AT_CFA);
	}
	for (__u32 i = 0; i < sizeof(beyond) / sizeof(*beyond); i++) {
		check_note("offset", beyond[i]);
		EXPECT_EQ(orc_cfa_of(word_of(16, beyond[i], BITS(REG_SP, REG_PREV_SP, TYPE_CALL))),
			  ORC_CFA_OTHER);
	}
}

TEST(OrcWord, OffsetsThatAreNoWordsCannotBeFollowed)
{
	begin_kernel();
	for (__s16 rest = 1; rest < 8; rest++) {
		EXPECT_EQ(orc_cfa_of(word_of(rest, 0, BITS(REG_SP, REG_NONE, TYPE_CALL))), ORC_CFA_OTHER);
		EXPECT_EQ(orc_cfa_of(word_of(-rest, 0, BITS(REG_SP, REG_NONE, TYPE_CALL))), ORC_CFA_OTHER);
		EXPECT_EQ(orc_cfa_of(word_of(8, rest, BITS(REG_SP, REG_NONE, TYPE_CALL))), ORC_CFA_OTHER);
	}
}

/* Among all 16 numbers of a register, 5 is the stack pointer, 4 the frame pointer, 8 what lies at it. */
TEST(OrcWord, CfaIsToldFromRegistersAsLinux6NumbersThem)
{
	begin_kernel();
	for (__u16 reg = 0; reg < 16; reg++) {
		check_note("register", reg);
		EXPECT_EQ(orc_cfa_of(word_of_bits(BITS(reg, REG_NONE, TYPE_CALL))), reg == 5   ? ORC_CFA_SP
										    : reg == 4 ? ORC_CFA_BP
										    : reg == 8
											    ? ORC_CFA_AT_BP
											    : ORC_CFA_OTHER);
	}
}

/* 3, 4 and 10 there. */
TEST(OrcWord, CfaIsToldFromRegistersAsLinux7NumbersThem)
{
	control.orc_registers = (struct wire_orc_registers){.sp = 3, .prev_sp = 8, .bp_indirect = 10};
	for (__u16 reg = 0; reg < 16; reg++) {
		check_note("register", reg);
		EXPECT_EQ(orc_cfa_of(word_of_bits(BITS(reg, REG_NONE, TYPE_CALL))), reg == 3   ? ORC_CFA_SP
										    : reg == 4 ? ORC_CFA_BP
										    : reg == 10
											    ? ORC_CFA_AT_BP
											    : ORC_CFA_OTHER);
	}
}

static void expect_frame_pointer(__u16 reg, enum orc_bp bp, enum orc_cfa cfa)
{
	__u64 word = word_of_bits(BITS(control.orc_registers.sp, reg, TYPE_CALL));

	check_note("register", reg);
	EXPECT_EQ(orc_bp_of(word), bp);
	EXPECT_EQ(orc_cfa_of(word), cfa);
}

/* 0: it is in its register still; 4: at an offset from it; the CFA's number is 1, or 8 from 7.2 on. */
TEST(OrcWord, FramePointerIsFollowedByTheSameNumbers)
{
	begin_kernel();
	for (__u32 form = 0; form < 2; form++) {
		__u16 cfa = form ? 8 : 1;

		control.orc_registers.prev_sp = cfa;
		control.orc_registers.sp = form ? 3 : 5;
		for (__u16 reg = 0; reg < 16; reg++)
			if (reg == 0)
				expect_frame_pointer(reg, ORC_BP_SAME, ORC_CFA_SP);
			else if (reg == cfa)
				expect_frame_pointer(reg, ORC_BP_AT_CFA, ORC_CFA_SP);
			else if (reg == 4)
				expect_frame_pointer(reg, ORC_BP_AT_BP, ORC_CFA_SP);
			else
				expect_frame_pointer(reg, ORC_BP_SAME, ORC_CFA_OTHER);
	}
}

TEST(OrcWord, TypeAndSignalAreTakenOver)
{
	begin_kernel();
	for (__u16 type = 0; type < 8; type++) {
		EXPECT_EQ(orc_type_of(word_of_bits(BITS(REG_SP, REG_NONE, type))), type);
		EXPECT_EQ(orc_type_of(word_of_bits(BITS(REG_SP, REG_NONE, type) | SIGNAL)), type);
		EXPECT_FALSE(orc_is_signal(word_of_bits(BITS(REG_SP, REG_NONE, type))));
		EXPECT_TRUE(orc_is_signal(word_of_bits(BITS(REG_SP, REG_NONE, type) | SIGNAL)));
		EXPECT_FALSE(orc_is_signal(word_of_bits(BITS(REG_SP, REG_NONE, type) | 0xf000)));
	}
}

/* push %rbp; mov %rsp, %rbp: above the frame pointer lie the caller's and the return address. */
TEST(OrcWord, RowOfAFramePointerIsThatOfThePrologue)
{
	__u64 word = frame_pointer_row();

	EXPECT_EQ(orc_cfa_of(word), ORC_CFA_BP);
	EXPECT_EQ(orc_cfa_offset(word), 16);
	EXPECT_EQ(orc_bp_of(word), ORC_BP_AT_CFA);
	EXPECT_EQ(orc_bp_offset(word), -16);
	EXPECT_EQ(orc_type_of(word), ORC_TYPE_CALL);
	EXPECT_FALSE(orc_is_signal(word));
}
