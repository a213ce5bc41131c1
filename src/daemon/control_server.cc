#include "daemon/control_server.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "daemon/control_socket.h"
#include "daemon/socket_io.h"
#include "os/start_thread.h"

namespace offcpu {
namespace {

constexpr int kConnectionsAtOnce = 64;                          // then those that are there have their turn
constexpr std::chrono::milliseconds kControlWithoutFiles(100);  // until it is tried again
constexpr std::chrono::milliseconds kControlLook(1000);         // at the latest
constexpr std::chrono::milliseconds kAtOnce(100);               // for what has room in the socket's buffer

// Has the client gone? One that has only said all that it has to say waits for an answer.
bool HasGone(int fd) {
  pollfd socket = {.fd = fd, .events = 0, .revents = 0};
  return poll(&socket, 1, 0) > 0 && (socket.revents & (POLLHUP | POLLERR)) != 0;
}

absl::Status SendAnswer(int fd, const HttpResponse& answer, Deadline deadline) {
  const absl::Status sent = SendAll(fd, HttpHeadOf(answer), deadline);
  return sent.ok() && answer.body != nullptr ? SendAll(fd, *answer.body, deadline) : sent;
}

}  // namespace

ControlServer::ControlServer(OwnedFd listener, const ControlLimits& limits, AnswerRequest answer)
    : listener_(std::move(listener)),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      answer_(std::move(answer)),
      next_limits_(limits) {
  fcntl(listener_.get(), F_SETFL, O_NONBLOCK);  // who gave up in the meantime is not waited for
}

absl::StatusOr<std::unique_ptr<ControlServer>> ControlServer::Start(OwnedFd listener, const ControlLimits& limits,
                                                                    AnswerRequest answer) {
  std::unique_ptr<ControlServer> server(new ControlServer(std::move(listener), limits, std::move(answer)));
  absl::StatusOr<std::thread> thread = StartThread("control", [self = server.get()] { self->Loop(); });
  if (!thread.ok()) return thread.status();
  server->thread_ = *std::move(thread);
  return server;
}

ControlServer::~ControlServer() {
  stopping_ = true;
  eventfd_write(wake_.get(), 1);
  if (thread_.joinable()) thread_.join();
  for (const Connection& connection : connections_) shutdown(connection.socket.get(), SHUT_RDWR);
  Reap(true);
}

void ControlServer::SetLimits(const ControlLimits& limits) {
  {
    const std::lock_guard lock(mutex_);
    next_limits_ = limits;
  }
  eventfd_write(wake_.get(), 1);
}

ControlStats ControlServer::stats() const {
  return {.late_requests = late_requests_, .late_answers = late_answers_, .no_room = no_room_};
}

void ControlServer::Loop() {
  std::vector<pollfd> polled;
  while (!stopping_) {
    {
      const std::lock_guard lock(mutex_);
      limits_ = next_limits_;
    }
    Poll(polled);
    if (polled[0].revents != 0) {
      eventfd_t ignored = 0;
      eventfd_read(wake_.get(), &ignored);
    }
    ServeUnanswered(polled);
    Reap(false);
    if (polled[1].revents != 0) Accept();
    BeginAnswers();
  }
}

// The wake file, the listener, and the connections that are not being answered in their order.
void ControlServer::Poll(std::vector<pollfd>& polled) const {
  const Clock::time_point now = Clock::now();
  const bool accepts = now >= accept_at_;
  std::chrono::milliseconds wait = accepts ? kControlLook : kControlWithoutFiles;
  polled = {{.fd = wake_.get(), .events = POLLIN, .revents = 0},
            {.fd = accepts ? listener_.get() : -1, .events = POLLIN, .revents = 0}};
  for (const Connection& connection : connections_) {
    if (connection.state == State::kAnswering) continue;
    const bool reads = connection.state == State::kReading;
    if (reads) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(LatestOf(connection) - now);
      wait = std::clamp(left, std::chrono::milliseconds(0), wait);
    }
    polled.push_back({.fd = connection.socket.get(), .events = static_cast<short>(reads ? POLLIN : 0), .revents = 0});
  }
  // After an error the events are not valid.
  if (poll(polled.data(), polled.size(), static_cast<int>(wait.count())) < 0)
    for (pollfd& one : polled) one.revents = 0;
}

ControlServer::Clock::time_point ControlServer::LatestOf(const Connection& connection) const {
  const std::chrono::nanoseconds whole = limits_.timeout;
  return connection.since +
         (!connection.bytes.empty() ? whole : std::min<std::chrono::nanoseconds>(whole, limits_.silence));
}

void ControlServer::ServeUnanswered(const std::vector<pollfd>& polled) {
  auto seen = polled.begin() + 2;
  for (auto connection = connections_.begin(); connection != connections_.end();) {
    if (connection->state == State::kAnswering) {
      ++connection;
      continue;
    }
    const short events = (seen++)->revents;
    // That there is nothing more to be read is no reason to go, where a request is whole.
    const bool goes_on = connection->state == State::kReading ? Read(*connection) : (events & (POLLHUP | POLLERR)) == 0;
    connection = goes_on ? std::next(connection) : connections_.erase(connection);
  }
}

// Whether it goes on.
bool ControlServer::Read(Connection& connection) {
  const absl::StatusOr<bool> is_whole = TakeRequest(connection);
  if (is_whole.ok() && *is_whole) {
    connection.state = State::kWaiting;
    return true;
  }
  if (is_whole.ok() && Clock::now() < LatestOf(connection)) return true;
  if (is_whole.ok()) ++late_requests_;
  Refuse(connection.socket,
         is_whole.ok() ? absl::DeadlineExceededError("timed out: no complete request has arrived") : is_whole.status());
  return false;
}

// Takes what is there now, without waiting. True: the request is whole.
absl::StatusOr<bool> ControlServer::TakeRequest(Connection& connection) {
  std::array<char, 16384> piece;
  std::string& bytes = connection.bytes;
  while (true) {
    const ssize_t got = recv(connection.socket.get(), piece.data(), piece.size(), MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return false;
    if (got < 0) return absl::UnavailableError(strerror(errno));
    if (got == 0) return absl::UnavailableError("the connection was closed");
    // The end may have begun in what came before, and is looked for in no byte twice.
    const size_t seen = bytes.size() - std::min<size_t>(bytes.size(), 2);
    bytes.append(piece.data(), static_cast<size_t>(got));
    if (!absl::ascii_isupper(static_cast<unsigned char>(bytes.front())))
      return absl::InvalidArgumentError("this is not an HTTP request");
    const size_t rest = HttpHeadLength(std::string_view(bytes).substr(seen));
    if ((rest == 0 ? bytes.size() : seen + rest) > kMaxRequestBytes)
      return absl::InvalidArgumentError(absl::StrCat("the request is longer than ", kMaxRequestBytes, " bytes"));
    if (rest == 0) continue;
    absl::StatusOr<HttpRequest> request = ParseHttpRequest(std::string_view(bytes).substr(0, seen + rest));
    if (!request.ok()) return request.status();
    connection.request = *std::move(request);
    return true;
  }
}

void ControlServer::Accept() {
  for (int i = 0; i < kConnectionsAtOnce; ++i) {
    OwnedFd socket(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (socket) {
      Admit(std::move(socket));
      continue;
    }
    // Out of descriptors, say: the client waits on, and so do we.
    if (errno != EAGAIN && errno != ECONNABORTED) accept_at_ = Clock::now() + kControlWithoutFiles;
    return;
  }
}

void ControlServer::Admit(OwnedFd socket) {
  const absl::StatusOr<uid_t> uid = CheckPeer(socket.get(), limits_.group);
  if (!uid.ok()) return Refuse(socket, uid.status());
  Connection& added = connections_.emplace_back();
  added.socket = std::move(socket);
  added.uid = *uid;
  added.is_ours = IsOurs(*uid);
  added.since = Clock::now();
  if (!Read(added)) return connections_.pop_back();  // most have sent their request by now
  KeepWithinBounds(added.is_ours);
}

// The user who has the most connections loses one: the oldest that owes its request, or else the newest.
void ControlServer::KeepWithinBounds(bool is_ours) {
  std::map<uid_t, size_t> held;
  size_t all = 0;
  for (const Connection& connection : connections_) {
    if (connection.is_ours != is_ours || connection.state == State::kAnswering) continue;
    ++held[connection.uid];
    ++all;
  }
  if (all <= kMaxUnanswered) return;
  const uid_t most = std::max_element(held.begin(), held.end(), [](const auto& a, const auto& b) {
                       return a.second < b.second;
                     })->first;
  auto loses = connections_.end();
  for (auto connection = connections_.begin(); connection != connections_.end(); ++connection) {
    if (connection->uid != most || connection->state == State::kAnswering) continue;
    loses = connection;
    if (connection->state == State::kReading) break;
  }
  ++no_room_;
  Refuse(loses->socket,
         absl::ResourceExhaustedError(absl::StrCat("too many connections of user ", most, "; try again")));
  connections_.erase(loses);
}

void ControlServer::BeginAnswers() {
  for (auto next = NextToAnswer(); next != connections_.end(); next = NextToAnswer()) {
    next->state = State::kAnswering;
    Connection& connection = *next;
    absl::StatusOr<std::thread> thread =
        StartThread("control-client", [this, &connection, timeout = limits_.timeout] { Answer(connection, timeout); });
    if (thread.ok()) {
      connection.thread = *std::move(thread);
    } else {
      Refuse(connection.socket, thread.status());
      connections_.erase(next);
    }
  }
}

// Ours first, and then the oldest of the user who has the fewest answers now.
ControlServer::Connections::iterator ControlServer::NextToAnswer() {
  std::map<uid_t, size_t> answered;
  size_t all = 0;
  for (const Connection& connection : connections_) {
    if (connection.state != State::kAnswering) continue;
    ++answered[connection.uid];
    ++all;
  }
  const size_t places = std::min(std::max<size_t>(limits_.clients, 1), kMaxAnswers - kOurAnswers);
  const size_t places_of_one = (places + 1) / 2;
  auto next = connections_.end();
  for (auto connection = connections_.begin(); connection != connections_.end(); ++connection) {
    if (connection->state != State::kWaiting) continue;
    if (connection->is_ours) {
      if (all < places + kOurAnswers) return connection;
    } else if (all < places && answered[connection->uid] < places_of_one) {
      if (next == connections_.end() || answered[connection->uid] < answered[next->uid]) next = connection;
    }
  }
  return next;
}

void ControlServer::Answer(Connection& connection, std::chrono::nanoseconds timeout) {
  const int fd = connection.socket.get();
  {
    const HttpResponse answer = answer_(connection.request, [this, fd] { return stopping_ || HasGone(fd); });
    if (absl::IsDeadlineExceeded(SendAnswer(fd, answer, Clock::now() + timeout))) ++late_answers_;
  }
  shutdown(fd, SHUT_RDWR);
  connection.done = true;
  eventfd_write(wake_.get(), 1);
}

// There is room for it in the socket's buffer.
void ControlServer::Refuse(const OwnedFd& socket, const absl::Status& why) {
  SendAnswer(socket.get(), ErrorAnswer(why), Clock::now() + kAtOnce).IgnoreError();
}

void ControlServer::Reap(bool all) {
  for (auto connection = connections_.begin(); connection != connections_.end();) {
    if (!all && !connection->done) {
      ++connection;
      continue;
    }
    if (connection->thread.joinable()) connection->thread.join();
    connection = connections_.erase(connection);
  }
}

}  // namespace offcpu
