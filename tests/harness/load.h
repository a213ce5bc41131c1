// Programs that keep a machine busy, and what the kernel counts of their threads. Needs root. Failures are reported to
// GoogleTest.
#ifndef OFFCPU_TESTS_HARNESS_LOAD_H_
#define OFFCPU_TESTS_HARNESS_LOAD_H_

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "os/owned_fd.h"
#include "tests/harness/harness.h"

namespace offcpu::integration {

// Is there a program of that name in PATH?
bool IsInstalled(const std::string& program);

// Programs with all that they have started. Killed with all of it when it goes out of scope.
class Load {
 public:
  Load() = default;
  ~Load();
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;

  // It has no input, and its output goes nowhere.
  void Add(const std::vector<std::string>& words);
  // The processes that run now, each after the one that has started it.
  std::vector<pid_t> Processes() const;
  // Returns when there are so many threads of it. They are given some seconds.
  void AwaitThreads(size_t count) const;
  // Returns when every thread is stopped: none is on a CPU or waits for one.
  void Freeze() const;
  void Thaw() const;

 private:
  std::vector<std::unique_ptr<Program>> programs_;
};

// A PostgreSQL with a cluster of its own and clients that keep it busy, as nobody: it refuses to run as root.
class PostgresLoad {
 public:
  enum Clients {
    kUnpaced,    // eight, with pgbench's own transactions, one after the other
    kContended,  // sixteen, which update one row and sleep for 2 ms before they commit
  };

  static bool IsInstalled();
  explicit PostgresLoad(Clients clients = kUnpaced);
  // It is asked to end: killed, it would leave its shared memory behind.
  ~PostgresLoad();
  PostgresLoad(const PostgresLoad&) = delete;
  PostgresLoad& operator=(const PostgresLoad&) = delete;

  bool is_ready() const { return is_ready_; }
  const Load& load() const { return load_; }

 private:
  void StartClients(Clients clients);
  std::vector<std::string> AsNobody(std::vector<std::string> words) const;

  const std::string programs_;  // directory
  TemporaryDirectory directory_;
  const std::string cluster_;
  const std::string host_;  // an argument
  bool is_ready_ = false;
  Load load_;
};

// A redis and clients that keep it busy.
class RedisLoad {
 public:
  RedisLoad();

  const Load& load() const { return load_; }

 private:
  TemporaryDirectory directory_;
  Load load_;
};

// /proc/PID/task/TID/schedstat of one thread.
struct SchedStat {
  uint64_t cpu_ns = 0;
  uint64_t run_delay_ns = 0;  // waited for a CPU; of a wait that goes on nothing is counted yet
};

class SchedStatFile {
 public:
  SchedStatFile(pid_t pid, pid_t tid);

  pid_t pid() const { return pid_; }
  pid_t tid() const { return tid_; }
  // Nothing if the thread has ended.
  std::optional<SchedStat> Read() const;

 private:
  pid_t pid_;
  pid_t tid_;
  OwnedFd file_;
};

// Opens that of every thread that these processes have now.
std::vector<SchedStatFile> OpenSchedStats(const std::vector<pid_t>& pids);

}  // namespace offcpu::integration

#endif  // OFFCPU_TESTS_HARNESS_LOAD_H_
