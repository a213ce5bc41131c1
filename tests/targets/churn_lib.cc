// One of two small libraries that load at the same address: CHURN_LIB is a or b. Their functions lie at different
// offsets and have frames of different sizes, so that a row of the one is wrong for the other.
#include "target.h"

#define JOIN3(x, y, z) x##y##z
#define NAMED(prefix, middle, suffix) JOIN3(prefix, middle, suffix)
#define IS_B_a 0
#define IS_B_b 1
#define IS_B(lib) NAMED(IS_B_, lib, )

#if IS_B(CHURN_LIB)
TARGET_FUNCTION int lib_b_in_front(int x) {
  volatile int sum = 0;
  for (int i = 0; i < x; ++i) sum = sum + i * x;
  return sum;
}
#endif

TARGET_FUNCTION void NAMED(lib_, CHURN_LIB, _sleep)() {
  volatile char pad[64 + 192 * IS_B(CHURN_LIB)];
  pad[0] = 1;
  target::SleepNs(300'000);
  pad[1] = pad[0];
}

TARGET_FUNCTION void NAMED(lib_, CHURN_LIB, _wait)() {
  volatile char pad[320 - 224 * IS_B(CHURN_LIB)];
  pad[0] = 1;
  NAMED(lib_, CHURN_LIB, _sleep)();
  pad[1] = pad[0];
}
