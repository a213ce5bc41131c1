// Two processes that wake each other over pipes, pinned to one CPU: nothing but context switches.
// Usage: pingpong [--seconds S] [--cpu N] [--frames N] [--rename ROUNDS]
//   frames: more of them between main and the loop, which has the system calls itself: 5 without more, with _start
//   rename: the one that begins has a name of 15 characters for so many round trips, a multiple of 64
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "cpus.h"
#include "target.h"

namespace {

struct Side {
  uint64_t wall_ns;
  uint64_t cpu_ns;
  uint64_t round_trips;
};

class SideTimer {
 public:
  explicit SideTimer(Side* side)
      : side_(side), wall_(target::ClockNs(CLOCK_MONOTONIC)), cpu_(target::ClockNs(CLOCK_PROCESS_CPUTIME_ID)) {}
  SideTimer(const SideTimer&) = delete;
  SideTimer& operator=(const SideTimer&) = delete;
  ~SideTimer() {
    side_->cpu_ns = target::ClockNs(CLOCK_PROCESS_CPUTIME_ID) - cpu_;
    side_->wall_ns = target::ClockNs(CLOCK_MONOTONIC) - wall_;
  }

 private:
  Side* side_;
  uint64_t wall_;
  uint64_t cpu_;
};

// Transfers one byte, without a frame of its own.
inline __attribute__((always_inline)) bool Transfer(long call, int fd, char* byte) {
  long result;
  asm volatile("syscall" : "=a"(result) : "a"(call), "D"(fd), "S"(byte), "d"(1) : "rcx", "r11", "memory");
  return result == 1;
}

uint64_t rename_after = 0;

inline __attribute__((always_inline)) bool Receive(int from) {
  char byte;
  return Transfer(SYS_read, from, &byte);
}

inline __attribute__((always_inline)) void Send(int to) {
  char byte = 'x';
  target::Check(Transfer(SYS_write, to, &byte), "write");
}

}  // namespace

TARGET_FUNCTION void ping_loop(int to, int from, Side* side) {
  const SideTimer timer(side);
  while (!target::Over()) {
    if (side->round_trips == rename_after) prctl(PR_SET_NAME, "ping");
    for (int i = 0; i < 64; ++i) {
      Send(to);
      target::Check(Receive(from), "read");
      ++side->round_trips;
    }
  }
}

TARGET_FUNCTION void pong_loop(int to, int from, Side* side) {
  const SideTimer timer(side);
  do {
    ++side->round_trips;
    Send(to);
  } while (Receive(from));
}

TARGET_FUNCTION void pong_start(int from) { target::Check(Receive(from), "read"); }

using Loop = void (*)(int to, int from, Side* side);

TARGET_FUNCTION void descend(long frames, Loop loop, int to, int from, Side* side) {
  if (frames > 1) {
    descend(frames - 1, loop, to, from, side);
  } else {
    loop(to, from, side);
  }
  asm volatile("" : : "r"(frames));  // nothing here is the last thing that it does
}

namespace {

void Run(long frames, Loop loop, int to, int from, Side* side) {
  if (frames > 0) {
    descend(frames, loop, to, from, side);
  } else {
    loop(to, from, side);
  }
}

void PrintSide(const char* name, const char* function, const Side& side) {
  target::Measured(name, function, {side.wall_ns - side.cpu_ns, side.round_trips});
  target::Say("value %s_wall_ns %llu\n", name, static_cast<unsigned long long>(side.wall_ns));
  target::Say("value %s_cpu_ns %llu\n", name, static_cast<unsigned long long>(side.cpu_ns));
}

}  // namespace

int main(int argc, char** argv) {
  target::Pin(0, static_cast<int>(target::Option(argc, argv, "--cpu", 0)));
  const long frames = static_cast<long>(target::Option(argc, argv, "--frames", 0));
  void* memory = mmap(nullptr, 2 * sizeof(Side), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  target::Check(memory != MAP_FAILED, "mmap");
  Side* sides = static_cast<Side*>(memory);

  int there[2];
  int back[2];
  target::Check(pipe2(there, O_CLOEXEC) == 0 && pipe2(back, O_CLOEXEC) == 0, "pipe");
  const pid_t pong = fork();
  if (pong == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NAME, "pong");
    close(there[1]);
    pong_start(there[0]);
    Run(frames, pong_loop, back[1], there[0], &sides[1]);
    _exit(0);
  }
  rename_after = static_cast<uint64_t>(target::Option(argc, argv, "--rename", 0));
  prctl(PR_SET_NAME, rename_after == 0 ? "ping" : "fifteen-letters");
  close(there[0]);

  char details[64];
  snprintf(details, sizeof(details), "pong=%d", pong);
  target::ReadyAndRun(details, target::Option(argc, argv, "--seconds", 3));
  Run(frames, ping_loop, there[1], back[0], &sides[0]);
  close(there[1]);
  waitpid(pong, nullptr, 0);

  PrintSide("ping", "ping_loop", sides[0]);
  PrintSide("pong", "pong_loop", sides[1]);
  target::DoneAndStay();
}
