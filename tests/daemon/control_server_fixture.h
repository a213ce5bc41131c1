// A control server that answers with what it was asked, and clients of it.
#ifndef OFFCPU_TESTS_DAEMON_CONTROL_SERVER_FIXTURE_H_
#define OFFCPU_TESTS_DAEMON_CONTROL_SERVER_FIXTURE_H_

#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "daemon/control_client.h"
#include "daemon/control_server.h"
#include "daemon/control_socket.h"
#include "gtest/gtest.h"
#include "thread_user.h"

namespace offcpu {

// Not one of the machine's: nobody here is a member, unless a test makes it so.
inline constexpr gid_t kGroup = 54321;
inline constexpr uid_t kStranger = 54322;

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

  // As the user, a member of the group; without a request it says nothing.
  OwnedFd ConnectAs(uid_t uid, std::optional<std::string> request = std::nullopt) const {
    const ThreadUser as(uid, kGroup);
    OwnedFd fd = Connect();
    if (request.has_value()) WriteFrame(fd.get(), *request, InTime()).IgnoreError();  // it may have been refused by now
    return fd;
  }
  static std::string AnswerTo(const OwnedFd& fd) {
    const absl::StatusOr<std::string> answer = ReadFrame(fd.get(), 1000, InTime());
    return answer.ok() ? *answer : std::string(answer.status().message());
  }
  static Deadline InTime() { return std::chrono::steady_clock::now() + std::chrono::seconds(20); }
  static bool IsAnswered(const OwnedFd& fd) {
    pollfd socket = {.fd = fd.get(), .events = POLLIN, .revents = 0};
    return poll(&socket, 1, 0) > 0;
  }
  static bool Await(const std::function<bool()>& done) {
    const Deadline end = InTime();
    while (!done()) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
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

}  // namespace offcpu

#endif  // OFFCPU_TESTS_DAEMON_CONTROL_SERVER_FIXTURE_H_
