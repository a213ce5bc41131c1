#include "daemon/config_checks.h"

#include <arpa/inet.h>
#include <sys/un.h>

#include <cstdint>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "bpf_programs/glob.h"

namespace offcpu {
namespace {

std::string HostOf(const std::string& listen) { return listen.substr(0, listen.rfind(':')); }

}  // namespace

absl::Status CheckGlob(const std::string& value) { return CompileGlob(value).status(); }

absl::Status CheckNotEmpty(const std::string& value) {
  return value.empty() ? absl::InvalidArgumentError("an empty string names nothing") : absl::OkStatus();
}

absl::Status CheckSocket(const std::string& value) {
  if (value.empty() || value[0] != '/') return absl::InvalidArgumentError("the path of a socket must begin with /");
  if (value.size() < sizeof(sockaddr_un::sun_path)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("the path of a socket can have at most ", sizeof(sockaddr_un::sun_path) - 1, " bytes"));
}

absl::Status CheckListen(const std::string& value) {
  if (value.empty()) return absl::OkStatus();
  const size_t colon = value.rfind(':');
  uint32_t port = 0;
  const bool has_port = colon != std::string::npos && absl::SimpleAtoi(value.substr(colon + 1), &port);
  if (!has_port || port == 0 || port > 65535)
    return absl::InvalidArgumentError(absl::StrCat("'", value, "' is not ADDRESS:PORT"));
  const std::string host = HostOf(value);
  if (host.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("'", value, "' has no address: write \"127.0.0.1", value,
                                                   "\" for this host only, \"0.0.0.0", value, "\" for all networks"));
  }
  in6_addr address = {};
  if (host == "localhost" || inet_pton(AF_INET, host.c_str(), &address) == 1) return absl::OkStatus();
  const bool is_bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (is_bracketed && inet_pton(AF_INET6, host.substr(1, host.size() - 2).c_str(), &address) == 1)
    return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "'", host,
      "' is not an address such as 127.0.0.1 or [::1]; names are not accepted, because what they mean can change"));
}

absl::Status CheckLevel(const std::string& value) {
  for (const char* level : {"error", "warning", "info", "debug"}) {
    if (value == level) return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("'", value, "' is not a level; the levels are error, warning, info and debug"));
}

absl::Status CheckDirectory(const std::string& value) {
  if (value.empty() || value[0] == '/') return absl::OkStatus();
  return absl::InvalidArgumentError("the path of a directory must begin with /");
}

absl::Status CheckFile(const std::string& value) {
  if (!value.empty() && value[0] == '/') return absl::OkStatus();
  return absl::InvalidArgumentError("the path of a file must begin with /");
}

absl::Status CheckFileOrNone(const std::string& value) { return value.empty() ? absl::OkStatus() : CheckFile(value); }

absl::Status CheckCompression(const std::string& value) {
  if (value.empty() || value == "gzip" || value == "none") return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("must be gzip or none, not '", value, "'"));
}

absl::Status CheckPair(const std::string& value) {
  const size_t equals = value.find('=');
  if (equals != std::string::npos && equals != 0) return absl::OkStatus();
  return absl::InvalidArgumentError("write an attribute as \"KEY=VALUE\"");
}

bool IsLoopback(const std::string& listen) {
  const std::string host = HostOf(listen);
  in_addr address = {};
  if (inet_pton(AF_INET, host.c_str(), &address) == 1) return (ntohl(address.s_addr) >> 24) == 127;
  return host == "localhost" || host == "[::1]";
}

}  // namespace offcpu
