// A library that says nothing about its frames, not even to debuggers, but keeps frame pointers.
void through_library(void (*callback)(void));

void through_library(void (*callback)(void)) {
  callback();
  __asm__ volatile("" ::: "memory");
}
