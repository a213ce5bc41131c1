#include "fake_collector.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "gtest/gtest.h"

namespace offcpu {
namespace {

constexpr int kPatienceMs = 30'000;

// Before there are threads: what is sent here goes through no proxy of the host's.
const bool kWithoutProxies = [] {
  for (const char* name : {"http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"}) unsetenv(name);
  return true;
}();
constexpr std::string_view kEndOfHead = "\r\n\r\n";

// What collector 0.152 answers to what it takes: a partial success that is there, and empty.
const FakeAnswer& Taken() {
  static const FakeAnswer answer =
      HttpReply(200, std::string("\x0a\x00", 2), "Content-Type: application/x-protobuf\r\n");
  return answer;
}

size_t ContentLength(const std::string& head) {
  const std::string lower = absl::AsciiStrToLower(head);
  const size_t at = lower.find("content-length:");
  size_t length = 0;
  if (at != std::string::npos) length = std::strtoull(lower.c_str() + at + 15, nullptr, 10);
  return length;
}

// Binds to a port of loopback (0: any that is free), and returns which.
int Bind(int socket, int port) {
  const int yes = 1;
  setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(port));
  socklen_t size = sizeof(address);
  EXPECT_EQ(bind(socket, reinterpret_cast<sockaddr*>(&address), size), 0);
  getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.sin_port);
}

}  // namespace

FakeAnswer HttpReply(int status, std::string_view body, std::string_view headers) {
  return {.bytes = "HTTP/1.1 " + std::to_string(status) + " Said\r\nConnection: close\r\nContent-Length: " +
                   std::to_string(body.size()) + "\r\n" + std::string(headers) + "\r\n" + std::string(body)};
}

// Several sockets may be bound to one port with SO_REUSEADDR as long as none of them listens, or only the last one.
KeptPort::KeptPort() : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)), number_(Bind(socket_, 0)) {}

KeptPort::~KeptPort() { close(socket_); }

FakeCollector::FakeCollector(int port)
    : listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)), port_(Bind(listener_, port)) {
  EXPECT_EQ(listen(listener_, 16), 0);
  EXPECT_EQ(pipe2(stop_, O_CLOEXEC), 0);
  thread_ = std::thread([this] { Serve(); });
}

FakeCollector::~FakeCollector() {
  close(stop_[1]);
  thread_.join();
  close(stop_[0]);
  close(listener_);
}

void FakeCollector::Then(std::vector<FakeAnswer> answers) {
  const std::lock_guard lock(mutex_);
  for (FakeAnswer& answer : answers) answers_.push_back(std::move(answer));
}

std::vector<FakeRequest> FakeCollector::Await(size_t least) {
  std::unique_lock lock(mutex_);
  const bool came =
      changed_.wait_for(lock, std::chrono::milliseconds(kPatienceMs), [&] { return requests_.size() >= least; });
  EXPECT_TRUE(came) << requests_.size() << " requests came, not " << least;
  return requests_;
}

std::vector<FakeRequest> FakeCollector::AwaitTaken(size_t least) {
  std::unique_lock lock(mutex_);
  const bool came =
      changed_.wait_for(lock, std::chrono::milliseconds(kPatienceMs), [&] { return taken_.size() >= least; });
  EXPECT_TRUE(came) << taken_.size() << " requests were taken, not " << least;
  return taken_;
}

void FakeCollector::Serve() {
  while (true) {
    pollfd fds[] = {{.fd = listener_, .events = POLLIN, .revents = 0},
                    {.fd = stop_[0], .events = POLLIN, .revents = 0}};
    if (poll(fds, 2, -1) < 0 || fds[1].revents != 0) return;
    const int connection = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection < 0) continue;
    const timeval patience = {.tv_sec = kPatienceMs / 1000, .tv_usec = 0};
    setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    ServeOne(connection);
    close(connection);
  }
}

void FakeCollector::ServeOne(int connection) {
  FakeAnswer answer = Taken();
  {
    const std::lock_guard lock(mutex_);
    if (!answers_.empty()) {
      answer = std::move(answers_.front());
      answers_.pop_front();
    }
  }
  if (!answer.reads_all) {
    char some[16];
    recv(connection, some, sizeof(some), 0);
    return;
  }
  std::optional<FakeRequest> request = Read(connection);
  if (!request.has_value()) return;
  {
    const std::lock_guard lock(mutex_);
    if (answer.bytes == Taken().bytes) taken_.push_back(*request);
    requests_.push_back(*std::move(request));
  }
  changed_.notify_all();
  if (answer.waits) {
    pollfd fds[] = {{.fd = connection, .events = POLLIN, .revents = 0},
                    {.fd = stop_[0], .events = POLLIN, .revents = 0}};
    poll(fds, 2, -1);
  }
  const char* rest = answer.bytes.data();
  for (size_t left = answer.bytes.size(); left > 0;) {
    const ssize_t sent = send(connection, rest, left, MSG_NOSIGNAL);
    if (sent <= 0) break;
    rest += sent;
    left -= static_cast<size_t>(sent);
  }
}

std::optional<FakeRequest> FakeCollector::Read(int connection) const {
  std::string bytes;
  while (true) {
    const size_t end = bytes.find(kEndOfHead);
    if (end != std::string::npos) {
      FakeRequest request{.head = bytes.substr(0, end + 2),
                          .body = bytes.substr(end + kEndOfHead.size()),
                          .at = std::chrono::steady_clock::now()};
      if (request.body.size() >= ContentLength(request.head)) return request;
    }
    char buffer[65536];
    const ssize_t got = recv(connection, buffer, sizeof(buffer), 0);
    if (got <= 0) return std::nullopt;
    bytes.append(buffer, static_cast<size_t>(got));
  }
}

}  // namespace offcpu
