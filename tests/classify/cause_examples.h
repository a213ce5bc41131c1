// Waits of real programs, and what packaging/causes.conf calls them.
#ifndef OFFCPU_TESTS_CLASSIFY_CAUSE_EXAMPLES_H_
#define OFFCPU_TESTS_CLASSIFY_CAUSE_EXAMPLES_H_

#include <asm/unistd_64.h>

#include <cstdint>
#include <span>
#include <string_view>

namespace offcpu {

struct CauseExample {
  std::string_view wait;
  std::string_view pattern;  // "" if the kernel's functions alone name it
  std::string_view frames;   // "MODULE!FUNCTION < ...", from the leaf outwards
  int32_t syscall = __NR_futex;
  std::string_view process = "server";
};

// The first one is of a mutex of glibc.
std::span<const CauseExample> CauseExamples();

}  // namespace offcpu

#endif  // OFFCPU_TESTS_CLASSIFY_CAUSE_EXAMPLES_H_
