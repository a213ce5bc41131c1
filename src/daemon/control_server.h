// The control socket: takes connections, checks who is there, reads one request of HTTP of each and has it answered.
//
// Not the server of http_connections.h: here each client is a user, and users share what there is; there any process
// may connect, no client is known, and answers may wait for an hour.
//
// Members of the group may connect as often as they like, and say what they like. One thread has all connections until
// their requests are whole, and waits for none of them. An answer has a thread of its own: a client that takes it
// slowly harms itself only. So what a client can take is bounded: the time until its request begins, until it is whole
// and for taking the answer; bytes; answers at a time, of which each user has its part; and connections that are not
// being answered: with one more than there may be, the user who has the most of them loses one. Root and the user that
// the service runs as come first, and have places that nobody else takes.
//
// Knows nothing of what is asked. Needs SIGPIPE to be of no consequence (it never raises it).
#ifndef OFFCPU_DAEMON_CONTROL_SERVER_H_
#define OFFCPU_DAEMON_CONTROL_SERVER_H_

#include <poll.h>
#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/http_request.h"
#include "daemon/http_response.h"
#include "os/owned_fd.h"
#include "os/reader_pool.h"

namespace offcpu {

inline constexpr size_t kMaxRequestBytes = 64u << 10;  // of its head; what follows it is not read
inline constexpr size_t kMaxAnswers = 48;              // a thread each, of the 128 tasks that the service's unit allows
inline constexpr size_t kOurAnswers = 8;               // of these, the ones that only root and the service's user have
inline constexpr size_t kMaxUnanswered = 128;  // connections that are not being answered: of ours, and of all others

struct ControlLimits {
  std::optional<gid_t> group;  // whose members may ask, beside root and the user that the service runs as
  size_t clients = 32;         // members that are answered at a time, half of them of one user; up to the above
  std::chrono::nanoseconds timeout{10'000'000'000};  // for the request, and for taking the answer
  std::chrono::milliseconds silence{1'000};          // until the request begins
};

// Connections that were ended without an answer, or in the midst of one.
struct ControlStats {
  uint64_t late_requests = 0;  // not there in time
  uint64_t late_answers = 0;   // not taken in time
  uint64_t no_room = 0;        // for one more connection of a user
};

// Answers a request. Called from many threads. `is_cancelled`: the client has gone, or the server ends.
using AnswerRequest = std::function<HttpResponse(const HttpRequest& request, const IsCancelled& is_cancelled)>;

class ControlServer {
 public:
  // ResourceExhausted if its thread cannot be started.
  static absl::StatusOr<std::unique_ptr<ControlServer>> Start(OwnedFd listener, const ControlLimits& limits,
                                                              AnswerRequest answer);
  // Calls off what is being answered, and closes all connections.
  ~ControlServer();
  ControlServer(const ControlServer&) = delete;
  ControlServer& operator=(const ControlServer&) = delete;

  // For what begins from now on. Any thread, as of the next one.
  void SetLimits(const ControlLimits& limits);
  ControlStats stats() const;

 private:
  using Clock = std::chrono::steady_clock;
  enum class State { kReading, kWaiting, kAnswering };
  struct Connection {
    OwnedFd socket;
    uid_t uid = 0;
    bool is_ours = false;
    State state = State::kReading;
    Clock::time_point since;  // that it is there
    std::string bytes;        // of the request, as far as it has come
    HttpRequest request;      // once it is whole
    std::thread thread;       // of the answer
    std::atomic<bool> done{false};
  };
  using Connections = std::list<Connection>;

  ControlServer(OwnedFd listener, const ControlLimits& limits, AnswerRequest answer);

  void Loop();
  void Poll(std::vector<pollfd>& polled) const;
  Clock::time_point LatestOf(const Connection& connection) const;
  // Those that `polled` tells of, in the order of the list.
  void ServeUnanswered(const std::vector<pollfd>& polled);
  bool Read(Connection& connection);
  static absl::StatusOr<bool> TakeRequest(Connection& connection);
  void Accept();
  void Admit(OwnedFd socket);
  void KeepWithinBounds(bool is_ours);
  void BeginAnswers();
  Connections::iterator NextToAnswer();
  void Answer(Connection& connection, std::chrono::nanoseconds timeout);
  static void Refuse(const OwnedFd& socket, const absl::Status& why);
  void Reap(bool all);

  const OwnedFd listener_;
  const OwnedFd wake_;
  const AnswerRequest answer_;
  std::atomic<bool> stopping_{false};
  std::atomic<uint64_t> late_requests_{0};
  std::atomic<uint64_t> late_answers_{0};
  std::atomic<uint64_t> no_room_{0};
  std::mutex mutex_;
  ControlLimits next_limits_;    // guarded by mutex_
  ControlLimits limits_;         // of the thread, as what follows is
  Connections connections_;      // oldest first
  Clock::time_point accept_at_;  // not before
  std::thread thread_;
};

}  // namespace offcpu

#endif  // OFFCPU_DAEMON_CONTROL_SERVER_H_
