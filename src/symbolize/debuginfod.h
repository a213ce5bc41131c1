// Fetches separate debug files by their build ids from the servers that $DEBUGINFOD_URLS names, into the cache that all
// clients of debuginfod share. The library that does it (libdebuginfod, with curl behind it) is loaded only where
// somebody asks for it, so that no other run depends on it. Its own variables hold: DEBUGINFOD_CACHE_PATH,
// DEBUGINFOD_TIMEOUT, DEBUGINFOD_MAXTIME, DEBUGINFOD_MAXSIZE and others. One thread.
#ifndef OFFCPU_SYMBOLIZE_DEBUGINFOD_H_
#define OFFCPU_SYMBOLIZE_DEBUGINFOD_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "os/owned_fd.h"

namespace offcpu {

struct DebuginfodLimits {
  std::chrono::milliseconds silence{20'000};  // in which no byte comes; after the second such file there is no other
  std::chrono::milliseconds all{180'000};     // for all files together
  uint64_t max_file_bytes = uint64_t{4} << 30;
};

struct FetchProgress {
  std::string_view name;   // of the module
  uint64_t bytes = 0;      // so far
  uint64_t all_bytes = 0;  // 0: not known
};

// Is called at least once a second while a file is waited for. False: nothing more is to be fetched.
using FetchWatch = std::function<bool(const FetchProgress& progress)>;

class Debuginfod {
 public:
  // InvalidArgument, with what to do, if no server is named or there is no library.
  static absl::StatusOr<std::unique_ptr<Debuginfod>> Open(FetchWatch watch, const DebuginfodLimits& limits = {});
  Debuginfod(const Debuginfod&) = delete;
  Debuginfod& operator=(const Debuginfod&) = delete;
  ~Debuginfod();

  // The debug file with that build id, in lower-case hex. NotFound if no server has it; another error if it could not
  // be fetched, or may not be any more.
  absl::StatusOr<OwnedFd> Fetch(const std::string& build_id, std::string_view name);
  // Why a file could not be fetched, the first time; "" if all went well.
  const std::string& problem() const { return problem_; }

 private:
  struct Library;
  struct Client;

  Debuginfod(std::unique_ptr<Library> library, FetchWatch watch, const DebuginfodLimits& limits);
  bool MayGoOn(uint64_t bytes, uint64_t all_bytes);
  absl::Status Failed(std::string why);

  const std::unique_ptr<Library> library_;
  const FetchWatch watch_;
  const DebuginfodLimits limits_;
  Client* client_ = nullptr;
  std::chrono::nanoseconds spent_{0};
  int silent_ = 0;        // files
  bool is_over_ = false;  // nothing more is fetched
  std::string problem_;
  // The file that is being fetched:
  FetchProgress progress_;
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point heard_;  // when a byte came last
  std::string given_up_;                         // why fetching stopped
};

}  // namespace offcpu

#endif  // OFFCPU_SYMBOLIZE_DEBUGINFOD_H_
