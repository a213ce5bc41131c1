// Profiles for those who ask by HTTP: at most kMost at a time, whether they are made or wait for their seconds to pass,
// on two threads. Waiting takes no thread. Threads: any.
#ifndef OFFCPU_DAEMON_HTTP_PROFILES_H_
#define OFFCPU_DAEMON_HTTP_PROFILES_H_

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "daemon/dumps.h"
#include "daemon/http_connections.h"
#include "daemon/recording.h"

namespace offcpu {

struct HttpProfileRequest {
  std::string name;  // of the file that it is to be; empty: it is shown
  OutputFormat format = OutputFormat::kPprof;
  std::chrono::seconds next{0};  // the time from now on; 0: what the windows hold
  // Only windows that have something of this span; 0: from the oldest, to now.
  uint64_t since_unix_ns = 0;
  uint64_t until_unix_ns = 0;
};

class HttpProfiles {
 public:
  static constexpr size_t kMost = 8;

  using Id = HttpConnections::Id;
  using OnAnswer = std::function<void(Id id, HttpResponse answer)>;

  // What it is made of must outlive it.
  HttpProfiles(Recording& recording, Dumps& dumps, OnAnswer on_answer)
      : recording_(recording), dumps_(dumps), on_answer_(std::move(on_answer)) {}
  ~HttpProfiles() { Stop(); }
  HttpProfiles(const HttpProfiles&) = delete;
  HttpProfiles& operator=(const HttpProfiles&) = delete;

  // Unavailable if there are no threads for it. Once, as Stop() may be called: what is being made is waited for then,
  // and nothing else.
  absl::Status Start();
  void Stop();

  // False if there are too many.
  bool Add(Id id, HttpProfileRequest request);
  // Nobody waits for it any more.
  void Cancel(Id id);
  // That were too many.
  uint64_t refused() const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Job {
    Id id = 0;
    HttpProfileRequest request;
    Clock::time_point due;  // when there is something to do for it
    bool is_cut = false;    // what was before it is in other windows
    uint64_t since_boot_ns = 0;
    std::unique_ptr<WindowStore::Boundary> boundary;  // there
    bool is_running = false;
    bool is_cancelled = false;
  };

  void Loop();
  std::list<Job>::iterator NextLocked();
  std::optional<HttpResponse> Step(Job& job);
  HttpResponse Make(const Job& job);

  Recording& recording_;
  Dumps& dumps_;
  const OnAnswer on_answer_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::list<Job> jobs_;  // guarded by mutex_, as what follows is; a job that is running is its thread's
  uint64_t refused_ = 0;
  bool stop_ = false;
  std::array<std::thread, 2> threads_;  // last: they use all of the above
};

}  // namespace offcpu

#endif  // OFFCPU_DAEMON_HTTP_PROFILES_H_
