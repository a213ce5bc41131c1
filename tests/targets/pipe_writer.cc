// One write(2) that blocks many times: into a pipe that a child process empties slowly. The writer is a thread of its
// own. With --evict its stack is a shared file mapping whose pages another thread drops from the page table all the
// while, so that they can be read only with a fault; with --scribble another thread changes a local of it all the
// while. Usage: pipe_writer [--mib N] [--evict] [--scribble]
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <atomic>

#include "target.h"

namespace {

constexpr size_t kStackBytes = 256 << 10;
constexpr size_t kScribbleBytes = 512;

struct Writer {
  int pipe = -1;
  size_t bytes = 0;
  char* data = nullptr;
  target::Sum sum;
  uint64_t wall_ns = 0;
  uint64_t cpu_ns = 0;
  uint64_t switches = 0;
};

target::Gate gate;
std::atomic<pid_t> writer_tid = 0;
std::atomic<volatile char*> local = nullptr;
std::atomic<bool> writing = false;
char* shared_stack = nullptr;

uint64_t Switches() {
  rusage usage = {};
  getrusage(RUSAGE_THREAD, &usage);
  return static_cast<uint64_t>(usage.ru_nvcsw + usage.ru_nivcsw);
}

}  // namespace

TARGET_FUNCTION void one_write(Writer* writer) {
  volatile char scribbled[kScribbleBytes];
  scribbled[0] = 1;
  local = scribbled;
  writing = true;
  const uint64_t switches = Switches();
  const uint64_t wall = target::ClockNs(CLOCK_MONOTONIC);
  const uint64_t cpu = target::ClockNs(CLOCK_THREAD_CPUTIME_ID);
  const ssize_t written = write(writer->pipe, writer->data, writer->bytes);
  writer->cpu_ns = target::ClockNs(CLOCK_THREAD_CPUTIME_ID) - cpu;
  writer->wall_ns = target::ClockNs(CLOCK_MONOTONIC) - wall;
  writer->switches = Switches() - switches;
  writing = false;
  local = nullptr;
  target::Check(written == static_cast<ssize_t>(writer->bytes), "write");
  writer->sum = {writer->wall_ns - writer->cpu_ns, 1};
}

TARGET_FUNCTION void write_caller(Writer* writer) {
  one_write(writer);
  TARGET_AFTER_CALL;
}

namespace {

void* RunWriter(void* argument) {
  writer_tid = gettid();
  gate.Pass();
  write_caller(static_cast<Writer*>(argument));
  TARGET_AFTER_CALL;
  return nullptr;
}

// Only while the writer is inside its write: nothing of its stack is touched by itself then.
void* RunEvictor(void*) {
  while (true) {
    if (writing) target::Check(madvise(shared_stack, kStackBytes, MADV_DONTNEED) == 0, "madvise");
    target::SleepNs(20'000);
  }
}

void* RunScribbler(void*) {
  for (unsigned i = 0;; ++i) {
    volatile char* bytes = local;
    if (writing && bytes != nullptr) bytes[i % kScribbleBytes] = static_cast<char>(i);
    if (i % 64 == 0) target::SleepNs(20'000);
  }
}

// Takes out what is there, in pieces as large as the pipe, and rests after each.
[[noreturn]] void ReadSlowly(int pipe) {
  static char piece[64 << 10];
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  while (read(pipe, piece, sizeof(piece)) > 0) target::SleepNs(500'000);
  _exit(0);
}

pthread_t StartWriter(Writer* writer, bool evict) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  if (evict) {
    const int file = memfd_create("stack", MFD_CLOEXEC);
    target::Check(file >= 0 && ftruncate(file, kStackBytes) == 0, "memfd");
    void* mapped = mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    target::Check(mapped != MAP_FAILED, "mmap");
    shared_stack = static_cast<char*>(mapped);
    pthread_attr_setstack(&attributes, shared_stack, kStackBytes);
  }
  pthread_t thread;
  target::Check(pthread_create(&thread, &attributes, RunWriter, writer) == 0, "pthread_create");
  pthread_setname_np(thread, "writer");
  return thread;
}

void StartHelper(void* (*run)(void*), const char* name) {
  pthread_t thread;
  target::Check(pthread_create(&thread, nullptr, run, nullptr) == 0, "pthread_create");
  pthread_setname_np(thread, name);
}

}  // namespace

int main(int argc, char** argv) {
  int ends[2];
  target::Check(pipe2(ends, O_CLOEXEC) == 0, "pipe");
  const pid_t reader = fork();
  if (reader == 0) {
    close(ends[1]);
    ReadSlowly(ends[0]);
  }
  close(ends[0]);

  Writer writer;
  writer.pipe = ends[1];
  writer.bytes = static_cast<size_t>(target::Option(argc, argv, "--mib", 64)) << 20;
  writer.data = new char[writer.bytes];
  memset(writer.data, 1, writer.bytes);
  const bool evict = target::Flag(argc, argv, "--evict");
  const pthread_t thread = StartWriter(&writer, evict);
  if (evict) StartHelper(RunEvictor, "evictor");
  if (target::Flag(argc, argv, "--scribble")) StartHelper(RunScribbler, "scribbler");
  while (writer_tid == 0) target::SleepNs(100'000);

  char details[64];
  snprintf(details, sizeof(details), "tid=%d", writer_tid.load());
  target::ReadyAndRun(details, 0);
  gate.Open();
  pthread_join(thread, nullptr);
  close(ends[1]);
  waitpid(reader, nullptr, 0);

  target::Measured("writer", "one_write", writer.sum);
  target::Value("wall_ns", writer.wall_ns);
  target::Value("cpu_ns", writer.cpu_ns);
  target::Value("switches", writer.switches);
  target::DoneAndStay();
}
