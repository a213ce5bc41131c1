#include "daemon/http_connections.h"

#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "os/start_thread.h"

namespace offcpu {
namespace {

constexpr int kAcceptAtOnce = 16;                        // then those that are there have their turn
constexpr std::chrono::milliseconds kWithoutFiles(100);  // until it is tried again
constexpr std::chrono::milliseconds kLook(1000);         // at the latest

// Closing with bytes unread would take back what was answered.
void ReadOff(int socket) {
  std::array<char, 16384> bytes;
  shutdown(socket, SHUT_WR);
  [[maybe_unused]] const ssize_t read = recv(socket, bytes.data(), bytes.size(), MSG_DONTWAIT);
}

}  // namespace

HttpConnections::HttpConnections(OwnedFd listener, std::shared_ptr<const HttpAccess> access, const HttpLimits& limits,
                                 OnRequest on_request, OnGone on_gone)
    : listener_(std::move(listener)),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      limits_(limits),
      on_request_(std::move(on_request)),
      on_gone_(std::move(on_gone)),
      access_(std::move(access)) {}

absl::Status HttpConnections::Start() {
  if (!wake_) return absl::UnavailableError("no file descriptor is left");
  absl::StatusOr<std::thread> started = StartThread("http", [this] { Loop(); });
  if (!started.ok()) return started.status();
  thread_ = *std::move(started);
  return absl::OkStatus();
}

void HttpConnections::Stop() {
  stop_ = true;
  eventfd_write(wake_.get(), 1);
  if (thread_.joinable()) thread_.join();
}

void HttpConnections::SetAccess(std::shared_ptr<const HttpAccess> access) {
  const std::lock_guard lock(mutex_);
  access_ = std::move(access);
}

void HttpConnections::Answer(Id id, HttpResponse answer) {
  {
    const std::lock_guard lock(mutex_);
    answers_.emplace_back(id, std::move(answer));
  }
  eventfd_write(wake_.get(), 1);
}

HttpStats HttpConnections::stats() const {
  return {.answered = answered_,
          .late_heads = late_heads_,
          .late_answers = late_answers_,
          .no_room = no_room_,
          .no_tls = no_tls_};
}

void HttpConnections::Loop() {
  std::vector<pollfd> polled;
  while (!stop_) {
    if (Poll(polled) < 0) continue;
    if (polled[0].revents != 0) {
      eventfd_t ignored = 0;
      eventfd_read(wake_.get(), &ignored);
    }
    auto seen = polled.begin() + 2;
    for (auto connection = connections_.begin(); connection != connections_.end(); ++seen) {
      const bool goes_on = Serve(*connection, seen->revents) && IsInTime(*connection);
      if (!goes_on && connection->state == State::kWaiting) on_gone_(connection->id);
      connection = goes_on ? std::next(connection) : connections_.erase(connection);
    }
    TakeAnswers();
    if (polled[1].revents != 0) Accept();
  }
}

short HttpConnections::EventsOf(const Connection& connection) {
  if (connection.state == State::kWaiting) return POLLRDHUP;
  if (connection.tls != nullptr) return connection.tls->events();
  return connection.state == State::kReading ? POLLIN : POLLOUT;
}

// The wake file, the listener, and the connections in their order.
int HttpConnections::Poll(std::vector<pollfd>& polled) const {
  const Clock::time_point now = Clock::now();
  std::chrono::milliseconds wait = kLook;
  polled = {{.fd = wake_.get(), .events = POLLIN, .revents = 0},
            {.fd = now < accept_at_ ? -1 : listener_.get(), .events = POLLIN, .revents = 0}};
  if (now < accept_at_) wait = kWithoutFiles;
  for (const Connection& connection : connections_) {
    const auto limit = connection.state == State::kReading ? limits_.head_time : limits_.answer_time;
    if (connection.state != State::kWaiting) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(connection.since + limit - now);
      wait = std::clamp(left, std::chrono::milliseconds(0), wait);
    }
    polled.push_back({.fd = connection.socket.get(), .events = EventsOf(connection), .revents = 0});
  }
  return poll(polled.data(), polled.size(), static_cast<int>(wait.count()));
}

void HttpConnections::Accept() {
  for (int i = 0; i < kAcceptAtOnce; ++i) {
    OwnedFd socket(accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    const int error = errno;
    if (!socket && (error == EMFILE || error == ENFILE || error == ENOMEM || error == ENOBUFS)) {
      if (!MakeRoom()) accept_at_ = Clock::now() + kWithoutFiles;
      return;
    }
    if (!socket) return;
    if (connections_.size() >= limits_.connections) MakeRoom();
    if (connections_.size() >= limits_.connections) {
      ++no_room_;
      continue;
    }
    Add(std::move(socket));
    // Most have sent their request by now, and need not wait for a turn.
    if (!Read(connections_.back())) connections_.pop_back();
  }
}

void HttpConnections::Add(OwnedFd socket) {
  Connection& added = connections_.emplace_back();
  added.id = ++last_id_;
  added.socket = std::move(socket);
  added.since = Clock::now();
  {
    const std::lock_guard lock(mutex_);
    added.access = access_;
  }
  if (const TlsServer* tls = added.access->tls()) added.tls = std::make_unique<TlsConnection>(*tls, added.socket.get());
}

bool HttpConnections::MakeRoom() {
  if (!EndLongest(State::kReading, 0) && !EndLongest(State::kWriting, 0)) return false;
  connections_.remove_if([](const Connection& connection) { return connection.state == State::kEnded; });
  return true;
}

// Leaves it in the list, which may be gone through just now.
bool HttpConnections::EndLongest(State state, Id except) {
  auto longest = connections_.end();
  for (auto connection = connections_.begin(); connection != connections_.end(); ++connection) {
    if (connection->state != state || connection->id == except) continue;
    if (longest == connections_.end() || connection->since < longest->since) longest = connection;
  }
  if (longest == connections_.end()) return false;
  ++no_room_;
  longest->state = State::kEnded;
  longest->tls.reset();
  longest->socket.reset();
  longest->body.reset();
  return true;
}

void HttpConnections::TakeAnswers() {
  std::vector<std::pair<Id, HttpResponse>> answers;
  {
    const std::lock_guard lock(mutex_);
    answers.swap(answers_);
  }
  for (auto& [id, answer] : answers) {
    const auto connection = std::find_if(connections_.begin(), connections_.end(),
                                         [asked = id](const Connection& other) { return other.id == asked; });
    if (connection == connections_.end() || connection->state != State::kWaiting) continue;  // it has gone
    if (!Reply(*connection, std::move(answer))) connections_.erase(connection);
  }
}

bool HttpConnections::Serve(Connection& connection, short events) {
  if (connection.state == State::kEnded) return false;
  if (events == 0) return true;
  if (connection.state == State::kWaiting) return false;  // it has gone
  return connection.state == State::kReading ? Read(connection) : Write(connection);
}

// EAGAIN and its like: there will be more.
bool HttpConnections::IsForLater(const Connection& connection, int error) {
  if (connection.tls != nullptr && error == EPROTO) ++no_tls_;
  return error == EAGAIN || error == EWOULDBLOCK || error == EINTR;
}

bool HttpConnections::Read(Connection& connection) {
  std::array<char, 4096> bytes;
  // To the end of what is there: of what TLS has in store poll(2) tells nothing.
  while (HttpHeadLength(connection.bytes) == 0 && connection.bytes.size() <= limits_.head_bytes) {
    const ssize_t n = connection.tls != nullptr ? connection.tls->Read(bytes.data(), bytes.size())
                                                : recv(connection.socket.get(), bytes.data(), bytes.size(), 0);
    if (n < 0) return IsForLater(connection, errno);
    if (n == 0) return false;
    connection.bytes.append(bytes.data(), static_cast<size_t>(n));
  }
  const size_t length = HttpHeadLength(connection.bytes);
  if (length == 0 || length > limits_.head_bytes) return Reply(connection, TextAnswer(431, "the request is too long"));
  const absl::StatusOr<HttpRequest> request = ParseHttpRequest(std::string_view(connection.bytes).substr(0, length));
  if (!request.ok()) return Reply(connection, TextAnswer(400, std::string(request.status().message())));
  connection.is_bodiless = request->method == "HEAD";
  connection.bytes.clear();
  connection.state = State::kWaiting;
  const bool has_certificate = connection.tls != nullptr && connection.tls->has_certificate();
  const HttpClient client = {.is_tls = connection.tls != nullptr,
                             .is_allowed = connection.access->Allows(request->authorization, has_certificate)};
  std::optional<HttpResponse> answer = on_request_(connection.id, *request, client);
  return !answer.has_value() || Reply(connection, *std::move(answer));
}

bool HttpConnections::Reply(Connection& connection, HttpResponse answer) {
  ++answered_;
  connection.state = State::kWriting;
  connection.since = Clock::now();
  connection.bytes = HttpHeadOf(answer);
  connection.body = connection.is_bodiless ? nullptr : std::move(answer.body);
  if (!Write(connection)) return false;
  size_t bytes = 0;
  for (const Connection& other : connections_) bytes += other.body_bytes();
  // What was made for one who does not take it would be held for a while, again and again.
  while (bytes > limits_.answer_bytes && EndLongest(State::kWriting, connection.id)) {
    bytes = 0;
    for (const Connection& other : connections_) bytes += other.body_bytes();
  }
  return true;
}

bool HttpConnections::Write(Connection& connection) {
  const std::string_view body = connection.body == nullptr ? std::string_view() : *connection.body;
  while (connection.written < connection.bytes.size() + body.size()) {
    const bool is_head = connection.written < connection.bytes.size();
    const std::string_view left = is_head ? std::string_view(connection.bytes).substr(connection.written)
                                          : body.substr(connection.written - connection.bytes.size());
    const int flags = MSG_NOSIGNAL | (is_head && !body.empty() ? MSG_MORE : 0);
    const ssize_t n = connection.tls != nullptr ? connection.tls->Write(left)
                                                : send(connection.socket.get(), left.data(), left.size(), flags);
    if (n < 0) return IsForLater(connection, errno);
    if (n == 0) return false;
    connection.written += static_cast<size_t>(n);
  }
  if (connection.tls != nullptr) connection.tls->End();
  ReadOff(connection.socket.get());
  return false;
}

bool HttpConnections::IsInTime(const Connection& connection) {
  if (connection.state == State::kWaiting) return true;
  const bool reads = connection.state == State::kReading;
  if (Clock::now() - connection.since < (reads ? limits_.head_time : limits_.answer_time)) return true;
  ++(reads ? late_heads_ : late_answers_);
  return false;
}

}  // namespace offcpu
