#include "daemon/control_server.h"

#include <grp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "daemon/control_client.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace offcpu {
namespace {

using ::testing::HasSubstr;

// Not one of the machine's: nobody here is a member, unless a test makes it so.
constexpr gid_t kGroup = 54321;
constexpr uid_t kStranger = 54322;

class ControlServerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string directory = testing::TempDir() + "control.XXXXXX";
    directory_ = mkdtemp(directory.data());
    chmod(directory_.c_str(), 0755);
    path_ = directory_ + "/s";
  }
  void TearDown() override {
    server_.reset();
    std::filesystem::remove_all(directory_);
  }

  // Answers with what it was sent.
  void Serve(const ControlLimits& limits) {
    absl::StatusOr<OwnedFd> listener = ListenAt(path_, limits.group);
    ASSERT_TRUE(listener.ok()) << listener.status();
    absl::StatusOr<std::unique_ptr<ControlServer>> server =
        ControlServer::Start(*std::move(listener), limits, answer_,
                             [](const absl::Status& status) { return "error: " + std::string(status.message()); });
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }

  std::string AskOnce(const std::string& request) const {
    std::string answer = "nothing";
    const absl::Status status = Ask(path_, request, std::chrono::seconds(20), [&answer](const std::string& reply) {
      answer = reply;
      return false;
    });
    return status.ok() ? answer : std::string(status.message());
  }

  OwnedFd Connect() const {
    OwnedFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    path_.copy(address.sun_path, sizeof(address.sun_path) - 1);
    EXPECT_EQ(connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    return fd;
  }

  static std::string ReadToEnd(int fd) {
    std::string all;
    std::array<char, 4096> piece;
    for (ssize_t got; (got = read(fd, piece.data(), piece.size())) > 0;) all.append(piece.data(), got);
    return all;
  }

  std::string directory_;
  std::string path_;
  AnswerRequest answer_ = [](std::string_view request, const SendReply& send, const IsCancelled&) {
    send("re: " + std::string(request)).IgnoreError();
  };
  std::unique_ptr<ControlServer> server_;
};

TEST_F(ControlServerTest, AServiceThatEndsWithoutAnAnswerHasALog) {
  absl::StatusOr<OwnedFd> listener = ListenAt(path_, std::nullopt);
  ASSERT_TRUE(listener.ok()) << listener.status();
  std::thread ends([&listener] {
    pollfd ready = {.fd = listener->get(), .events = POLLIN, .revents = 0};
    poll(&ready, 1, 20'000);
    listener->reset();  // with the connection that nobody has accepted
  });
  EXPECT_THAT(AskOnce("status"), HasSubstr(": it ended before it answered; its log says why"));
  ends.join();
}

TEST_F(ControlServerTest, AnswersWhatIsAsked) {
  Serve({});
  EXPECT_EQ(AskOnce("a"), "re: a");
  EXPECT_EQ(AskOnce(""), "re: ");
  EXPECT_EQ(AskOnce(std::string(kMaxRequestBytes, 'x')).size(), kMaxRequestBytes + 4);
}

// For as long as an answer goes on it is known whether anybody waits for it.
TEST_F(ControlServerTest, AnAnswerIsCalledOffWhenItsClientGoes) {
  std::promise<void> asked;
  std::promise<void> called_off;
  answer_ = [&](std::string_view, const SendReply&, const IsCancelled& is_cancelled) {
    EXPECT_FALSE(is_cancelled());
    asked.set_value();
    while (!is_cancelled()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    called_off.set_value();
  };
  Serve({});
  OwnedFd fd = Connect();
  ASSERT_EQ(write(fd.get(), "\1\0\0\0a", 5), 5);
  shutdown(fd.get(), SHUT_WR);  // all has been said, and the client waits
  asked.get_future().wait();
  fd.reset();
  EXPECT_EQ(called_off.get_future().wait_for(std::chrono::seconds(20)), std::future_status::ready);
}

TEST_F(ControlServerTest, AnswersAreCalledOffWhenItEnds) {
  std::promise<void> asked;
  answer_ = [&](std::string_view, const SendReply&, const IsCancelled& is_cancelled) {
    asked.set_value();
    while (!is_cancelled()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  };
  Serve({});
  const OwnedFd fd = Connect();
  ASSERT_EQ(write(fd.get(), "\1\0\0\0a", 5), 5);
  asked.get_future().wait();
  server_.reset();  // does not hang
}

TEST_F(ControlServerTest, RequestsAreBoundedInBytes) {
  Serve({});
  EXPECT_THAT(AskOnce(std::string(kMaxRequestBytes + 1, 'x')), HasSubstr("error: a message of 65537 bytes"));
  EXPECT_EQ(AskOnce("a"), "re: a");
}

TEST_F(ControlServerTest, EveryBeginningOfARequestIsHarmless) {
  Serve({});
  const std::string message("\3\0\0\0abc", 7);
  for (size_t size = 0; size <= message.size(); ++size) {
    const OwnedFd fd = Connect();
    ASSERT_EQ(write(fd.get(), message.data(), size), static_cast<ssize_t>(size));
    shutdown(fd.get(), SHUT_WR);
    EXPECT_THAT(ReadToEnd(fd.get()), HasSubstr(size < message.size() ? "error: " : "re: abc")) << size;
  }
  EXPECT_EQ(AskOnce("a"), "re: a");
}

TEST_F(ControlServerTest, ASlowClientIsCutOffAndHoldsNobodyUp) {
  Serve({.timeout = std::chrono::milliseconds(200)});
  const OwnedFd slow = Connect();
  ASSERT_EQ(write(slow.get(), "\3", 1), 1);
  EXPECT_EQ(AskOnce("a"), "re: a") << "meanwhile";
  EXPECT_THAT(ReadToEnd(slow.get()), HasSubstr("error: timed out"));
}

TEST_F(ControlServerTest, WhoDoesNotTakeTheAnswerIsCutOff) {
  std::promise<absl::Status> sent;
  absl::StatusOr<OwnedFd> listener = ListenAt(path_, {});
  ASSERT_TRUE(listener.ok());
  absl::StatusOr<std::unique_ptr<ControlServer>> server = ControlServer::Start(
      *std::move(listener), ControlLimits{.timeout = std::chrono::milliseconds(200)},
      [&sent](std::string_view, const SendReply& send, const IsCancelled&) {
        absl::Status status;
        while (status.ok()) status = send(std::string(1 << 20, 'x'));
        sent.set_value(status);
      },
      [](const absl::Status&) { return std::string(); });
  ASSERT_TRUE(server.ok());
  server_ = *std::move(server);
  const OwnedFd fd = Connect();
  ASSERT_EQ(write(fd.get(), "\0\0\0\0", 4), 4);
  EXPECT_EQ(sent.get_future().get().code(), absl::StatusCode::kDeadlineExceeded);
}

TEST_F(ControlServerTest, MoreClientsThanThereMayBeWait) {
  Serve({.clients = 2, .timeout = std::chrono::seconds(20)});
  OwnedFd first = Connect();
  const OwnedFd second = Connect();
  auto third = std::async(std::launch::async, [this] { return AskOnce("a"); });
  EXPECT_EQ(third.wait_for(std::chrono::milliseconds(300)), std::future_status::timeout);
  first.reset();
  EXPECT_EQ(third.get(), "re: a");
}

TEST_F(ControlServerTest, ManyClientsAtOnceAreAnswered) {
  Serve({.clients = 4});
  std::vector<std::future<std::string>> answers;
  for (int i = 0; i < 40; ++i)
    answers.push_back(std::async(std::launch::async, [this, i] { return AskOnce(std::to_string(i)); }));
  for (int i = 0; i < 40; ++i) EXPECT_EQ(answers[i].get(), "re: " + std::to_string(i));
}

TEST_F(ControlServerTest, NobodyListensTwice) {
  Serve({});
  EXPECT_EQ(ListenAt(path_, {}).status().code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(AskOnce("a"), "re: a");
}

TEST_F(ControlServerTest, ASocketThatWasLeftOverIsReplaced) {
  ASSERT_TRUE(ListenAt(path_, {}).ok());  // closed at once, the file stays
  Serve({});
  EXPECT_EQ(AskOnce("a"), "re: a");
}

TEST_F(ControlServerTest, WhatIsNoSocketIsNotReplaced) {
  std::filesystem::create_directory(path_);
  EXPECT_THAT(std::string(ListenAt(path_, {}).status().message()), HasSubstr("cannot bind"));
}

TEST_F(ControlServerTest, WithoutAServiceTheClientSaysSo) {
  EXPECT_THAT(AskOnce("a"), HasSubstr("no offcpud answers at "));
}

// What a process of other credentials is told.
class AsAnother : public ControlServerTest {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root to become somebody else";
    ControlServerTest::SetUp();
  }
  // In a child, which takes the first reply's words along.
  std::string AskAs(uid_t uid, gid_t gid, const std::vector<gid_t>& groups) {
    std::array<int, 2> ends;
    EXPECT_EQ(pipe(ends.data()), 0);
    const pid_t child = fork();
    if (child == 0) {
      const bool changed = setgroups(groups.size(), groups.data()) == 0 && setgid(gid) == 0 && setuid(uid) == 0;
      const std::string answer = changed ? AskOnce("a") : "cannot change";
      _exit(write(ends[1], answer.data(), answer.size()) < 0);
    }
    close(ends[1]);
    const OwnedFd end(ends[0]);
    std::string answer = ReadToEnd(end.get());
    waitpid(child, nullptr, 0);
    return answer;
  }
};

TEST_F(AsAnother, MembersOfTheGroupMayAsk) {
  Serve({.group = kGroup});
  EXPECT_EQ(AskAs(kStranger, kGroup, {}), "re: a");
  EXPECT_EQ(AskAs(kStranger, kStranger, {1, kGroup}), "re: a");
}

TEST_F(AsAnother, StrangersCannotConnect) {
  Serve({.group = kGroup});
  EXPECT_THAT(AskAs(kStranger, kStranger, {1, 2}), HasSubstr("Permission denied"));
}

TEST_F(AsAnother, StrangersWhoCanConnectAreRefused) {
  Serve({.group = kGroup});
  ASSERT_EQ(chmod(path_.c_str(), 0666), 0);
  EXPECT_THAT(AskAs(kStranger, kStranger, {1, 2}), HasSubstr("error: user 54322 may not ask"));
  EXPECT_EQ(AskAs(kStranger, kGroup, {}), "re: a");
}

TEST_F(AsAnother, WithoutAGroupOnlyRootMayAsk) {
  Serve({});
  ASSERT_EQ(chmod(path_.c_str(), 0666), 0);
  EXPECT_THAT(AskAs(kStranger, kGroup, {}), HasSubstr("may not ask"));
  EXPECT_EQ(AskOnce("a"), "re: a");
}

}  // namespace
}  // namespace offcpu
