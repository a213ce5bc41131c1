// Threads that have blocked before anybody looks, each below functions of its own. `reader` is let go when the run
// begins, and has blocked again elsewhere when it is done; the others, and it too then, stay for ever.
// Usage: blocked [--threads N]     N further threads, all in one place
#include <pthread.h>

#include <atomic>

#include "all_sleep.h"
#include "target.h"

namespace {

int first_pipe[2];
int second_pipe[2];
std::atomic<bool> moved{false};
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t never = PTHREAD_COND_INITIALIZER;

void ReadByte(int fd) {
  char byte;
  [[maybe_unused]] const ssize_t got = read(fd, &byte, 1);
}

}  // namespace

TARGET_FUNCTION void first_wait() {
  ReadByte(first_pipe[0]);
  TARGET_AFTER_CALL;
}

TARGET_FUNCTION void second_wait() {
  moved = true;
  ReadByte(second_pipe[0]);
  TARGET_AFTER_CALL;
}

TARGET_FUNCTION void condition_wait() {
  pthread_mutex_lock(&mutex);
  for (;;) pthread_cond_wait(&never, &mutex);
}

TARGET_FUNCTION void big_frames(int depth) {
  volatile char buffer[4096];
  buffer[0] = static_cast<char>(depth);
  if (depth == 0) {
    ReadByte(second_pipe[0]);
  } else {
    big_frames(depth - 1);
  }
  TARGET_AFTER_CALL;
  buffer[1] = buffer[0];
}

TARGET_FUNCTION void* reader_thread(void*) {
  first_wait();
  second_wait();
  TARGET_AFTER_CALL;
  return nullptr;
}

TARGET_FUNCTION void* waiter_thread(void*) {
  condition_wait();
  TARGET_AFTER_CALL;
  return nullptr;
}

TARGET_FUNCTION void* big_thread(void*) {
  big_frames(100);
  TARGET_AFTER_CALL;
  return nullptr;
}

namespace {

void StartThread(void* (*run)(void*), const char* name) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 1 << 20);
  pthread_t thread;
  target::Check(pthread_create(&thread, &attributes, run, nullptr) == 0, "pthread_create");
  pthread_setname_np(thread, name);
  pthread_detach(thread);
}

}  // namespace

int main(int argc, char** argv) {
  target::Check(pipe(first_pipe) == 0 && pipe(second_pipe) == 0, "pipe");
  StartThread(reader_thread, "reader");
  StartThread(waiter_thread, "waiter");
  StartThread(big_thread, "big");
  const int more = static_cast<int>(target::Option(argc, argv, "--threads", 0));
  for (int i = 0; i < more; ++i) StartThread(waiter_thread, "crowd");
  while (!target::AllSleep()) target::SleepNs(1'000'000);

  target::ReadyAndRun("", 0);
  target::Check(write(first_pipe[1], "x", 1) == 1, "write");
  while (!moved || !target::AllSleep()) target::SleepNs(100'000);
  target::DoneAndStay();
}
