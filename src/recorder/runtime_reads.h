// Captures of processes with a language runtime, between the moment at which their code is known and their walk: what
// the runtime has made is read first, as its code changes while the mappings stay. One reading serves all captures that
// came before it. A capture whose stack has no word that could be such code is ready at once, and so is one that there
// is no room for, or whose process cannot be read: its walk goes by what was read before. Each goes on exactly once.
//
// Also has the names read of functions that walks have met, as long as the process can be read and its pace
// (reading_pace.h) allows it: nothing waits for names beyond that. One thread; readings run on reader threads.
#ifndef OFFCPU_RECORDER_RUNTIME_READS_H_
#define OFFCPU_RECORDER_RUNTIME_READS_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "bpf_programs/events.h"
#include "recorder/host.h"
#include "recorder/reading_pace.h"
#include "recorder/targets.h"
#include "runtimes/runtime.h"

namespace offcpu {

inline constexpr size_t kMaxRuntimeWords = 1 << 16;   // of the stacks of one reading
inline constexpr size_t kMaxRuntimeProcesses = 4096;  // that are read at one time
// From one reading of a process to the next. Each costs a thread's turn and a check of whose number the process has
// now, which is as much for a hundred captures as for one.
inline constexpr uint64_t kBetweenRuntimeReadsNs = 20'000'000;
inline constexpr uint64_t kReadRuntimeAgainNs = 1'000'000'000;   // after a reading that failed
inline constexpr uint64_t kRuntimeRememberedNs = 1'000'000'000;  // of a process that has no captures any more

// The words of a capture that may be addresses of the runtime's code.
std::vector<uint64_t> RuntimeWords(const CaptureEvent& capture, const Runtime& runtime);

class RuntimeReads {
 public:
  // `targets` must outlive it. `max_bytes`: of stacks that wait, and of their words. `now_ns`: as of Tick.
  RuntimeReads(Targets& targets, std::shared_ptr<Host> host, size_t max_bytes, uint64_t now_ns)
      : targets_(targets), host_(std::move(host)), max_bytes_(max_bytes), now_ns_(now_ns) {}
  RuntimeReads(const RuntimeReads&) = delete;
  RuntimeReads& operator=(const RuntimeReads&) = delete;

  void Add(ReadyCapture&& capture);
  // Captures that may be walked now, since it was last called.
  std::vector<ReadyCapture> TakeReady() { return std::exchange(ready_, {}); }
  // Any clock that does not go back.
  void Tick(uint64_t now_ns);
  // No event comes any more, and what is not read now never is: every process may be read as if it never had been.
  void BeginEnd();
  // Nothing is being read, or is to be now.
  bool idle() const;
  // Makes all ready that wait.
  void EndWaiting();

  size_t processes() const { return processes_.size(); }

 private:
  struct Waiting {
    ReadyCapture capture;
    std::vector<uint64_t> words;

    size_t bytes() const { return capture.event.bytes() + words.size() * sizeof(uint64_t); }
  };
  struct Process {
    std::shared_ptr<Runtime> runtime;
    pid_t tid = 0;  // by which it is read
    std::deque<Waiting> waiting;
    uint64_t reading = 0;        // the number of the one under way; 0: there is none
    size_t asked = 0;            // how many of `waiting` that is for
    uint64_t heard_ns = 0;       // of a capture, or of the end of a reading, after which walks come
    uint64_t not_before_ns = 0;  // it could not be read
    uint64_t next_ns = 0;        // when another reading may begin, after one that went well
    ReadingPace pace{kRuntimeRate};
  };

  bool WantsNames(const Process& process) const;
  bool IsDone(const Process& process) const;
  void Ask(const ProcessKey& key, Process& process);
  ReadTaken Read(const ProcessKey& key, Process& process, size_t* count);
  void OnRead(const ProcessKey& key, uint64_t reading, bool is_read, uint64_t cpu_ns);
  void OnFailed(Process& process);
  void MakeReady(Process& process, size_t count);

  Targets& targets_;
  const std::shared_ptr<Host> host_;
  const size_t max_bytes_;
  uint64_t now_ns_;
  size_t bytes_ = 0;
  uint64_t readings_ = 0;  // ever
  std::vector<ReadyCapture> ready_;
  absl::flat_hash_map<ProcessKey, Process> processes_;  // that are read, or were not long ago
};

}  // namespace offcpu

#endif  // OFFCPU_RECORDER_RUNTIME_READS_H_
