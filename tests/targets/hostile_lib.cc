// A library that only passes a call on. Its frame is in the way of every walk that comes through it.
#include "target.h"

TARGET_FUNCTION void hostile_call(void (*function)()) {
  volatile char pad[96];
  pad[0] = 1;
  function();
  pad[1] = pad[0];
}
