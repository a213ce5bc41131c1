// What callers want of the recording's thread: cuts of the running window, and another configuration. A cut serves all
// who asked for one before it began, and nobody else: what was recorded before a call is in a window when it returns.
//
// Threads: any may ask, one at a time for a configuration; the recording's thread serves.
#ifndef OFFCPU_DAEMON_RECORDING_REQUESTS_H_
#define OFFCPU_DAEMON_RECORDING_REQUESTS_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>

#include "absl/status/status.h"
#include "daemon/config.h"

namespace offcpu {

class RecordingRequests {
 public:
  using Clock = std::chrono::steady_clock;

  // Waits for a cut that begins after the call, and returns its status; DeadlineExceeded, or Cancelled after Interrupt.
  absl::Status AwaitCut(Clock::time_point deadline);
  // Waits until the thread has gone over to `config`, or could not.
  absl::Status AwaitReload(const DaemonConfig& config);
  // Ends the calls of AwaitCut, and from then on none waits.
  void Interrupt();
  // The thread shall end.
  void Stop();

  struct Wanted {
    bool stop = false;
    std::optional<DaemonConfig> config;
    bool cut = false;
    uint64_t last_cut = 0;  // number of the last call that a cut from now on serves
  };
  // For the thread: waits until something is wanted, at most until `end`.
  Wanted Await(Clock::time_point end);
  void Reloaded(absl::Status status);
  // A cut has ended that began after the thread knew of `last_cut`.
  void CutDone(uint64_t last_cut, absl::Status status);

 private:
  std::mutex mutex_;
  std::condition_variable wanted_;
  std::condition_variable done_;
  bool stop_ = false;  // guarded by mutex_, as what follows is
  bool interrupted_ = false;
  uint64_t cuts_wanted_ = 0;  // numbers of those who asked
  uint64_t cuts_done_ = 0;
  absl::Status cut_status_;  // of the last one
  std::optional<DaemonConfig> next_config_;
  absl::Status reload_status_;
};

}  // namespace offcpu

#endif  // OFFCPU_DAEMON_RECORDING_REQUESTS_H_
