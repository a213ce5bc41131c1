// Programs run by the integration tests, recordings of them, and the questions that the tests ask about recordings.
// Needs root, except for Program. Failures are reported to GoogleTest; what is returned then is empty. In a namespace
// of its own: these are linked with the whole recorder.
#ifndef OFFCPU_TESTS_HARNESS_HARNESS_H_
#define OFFCPU_TESTS_HARNESS_HARNESS_H_

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <ctime>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "os/owned_fd.h"
#include "profile/named_profile.h"
#include "recorder/recorder.h"

namespace offcpu::integration {

// A child process with its standard input and output in our hands. Killed and reaped when it goes out of scope.
class Program {
 public:
  // The first word is a path or is found in PATH. Standard error goes to `error_path` if that is not empty.
  static std::unique_ptr<Program> Start(const std::vector<std::string>& words, const std::string& error_path = "");
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  pid_t pid() const { return pid_; }
  // The next line of its output. False at the end of it, or if none comes in time.
  bool ReadLine(std::string* line);
  void Write(std::string_view bytes);
  void CloseInput() { input_.reset(); }
  void Signal(int signal);
  // Closes its input, reads the rest of its output and waits: the exit code, or 128 + the signal that ended it.
  int Wait(std::string* rest_of_output = nullptr);

 private:
  Program(pid_t pid, OwnedFd input, OwnedFd output);

  pid_t pid_;
  OwnedFd input_;
  OwnedFd output_;
  std::string buffer_;
};

// A program that leaves `cpu` only for others, when it runs. It ends with the test, however that one ends: a loop that
// is left behind slows every test after it.
std::unique_ptr<Program> StartBusyLoop(int cpu);

struct Measure {
  uint64_t ns = 0;
  uint64_t count = 0;
};

// One of the programs of tests/targets; see target.h there.
class Target {
 public:
  // Returns when it says `ready`. The first word is the name of a target, or a path from the root on.
  static std::unique_ptr<Target> Start(std::vector<std::string> words);

  pid_t pid() const { return Detail("pid"); }
  // A pid or tid that the ready line gives by name.
  pid_t Detail(const std::string& name) const;
  // Lets it run.
  void Go();
  void AwaitDone();
  void End();
  // What the hypervisor took from all CPUs between Go() and AwaitDone(). A thread that it took it from was on its CPU,
  // but its own clocks tell it as time off the CPU.
  uint64_t stolen_ns() const { return stolen_ns_; }

  Measure Measured(const std::string& thread, const std::string& label) const;
  uint64_t Value(const std::string& name) const;
  // The words after `first` of every line that begins with it, as one string each.
  std::vector<std::string> Lines(const std::string& first) const;

 private:
  explicit Target(std::unique_ptr<Program> program) : program_(std::move(program)) {}
  bool ReadUntil(const std::string& word);

  std::unique_ptr<Program> program_;
  std::vector<std::string> lines_;
  uint64_t stolen_before_ns_ = 0;
  uint64_t stolen_ns_ = 0;
};

// A row of a profile with everything that it refers to.
struct StackRow {
  const NamedRow* row;
  const ProcessInfo* process;
  std::string comm;
  const NamedUserStack* user;
  std::vector<std::string_view> kernel;  // leaf first

  bool complete() const { return user->missing == NoUserStack::kNone && user->end == EndReason::kComplete; }
  bool Has(std::string_view function) const;
  bool HasInKernel(std::string_view function) const;
  // The functions, outermost first, are in the user stack in this order, with or without others in between.
  bool Calls(const std::vector<std::string>& functions) const;
  std::string Text() const;  // outermost first, for messages
};

using RowPredicate = std::function<bool(const StackRow&)>;

struct Recording {
  NamedProfile profile;

  std::vector<StackRow> Rows(const RowPredicate& wanted) const;
  Measure Sum(const RowPredicate& wanted) const;
  // A named loss; null if there was none.
  const Loss* FindLoss(std::string_view reason) const;
  std::string LossesText() const;
};

// Without the budgets that keep an always-on recording cheap: every interval is to have its stack.
RecordConfig Unthrottled(std::vector<pid_t> pids);

// What it has recorded, with names.
Recording MustStop(Recorder& recorder);

// Records `target` from before its run until after it.
Recording Record(const RecordConfig& config, Target& target);

// Directory of the programs under test.
std::string BinDirectory();

// A directory that is removed with everything in it.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// On loopback, and free just now.
int FreePort();

// What the hypervisor has taken from all CPUs, in whole ticks of the kernel.
uint64_t StolenNs();

// A clock as a number to calculate with: a double has its nanoseconds for 104 days.
double ClockNs(clockid_t clock);

// |got - want| <= fraction * want, where `stolen_ns` of `want` may not be in `got`.
bool Within(uint64_t got, uint64_t want, double fraction, uint64_t stolen_ns = 0);

}  // namespace offcpu::integration

#endif  // OFFCPU_TESTS_HARNESS_HARNESS_H_
