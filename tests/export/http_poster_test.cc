#include "export/http_poster.h"

#include <httplib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "bytes/read_file.h"
#include "fake_collector.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/daemon/certificates.h"

namespace offcpu {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::chrono::milliseconds kShort(200);

class HttpPosterTest : public ::testing::Test {
 protected:
  ~HttpPosterTest() override { unlink(token_.c_str()); }

  HttpTarget Target() const { return {.url = collector_.url(), .user_agent = "offcpud/1"}; }
  // What a post gets that is answered so.
  HttpAnswer AnswerTo(FakeAnswer answer) {
    collector_.Then({std::move(answer)});
    HttpTarget target = Target();
    target.timeout = std::chrono::seconds(20);
    return HttpPoster(target).Post("body");
  }
  void WriteToken(const std::string& text) const { std::ofstream(token_) << text; }

  FakeCollector collector_;
  const std::string token_ = testing::TempDir() + "/token" + std::to_string(getpid());
};

TEST_F(HttpPosterTest, SendsTheBodyWithItsHeaders) {
  HttpTarget target = Target();
  target.headers = {"X-Scope-OrgID: a team", "X-Other: 2"};
  const HttpAnswer answer = HttpPoster(target).Post("body");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, std::string("\x0a\x00", 2));
  EXPECT_EQ(answer.error, "");
  const FakeRequest request = collector_.Await(1)[0];
  EXPECT_THAT(request.head, StartsWith("POST /v1development/profiles HTTP/1.1\r\n"));
  EXPECT_TRUE(request.Has("Content-Type: application/x-protobuf"));
  EXPECT_TRUE(request.Has("Content-Length: 4"));
  EXPECT_TRUE(request.Has("User-Agent: offcpud/1"));
  EXPECT_TRUE(request.Has("X-Scope-OrgID: a team"));
  EXPECT_TRUE(request.Has("X-Other: 2"));
  EXPECT_THAT(request.head, Not(HasSubstr("Content-Encoding")));
  EXPECT_THAT(request.head, Not(HasSubstr("Expect")));
  EXPECT_EQ(request.body, "body");
}

// A name that another server has got is looked up again, though the one before goes on taking what it is sent.
TEST_F(HttpPosterTest, AConnectionIsKeptForATime) {
  httplib::Server server;
  std::mutex mutex;
  std::vector<int> ports;  // of the client
  server.Post("/", [&](const httplib::Request& request, httplib::Response&) {
    const std::lock_guard lock(mutex);
    ports.push_back(request.remote_port);
  });
  const int port = server.bind_to_any_port("127.0.0.1");
  std::thread serving([&] { server.listen_after_bind(); });
  // libcurl counts whole seconds: one that is younger than two of them is not older than one.
  HttpTarget target = {.url = "http://127.0.0.1:" + std::to_string(port) + "/", .user_agent = "offcpud/1"};
  HttpPoster keeping(target);
  target.connection_lifetime = std::chrono::seconds(1);
  HttpPoster renewing(target);
  for (HttpPoster* poster : {&keeping, &renewing}) EXPECT_EQ(poster->Post("body").status, 200);
  std::this_thread::sleep_for(std::chrono::milliseconds(2100));
  for (HttpPoster* poster : {&keeping, &renewing}) EXPECT_EQ(poster->Post("body").status, 200);
  server.stop();
  serving.join();
  ASSERT_EQ(ports.size(), 4u);
  EXPECT_EQ(ports[2], ports[0]);
  EXPECT_NE(ports[3], ports[1]);
}

TEST_F(HttpPosterTest, ABodyThatIsCompressedIsSaidToBe) {
  const std::string gzip("\x1f\x8b\x08\x00\x00", 5);
  HttpPoster(Target()).Post(gzip);
  const FakeRequest request = collector_.Await(1)[0];
  EXPECT_TRUE(request.Has("Content-Encoding: gzip"));
  EXPECT_EQ(request.body, gzip);
}

TEST_F(HttpPosterTest, TheTokenIsReadForEveryPost) {
  HttpTarget target = Target();
  target.bearer_token_file = token_;
  HttpPoster poster(target);
  WriteToken("first\n");
  poster.Post("1");
  WriteToken("  second.-_~+/=");
  poster.Post("2");
  const std::vector<FakeRequest> requests = collector_.Await(2);
  EXPECT_TRUE(requests[0].Has("Authorization: Bearer first"));
  EXPECT_TRUE(requests[1].Has("Authorization: Bearer second.-_~+/="));
}

TEST_F(HttpPosterTest, WithoutATokenNothingIsSent) {
  HttpTarget target = Target();
  target.bearer_token_file = token_;
  HttpPoster poster(target);
  EXPECT_THAT(poster.Post("1").error, HasSubstr(token_ + " cannot be read: No such file"));
  for (const std::string& bad :
       {std::string(), std::string("two words"), std::string("a\r\nX-Injected: 1"), std::string(20'000, 'a')}) {
    WriteToken(bad);
    const HttpAnswer answer = poster.Post("1");
    EXPECT_EQ(answer.status, 0);
    EXPECT_THAT(answer.error, HasSubstr("this is not a token"));
  }
  WriteToken("good");
  EXPECT_EQ(poster.Post("2").status, 200);
  EXPECT_EQ(collector_.Await(1).size(), 1u);
}

TEST_F(HttpPosterTest, TellsWhenToComeBack) {
  EXPECT_EQ(AnswerTo(HttpReply(503, "")).retry_after, std::nullopt);
  EXPECT_EQ(AnswerTo(HttpReply(503, "", "Retry-After: 7\r\n")).retry_after, std::chrono::seconds(7));
  EXPECT_EQ(AnswerTo(HttpReply(429, "", "Retry-After: soon\r\n")).retry_after, std::nullopt);
  char date[64];
  const time_t then = time(nullptr) + 100;
  tm parts;
  strftime(date, sizeof(date), "Retry-After: %a, %d %b %Y %H:%M:%S GMT\r\n", gmtime_r(&then, &parts));
  const HttpAnswer answer = AnswerTo(HttpReply(503, "", date));
  ASSERT_TRUE(answer.retry_after.has_value());
  EXPECT_LE(*answer.retry_after, std::chrono::seconds(100));
  EXPECT_GE(*answer.retry_after, std::chrono::seconds(70)) << "the answer may be slow, but not that slow";
}

TEST_F(HttpPosterTest, HalfAnAnswerIsNone) {
  FakeAnswer half = HttpReply(200, "a longer body");
  half.bytes.resize(half.bytes.size() - 3);
  const HttpAnswer answer = AnswerTo(half);
  EXPECT_EQ(answer.status, 0);
  EXPECT_NE(answer.error, "");
  EXPECT_EQ(AnswerTo({.bytes = "HTTP/1.1 20"}).status, 0);
  EXPECT_EQ(AnswerTo({.bytes = ""}).status, 0);
  EXPECT_EQ(AnswerTo({.bytes = "220 smtp.example.com ESMTP\r\n"}).status, 0);
  EXPECT_EQ(AnswerTo({.reads_all = false}).status, 0);
}

TEST_F(HttpPosterTest, AnEndlessAnswerIsCutOff) {
  const HttpAnswer answer = AnswerTo(HttpReply(400, std::string(HttpPoster::kMaxReadBytes + 1, 'x')));
  EXPECT_EQ(answer.status, 400);
  EXPECT_EQ(answer.body.size(), HttpPoster::kMaxAnswerBytes);
  EXPECT_FALSE(answer.is_whole);
  const std::string most(HttpPoster::kMaxAnswerBytes, 'x');
  EXPECT_TRUE(AnswerTo(HttpReply(200, most)).is_whole);
  EXPECT_FALSE(AnswerTo(HttpReply(200, most + "x")).is_whole) << "though all of it was read";
}

TEST_F(HttpPosterTest, TellsTheTypeOfAnAnswer) {
  EXPECT_EQ(AnswerTo(HttpReply(200, "")).content_type, "");
  EXPECT_EQ(AnswerTo(HttpReply(200, "OK", "content-type: text/html; charset=utf-8\r\n")).content_type,
            "text/html; charset=utf-8");
}

TEST_F(HttpPosterTest, ARedirectionIsNotFollowed) {
  const HttpAnswer answer = AnswerTo(HttpReply(307, "", "Location: " + collector_.url() + "\r\n"));
  EXPECT_EQ(answer.status, 307);
  EXPECT_EQ(collector_.Await(1).size(), 1u);
}

TEST_F(HttpPosterTest, SilenceEndsWithTheTimeout) {
  collector_.Then({{.waits = true}});
  HttpTarget target = Target();
  target.timeout = kShort;
  const HttpAnswer answer = HttpPoster(target).Post("body");
  EXPECT_EQ(answer.status, 0);
  EXPECT_THAT(answer.error, HasSubstr("timed out"));
}

TEST_F(HttpPosterTest, StopEndsAPostThatWaits) {
  collector_.Then({{.waits = true}});
  HttpTarget target = Target();
  target.timeout = std::chrono::hours(1);
  HttpPoster poster(target);
  std::thread stopper([&] {
    collector_.Await(1);
    poster.Stop();
  });
  EXPECT_THAT(poster.Post("body").error, HasSubstr("abort"));
  stopper.join();
  EXPECT_EQ(poster.Post("body").status, 0) << "and all that follow";
}

TEST_F(HttpPosterTest, WhereNobodyListensThereIsAReason) {
  HttpTarget target = Target();
  {
    const FakeCollector gone;
    target.url = gone.url();
  }
  const HttpAnswer answer = HttpPoster(target).Post("body");
  EXPECT_EQ(answer.status, 0);
  EXPECT_THAT(answer.error, HasSubstr("onnect"));
}

TEST_F(HttpPosterTest, OnlyHttpIsSpoken) {
  HttpTarget target = Target();
  target.url = "file:///etc/passwd";
  const HttpAnswer answer = HttpPoster(target).Post("body");
  EXPECT_EQ(answer.status, 0);
  EXPECT_EQ(answer.body, "");
}

TEST_F(HttpPosterTest, OnlyRegularFilesAreRead) {
  const std::string fifo = token_ + ".fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  const auto error_of = [this](HttpTarget target) {
    target.url = collector_.url();
    EXPECT_EQ(CheckTargetFiles(target).message(), HttpPoster(target).Post("body").error);
    return std::string(CheckTargetFiles(target).message());
  };
  const std::string is_fifo = fifo + " is a FIFO: must be a regular file";
  EXPECT_EQ(error_of({.bearer_token_file = fifo}), is_fifo);
  EXPECT_EQ(error_of({.ca_file = fifo}), is_fifo);
  EXPECT_EQ(error_of({.certificate_file = fifo}), is_fifo);
  EXPECT_EQ(error_of({.key_file = fifo}), is_fifo);
  EXPECT_EQ(error_of({.ca_file = "/dev/zero"}), "/dev/zero is a device: must be a regular file");
  EXPECT_EQ(error_of({}), "");
  unlink(fifo.c_str());
}

// A server that wants to see a certificate of ours.
TEST(HttpPosterTls, CertificatesAreReadForEveryPost) {
  const Certificates files;
  httplib::SSLServer server(files.Path("server.pem").c_str(), files.Path("server.key").c_str(),
                            files.Path("ca.pem").c_str());
  server.Post("/", [](const httplib::Request&, httplib::Response& response) { response.status = 200; });
  const int port = server.bind_to_any_port("127.0.0.1");
  std::thread serving([&server] { server.listen_after_bind(); });
  const auto copy = [&files](const char* from, const char* to) {
    std::filesystem::copy_file(files.Path(from), files.Path(to), std::filesystem::copy_options::overwrite_existing);
  };
  copy("ca.pem", "trusted.pem");
  copy("client.pem", "own.pem");
  HttpTarget target = {.url = "https://127.0.0.1:" + std::to_string(port) + "/"};
  EXPECT_EQ(HttpPoster(target).Post("body").status, 0) << "it is not known to the host";
  target.ca_file = files.Path("trusted.pem");
  EXPECT_EQ(HttpPoster(target).Post("body").status, 0) << "it has not been shown anything";
  target.certificate_file = files.Path("own.pem");
  target.key_file = files.Path("client.key");
  HttpPoster poster(target);
  const HttpAnswer answer = poster.Post("body");
  EXPECT_EQ(answer.status, 200) << answer.error;
  copy("stranger.pem", "trusted.pem");
  EXPECT_EQ(poster.Post("body").status, 0);
  copy("ca.pem", "trusted.pem");
  EXPECT_EQ(poster.Post("body").status, 200);
  copy("stranger.pem", "own.pem");
  EXPECT_EQ(poster.Post("body").status, 0) << "the key is of another one";
  server.stop();
  serving.join();
}

TEST_F(HttpPosterTest, AProxyIsAsked) {
  HttpTarget target = Target();
  target.url = "http://collector.invalid/profiles";
  target.proxy = "http://127.0.0.1:" + std::to_string(collector_.port());
  EXPECT_EQ(HttpPoster(target).Post("body").status, 200);
  EXPECT_THAT(collector_.Await(1)[0].head, StartsWith("POST http://collector.invalid/profiles HTTP/1.1\r\n"));
}

}  // namespace
}  // namespace offcpu
