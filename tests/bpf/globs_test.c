/* Globs over the names of threads, as bit machines. */
#include "tests/bpf/host/programs.h"

/* The bit machine of a pattern, as wire.h describes it. */
static struct wire_glob machine_of(const char *pattern)
{
	struct wire_glob glob = {};
	__u32 symbols = 0;

	for (; *pattern; pattern++) {
		if (*pattern == '*') {
			glob.star |= 1u << symbols;
			continue;
		}
		for (int byte = 0; byte < 256; byte++)
			if (*pattern == '?' || (unsigned char)*pattern == byte)
				glob.symbol[byte] |= 1u << symbols;
		symbols++;
	}
	glob.accept = 1u << symbols;
	return glob;
}

/* A matcher that tries every length that a star may stand for. */
static _Bool fits(const char *pattern, const char *name)
{
	if (!*pattern)
		return !*name;
	if (*pattern == '*')
		return fits(pattern + 1, name) || (*name && fits(pattern, name + 1));
	return *name && (*pattern == '?' || *pattern == *name) && fits(pattern + 1, name + 1);
}

/* Takes a name that is shorter than the kernel's array, which zeros follow. */
static _Bool machine_fits(const char *pattern, const char *name)
{
	struct wire_glob glob = machine_of(pattern);
	char comm[WIRE_COMM_BYTES] = {};

	__builtin_memcpy(comm, name, __builtin_strlen(name));
	return glob_matches(&glob, comm);
}

/* The text of a number's digits, the last one first; they are 1 and up, so that numbers have one text each.
 */
static void spell(char *text, __u32 number, const char *letters)
{
	__u32 base = (__u32)__builtin_strlen(letters);

	while (number) {
		*text++ = letters[(number - 1) % base];
		number = (number - 1) / base;
	}
	*text = 0;
}

/* All patterns of up to 5 symbols of "ab?*", 4 + 16 + .. + 4^5 = 1364 and the empty one, and all names of up
 * to 6 letters, 2 + 4 + .. + 2^6 = 126 and the empty one. */
TEST(Glob, AllShortPatternsFitAllShortNamesAsAMatcherByTrialSays)
{
	char pattern[16], name[16];
	__u32 matches = 0;

	for (__u32 i = 0; i <= 1364; i++) {
		spell(pattern, i, "ab?*");
		for (__u32 j = 0; j <= 126; j++) {
			spell(name, j, "ab");
			check_note("pattern and name", i << 8 | j);
			EXPECT_EQ(machine_fits(pattern, name), fits(pattern, name));
			matches += fits(pattern, name);
		}
	}
	EXPECT_LT(10000, matches); /* both answers have been compared */
	EXPECT_LT(matches, 100000);
}

TEST(Glob, StarStandsForNothingToo)
{
	EXPECT_TRUE(machine_fits("a*b", "ab"));
	EXPECT_TRUE(machine_fits("*", ""));
	EXPECT_FALSE(machine_fits("?", ""));
}

TEST(Glob, BytesAboveAsciiAreBytes)
{
	EXPECT_TRUE(machine_fits("\xff?", "\xff\x80"));
	EXPECT_FALSE(machine_fits("\xfe?", "\xff\x80"));
}

/* The kernel's names have 15 characters at most, and a pattern has as many symbols. */
TEST(Glob, NamesOfFifteenBytesAreMatchedToTheirEnd)
{
	const char *name = "abcdefghijklmno";

	EXPECT_TRUE(machine_fits(name, name));
	EXPECT_FALSE(machine_fits("abcdefghijklmn", name));
	EXPECT_FALSE(machine_fits("abcdefghijklmnp", name));
	EXPECT_TRUE(machine_fits("???????????????", name));
	EXPECT_FALSE(machine_fits("??????????????", name));
	EXPECT_TRUE(machine_fits("*o", name));
	EXPECT_FALSE(machine_fits("*n", name));
	EXPECT_FALSE(machine_fits("???????????????", "abcdefghijklmn"));
}

/* No byte behind the sixteenth is looked at, of a name without an end: AddressSanitizer watches. */
TEST(Glob, SixteenBytesWithoutAnEndAreSixteenCharacters)
{
	char *name = host_allocate(WIRE_COMM_BYTES);
	struct wire_glob any = machine_of("*"), all = machine_of("aaaaaaaaaaaaaaaa"),
			 most = machine_of("aaaaaaaaaaaaaaa");

	__builtin_memset(name, 'a', WIRE_COMM_BYTES);
	EXPECT_TRUE(glob_matches(&any, name));
	EXPECT_TRUE(glob_matches(&all, name));
	EXPECT_FALSE(glob_matches(&most, name));
}

/* A name that is being changed may have no end; 15 characters of it are looked at. */
TEST(Glob, FifteenCharactersOfATasksNameAreLookedAt)
{
	struct task_struct *task = host_new_process(100);
	struct wire_glob glob = machine_of("aaaaaaaaaaaaaaa");
	__u32 zero = 0;

	__builtin_memset(task->comm, 'a', sizeof(task->comm));
	bpf_map_update_elem(&globs, &zero, &glob, BPF_ANY);
	settings->globs = 1;
	EXPECT_TRUE(comm_is_recorded(task));
	task->comm[14] = 'b';
	EXPECT_FALSE(comm_is_recorded(task));
}

static void set_glob(__u32 index, const char *pattern)
{
	struct wire_glob glob = machine_of(pattern);

	bpf_map_update_elem(&globs, &index, &glob, BPF_ANY);
}

static _Bool name_is_recorded(const char *name)
{
	struct task_struct *task = host_new_process(100);

	host_name(task, name);
	return comm_is_recorded(task);
}

TEST(Glob, OneOfSeveralIsEnough)
{
	settings->globs = WIRE_GLOBS;
	for (__u32 i = 0; i < WIRE_GLOBS; i++)
		set_glob(i, (char[]){'a' + i, 0});
	EXPECT_TRUE(name_is_recorded("a"));
	EXPECT_TRUE(name_is_recorded("p")); /* the sixteenth letter, the last one */
	EXPECT_FALSE(name_is_recorded("q"));
	settings->globs = 3;
	EXPECT_TRUE(name_is_recorded("c"));
	EXPECT_FALSE(name_is_recorded("d"));
}

/* Those that are left out stand in the map behind the others. */
TEST(Glob, ExcludedOnesLeaveOutWhatOthersLetPass)
{
	settings->globs = 2;
	settings->excluded_globs = 2;
	set_glob(0, "a*");
	set_glob(1, "b*");
	set_glob(2, "*x");
	set_glob(3, "*y");
	set_glob(4, "*z");
	EXPECT_TRUE(name_is_recorded("aw"));
	EXPECT_TRUE(name_is_recorded("bz"));
	EXPECT_FALSE(name_is_recorded("ax"));
	EXPECT_FALSE(name_is_recorded("by"));
	EXPECT_FALSE(name_is_recorded("cw"));
	settings->globs = 0;
	settings->excluded_globs = 1;
	EXPECT_FALSE(name_is_recorded("aw"));
	EXPECT_TRUE(name_is_recorded("cw"));
}
