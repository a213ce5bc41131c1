// Profiles of what a recording holds, put together for clients. One at a time, because that takes memory; and what
// clients have not yet taken is bounded in bytes, so that who is slow makes others wait and the service no larger.
// Threads: any.
#ifndef OFFCPU_DAEMON_DUMPS_H_
#define OFFCPU_DAEMON_DUMPS_H_

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "daemon/recording.h"
#include "output/format.h"
#include "symbolize/idle_patterns.h"
#include "symbolize/name_cache.h"

namespace offcpu {

struct DumpSelection {
  // The windows that have something of it, the running one too; 0: from the oldest, to now.
  uint64_t since_unix_ns = 0;
  uint64_t until_unix_ns = 0;
  std::vector<int32_t> pids;       // rows of these processes; none: of all
  std::vector<std::string> comms;  // of threads of these names, with * and ?; none: of all
};

class Dumps {
 public:
  static constexpr size_t kMaxNameBytes = 8u << 20;

  // What was put together; takes up room as long as it lives.
  using Dump = std::shared_ptr<const std::string>;

  // `recording` must outlive it, and it must outlive what it has made.
  explicit Dumps(Recording& recording) : recording_(recording) {}

  // DeadlineExceeded if the running window could not be had in time, ResourceExhausted if there was no room.
  absl::StatusOr<Dump> Make(const DumpSelection& selection, OutputFormat format,
                            std::chrono::steady_clock::time_point deadline);

  // What waits for work, in dumps that are begun from now on; without this, what is shipped.
  void SetIdlePatterns(IdlePatterns patterns);

 private:
  std::shared_ptr<const IdlePatterns> idle();
  std::string Format(const DumpSelection& selection, OutputFormat format);
  void Release(const std::string* bytes);

  Recording& recording_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool making_ = false;    // guarded by mutex_, as what follows is
  size_t held_bytes_ = 0;  // of dumps that live
  std::shared_ptr<const IdlePatterns> idle_ = std::make_shared<IdlePatterns>(DefaultIdlePatterns());
  NameCache names_{kMaxNameBytes};  // of who makes one
};

}  // namespace offcpu

#endif  // OFFCPU_DAEMON_DUMPS_H_
