// The service's recording: one recorder, cut into windows by a thread of its own, and the windows.
//
// Threads: any may ask; Reload one at a time. Destroying it ends the recording; what asks must have ended before.
#ifndef OFFCPU_DAEMON_RECORDING_H_
#define OFFCPU_DAEMON_RECORDING_H_

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/config.h"
#include "daemon/recording_requests.h"
#include "daemon/window_store.h"
#include "recorder/recorder.h"

namespace offcpu {

// Gets the pieces of each window that has ended, on the recording's thread: may not wait.
using WindowSink = std::function<void(WindowPieces window)>;
using StartRecorder = std::function<absl::StatusOr<std::unique_ptr<Recorder>>(const DaemonConfig& config)>;

// Totals of all that has been recorded since the service started, up to the last cut.
struct RecordingTotals {
  ProfileStats stats;
  std::array<uint64_t, kWaitKindCount> count = {};  // by WaitKind, as the others are
  std::array<uint64_t, kWaitKindCount> blocked_ns = {};
  std::array<uint64_t, kWaitKindCount> runnable_ns = {};
  uint64_t samples = 0;  // on-CPU
  uint64_t cpu_ns = 0;   // that they stand for
  // Now; as RecorderProgress has them.
  double budget_ns = 0;        // CPU time that it might have cost
  bool adapts_sample = false;  // see RecorderProgress
  uint64_t threshold_ns = 0;
};

class Recording {
 public:
  using Clock = std::chrono::steady_clock;

  static absl::StatusOr<std::unique_ptr<Recording>> Start(const DaemonConfig& config, StartRecorder start,
                                                          WindowSink sink = nullptr);
  // The running window ends, and goes to the sink.
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  // Whatever was recorded before the call is in a window when it returns OK. Those that ask at one time are served by
  // one cut.
  absl::Status CutNow(Clock::time_point deadline) { return requests_.AwaitCut(deadline); }

  // Ends the calls that wait for a cut, and from then on none waits: the service ends.
  void Interrupt() { requests_.Interrupt(); }

  // Goes over to `config`; after an error all is as it was. If something else is to be recorded, the new recorder
  // starts before the old one stops: nothing is lost, and some milliseconds are in two windows.
  absl::Status Reload(const DaemonConfig& config) { return requests_.AwaitReload(config); }

  const WindowStore& windows() const { return store_; }
  WindowStore& windows() { return store_; }
  DaemonConfig config() const;
  RecordingTotals totals() const;
  // Why the last window that failed could not be had; empty: none has.
  std::string last_error() const;
  // Since it was last seen that windows are cut and the recorder's threads go on: a second or two, or what a cut takes.
  std::chrono::nanoseconds since_beat() const { return Clock::now() - last_beat_.load(); }
  // Unavailable if that is too long. With a little patience: under load a cut takes some seconds.
  absl::Status CheckHealth() const;

 private:
  Recording(const DaemonConfig& config, StartRecorder start, WindowSink sink, std::unique_ptr<Recorder> recorder);

  void Loop();
  void Beat();
  absl::Status Change(const DaemonConfig& config);
  void Count(const Profile& piece);
  void Keep(absl::StatusOr<Profile> piece, bool ends_window);

  const StartRecorder start_;
  const WindowSink sink_;
  WindowStore store_;
  RecordingRequests requests_;
  std::unique_ptr<Recorder> recorder_;  // of the thread, as the next two are
  RecorderProgress progress_;           // when it was last asked
  Clock::time_point window_end_;
  std::atomic<Clock::time_point> last_beat_{Clock::now()};

  mutable std::mutex mutex_;
  DaemonConfig config_;  // guarded by mutex_, as what follows is
  std::string last_error_;
  RecordingTotals totals_;

  std::thread thread_;  // last: it uses all of the above
};

}  // namespace offcpu

#endif  // OFFCPU_DAEMON_RECORDING_H_
