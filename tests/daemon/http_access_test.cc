#include "daemon/http_access.h"

#include <sys/stat.h>

#include <memory>
#include <string>

#include "bytes/read_file.h"
#include "certificates.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace offcpu {
namespace {

using ::testing::HasSubstr;

constexpr char kToken[] = "0123456789abcdef";

class HttpAccessTest : public ::testing::Test {
 protected:
  static absl::StatusOr<std::shared_ptr<const HttpAccess>> Load(DaemonConfig::Http config) {
    config.listen = "127.0.0.1:1";
    return HttpAccess::Load(config);
  }
  static std::string ErrorOf(const DaemonConfig::Http& config) {
    const auto access = Load(config);
    return access.ok() ? "no error" : std::string(access.status().message());
  }
  std::string Token(const std::string& bytes) { return files_.Write("token", bytes); }

  Certificates files_;
};

TEST_F(HttpAccessTest, WithoutAnythingAllAreAllowed) {
  const auto access = Load({});
  ASSERT_TRUE(access.ok());
  EXPECT_TRUE((*access)->Allows("", false));
  EXPECT_EQ((*access)->tls(), nullptr);
}

TEST_F(HttpAccessTest, WhereNobodyIsServedNoFileIsRead) {
  const DaemonConfig::Http config = {.bearer_token_file = files_.Path("none")};
  EXPECT_TRUE(HttpAccess::Load(config).ok());
}

TEST_F(HttpAccessTest, ATokenIsTheFirstLineOfItsFile) {
  for (const char* file : {"0123456789abcdef", "0123456789abcdef\n", " 0123456789abcdef \r\nmore\n"}) {
    const auto access = Load({.bearer_token_file = Token(file)});
    ASSERT_TRUE(access.ok()) << access.status();
    EXPECT_TRUE((*access)->Allows(std::string("Bearer ") + kToken, false)) << file;
  }
}

TEST_F(HttpAccessTest, OnlyTheWholeTokenIsAllowed) {
  const auto access = Load({.bearer_token_file = Token(kToken)});
  ASSERT_TRUE(access.ok());
  EXPECT_TRUE((*access)->Allows("bearer 0123456789abcdef", false)) << "names of schemes have no case";
  for (const char* wrong :
       {"", "Bearer", "Bearer ", "0123456789abcdef", "Bearer 0123456789abcde", "Bearer 0123456789abcdef0",
        "Bearer  0123456789abcdef", "Bearer 0123456789abcdeF", "Basic 0123456789abcdef", "Bearer0123456789abcdef"}) {
    EXPECT_FALSE((*access)->Allows(wrong, true)) << wrong;
  }
}

TEST_F(HttpAccessTest, ATokenThatCanBeGuessedIsAnError) {
  EXPECT_THAT(ErrorOf({.bearer_token_file = Token("")}), HasSubstr("must be a token of 16 to 4096 bytes"));
  EXPECT_THAT(ErrorOf({.bearer_token_file = Token("\n0123456789abcdef")}), HasSubstr("must be a token"));
  EXPECT_THAT(ErrorOf({.bearer_token_file = Token("0123456789abcde")}), HasSubstr("must be a token"));
  EXPECT_EQ(ErrorOf({.bearer_token_file = Token(std::string(4096, 'a'))}), "no error");
  EXPECT_THAT(ErrorOf({.bearer_token_file = Token(std::string(4097, 'a'))}), HasSubstr("must be a token"));
  EXPECT_THAT(ErrorOf({.bearer_token_file = files_.Path("none")}), HasSubstr("/none cannot be read: No such file"));
}

TEST_F(HttpAccessTest, WhatIsAskedForIsAskedForTogether) {
  const auto access = Load({.certificate_file = files_.Path("server.pem"),
                            .key_file = files_.Path("server.key"),
                            .client_ca_file = files_.Path("ca.pem"),
                            .bearer_token_file = Token(kToken)});
  ASSERT_TRUE(access.ok()) << access.status();
  EXPECT_NE((*access)->tls(), nullptr);
  EXPECT_TRUE((*access)->Allows(std::string("Bearer ") + kToken, true));
  EXPECT_FALSE((*access)->Allows(std::string("Bearer ") + kToken, false));
  EXPECT_FALSE((*access)->Allows("", true));
}

TEST_F(HttpAccessTest, FilesThatAreNotWhatTheyShouldBeAreErrors) {
  const std::string certificate = files_.Path("server.pem");
  const std::string key = files_.Path("server.key");
  EXPECT_EQ(ErrorOf({.certificate_file = certificate, .key_file = key}), "no error");
  EXPECT_THAT(ErrorOf({.certificate_file = files_.Path("none"), .key_file = key}),
              HasSubstr("/none cannot be read: No such file"));
  EXPECT_THAT(ErrorOf({.certificate_file = key, .key_file = key}), HasSubstr("cannot read a certificate"));
  EXPECT_THAT(ErrorOf({.certificate_file = certificate, .key_file = certificate}),
              HasSubstr("cannot read the key of the cert"));
  EXPECT_THAT(ErrorOf({.certificate_file = certificate, .key_file = files_.Path("client.key")}),
              HasSubstr("/client.key: cannot read the key of the certificate from it"));
  EXPECT_THAT(ErrorOf({.certificate_file = certificate, .key_file = key, .client_ca_file = key}),
              HasSubstr("/server.key: cannot read certificates from it"));
}

// Nothing is waited for that never comes, and nothing is read that has no end.
TEST_F(HttpAccessTest, OnlyRegularFilesAreRead) {
  const std::string fifo = files_.Path("fifo");
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  const std::string pem = files_.Path("server.pem");
  const std::string key = files_.Path("server.key");
  const auto is_fifo = HasSubstr("/fifo is a FIFO: must be a regular file");
  EXPECT_THAT(ErrorOf({.bearer_token_file = fifo}), is_fifo);
  EXPECT_THAT(ErrorOf({.certificate_file = fifo, .key_file = key}), is_fifo);
  EXPECT_THAT(ErrorOf({.certificate_file = pem, .key_file = fifo}), is_fifo);
  EXPECT_THAT(ErrorOf({.certificate_file = pem, .key_file = key, .client_ca_file = fifo}), is_fifo);
  EXPECT_THAT(ErrorOf({.certificate_file = "/dev/zero", .key_file = key}), HasSubstr("/dev/zero is a device"));
}

TEST_F(HttpAccessTest, EveryCertificateOfAFileHasToBeRight) {
  const auto text = [this](const char* name) { return *ReadRegularFile(files_.Path(name)); };
  const std::string key = files_.Path("server.key");
  const std::string server = text("server.pem");
  const std::string ca = text("ca.pem");
  const std::string half = ca.substr(0, ca.size() / 2);
  const auto error_of_chain = [&](const std::string& pem) {
    return ErrorOf({.certificate_file = files_.Write("chain.pem", pem), .key_file = key});
  };
  EXPECT_EQ(error_of_chain("a comment\n" + server + "another\n" + ca), "no error");
  EXPECT_THAT(error_of_chain(server + half), HasSubstr("/chain.pem: cannot read a certificate from it"));
  const auto error_of_ca = [&](const std::string& pem) {
    return ErrorOf({.certificate_file = files_.Path("server.pem"),
                    .key_file = key,
                    .client_ca_file = files_.Write("cas.pem", pem)});
  };
  EXPECT_EQ(error_of_ca(ca + text("stranger.pem") + ca), "no error");
  EXPECT_THAT(error_of_ca(ca + half), HasSubstr("/cas.pem: cannot read certificates from it"));
  EXPECT_THAT(error_of_ca(""), HasSubstr("/cas.pem: cannot read certificates from it"));
}

// "USER:PASSWORD" in base64, of RFC 7617.
TEST_F(HttpAccessTest, ABrowserShowsTheTokenAsAPassword) {
  const auto access = Load({.bearer_token_file = Token(kToken)});
  ASSERT_TRUE(access.ok());
  for (const char* right : {"Basic bWU6MDEyMzQ1Njc4OWFiY2RlZg==",  // me:0123456789abcdef
                            "basic OjAxMjM0NTY3ODlhYmNkZWY="}) {   // :0123456789abcdef
    EXPECT_TRUE((*access)->Allows(right, false)) << right;
  }
  for (const char* wrong : {"Basic MDEyMzQ1Njc4OWFiY2RlZjo=",      // 0123456789abcdef:
                            "Basic bWU6MDEyMzQ1Njc4OWFiY2RlRg==",  // me:0123456789abcdeF
                            "Basic MDEyMzQ1Njc4OWFiY2RlZg==",      // 0123456789abcdef
                            "Basic me:0123456789abcdef", "Basic ", "Basic", "Basic =", "Basic ===="}) {
    EXPECT_FALSE((*access)->Allows(wrong, true)) << wrong;
  }
}

}  // namespace
}  // namespace offcpu
