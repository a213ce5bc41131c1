/* How the row for an address is found: in the kernel's tables, in those of modules, and among those that are
 * kept. */
#include "tests/bpf/kernel_script.h"

#define ROWS 37 /* no power of 2 */

/* Row i begins at function 10 + i and has the CFA 8 * (i + 1) bytes above the stack pointer. */
static void add_rows(__u32 count)
{
	for (__u32 i = 0; i < count; i++)
		add_function(10 + i, (__s16)(8 * (i + 1)));
}

static __s64 offset_found(__u64 address)
{
	return orc_cfa_offset(
		search_orc(address, walk_config.addresses, walk_config.entries, walk_config.rows));
}

TEST(OrcSearch, EachRowIsFoundFromItsFirstAddressToItsLast)
{
	begin_kernel();
	for (__u32 count = 1; count <= ROWS; count++) {
		add_rows(0);
		add_function(9 + count, (__s16)(8 * count));
		for (__u32 i = 0; i < count; i++) {
			check_note("row", i);
			EXPECT_EQ(offset_found(FUNCTION(10 + i)), 8 * (i + 1));
			EXPECT_EQ(offset_found(FUNCTION(10 + i) + 0xff), 8 * (i + 1));
		}
	}
}

TEST(OrcSearch, LastRowHoldsForAllThatFollows)
{
	begin_kernel();
	add_rows(ROWS);
	EXPECT_EQ(offset_found(TEXT_END - 1), 8 * ROWS);
}

/* The kernel takes the first row there, too: its tables begin where the text does. */
TEST(OrcSearch, AddressBeforeTheFirstRowHasThatRow)
{
	begin_kernel();
	add_rows(ROWS);
	EXPECT_EQ(offset_found(FUNCTION(10) - 1), 8);
	EXPECT_EQ(offset_found(TEXT), 8);
}

TEST(OrcSearch, DistancesMayLeadBackwards)
{
	struct tables *tables;

	begin_kernel();
	walk_settings->text.begin = TABLES - 0x10000;
	tables = tables_at(1);
	set_row(tables, TABLES - 0x2000, 24, 0, BITS(REG_SP, REG_NONE, TYPE_CALL));
	set_row(tables, TABLES - 0x1000, 32, 0, BITS(REG_SP, REG_NONE, TYPE_CALL));
	EXPECT_EQ(
		orc_cfa_offset(search_orc(TABLES - 0x1001, (__u64)tables->distances, (__u64)tables->rows, 2)),
		24);
	EXPECT_EQ(
		orc_cfa_offset(search_orc(TABLES - 0x1000, (__u64)tables->distances, (__u64)tables->rows, 2)),
		32);
}

TEST(OrcSearch, TablesWithoutRowsHaveNone)
{
	begin_kernel();
	EXPECT_EQ(search_orc(FUNCTION(10), walk_config.addresses, walk_config.entries, 0), 0);
}

/* A search halves what is left 24 times, and leaves the last of 2^24 rows, but two of more. */
TEST(OrcSearch, SoManyRowsCanBeSearched)
{
	const __u32 most = 1 << 24;
	__s32 *distances = mmap((void *)(TEXT_END + 0x1000), 10ULL * (most + 1), PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
	struct orc_entry_bytes *rows = (void *)(distances + most + 1);
	__u64 behind = (__u64)(distances + most + 1);

	begin_kernel();
	/* All distances are 0: each row begins at its own place. */
	rows[most - 1] = (struct orc_entry_bytes){.sp_offset = 8, .bits = BITS(REG_SP, REG_NONE, TYPE_CALL)};
	EXPECT_EQ(orc_cfa_offset(search_orc(behind, (__u64)distances, (__u64)rows, most)), 8);
	EXPECT_EQ(search_orc(behind, (__u64)distances, (__u64)rows, most + 1), 0);
	munmap(distances, 10ULL * (most + 1));
}

TEST(OrcSearch, AddressesThatCannotBeReadHaveNoRow)
{
	begin_kernel();
	add_rows(ROWS);
	host.unreadable_begin = walk_config.addresses;
	host.unreadable_end = walk_config.addresses + sizeof(__s32) * ROWS;
	EXPECT_EQ(search_orc(FUNCTION(10), walk_config.addresses, walk_config.entries, ROWS), 0);
}

TEST(OrcSearch, RowsThatCannotBeReadAreNone)
{
	begin_kernel();
	add_rows(ROWS);
	host.unreadable_begin = walk_config.entries;
	host.unreadable_end = walk_config.entries + 6;
	EXPECT_EQ(search_orc(FUNCTION(10), walk_config.addresses, walk_config.entries, ROWS), 0);
	EXPECT_NE(search_orc(FUNCTION(11), walk_config.addresses, walk_config.entries, ROWS), 0);
}

TEST(OrcSearch, WordHasTheAddressAndNotWhereItsRowBegins)
{
	begin_kernel();
	add_rows(1);
	EXPECT_EQ(search_orc(FUNCTION(10) + 7, walk_config.addresses, walk_config.entries, 1) & 0x7fffffff,
		  0xa07);
}

/* Three modules, of which the one that was added last is looked at first. */
static struct list_head *add_modules(void)
{
	struct list_head *head = begin_modules();

	for (__u32 i = 0; i < 3; i++) {
		struct tables *tables = tables_at(1 + i);

		set_row(tables, MODULE + MODULE_BYTES * i, (__s16)(80 + 8 * i), 0,
			BITS(REG_SP, REG_NONE, TYPE_CALL));
		add_module(head, MODULE + MODULE_BYTES * i, MODULE_BYTES / 2, tables);
	}
	return head;
}

TEST(OrcModules, RowIsFoundInTheTablesOfItsModule)
{
	begin_kernel();
	add_rows(1);
	add_modules();
	for (__u32 i = 0; i < 3; i++) {
		__u64 begin = MODULE + MODULE_BYTES * i;

		EXPECT_EQ(orc_cfa_offset(find_orc_row(begin)), 80 + 8 * i);
		EXPECT_EQ(orc_cfa_offset(find_orc_row(begin + MODULE_BYTES / 2 - 1)), 80 + 8 * i);
		EXPECT_EQ(orc_type_of(find_orc_row(begin + MODULE_BYTES / 2)), ORC_TYPE_NONE);
	}
	EXPECT_EQ(orc_type_of(find_orc_row(MODULE - 1)), ORC_TYPE_NONE);
}

TEST(OrcModules, ThereIsNoRowWithoutModules)
{
	begin_kernel();
	EXPECT_EQ(search_orc_of_modules(MODULE), 0);
	begin_modules();
	EXPECT_EQ(search_orc_of_modules(MODULE), 0);
}

TEST(OrcModules, ModuleWithoutTablesHasNoRow)
{
	begin_kernel();
	add_module(begin_modules(), MODULE, MODULE_BYTES, tables_at(1));
	EXPECT_EQ(orc_type_of(find_orc_row(MODULE)), ORC_TYPE_NONE);
}

TEST(OrcModules, KernelsWhoseModulesAreOtherwiseHaveNoRowsOfThem)
{
	begin_kernel();
	add_modules();
	EXPECT_NE(search_orc_of_modules(MODULE), 0);
	host_hide_field("struct module, mem");
	EXPECT_EQ(search_orc_of_modules(MODULE), 0);
	host_show_field("struct module, mem");
	host_hide_field("struct module, arch.num_orcs");
	EXPECT_EQ(search_orc_of_modules(MODULE), 0);
}

TEST(OrcModules, ListThatCannotBeReadHasNoRows)
{
	struct list_head *head;

	begin_kernel();
	head = add_modules();
	host.unreadable_begin = (__u64)head;
	host.unreadable_end = (__u64)(head + 1);
	EXPECT_EQ(search_orc_of_modules(MODULE), 0);
}

/* Which was being changed. */
TEST(OrcModules, ListThatEndsInNothingIsLeft)
{
	struct list_head *head;

	begin_kernel();
	head = add_modules();
	head->next->next = NULL;
	EXPECT_NE(search_orc_of_modules(MODULE + 2 * MODULE_BYTES), 0);
	EXPECT_EQ(search_orc_of_modules(MODULE), 0);
}

/* The module that was added first is looked at last: it is the 1024th, and then one too many. */
TEST(OrcModules, SoManyModulesAreLookedThrough)
{
	struct list_head *head;

	begin_kernel();
	head = begin_modules();
	set_row(tables_at(1), MODULE, 8, 0, BITS(REG_SP, REG_NONE, TYPE_CALL));
	add_module(head, MODULE, MODULE_BYTES, tables_at(1));
	for (__u32 i = 1; i < 1024; i++)
		add_module(head, MODULE + MODULE_BYTES * i, 16, tables_at(2));
	EXPECT_NE(search_orc_of_modules(MODULE), 0);
	add_module(head, MODULE + MODULE_BYTES * 2000, 16, tables_at(2));
	EXPECT_EQ(search_orc_of_modules(MODULE), 0);
}

TEST(KeptRows, RowThatWasFoundIsNotLookedForAgain)
{
	begin_kernel();
	add_rows(2);
	EXPECT_EQ(orc_cfa_offset(orc_row(FUNCTION(11))), 16);
	tables_at(0)->rows[1][0] = 320;
	EXPECT_EQ(orc_cfa_offset(orc_row(FUNCTION(11))), 16);
	EXPECT_EQ(orc_cfa_offset(orc_row(FUNCTION(11) + 1)), 320);
}

TEST(KeptRows, RowThatWasForgottenIsLookedForAgain)
{
	begin_kernel();
	add_rows(2);
	EXPECT_EQ(orc_cfa_offset(orc_row(FUNCTION(11))), 16);
	EXPECT_EQ(orc_cfa_offset(orc_row(FUNCTION(10))), 8);
	tables_at(0)->rows[0][0] = 240;
	tables_at(0)->rows[1][0] = 320;
	forget_orc_row(FUNCTION(11));
	EXPECT_EQ(orc_cfa_offset(orc_row(FUNCTION(11))), 320);
	EXPECT_EQ(orc_cfa_offset(orc_row(FUNCTION(10))), 8);
}

/* Addresses have one place if the upper 14 bits of their products are the same. */
static __u64 neighbour_of(__u64 address)
{
	__u64 place = address * 0x9e3779b97f4a7c15ULL >> 50, other = address + 1;

	while (other * 0x9e3779b97f4a7c15ULL >> 50 != place)
		other++;
	return other;
}

TEST(KeptRows, RowOfAnotherAddressInItsPlaceIsNotTaken)
{
	__u64 first, other;

	begin_kernel();
	add_rows(1);
	first = FUNCTION(10);
	other = neighbour_of(first);
	add_row(other, 640, 0, BITS(REG_SP, REG_NONE, TYPE_CALL));
	EXPECT_EQ(orc_cfa_offset(orc_row(first)), 8);
	EXPECT_EQ(orc_cfa_offset(orc_row(other)), 640);
	EXPECT_EQ(orc_cfa_offset(orc_row(first)), 8);
}

TEST(KeptRows, ThatThereIsNoRowIsKeptToo)
{
	begin_kernel();
	add_rows(1);
	EXPECT_EQ(orc_type_of(orc_row(MODULE)), ORC_TYPE_NONE);
	set_row(tables_at(1), MODULE, 8, 0, BITS(REG_SP, REG_NONE, TYPE_CALL));
	add_module(begin_modules(), MODULE, MODULE_BYTES, tables_at(1));
	EXPECT_EQ(orc_type_of(orc_row(MODULE)), ORC_TYPE_NONE);
	forget_orc_row(MODULE);
	EXPECT_EQ(orc_cfa_offset(orc_row(MODULE)), 8);
}

/* 31 bits from the beginning of the text on. */
TEST(KeptRows, AddressOutOfReachIsNoneOfCode)
{
	begin_kernel();
	add_rows(1);
	EXPECT_EQ(orc_row(TEXT - 1), 0);
	EXPECT_NE(orc_row(TEXT), 0);
	EXPECT_NE(orc_row(TEXT + 0x7fffffff), 0);
	EXPECT_EQ(orc_row(TEXT + 0x80000000), 0);
}
