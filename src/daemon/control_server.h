// The control socket: takes connections, checks who is there, reads one request of each and has it answered. A thread
// for each connection, so that a client that is slow, or sends nonsense, harms itself only; their number is bounded,
// and so are the time and the bytes that a client may take. For whom no thread can be started is told so.
//
// Knows nothing of what is asked. Needs SIGPIPE to be of no consequence (it never raises it).
#ifndef OFFCPU_DAEMON_CONTROL_SERVER_H_
#define OFFCPU_DAEMON_CONTROL_SERVER_H_

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/framing.h"
#include "process/owned_fd.h"
#include "process/reader_pool.h"

namespace offcpu {

inline constexpr size_t kMaxRequestBytes = 64u << 10;
inline constexpr size_t kMaxClients = 48;  // a thread each, of the 128 tasks that the service's unit allows

struct ControlLimits {
  std::optional<gid_t> group;  // whose members may ask, beside root and the user that the service runs as
  size_t clients = 32;         // served at a time; kMaxClients are, whatever it is
  std::chrono::nanoseconds timeout{10'000'000'000};  // for the request, and for taking the answer
};

// Sends one message to the client. Once it has failed, it fails for good.
using SendReply = std::function<absl::Status(std::string_view message)>;
// Answers a request. Called from many threads. `is_cancelled`: the client has gone, or the server ends.
using AnswerRequest =
    std::function<void(std::string_view request, const SendReply& send, const IsCancelled& is_cancelled)>;
// What a client is told that is not served.
using FormatError = std::function<std::string(const absl::Status& status)>;

// A listening socket at `path` that `group` may use, in place of one that nobody listens at. Makes its directory.
// AlreadyExists if another service listens there.
absl::StatusOr<OwnedFd> ListenAt(const std::string& path, std::optional<gid_t> group);

// Whether the process at the other end may ask.
absl::Status CheckPeer(int fd, std::optional<gid_t> group);

class ControlServer {
 public:
  // ResourceExhausted if its thread cannot be started.
  static absl::StatusOr<std::unique_ptr<ControlServer>> Start(OwnedFd listener, const ControlLimits& limits,
                                                              AnswerRequest answer, FormatError format_error);
  // Calls off what is being answered, and closes all connections.
  ~ControlServer();
  ControlServer(const ControlServer&) = delete;
  ControlServer& operator=(const ControlServer&) = delete;

  // For connections that come from now on.
  void SetLimits(const ControlLimits& limits);

 private:
  struct Connection {
    OwnedFd socket;
    std::thread thread;
    std::atomic<bool> done{false};
  };

  ControlServer(OwnedFd listener, const ControlLimits& limits, AnswerRequest answer, FormatError format_error);

  void AcceptLoop();
  void Begin(OwnedFd socket, const ControlLimits& limits);
  void Serve(int fd, const ControlLimits& limits);
  void Reap(bool all);

  const OwnedFd listener_;
  const OwnedFd stop_event_;
  const AnswerRequest answer_;
  const FormatError format_error_;
  std::atomic<bool> stopping_{false};
  std::mutex mutex_;
  ControlLimits limits_;               // guarded by mutex_
  std::list<Connection> connections_;  // of the accepting thread
  std::thread thread_;
};

}  // namespace offcpu

#endif  // OFFCPU_DAEMON_CONTROL_SERVER_H_
