// Claims that a right program fails by chance: estimates from samples, and how long something takes on a host that has
// other work. Do not use it for what must never happen.
#ifndef OFFCPU_TESTS_DEEP_TRIES_H_
#define OFFCPU_TESTS_DEEP_TRIES_H_

#include <gtest/gtest.h>

#include <cstdio>

namespace offcpu::integration {

// False if each of so many measurements comes to false. A failure of the test ends it, whatever is measured.
template <typename Measure>
bool HoldsInOneOf(int tries, Measure measure) {
  for (int i = 1; i <= tries; ++i) {
    if (measure() || testing::Test::HasFailure()) return true;
    std::printf("measurement %d of at most %d does not show it\n", i, tries);
  }
  return false;
}

}  // namespace offcpu::integration

#endif  // OFFCPU_TESTS_DEEP_TRIES_H_
