// Captures of processes with a language runtime, between the moment at which their code is known and their walk: what
// the runtime has made is read first, as its code changes while the mappings stay. One reading serves all captures that
// came before it. A capture whose stack has no word that could be such code is ready at once, and so is one that there
// is no room for: its walk goes by what was read before.
//
// Also has the names read of functions that walks have met. One thread; readings run on reader threads.
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
#include "capture/events.h"
#include "recorder/look_pace.h"
#include "recorder/targets.h"
#include "runtimes/runtime.h"

namespace offcpu {

inline constexpr size_t kMaxRuntimeWords = 1 << 16;  // of the stacks of one reading

// The words of a capture that may be addresses of the runtime's code.
std::vector<uint64_t> RuntimeWords(const CaptureEvent& capture, const Runtime& runtime);

class RuntimeReads {
 public:
  // `targets` must outlive it. `max_bytes`: of stacks that wait. `now_ns`: as of Tick.
  RuntimeReads(Targets& targets, size_t max_bytes, uint64_t now_ns)
      : targets_(targets), max_bytes_(max_bytes), now_ns_(now_ns) {}
  RuntimeReads(const RuntimeReads&) = delete;
  RuntimeReads& operator=(const RuntimeReads&) = delete;

  void Add(ReadyCapture&& capture);
  // Captures that may be walked now, since it was last called.
  std::vector<ReadyCapture> TakeReady() { return std::exchange(ready_, {}); }
  // Any clock that does not go back.
  void Tick(uint64_t now_ns);
  // Nothing is being read, or is to be.
  bool idle() const;
  // Makes all ready that wait.
  void EndWaiting();

 private:
  struct Process {
    std::shared_ptr<Runtime> runtime;
    pid_t tid = 0;  // by which it is read
    std::deque<ReadyCapture> waiting;
    size_t asked = 0;  // how many of them a reading under way is for
    bool is_being_read = false;
    LookPace pace;

    bool is_done() const { return waiting.empty() && !is_being_read && !runtime->HasUnread(); }
  };

  void Ask(const ProcessKey& key, Process& process);
  void OnRead(const ProcessKey& key, uint64_t cpu_ns);
  void MakeReady(Process& process, size_t count);

  Targets& targets_;
  const size_t max_bytes_;
  uint64_t now_ns_;
  size_t bytes_ = 0;
  std::vector<ReadyCapture> ready_;
  absl::flat_hash_map<ProcessKey, Process> processes_;  // that are read, or were not long ago
};

}  // namespace offcpu

#endif  // OFFCPU_RECORDER_RUNTIME_READS_H_
