// A thread that sleeps below functions that no table describes, all of which keep a frame pointer; between their frames
// are words that look like addresses of code.
// FRAMED_OMITS: the one in the middle keeps none.
// Usage: framed [--seconds S]
#include "target.h"

#ifdef FRAMED_OMITS
#define FRAMED_MIDDLE __attribute__((optimize("omit-frame-pointer")))
#else
#define FRAMED_MIDDLE
#endif

static void* volatile kept;

TARGET_FUNCTION void framed_nap() {
  void* words[] = {reinterpret_cast<void*>(framed_nap), nullptr};
  kept = words;
  const timespec time = {0, 2'000'000};
  nanosleep(&time, nullptr);
  TARGET_AFTER_CALL;
}

TARGET_FUNCTION void framed_inner() {
  void* words[] = {reinterpret_cast<void*>(framed_nap), nullptr};
  kept = words;
  framed_nap();
  TARGET_AFTER_CALL;
}

TARGET_FUNCTION FRAMED_MIDDLE void framed_middle() {
  void* words[] = {reinterpret_cast<void*>(framed_nap), nullptr};
  kept = words;
  framed_inner();
  TARGET_AFTER_CALL;
}

TARGET_FUNCTION void framed_outer() {
  void* words[] = {reinterpret_cast<void*>(framed_nap), nullptr};
  kept = words;
  framed_middle();
  TARGET_AFTER_CALL;
}

int main(int argc, char** argv) {
  target::ReadyAndRun("", target::Option(argc, argv, "--seconds", 2));
  while (!target::Over()) framed_outer();
  target::DoneAndStay();
}
