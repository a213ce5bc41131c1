// A control server that answers with what it was asked, the path behind its slash, and clients of it.
#ifndef OFFCPU_TESTS_DAEMON_CONTROL_SERVER_FIXTURE_H_
#define OFFCPU_TESTS_DAEMON_CONTROL_SERVER_FIXTURE_H_

#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "daemon/control_client.h"
#include "daemon/control_server.h"
#include "daemon/control_socket.h"
#include "daemon/socket_io.h"
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
    absl::StatusOr<std::unique_ptr<ControlServer>> server = ControlServer::Start(*std::move(listener), limits, answer_);
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }

  std::string AskOnce(const std::string& what) const {
    const absl::StatusOr<std::string> answer = Ask(path_, "/" + what, std::chrono::seconds(20));
    return answer.ok() ? *answer : std::string(answer.status().message());
  }
  static std::string Get(const std::string& what) { return "GET /" + what + " HTTP/1.1\r\n\r\n"; }

  static HttpResponse Echo(const HttpRequest& request) {
    return WholeAnswer(kTextType, "re: " + request.path.substr(1));
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
    if (request.has_value())
      SendAll(fd.get(), Get(*request), InTime()).IgnoreError();  // it may have been refused by now
    return fd;
  }
  // The body alone, or "error: " and why not.
  static std::string AnswerTo(const OwnedFd& fd) {
    std::string all;
    absl::StatusOr<std::string> piece;
    while ((piece = ReceivePiece(fd.get(), InTime())).ok() && !piece->empty()) all += *piece;
    const std::string body = all.substr(std::min(all.size(), HttpHeadLength(all)));
    return (all.starts_with("HTTP/1.1 200 ") ? "" : "error: ") + body.substr(0, body.find('\n'));
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

  std::string directory_;
  std::string path_;
  AnswerRequest answer_ = [](const HttpRequest& request, const IsCancelled&) { return Echo(request); };
  std::unique_ptr<ControlServer> server_;
};

}  // namespace offcpu

#endif  // OFFCPU_TESTS_DAEMON_CONTROL_SERVER_FIXTURE_H_
