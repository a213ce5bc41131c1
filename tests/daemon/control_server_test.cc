#include "daemon/control_server.h"

#include <future>
#include <vector>

#include "control_server_fixture.h"
#include "gmock/gmock.h"

namespace offcpu {
namespace {

using ::testing::HasSubstr;

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
  EXPECT_EQ(server_->stats().late_answers, 1u);
}

TEST_F(ControlServerTest, ManyClientsAtOnceAreAnswered) {
  Serve({.clients = 4});
  std::vector<std::future<std::string>> answers;
  for (int i = 0; i < 40; ++i)
    answers.push_back(std::async(std::launch::async, [this, i] { return AskOnce(std::to_string(i)); }));
  for (int i = 0; i < 40; ++i) EXPECT_EQ(answers[i].get(), "re: " + std::to_string(i));
}

TEST_F(ControlServerTest, WithoutAServiceTheClientSaysSo) {
  EXPECT_THAT(AskOnce("a"), HasSubstr("no offcpud answers at "));
}

}  // namespace
}  // namespace offcpu
