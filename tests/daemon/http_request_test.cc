#include "daemon/http_request.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace offcpu {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr char kHead[] =
    "GET /debug/pprof/offcpu?seconds=5&debug&x=a=b HTTP/1.1\r\n"  // method, target, version
    "User-Agent: Go-http-client/1.1\r\n"                          // of no interest
    "hOST:  127.0.0.1:7071\t\r\n"                                 // in any case, with blanks around
    "\r\n";                                                       // the end

TEST(HttpRequestTest, AHeadIsTakenApart) {
  const absl::StatusOr<HttpRequest> request = ParseHttpRequest(kHead);
  ASSERT_TRUE(request.ok());
  EXPECT_EQ(request->method, "GET");
  EXPECT_EQ(request->path, "/debug/pprof/offcpu");
  EXPECT_THAT(request->query, ElementsAre(Pair("seconds", "5"), Pair("debug", ""), Pair("x", "a=b")));
  EXPECT_EQ(request->Query("seconds"), "5");
  EXPECT_EQ(request->Query("second"), std::nullopt);
  EXPECT_EQ(request->host, "127.0.0.1:7071");
  EXPECT_EQ(request->authorization, "");
}

TEST(HttpRequestTest, ValuesOfTheQueryAreDecoded) {
  const auto query = [](const std::string& text) {
    const auto request = ParseHttpRequest("GET /a%41?" + text + " HTTP/1.1\r\n\r\n");
    EXPECT_TRUE(!request.ok() || request->path == "/a%41") << "no path is";
    return request.ok() ? request->query : decltype(request->query)();
  };
  EXPECT_THAT(query("a=%41%7e&b=%25%26%3D"), ElementsAre(Pair("a", "A~"), Pair("b", "%&=")));
  EXPECT_THAT(query("a=b+c&%41=%C3%a9"), ElementsAre(Pair("a", "b+c"), Pair("%41", "\xc3\xa9")));
  for (const char* text : {"a=%", "a=%4", "a=%4g", "a=%%41", "a=% 1"}) EXPECT_THAT(query(text), IsEmpty()) << text;
}

TEST(HttpRequestTest, AnyValueComesBackFromItsCode) {
  EXPECT_EQ(PercentEncoded("a*b,c.d-e_f~"), "a*b,c.d-e_f~");
  EXPECT_EQ(PercentEncoded("kworker/0:1 %&="), "kworker%2f0%3a1%20%25%26%3d");
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  const auto request = ParseHttpRequest("GET /?x=" + PercentEncoded(all) + " HTTP/1.1\r\n\r\n");
  ASSERT_TRUE(request.ok());
  EXPECT_EQ(request->Query("x"), all);
}

TEST(HttpRequestTest, WhoAsksIsInAField) {
  const auto request = ParseHttpRequest("GET / HTTP/1.1\r\nauthorization:  Bearer a b \r\nHost: c\r\n\r\n");
  ASSERT_TRUE(request.ok());
  EXPECT_EQ(request->authorization, "Bearer a b");
  EXPECT_EQ(request->host, "c");
}

TEST(HttpRequestTest, ItIsAllThereWhenItsEmptyLineIs) {
  const std::string head = kHead;
  for (size_t size = 0; size < head.size(); ++size) EXPECT_EQ(HttpHeadLength(head.substr(0, size)), 0u) << size;
  EXPECT_EQ(HttpHeadLength(head), head.size());
  EXPECT_EQ(HttpHeadLength(head + "body\r\n\r\n"), head.size());
  EXPECT_EQ(HttpHeadLength("GET / HTTP/1.1\n\n"), 16u) << "lines may end with LF alone";
}

// A head that is cut anywhere is an error or a request with less in it, and neither reads beyond it.
TEST(HttpRequestTest, EveryBeginningIsJudged) {
  const std::string head = kHead;
  const size_t first_line = head.find("\r\n");
  for (size_t size = 0; size < head.size(); ++size) {
    const bool is_whole = size >= first_line && ParseHttpRequest(head.substr(0, size)).ok();
    EXPECT_EQ(is_whole, ParseHttpRequest(head.substr(0, size)).ok()) << size;
  }
}

TEST(HttpRequestTest, WhatIsNoneIsRefused) {
  for (const char* head :
       {"", "\r\n", "GET\r\n\r\n", "GET /\r\n\r\n", "GET / HTTP/2\r\n\r\n", " / HTTP/1.1\r\n\r\n",
        "GET x HTTP/1.1\r\n\r\n", "GET http://a/ HTTP/1.1\r\n\r\n", "G\xc2T / HTTP/1.1\r\n\r\n",
        "GET /a b HTTP/1.1\r\n\r\n", "GET /\x1b HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nno colon\r\n\r\n",
        "GET / HTTP/1.1\r\n: x\r\n\r\n", "GET / HTTP/1.1\r\nHost : a\r\n\r\n", "GET / HTTP/1.1\r\n folded\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: localhost\r\nhost: evil.example\r\n\r\n",
        "GET / HTTP/1.1\r\nAuthorization: \r\nAuthorization: Bearer x\r\n\r\n"}) {
    EXPECT_FALSE(ParseHttpRequest(head).ok()) << head;
  }
}

}  // namespace
}  // namespace offcpu
