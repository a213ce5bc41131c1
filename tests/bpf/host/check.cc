#include "tests/bpf/host/check.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace
{

std::string note;

class TestInC : public ::testing::Test
{
      public:
	TestInC(void (*set_up)(), void (*body)()) : set_up_(set_up), body_(body)
	{
	}
	void SetUp() override
	{
		note.clear();
		set_up_();
	}
	void TestBody() override
	{
		body_();
	}

      private:
	void (*set_up_)();
	void (*body_)();
};

bool Holds(comparison_of how, unsigned long long left, unsigned long long right)
{
	switch (how) {
	case IS_EQUAL:
		return left == right;
	case IS_DIFFERENT:
		return left != right;
	case IS_LESS:
		return left < right;
	case IS_LESS_OR_EQUAL:
		return left <= right;
	}
	return false;
}

const char *Sign(comparison_of how)
{
	switch (how) {
	case IS_EQUAL:
		return " == ";
	case IS_DIFFERENT:
		return " != ";
	case IS_LESS:
		return " < ";
	case IS_LESS_OR_EQUAL:
		return " <= ";
	}
	return " ? ";
}

std::string Shown(unsigned long long value)
{
	char text[64];
	snprintf(text, sizeof(text), "%lld (0x%llx)", static_cast<long long>(value), value);
	return text;
}

} // namespace

extern "C" {

void check_register(const char *suite, const char *name, const char *file, int line, void (*set_up)(),
		    void (*body)())
{
	::testing::RegisterTest(suite, name, nullptr, nullptr, file, line,
				[=]() -> TestInC * { return new TestInC(set_up, body); });
}

int check_compare(const char *file, int line, comparison_of how, const char *left_text,
		  const char *right_text, unsigned long long left, unsigned long long right)
{
	if (Holds(how, left, right))
		return 1;
	ADD_FAILURE_AT(file, line) << left_text << Sign(how) << right_text << "\n  left:  " << Shown(left)
				   << "\n  right: " << Shown(right) << note;
	return 0;
}

int check_bytes(const char *file, int line, const char *text, const void *left, const void *right,
		unsigned long long bytes)
{
	const auto *lefts = static_cast<const unsigned char *>(left);
	const auto *rights = static_cast<const unsigned char *>(right);
	for (unsigned long long i = 0; i < bytes; ++i) {
		if (lefts[i] == rights[i])
			continue;
		ADD_FAILURE_AT(file, line) << text << " differs at byte " << i << ": " << Shown(lefts[i])
					   << ", expected " << Shown(rights[i]) << note;
		return 0;
	}
	return 1;
}

void check_note(const char *name, unsigned long long value)
{
	note = std::string("\n  at ") + name + " " + Shown(value);
}

} // extern "C"
