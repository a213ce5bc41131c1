// Profiles of what a recording holds, put together for clients. One at a time, because that takes memory, in their
// order once the running window has been cut for them; and what clients have not yet taken is bounded in bytes, so that
// who is slow makes others wait and the service no larger.
//
// Threads: any.
#ifndef OFFCPU_DAEMON_DUMPS_H_
#define OFFCPU_DAEMON_DUMPS_H_

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "classify/idle_patterns.h"
#include "daemon/recording.h"
#include "daemon/turns.h"
#include "os/reader_pool.h"
#include "output/format.h"
#include "recorder/clocks.h"
#include "symbolize/name_cache.h"

namespace offcpu {

struct DumpSelection {
  // The windows that have something of it, the running one too, by CLOCK_BOOTTIME; 0: from the oldest, to now.
  uint64_t since_boot_ns = 0;
  uint64_t until_boot_ns = 0;
  std::vector<int32_t> pids;       // rows of these processes; none: of all
  std::vector<std::string> comms;  // of threads of these names, with * and ?; none: of all
  bool for_browser = false;        // a page that is shown at once: it says what else there is to ask for
};

class Dumps {
 public:
  static constexpr size_t kMaxNameBytes = 8u << 20;

  // What was put together; takes up room as long as it lives.
  using Dump = std::shared_ptr<const std::string>;

  // `recording` must outlive it, and it must outlive what it has made. Files of targets are read on `readers`; null:
  // its own.
  explicit Dumps(Recording& recording, std::shared_ptr<ReaderPool> readers = nullptr,
                 std::function<Clocks()> read_clocks = ReadClocks)
      : recording_(recording),
        unix_time_(std::move(read_clocks)),
        readers_(readers != nullptr ? std::move(readers) : std::make_shared<ReaderPool>()) {}

  // DeadlineExceeded if the running window could not be had in time, ResourceExhausted if its turn has not come by
  // then, Cancelled as soon as `is_cancelled` says so.
  absl::StatusOr<Dump> Make(
      const DumpSelection& selection, OutputFormat format, std::chrono::steady_clock::time_point deadline,
      const IsCancelled& is_cancelled = [] { return false; });

  // Calls off those that are being made, and makes none from then on.
  void Stop() { stopping_ = true; }

  // By which requests are read and profiles are dated: as the clock is set now, whenever they were recorded.
  UnixTime& unix_time() { return unix_time_; }

  // What waits for work, in dumps that are begun from now on; without this, what is shipped.
  void SetIdlePatterns(IdlePatterns patterns);

 private:
  std::shared_ptr<const IdlePatterns> idle();
  std::string Format(const DumpSelection& selection, OutputFormat format, const IsCancelled& is_cancelled);

  Recording& recording_;
  UnixTime unix_time_;
  const std::shared_ptr<ReaderPool> readers_;
  std::atomic<bool> stopping_{false};
  Turns turns_{1};
  std::atomic<size_t> held_bytes_{0};  // of dumps that live
  NameCache names_{kMaxNameBytes};     // of who has the turn
  std::mutex mutex_;
  // Guarded by mutex_.
  std::shared_ptr<const IdlePatterns> idle_ = std::make_shared<IdlePatterns>(DefaultIdlePatterns());
};

}  // namespace offcpu

#endif  // OFFCPU_DAEMON_DUMPS_H_
