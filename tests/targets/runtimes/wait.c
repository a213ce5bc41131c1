// As wait.py.
#include <stdio.h>
#include <unistd.h>

#define NO_TAIL_CALL __asm__ volatile("")

__attribute__((noinline)) void inner(void) {
  usleep(2000);
  NO_TAIL_CALL;
}

__attribute__((noinline)) void middle(void) {
  inner();
  NO_TAIL_CALL;
}

__attribute__((noinline)) void outer(void) {
  middle();
  NO_TAIL_CALL;
}

int main(void) {
  printf("ready pid=%d\n", getpid());
  fflush(stdout);
  getchar();
  for (int i = 0; i < 200; i++) outer();
  puts("done");
  fflush(stdout);
  getchar();
  return 0;
}
