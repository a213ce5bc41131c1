// Programs as Debian ships them, run in a directory of their own, with all that they start. What the kernel says of
// processes is read from /proc.
#ifndef OFFCPU_TESTS_HARNESS_REAL_PROGRAM_H_
#define OFFCPU_TESTS_HARNESS_REAL_PROGRAM_H_

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/harness/harness.h"

namespace offcpu::integration {

struct RealProgram {
  std::string name;
  std::string needs;   // a program
  std::string script;  // of sh, in an empty directory of its own; ends in exec
  size_t threads;      // at least, of it and all that it starts

  bool is_installed() const;
};

extern const char kNginx[];     // four workers with 32 threads each, on $PWD/socket
extern const char kPostgres[];  // in $PWD/d, on a socket there

std::vector<pid_t> Threads(pid_t pid);

// `pid` and all that it has started.
std::vector<pid_t> Family(pid_t pid);

// The letter that the kernel has for what a thread is doing.
char State(pid_t pid, pid_t tid);

template <typename Condition>
bool HoldsWithin(std::chrono::seconds time, Condition condition) {
  const auto deadline = std::chrono::steady_clock::now() + time;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

// All threads of a stopped process are where they stopped: a debugger that has let go of them wakes each of them once.
bool AwaitStopped(pid_t pid);

// A program and all that it starts.
class RunningProgram {
 public:
  explicit RunningProgram(const RealProgram& program);
  // It is asked first: some leave shared memory behind if they are killed.
  ~RunningProgram();
  RunningProgram(const RunningProgram&) = delete;
  RunningProgram& operator=(const RunningProgram&) = delete;

  // True once all of its threads wait, the same ones in several looks, and at least so many. The shell has become the
  // program by then.
  bool AwaitBlocked(size_t threads) const;

  // As a signal does: what a thread waits in is what it is found in, a system call. Parents first, so that nobody sees
  // it. Fails if there are fewer threads.
  bool Stop(size_t threads) const;

  const std::string& directory() const { return directory_.path(); }
  pid_t pid() const { return program_->pid(); }
  std::vector<pid_t> pids() const { return Family(program_->pid()); }
  std::string errors() const;

 private:
  TemporaryDirectory directory_;
  std::unique_ptr<Program> program_;
};

}  // namespace offcpu::integration

#endif  // OFFCPU_TESTS_HARNESS_REAL_PROGRAM_H_
