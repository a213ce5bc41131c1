// The service as it is run, confined as its unit confines it: 512 MiB of memory, the kernel's for it counted, and 128
// tasks; where a test asks for it, half a CPU. Needs root and the controllers `memory` and `pids`, and for that `cpu`,
// of either version.
//
// Whatever it does, nothing here waits for ever: what does not come in time is a failure. Killed when it goes out of
// scope.
#ifndef OFFCPU_TESTS_HARNESS_CONFINED_SERVICE_H_
#define OFFCPU_TESTS_HARNESS_CONFINED_SERVICE_H_

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/harness/harness.h"

namespace offcpu::integration {

struct Confinement {
  uint64_t memory_bytes = 512u << 20;
  int tasks = 128;
  int cpu_percent = 0;  // of one CPU; 0: no limit
  int nice = 0;
  std::string group;  // whose members may ask, beside root
};

// How a program ended that was asked for something.
struct Answer {
  int code = -1;  // as of Program::Wait; 124: it did not end in time
  std::string output;
  std::string errors;
};

class ConfinedService {
 public:
  // Starts it with the sections of a configuration, whose [control] and [http] are its own, and returns when it
  // records. Null, and a failure, if it does not; null without one where the controllers are missing.
  // `control`: further lines of that section.
  static std::unique_ptr<ConfinedService> Start(const std::string& sections, const std::string& control = "",
                                                const Confinement& confinement = {});
  ~ConfinedService();
  ConfinedService(const ConfinedService&) = delete;
  ConfinedService& operator=(const ConfinedService&) = delete;

  pid_t pid() const { return pid_; }
  std::string socket() const { return Path("control.sock"); }
  int http_port() const { return http_port_; }  // of 127.0.0.1
  std::string url(const std::string& path) const;
  std::string Path(const std::string& name) const { return directory_.path() + "/" + name; }

  bool alive() const;
  // 128 + SIGKILL: the OOM killer, say. Nothing: it has not ended in time.
  std::optional<int> AwaitEnd(std::chrono::milliseconds patience);
  void Signal(int signal) const;
  // Writes another configuration, and tells it to read it.
  void Reload(const std::string& sections, const std::string& control = "");

  std::string log() const;
  // Until a line of the log has the words, `times` of them.
  bool AwaitLog(const std::string& words, size_t times = 1) const;
  size_t CountInLog(const std::string& words) const;

  // offcpu with these words, asking this service. Start: it runs beside the test, its output in `name`.out, its errors
  // in `name`.err.
  Answer Ask(const std::vector<std::string>& words, std::chrono::seconds patience = std::chrono::seconds(60)) const;
  std::unique_ptr<Program> StartAsking(const std::vector<std::string>& words, const std::string& name,
                                       std::chrono::seconds patience = std::chrono::seconds(60)) const;
  // From `offcpu status --json`: a number by its key; a count of a named loss, 0 if there is none. They cover windows
  // that have ended, or that a dump has cut.
  uint64_t StatusNumber(const std::string& key) const;
  uint64_t LossCount(const std::string& reason) const;

  // What it has now.
  uint64_t resident_bytes() const;
  uint64_t peak_resident_bytes() const;
  uint64_t charged_bytes() const;  // of memory, to its cgroup
  // Without those of files that processes have mapped: as many as the host has programs that it has seen.
  size_t descriptors() const;
  size_t threads() const;
  size_t threads_called(const std::string& prefix) const;
  std::string Account() const;  // all of it, for messages

 private:
  ConfinedService() = default;
  bool Confine(const Confinement& confinement);
  void WriteConfig(const std::string& sections, const std::string& control) const;
  uint64_t StatusKib(const std::string& key) const;

  TemporaryDirectory directory_;
  int http_port_ = 0;
  std::vector<std::string> cgroups_;  // directories
  std::string charged_path_;
  std::string group_;
  pid_t pid_ = -1;
  std::optional<int> ended_;
};

}  // namespace offcpu::integration

#endif  // OFFCPU_TESTS_HARNESS_CONFINED_SERVICE_H_
