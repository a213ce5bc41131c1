// A library without tables that are mapped; how it is compiled says what else there is.
void through_library(void (*callback)(void));

void through_library(void (*callback)(void)) {
  callback();
  __asm__ volatile("" ::: "memory");
}
