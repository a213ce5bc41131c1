#include "symbolize/debuginfod.h"

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "fixtures.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "os/owned_fd.h"
#include "tests/source_lines/fixtures.h"

namespace offcpu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A server on the loopback that sends one answer to each request, and keeps the connection open until the end: a client
// that wants more waits for it.
class FakeServer {
 public:
  using Answer = std::function<std::string(const std::string& path)>;

  explicit FakeServer(Answer answer) : answer_(std::move(answer)), listener_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address = {.sin_family = AF_INET, .sin_port = 0, .sin_addr = {htonl(INADDR_LOOPBACK)}, .sin_zero = {}};
    socklen_t length = sizeof(address);
    auto* name = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(bind(listener_.get(), name, length), 0);
    EXPECT_EQ(listen(listener_.get(), 16), 0);
    EXPECT_EQ(getsockname(listener_.get(), name, &length), 0);
    url_ = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
    thread_ = std::thread([this] { Serve(); });
  }
  ~FakeServer() {
    is_over_ = true;
    thread_.join();
  }
  FakeServer(const FakeServer&) = delete;
  FakeServer& operator=(const FakeServer&) = delete;

  const std::string& url() const { return url_; }
  std::vector<std::string> asked() const {
    const std::lock_guard lock(mutex_);
    return asked_;
  }

 private:
  void Serve() {
    std::vector<OwnedFd> clients;
    while (!is_over_) {
      pollfd ready = {.fd = listener_.get(), .events = POLLIN, .revents = 0};
      if (poll(&ready, 1, 20) != 1) continue;
      OwnedFd& client = clients.emplace_back(accept(listener_.get(), nullptr, nullptr));
      const std::string path = ReadPath(client.get());
      {
        const std::lock_guard lock(mutex_);
        asked_.push_back(path);
      }
      const std::string answer = answer_(path);
      EXPECT_EQ(send(client.get(), answer.data(), answer.size(), MSG_NOSIGNAL), static_cast<ssize_t>(answer.size()));
    }
  }

  static std::string ReadPath(int client) {
    std::string request;
    char byte = 0;
    while (!request.ends_with("\r\n\r\n") && read(client, &byte, 1) == 1) request += byte;
    const size_t begin = request.find(' ') + 1;
    return request.substr(begin, request.find(' ', begin) - begin);
  }

  const Answer answer_;
  const OwnedFd listener_;
  std::string url_;
  std::atomic<bool> is_over_ = false;
  mutable std::mutex mutex_;
  std::vector<std::string> asked_;
  std::thread thread_;
};

std::string Head(size_t length) {
  return "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: " + std::to_string(length) +
         "\r\n\r\n";
}

std::string Whole(const std::string& bytes) { return Head(bytes.size()) + bytes; }

std::string Nothing(const std::string& /*path*/) { return "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"; }

class DebuginfodTest : public ::testing::Test {
 protected:
  DebuginfodTest() {
    setenv("DEBUGINFOD_CACHE_PATH", (cache_.path() + "/cache").c_str(), 1);
    setenv("no_proxy", "127.0.0.1", 1);
    unsetenv("DEBUGINFOD_URLS");
  }

  std::unique_ptr<Debuginfod> Open(const std::string& urls, const DebuginfodLimits& limits = {}) {
    setenv("DEBUGINFOD_URLS", urls.c_str(), 1);
    const auto watch = [this](const FetchProgress& progress) {
      seen_ = progress;
      return !is_stopped_;
    };
    auto opened = Debuginfod::Open(watch, limits);
    EXPECT_TRUE(opened.ok()) << opened.status();
    return opened.ok() ? *std::move(opened) : nullptr;
  }
  // Nobody listens there.
  static std::string GoneUrl() { return FakeServer(Nothing).url(); }

  const TemporaryDirectory cache_;
  FetchProgress seen_;
  bool is_stopped_ = false;
  const std::string file_ = LinesFixture("separate.debug");
  const std::string id_ = BuildIdOf(FixturePath("separate.debug"));
  static constexpr std::chrono::milliseconds kShort{1200};
};

TEST_F(DebuginfodTest, FetchesAFileOnce) {
  const FakeServer server([this](const std::string&) { return Whole(file_); });
  for (int i = 0; i < 2; ++i) {
    const auto fetched = Open(server.url())->Fetch(id_, "server");
    ASSERT_TRUE(fetched.ok()) << fetched.status();
    std::string bytes(file_.size(), '\0');
    EXPECT_EQ(pread(fetched->get(), bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
    EXPECT_EQ(bytes, file_);
  }
  EXPECT_THAT(server.asked(), ElementsAre("/buildid/" + id_ + "/debuginfo"));
  EXPECT_EQ(seen_.name, "server");
}

TEST_F(DebuginfodTest, AFileThatNoServerHasIsNotFound) {
  const FakeServer server(Nothing);
  const auto servers = Open(server.url());
  EXPECT_TRUE(absl::IsNotFound(servers->Fetch(id_, "server").status()));
  EXPECT_EQ(servers->problem(), "");
}

TEST_F(DebuginfodTest, TheServerThatHasItIsFound) {
  const FakeServer none(Nothing);
  const FakeServer server([this](const std::string&) { return Whole(file_); });
  EXPECT_TRUE(Open(GoneUrl() + " " + none.url() + " " + server.url())->Fetch(id_, "server").ok());
}

TEST_F(DebuginfodTest, AServerThatIsGoneIsAProblem) {
  const auto servers = Open(GoneUrl());
  EXPECT_TRUE(absl::IsUnavailable(servers->Fetch(id_, "server").status()));
  EXPECT_EQ(servers->problem(), "Connection refused");
}

TEST_F(DebuginfodTest, ASilentServerIsNotWaitedForLong) {
  const FakeServer server([](const std::string&) { return ""; });
  const auto servers = Open(server.url(), {.silence = kShort});
  for (const std::string id : {"aaaa", "bbbb", "cccc", "dddd"})
    EXPECT_TRUE(absl::IsUnavailable(servers->Fetch(id, "server").status())) << id;
  EXPECT_EQ(server.asked().size(), 2u) << "after two files no other is asked for";
  EXPECT_EQ(servers->problem(), "no answer in 1.2s");
}

TEST_F(DebuginfodTest, SoIsOneThatStopsInTheMiddle) {
  const FakeServer server([this](const std::string&) { return Head(file_.size()) + file_.substr(0, 1000); });
  const auto servers = Open(server.url(), {.silence = kShort});
  EXPECT_TRUE(absl::IsUnavailable(servers->Fetch(id_, "server").status()));
  EXPECT_EQ(servers->problem(), "no answer in 1.2s");
  EXPECT_EQ(seen_.bytes, 1000u);
  EXPECT_EQ(seen_.all_bytes, file_.size());
}

TEST_F(DebuginfodTest, WhatWasGivenUpIsFetchedTheNextTime) {
  std::atomic<bool> is_slow = true;
  const FakeServer server([&](const std::string&) { return is_slow ? "" : Whole(file_); });
  EXPECT_FALSE(Open(server.url(), {.silence = kShort})->Fetch(id_, "server").ok());
  is_slow = false;
  const auto fetched = Open(server.url())->Fetch(id_, "server");
  EXPECT_TRUE(fetched.ok()) << fetched.status();
}

TEST_F(DebuginfodTest, AllFilesTogetherHaveALimit) {
  const FakeServer server([](const std::string&) { return ""; });
  const auto servers = Open(server.url(), {.all = kShort});
  for (const std::string id : {"aaaa", "bbbb"}) EXPECT_TRUE(absl::IsUnavailable(servers->Fetch(id, "server").status()));
  EXPECT_EQ(server.asked().size(), 1u);
  EXPECT_EQ(servers->problem(), "debug files take longer than 1.2s");
}

TEST_F(DebuginfodTest, NothingIsFetchedAfterAStop) {
  is_stopped_ = true;
  const FakeServer server([](const std::string&) { return ""; });
  const auto servers = Open(server.url());
  for (const std::string id : {"aaaa", "bbbb"}) EXPECT_TRUE(absl::IsUnavailable(servers->Fetch(id, "server").status()));
  EXPECT_LE(server.asked().size(), 1u);
  EXPECT_EQ(servers->problem(), "stopped");
}

TEST_F(DebuginfodTest, AFileThatIsTooLargeIsNotFetched) {
  const FakeServer server([](const std::string&) { return Head(1001) + std::string(100, 'x'); });
  const auto servers = Open(server.url(), {.max_file_bytes = 1000});
  EXPECT_TRUE(absl::IsUnavailable(servers->Fetch(id_, "server").status()));
  EXPECT_EQ(servers->problem(), "a debug file is too large");
}

TEST_F(DebuginfodTest, AnotherFileIsNotTaken) {
  const FakeServer server([this](const std::string&) { return Whole(file_); });
  const auto servers = Open(server.url());
  EXPECT_TRUE(absl::IsUnavailable(servers->Fetch("abcdef", "server").status()));
  EXPECT_EQ(servers->problem(), "a server sent a different file from the one it was asked for");
}

TEST_F(DebuginfodTest, WhatIsNoBuildIdIsNotAskedFor) {
  const FakeServer server(Nothing);
  const auto servers = Open(server.url());
  for (const std::string& id : {std::string(), std::string("abc"), std::string("../../x"), std::string("ABCDEF"),
                                std::string("ab cd"), std::string(130, 'a')})
    EXPECT_TRUE(absl::IsNotFound(servers->Fetch(id, "server").status())) << id;
  EXPECT_THAT(server.asked(), IsEmpty());
}

TEST_F(DebuginfodTest, WithoutServersItSaysWhatToDo) {
  for (const bool is_set : {false, true}) {
    if (is_set) setenv("DEBUGINFOD_URLS", " ", 1);
    const absl::Status status = Debuginfod::Open([](const FetchProgress&) { return true; }).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status));
    EXPECT_THAT(std::string(status.message()), HasSubstr("DEBUGINFOD_URLS=https://"));
  }
}

}  // namespace
}  // namespace offcpu
