#include "otelcol.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "gtest/gtest.h"

namespace offcpu {
namespace {

int FreePort() {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  EXPECT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&address), size), 0);
  getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
  close(fd);
  return ntohs(address.sin_port);
}

std::string Slurp(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string TlsLines(const OtelcolTls& tls) {
  if (tls.certificate_file.empty()) return "";
  std::string lines = absl::StrCat("        tls:\n          cert_file: ", tls.certificate_file,
                                   "\n          key_file: ", tls.key_file, "\n");
  if (!tls.client_ca_file.empty()) absl::StrAppend(&lines, "          client_ca_file: ", tls.client_ca_file, "\n");
  return lines;
}

size_t CountOf(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

}  // namespace

bool Otelcol::IsThere() { return access(OFFCPU_OTELCOL, X_OK) == 0; }

Otelcol::Otelcol(std::string directory, int port, const OtelcolTls& tls)
    : directory_(std::move(directory)), port_(port != 0 ? port : FreePort()) {
  const std::string config = directory_ + "/otelcol.yaml";
  const std::string log = directory_ + "/otelcol.log";
  std::ofstream(config) << "receivers:\n  otlp:\n    protocols:\n      http:\n        endpoint: \"127.0.0.1:" << port_
                        << "\"\n"
                        << TlsLines(tls)
                        << "exporters:\n  debug:\n    verbosity: detailed\n"
                           "service:\n  telemetry:\n    metrics:\n      level: none\n"
                           "  pipelines:\n    profiles:\n      receivers: [otlp]\n      exporters: [debug]\n";
  const std::string ready = "Everything is ready";
  const size_t before = CountOf(Slurp(log), ready);
  pid_ = fork();
  if (pid_ == 0) {
    const int fd = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    dup2(fd, 1);
    dup2(fd, 2);
    execl(OFFCPU_OTELCOL, "otelcol", "--config", config.c_str(), "--feature-gates=service.profilesSupport", nullptr);
    _exit(127);
  }
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (CountOf(Slurp(log), ready) == before) {
    if (std::chrono::steady_clock::now() > deadline || waitpid(pid_, nullptr, WNOHANG) == pid_) {
      ADD_FAILURE() << "the collector does not come up: " << Slurp(log);
      return;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

Otelcol::~Otelcol() {
  if (pid_ <= 0) return;
  kill(pid_, SIGTERM);
  waitpid(pid_, nullptr, 0);
}

void Otelcol::Kill() {
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

std::vector<PrintedProfile> PrintedProfiles(const std::string& directory) {
  std::vector<PrintedProfile> profiles;
  std::istringstream log(Slurp(directory + "/otelcol.log"));
  std::string service;
  for (std::string line; std::getline(log, line);) {
    absl::string_view rest = line;
    if (absl::ConsumePrefix(&rest, "     -> service.name: Str(")) {
      service = std::string(absl::StripSuffix(rest, ")"));
    } else if (absl::ConsumePrefix(&rest, "Profile #")) {
      profiles.push_back({.service = service});
      EXPECT_TRUE(absl::SimpleAtoi(rest, &profiles.back().number)) << line;
    } else if (absl::ConsumePrefix(&rest, "    Profile ID     : ")) {
      profiles.back().id = std::string(rest);
    } else if (absl::ConsumePrefix(&rest, "        Values: [")) {
      uint64_t value = 0;
      EXPECT_TRUE(absl::SimpleAtoi(absl::StripSuffix(rest, "]"), &value)) << line;
      profiles.back().sum += value;
    }
  }
  return profiles;
}

Certificates::Certificates(const std::string& directory)
    : ca(directory + "/ca.pem"),
      server(directory + "/server.pem"),
      server_key(directory + "/server.key"),
      client(directory + "/client.pem"),
      client_key(directory + "/client.key") {
  const std::string script = absl::StrCat(
      "set -e; cd ", directory,
      "; openssl req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem -days 2 -subj /CN=ca 2>/dev/null"
      "; for name in server client; do"
      "   openssl req -newkey rsa:2048 -nodes -keyout $name.key -out $name.csr -subj /CN=$name 2>/dev/null"
      "   ; printf 'subjectAltName=DNS:localhost,IP:127.0.0.1\\n' >$name.ext"
      "   ; openssl x509 -req -in $name.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile $name.ext"
      "     -out $name.pem 2>/dev/null"
      "; done");
  EXPECT_EQ(std::system(script.c_str()), 0) << script;
}

}  // namespace offcpu
