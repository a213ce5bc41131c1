// Turns at what only a few may do at a time, in the order in which they are asked for. If turns came by chance, some of
// many clients would wait until their time is over.
//
// Threads: any.
#ifndef OFFCPU_DAEMON_TURNS_H_
#define OFFCPU_DAEMON_TURNS_H_

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "os/reader_pool.h"

namespace offcpu {

class Turns {
 public:
  using Clock = std::chrono::steady_clock;

  // Ends when it is destroyed. Its Turns must outlive it.
  using Turn = std::unique_ptr<Turns, void (*)(Turns*)>;

  explicit Turns(size_t at_once) : at_once_(at_once) {}

  // Waits for a turn. ResourceExhausted if it has not come by `deadline`; Cancelled soon after `is_cancelled` is true.
  // The message names `what`. Who is first also waits until `has_room` is true: it is asked under the lock, every 50 ms
  // at least, and must not use this object.
  absl::StatusOr<Turn> Await(
      const char* what, Clock::time_point deadline, const IsCancelled& is_cancelled,
      absl::FunctionRef<bool()> has_room = [] { return true; });

 private:
  void End();

  const size_t at_once_;
  std::mutex mutex_;
  std::condition_variable changed_;
  size_t running_ = 0;               // guarded by mutex_, as what follows is
  std::deque<const void*> waiting_;  // who came first is in front
};

}  // namespace offcpu

#endif  // OFFCPU_DAEMON_TURNS_H_
