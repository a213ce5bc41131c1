// The sockets of the service's HTTP: one thread accepts, reads heads and writes answers, and waits for no client. One
// request a connection.
//
// Any process on the host may connect, so what a client can take is bounded: the number of connections, the bytes of a
// head, and the time for a head and for taking an answer, as a whole and not from byte to byte. When there is no room
// for one more, the one goes that has longest owed its request or kept us from handing over its answer: a client that
// does what it came for passes however many there are that do not. Those whose answer is being made are never the one.
#ifndef OFFCPU_DAEMON_HTTP_CONNECTIONS_H_
#define OFFCPU_DAEMON_HTTP_CONNECTIONS_H_

#include <poll.h>

#include <atomic>
#include <chrono>
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
#include <vector>

#include "absl/status/status.h"
#include "daemon/http_access.h"
#include "daemon/http_request.h"
#include "daemon/http_response.h"
#include "daemon/tls.h"
#include "os/owned_fd.h"

namespace offcpu {

struct HttpLimits {
  size_t connections = 64;
  size_t head_bytes = 8192;
  std::chrono::milliseconds head_time{5'000};
  std::chrono::milliseconds answer_time{30'000};  // for a client to take it
  size_t answer_bytes = 8u << 20;  // that wait to be taken; beyond it the oldest answer goes, and never the newest
};

// Requests that were answered, and connections that were ended from our side without an answer.
struct HttpStats {
  uint64_t answered = 0;          // with an error, too: the last two are among them
  uint64_t late_heads = 0;        // not there in time
  uint64_t late_answers = 0;      // not taken in time
  uint64_t no_room = 0;           // for one more connection, or for one more answer
  uint64_t no_tls = 0;            // what came was none, or with a certificate that is not believed
  uint64_t not_allowed = 0;       // requests that have not shown what is asked for
  uint64_t refused_profiles = 0;  // requests for profiles that were too many at a time
};

struct HttpClient {
  bool is_tls = false;
  bool is_allowed = false;  // has shown all that is asked for
};

class HttpConnections {
 public:
  using Id = uint64_t;
  // Called on the server's thread; may not wait. Nothing: the answer comes by Answer().
  using OnRequest = std::function<std::optional<HttpResponse>(Id id, const HttpRequest& request, HttpClient client)>;
  // The client of a request without an answer has gone.
  using OnGone = std::function<void(Id id)>;

  // `listener` is a listening socket.
  HttpConnections(OwnedFd listener, std::shared_ptr<const HttpAccess> access, const HttpLimits& limits,
                  OnRequest on_request, OnGone on_gone);
  ~HttpConnections() { Stop(); }
  HttpConnections(const HttpConnections&) = delete;
  HttpConnections& operator=(const HttpConnections&) = delete;

  // Unavailable if there is no thread for it. Once, as Stop() may be called: then nothing is called any more.
  absl::Status Start();
  void Stop();

  int listener() const { return listener_.get(); }
  // Applies to connections from now on. Any thread may call this and the next two.
  void SetAccess(std::shared_ptr<const HttpAccess> access);
  // Nothing happens if the client has gone.
  void Answer(Id id, HttpResponse answer);
  HttpStats stats() const;

 private:
  using Clock = std::chrono::steady_clock;
  enum class State { kReading, kWaiting, kWriting, kEnded };
  struct Connection {
    Id id = 0;
    OwnedFd socket;
    std::shared_ptr<const HttpAccess> access;
    std::unique_ptr<TlsConnection> tls;  // null: plain; after the socket, which it uses
    State state = State::kReading;
    Clock::time_point since;  // that it is in that state
    std::string bytes;        // of the head that was read, or of the one that is written
    std::shared_ptr<const std::string> body;
    size_t written = 0;        // of both
    bool is_bodiless = false;  // what it asked for

    size_t body_bytes() const { return body == nullptr ? 0 : body->size(); }
  };
  using Connections = std::list<Connection>;

  void Loop();
  int Poll(std::vector<pollfd>& polled) const;
  static short EventsOf(const Connection& connection);
  void Accept();
  void Add(OwnedFd socket);
  bool MakeRoom();
  bool EndLongest(State state, Id except);
  void TakeAnswers();
  // What follows says whether the connection goes on.
  bool Serve(Connection& connection, short events);
  bool Read(Connection& connection);
  bool Reply(Connection& connection, HttpResponse answer);
  bool Write(Connection& connection);
  bool IsForLater(const Connection& connection, int error);
  bool IsInTime(const Connection& connection);

  const OwnedFd listener_;
  const OwnedFd wake_;
  const HttpLimits limits_;
  const OnRequest on_request_;
  const OnGone on_gone_;
  Connections connections_;  // of the thread, as the next two are; oldest first
  Id last_id_ = 0;
  Clock::time_point accept_at_;  // not before
  std::atomic<uint64_t> answered_{0};
  std::atomic<uint64_t> late_heads_{0};
  std::atomic<uint64_t> late_answers_{0};
  std::atomic<uint64_t> no_room_{0};
  std::atomic<bool> stop_{false};
  std::atomic<uint64_t> no_tls_{0};
  std::mutex mutex_;
  std::vector<std::pair<Id, HttpResponse>> answers_;  // guarded by mutex_, as the next one is
  std::shared_ptr<const HttpAccess> access_;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace offcpu

#endif  // OFFCPU_DAEMON_HTTP_CONNECTIONS_H_
