#include "daemon/control_server.h"

#include <future>
#include <string>
#include <string_view>
#include <utility>
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
  EXPECT_THAT(AskOnce("status"), HasSubstr(": it ended before it answered; see its log"));
  ends.join();
}

TEST_F(ControlServerTest, AnswersWhatIsAsked) {
  Serve({});
  EXPECT_EQ(AskOnce("a"), "re: a");
  EXPECT_EQ(AskOnce(""), "re: ");
  const size_t most = kMaxRequestBytes - std::string_view("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").size();
  EXPECT_EQ(AskOnce(std::string(most, 'x')).size(), most + 4);
}

// For as long as an answer goes on it is known whether anybody waits for it.
TEST_F(ControlServerTest, AnAnswerIsCalledOffWhenItsClientGoes) {
  std::promise<void> asked;
  std::promise<void> called_off;
  answer_ = [&](const HttpRequest& request, const IsCancelled& is_cancelled) {
    EXPECT_FALSE(is_cancelled());
    asked.set_value();
    while (!is_cancelled()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    called_off.set_value();
    return Echo(request);
  };
  Serve({});
  OwnedFd fd = Connect();
  ASSERT_TRUE(SendAll(fd.get(), Get("a"), InTime()).ok());
  shutdown(fd.get(), SHUT_WR);  // all has been said, and the client waits
  asked.get_future().wait();
  fd.reset();
  EXPECT_EQ(called_off.get_future().wait_for(std::chrono::seconds(20)), std::future_status::ready);
}

TEST_F(ControlServerTest, AnswersAreCalledOffWhenItEnds) {
  std::promise<void> asked;
  answer_ = [&](const HttpRequest& request, const IsCancelled& is_cancelled) {
    asked.set_value();
    while (!is_cancelled()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return Echo(request);
  };
  Serve({});
  const OwnedFd fd = Connect();
  ASSERT_TRUE(SendAll(fd.get(), Get("a"), InTime()).ok());
  asked.get_future().wait();
  server_.reset();  // does not hang
}

TEST_F(ControlServerTest, RequestsAreBoundedInBytes) {
  Serve({});
  const size_t most = kMaxRequestBytes - std::string_view("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").size();
  EXPECT_EQ(AskOnce(std::string(most + 1, 'x')), "offcpud refused: the request is longer than 65536 bytes");
  const OwnedFd without_end = ConnectAs(0);
  ASSERT_TRUE(SendAll(without_end.get(), "GET /" + std::string(kMaxRequestBytes, 'x'), InTime()).ok());
  EXPECT_EQ(AnswerTo(without_end), "error: the request is longer than 65536 bytes");
  EXPECT_EQ(AskOnce("a"), "re: a");
}

TEST_F(ControlServerTest, EveryBeginningOfARequestIsHarmless) {
  Serve({});
  const std::string request = Get("abc");
  for (size_t size = 0; size <= request.size(); ++size) {
    const OwnedFd fd = Connect();
    ASSERT_TRUE(SendAll(fd.get(), request.substr(0, size), InTime()).ok());
    shutdown(fd.get(), SHUT_WR);
    EXPECT_EQ(AnswerTo(fd), size < request.size() ? "error: the connection was closed" : "re: abc") << size;
  }
  EXPECT_EQ(AskOnce("a"), "re: a");
}

// However its bytes come.
TEST_F(ControlServerTest, ARequestMayComeByteByByte) {
  Serve({});
  const OwnedFd fd = Connect();
  for (const char c : Get("abc")) {
    ASSERT_TRUE(SendAll(fd.get(), std::string(1, c), InTime()).ok());
    EXPECT_EQ(AskOnce("a"), "re: a") << "what came before has been read by now";
  }
  EXPECT_EQ(AnswerTo(fd), "re: abc");
}

// A client that speaks another language need not wait until its time is over.
TEST_F(ControlServerTest, WhatIsNoRequestIsRefusedAtOnce) {
  Serve({.timeout = std::chrono::hours(1), .silence = std::chrono::hours(1)});
  for (const std::string& bytes : {std::string("\4\0\0\0", 4), std::string("get / HTTP/1.1\r\n\r\n"),
                                   std::string("GET  HTTP/1.1\r\n\r\n"), std::string("\r\n\r\n")}) {
    const OwnedFd fd = Connect();
    ASSERT_TRUE(SendAll(fd.get(), bytes, InTime()).ok());
    EXPECT_EQ(AnswerTo(fd), "error: this is not an HTTP request");
  }
}

TEST_F(ControlServerTest, ASlowClientIsCutOffAndHoldsNobodyUp) {
  Serve({.timeout = std::chrono::milliseconds(200)});
  const OwnedFd slow = Connect();
  ASSERT_TRUE(SendAll(slow.get(), "G", InTime()).ok());
  EXPECT_EQ(AskOnce("a"), "re: a") << "meanwhile";
  EXPECT_THAT(AnswerTo(slow), HasSubstr("error: timed out"));
}

TEST_F(ControlServerTest, WhoDoesNotTakeTheAnswerIsCutOff) {
  answer_ = [](const HttpRequest&, const IsCancelled&) {
    return WholeAnswer(kTextType, std::string(64 << 20, 'x'));  // more than the kernel keeps
  };
  Serve({.timeout = std::chrono::milliseconds(200)});
  const OwnedFd fd = Connect();
  ASSERT_TRUE(SendAll(fd.get(), Get("a"), InTime()).ok());
  EXPECT_TRUE(Await([this] { return server_->stats().late_answers == 1; }));
}

TEST_F(ControlServerTest, ManyClientsAtOnceAreAnswered) {
  Serve({.clients = 4});
  std::vector<std::future<std::string>> answers;
  for (int i = 0; i < 40; ++i)
    answers.push_back(std::async(std::launch::async, [this, i] { return AskOnce(std::to_string(i)); }));
  for (int i = 0; i < 40; ++i) EXPECT_EQ(answers[i].get(), "re: " + std::to_string(i));
}

TEST_F(ControlServerTest, TheClientFailsWithWhatItWasRefusedWith) {
  answer_ = [](const HttpRequest&, const IsCancelled&) { return ErrorAnswer(absl::NotFoundError("no process 7")); };
  Serve({});
  EXPECT_EQ(Ask(path_, "/stacks?pid=7", std::chrono::seconds(20)).status(),
            absl::NotFoundError("offcpud refused: no process 7"));
}

// A peer that answers these bytes, and closes.
TEST_F(ControlServerTest, WhatIsNoWholeAnswerIsAnError) {
  const std::pair<std::string, absl::StatusCode> cases[] = {
      {std::string("\x0f\0\0\0\x0a\x0d", 6), absl::StatusCode::kUnimplemented},
      {"HTTP/1.1 200 OK\r\nContent-Le", absl::StatusCode::kUnavailable},
      {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfour", absl::StatusCode::kUnavailable},
      {"HTTP/1.1 200 OK\r\nContent-Length: 268435457\r\n\r\n", absl::StatusCode::kResourceExhausted},
      {"HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551615\r\n\r\n", absl::StatusCode::kResourceExhausted},
      {"HTTP/1.1 500 No\r\nContent-Length: 2\r\n\r\nno", absl::StatusCode::kUnknown},
      {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok, and more", absl::StatusCode::kOk},
  };
  absl::StatusOr<OwnedFd> listener = ListenAt(path_, std::nullopt);
  ASSERT_TRUE(listener.ok()) << listener.status();
  for (const auto& [bytes, code] : cases) {
    std::thread answers([&listener, said = bytes] {
      const OwnedFd client(accept(listener->get(), nullptr, nullptr));
      ReceivePiece(client.get(), InTime()).IgnoreError();
      SendAll(client.get(), said, InTime()).IgnoreError();
    });
    const absl::StatusOr<std::string> answer = Ask(path_, "/status", std::chrono::seconds(20));
    EXPECT_EQ(answer.status().code(), code) << bytes;
    EXPECT_EQ(answer.value_or("ok"), "ok") << "no more than its length";
    answers.join();
  }
}

TEST_F(ControlServerTest, WithoutAServiceTheClientSaysSo) {
  EXPECT_THAT(AskOnce("a"), HasSubstr("no offcpud answers at "));
}

}  // namespace
}  // namespace offcpu
