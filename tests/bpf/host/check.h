/*
 * Tests in C, as GoogleTest runs them: the BPF code is no C++. TEST begins a test, EXPECT_* and ASSERT_*
 * compare integers and pointers, and report to GoogleTest. ASSERT_* end the test where they fail.
 */
#ifndef OFFCPU_TESTS_BPF_HOST_CHECK_H_
#define OFFCPU_TESTS_BPF_HOST_CHECK_H_

enum comparison_of { IS_EQUAL, IS_DIFFERENT, IS_LESS, IS_LESS_OR_EQUAL };

#ifdef __cplusplus
extern "C" {
#endif

void check_register(const char *suite, const char *name, const char *file, int line, void (*set_up)(void),
		    void (*body)(void));
/* Reports the failure of a comparison. Returns whether it holds. */
int check_compare(const char *file, int line, enum comparison_of how, const char *left_text,
		  const char *right_text, unsigned long long left, unsigned long long right);
int check_bytes(const char *file, int line, const char *text, const void *left, const void *right,
		unsigned long long bytes);
/* What failures say beside their place, until the test ends or it is called again: a turn of a loop. */
void check_note(const char *name, unsigned long long value);

#ifdef __cplusplus
}
#endif

#define CHECK_COMPARE(how, left, right)                                                                      \
	check_compare(__FILE__, __LINE__, how, #left, #right, (unsigned long long)(left),                    \
		      (unsigned long long)(right))
#define EXPECT_EQ(left, right) ((void)CHECK_COMPARE(IS_EQUAL, left, right))
#define EXPECT_NE(left, right) ((void)CHECK_COMPARE(IS_DIFFERENT, left, right))
#define EXPECT_LT(left, right) ((void)CHECK_COMPARE(IS_LESS, left, right))
#define EXPECT_LE(left, right) ((void)CHECK_COMPARE(IS_LESS_OR_EQUAL, left, right))
#define EXPECT_TRUE(condition) ((void)CHECK_COMPARE(IS_DIFFERENT, !!(condition), 0))
#define EXPECT_FALSE(condition) ((void)CHECK_COMPARE(IS_EQUAL, !!(condition), 0))
#define EXPECT_BYTES(left, right, bytes) ((void)check_bytes(__FILE__, __LINE__, #left, left, right, bytes))
#define CHECK_ASSERT(holds)                                                                                  \
	do {                                                                                                 \
		if (!(holds))                                                                                \
			return;                                                                              \
	} while (0)
#define ASSERT_EQ(left, right) CHECK_ASSERT(CHECK_COMPARE(IS_EQUAL, left, right))
#define ASSERT_NE(left, right) CHECK_ASSERT(CHECK_COMPARE(IS_DIFFERENT, left, right))
#define ASSERT_TRUE(condition) CHECK_ASSERT(CHECK_COMPARE(IS_DIFFERENT, !!(condition), 0))

#define CHECK_NAME(suite, name) suite##_##name
#define TEST(suite, name)                                                                                    \
	static void CHECK_NAME(suite, name)(void);                                                           \
	__attribute__((constructor)) static void CHECK_NAME(register_##suite, name)(void)                    \
	{                                                                                                    \
		check_register(#suite, #name, __FILE__, __LINE__, set_up, CHECK_NAME(suite, name));          \
	}                                                                                                    \
	static void CHECK_NAME(suite, name)(void)

#endif /* OFFCPU_TESTS_BPF_HOST_CHECK_H_ */
