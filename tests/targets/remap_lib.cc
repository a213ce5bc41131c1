// One of two libraries whose code is mapped over that of the other: REMAP_LIB is a or b. It needs nothing but its
// argument, so it runs where nobody has relocated it. What is a call in the one is none in the other, and frames
// differ.
#include "target.h"

#define JOIN3(x, y, z) x##y##z
#define NAMED(prefix, middle, suffix) JOIN3(prefix, middle, suffix)
#define IS_B_a 0
#define IS_B_b 1
#define IS_B(lib) NAMED(IS_B_, lib, )

TARGET_FUNCTION void NAMED(lib_, REMAP_LIB, _call)(void (*wait)()) {
  volatile char pad[64 + 192 * IS_B(REMAP_LIB)];
  pad[0] = 1;
  wait();
  pad[1] = pad[0];
}
