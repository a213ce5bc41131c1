#include "daemon/http_server.h"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "bytes/utf8.h"
#include "daemon/metrics.h"
#include "recorder/clocks.h"

namespace offcpu {
namespace {

constexpr int64_t kMaxSeconds = 3600;
constexpr int kHttpBacklog = 256;
constexpr std::string_view kProfiles = "/debug/pprof/";
constexpr uint64_t kSecondNs = 1'000'000'000;
constexpr uint64_t kLatestUnixSeconds = uint64_t{1} << 33;
constexpr uint64_t kPageSeconds = 3600;

constexpr char kIndex[] = R"(<!DOCTYPE html>
<html><head><meta charset="utf-8"><title>offcpud</title></head><body>
<h1>/debug/pprof/</h1>
<ul>
<li><a href="offcpu">offcpu</a>: where threads wait off the CPU, in all windows that are held;
 <a href="offcpu?seconds=5">in the next 5 seconds</a>; <a href="offcpu?debug=1">as text</a></li>
<li><a href="block">block</a>: the same, under the name that tools expect</li>
<li><a href="../../live">/live</a>: the last hour in this browser</li>
</ul>
<p>go tool pprof http://HOST:PORT/debug/pprof/offcpu?seconds=5</p>
</body></html>
)";

struct Address {
  std::string host;
  int port = 0;
};

// "[::1]:80" too.
std::optional<Address> ParseAddress(const std::string& listen) {
  const size_t colon = listen.rfind(':');
  Address address;
  if (colon == std::string::npos || !absl::SimpleAtoi(listen.substr(colon + 1), &address.port)) return std::nullopt;
  address.host = listen.substr(0, colon);
  if (address.host.size() > 2 && address.host.front() == '[')
    address.host = address.host.substr(1, address.host.size() - 2);
  if (address.host == "localhost") address.host = "127.0.0.1";  // whatever a name server says
  return address;
}

// A name that a stranger's page may have had resolved to this host is none of these.
bool IsLoopbackName(const std::string& host) {
  const std::string name = host.substr(0, host.find(']') == std::string::npos ? host.find(':') : host.find(']') + 1);
  return name.empty() || name == "localhost" || name == "[::1]" ||
         (name.starts_with("127.") && name.find_first_not_of("0123456789.") == std::string::npos);
}

// Lets two sockets have one port while it lives. Without it nobody else has ours unnoticed.
class SharedPort {
 public:
  SharedPort(int socket, int other) : sockets_{socket, other} { Set(1); }
  ~SharedPort() { Set(0); }
  SharedPort(const SharedPort&) = delete;
  SharedPort& operator=(const SharedPort&) = delete;

 private:
  void Set(int on) const {
    for (const int socket : sockets_) setsockopt(socket, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on));
  }

  const std::array<int, 2> sockets_;
};

// The address is no name. `before`: a socket that listens at the same port, until this one does; -1: none.
absl::StatusOr<OwnedFd> ListenAtAddress(const Address& address, int before) {
  addrinfo hints = {};
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int error = getaddrinfo(address.host.c_str(), absl::StrCat(address.port).c_str(), &hints, &found);
      error != 0)
    return absl::InvalidArgumentError(gai_strerror(error));
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owned(found, freeaddrinfo);
  OwnedFd fd(socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int yes = 1;
  std::optional<SharedPort> shared;
  if (before >= 0) shared.emplace(fd.get(), before);
  if (!fd || setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) != 0 ||
      bind(fd.get(), found->ai_addr, found->ai_addrlen) != 0 || listen(fd.get(), kHttpBacklog) != 0)
    return absl::UnavailableError(errno == EADDRINUSE ? "the port is in use" : strerror(errno));
  return fd;
}

int PortOf(const OwnedFd& listener) {
  sockaddr_storage address = {};
  socklen_t length = sizeof(address);
  getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &length);
  // Both families have the port at the same place.
  return ntohs(reinterpret_cast<const sockaddr_in*>(&address)->sin_port);
}

HttpResponse Moved(const char* where) {
  return {.status = 301, .type = "", .fields = {{"Location", where}}, .body = nullptr};
}

// A point in time as whole seconds since 1970; 0 if it is not said.
absl::StatusOr<uint64_t> UnixNsOf(const HttpRequest& request, std::string_view name) {
  const std::optional<std::string> text = request.Query(name);
  uint64_t seconds = 0;
  if (!text.has_value()) return 0;
  if (!absl::SimpleAtoi(*text, &seconds) || seconds == 0 || seconds > kLatestUnixSeconds)
    return absl::InvalidArgumentError(absl::StrCat(std::string(name), " must be a number of seconds since 1970"));
  return seconds * kSecondNs;
}

absl::Status ReadSpan(const HttpRequest& request, HttpProfileRequest* profile) {
  const absl::StatusOr<uint64_t> since = UnixNsOf(request, "since");
  if (!since.ok()) return since.status();
  const absl::StatusOr<uint64_t> until = UnixNsOf(request, "until");
  if (!until.ok()) return until.status();
  if (*until != 0 && *until <= *since) return absl::InvalidArgumentError("until must be later than since");
  profile->since_unix_ns = *since;
  profile->until_unix_ns = *until;
  return absl::OkStatus();
}

// Or why not.
absl::StatusOr<HttpProfileRequest> ProfileRequestOf(const std::string& name, const HttpRequest& request) {
  const bool is_text = request.Query("debug").value_or("0") != "0";
  HttpProfileRequest profile = {.name = is_text ? "" : name,
                                .format = is_text ? OutputFormat::kText : OutputFormat::kPprof};
  if (absl::Status status = ReadSpan(request, &profile); !status.ok()) return status;
  const std::optional<std::string> text = request.Query("seconds");
  if (!text.has_value()) return profile;
  int64_t seconds = 0;
  if (!absl::SimpleAtoi(*text, &seconds) || seconds < 0 || seconds > kMaxSeconds)
    return absl::InvalidArgumentError(absl::StrCat("seconds must be a whole number from 1 to ", kMaxSeconds));
  if (is_text) return absl::InvalidArgumentError("seconds and debug cannot be combined");
  if (profile.since_unix_ns != 0 || profile.until_unix_ns != 0)
    return absl::InvalidArgumentError("seconds cannot be combined with since or until");
  profile.next = std::chrono::seconds(seconds);
  return profile;
}

// A page is of the last hour, if the request asks for nothing else.
absl::StatusOr<HttpProfileRequest> PageRequestOf(const HttpRequest& request, uint64_t now_unix_ns) {
  const bool is_file = request.Query("download").value_or("0") != "0";
  HttpProfileRequest page = {.name = is_file ? "offcpu.html" : "", .format = OutputFormat::kHtml};
  if (absl::Status status = ReadSpan(request, &page); !status.ok()) return status;
  if (page.since_unix_ns == 0 && page.until_unix_ns == 0)
    page.since_unix_ns = now_unix_ns - std::min(now_unix_ns, kPageSeconds * kSecondNs);
  return page;
}

}  // namespace

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Listen(const std::string& listen,
                                                               std::shared_ptr<const HttpAccess> access,
                                                               HttpSource source, const HttpLimits& limits,
                                                               const HttpServer* before) {
  const std::optional<Address> address = ParseAddress(listen);
  if (!address.has_value()) return absl::InvalidArgumentError(absl::StrCat("'", listen, "' is not ADDRESS:PORT"));
  const bool has_its_port = before != nullptr && before->port() == address->port;
  absl::StatusOr<OwnedFd> listener = ListenAtAddress(*address, has_its_port ? before->connections_.listener() : -1);
  if (!listener.ok()) {
    return absl::UnavailableError(
        absl::StrCat("cannot listen at ", listen, ": ", std::string(listener.status().message()), " (http.listen)"));
  }
  std::unique_ptr<HttpServer> server(
      new HttpServer(std::move(source), *std::move(listener), std::move(access), limits));
  absl::Status status = server->profiles_.Start();
  if (status.ok()) status = server->connections_.Start();
  if (!status.ok()) return absl::UnavailableError(status.message());
  return server;
}

HttpServer::HttpServer(HttpSource source, OwnedFd listener, std::shared_ptr<const HttpAccess> access,
                       const HttpLimits& limits)
    : source_(std::move(source)),
      port_(PortOf(listener)),
      profiles_(source_.recording, source_.dumps,
                [this](HttpConnections::Id id, HttpResponse answer) { connections_.Answer(id, std::move(answer)); }),
      connections_(
          std::move(listener), std::move(access), limits,
          [this](HttpConnections::Id id, const HttpRequest& request, HttpClient client) {
            return Serve(id, request, client);
          },
          [this](HttpConnections::Id id) { profiles_.Cancel(id); }) {}

// In the order in which they ask each other.
HttpServer::~HttpServer() {
  connections_.Stop();
  profiles_.Stop();
}

std::optional<HttpResponse> HttpServer::Serve(HttpConnections::Id id, const HttpRequest& request, HttpClient client) {
  if (!client.is_tls && !IsLoopbackName(request.host)) return Refusal(403, "use a loopback address, or localhost");
  if (request.method != "GET" && request.method != "HEAD") {
    HttpResponse answer = TextAnswer(405, "only GET and HEAD are supported");
    answer.fields.emplace_back("Allow", "GET, HEAD");
    return answer;
  }
  if (request.path == "/healthz") return Health();  // those who probe have nothing to show
  if (!client.is_allowed) {
    ++not_allowed_;
    HttpResponse answer =
        Refusal(401, "present the bearer token, or the client certificate, that the configuration requires");
    // A browser asks for a password. A field for each scheme: Chromium reads one scheme in a field, and asks nobody for
    // a bearer token.
    answer.fields.emplace_back("WWW-Authenticate", "Bearer realm=\"offcpud\"");
    answer.fields.emplace_back("WWW-Authenticate", "Basic realm=\"offcpud: the token\"");
    return answer;
  }
  if (request.path == "/metrics") return WholeAnswer("text/plain; version=0.0.4; charset=utf-8", Metrics());
  if (request.path == "/") return Moved("/live");
  if (request.path == "/live") return Take(id, PageRequestOf(request, ReadClocks().unix_ns));
  if (request.path == "/debug/pprof") return Moved("/debug/pprof/");
  if (!request.path.starts_with(kProfiles))
    return TextAnswer(404, "not found; there are /live, /metrics, /healthz and /debug/pprof/");
  return ServeProfile(id, request, request.path.substr(kProfiles.size()));
}

HttpResponse HttpServer::Health() const {
  const absl::Status health = source_.check_health();
  return TextAnswer(health.ok() ? 200 : 503, health.ok() ? "ok" : std::string(health.message()));
}

std::optional<HttpResponse> HttpServer::ServeProfile(HttpConnections::Id id, const HttpRequest& request,
                                                     const std::string& name) {
  if (name.empty()) return WholeAnswer("text/html; charset=utf-8", kIndex);
  if (name == "cmdline") return WholeAnswer(kTextType, "offcpud");
  if (name != "offcpu" && name != "block")
    return Refusal(404, absl::StrCat("no profile ", Printable(name), "; the profiles are offcpu and block"));
  return Take(id, ProfileRequestOf(name, request));
}

std::optional<HttpResponse> HttpServer::Take(HttpConnections::Id id, absl::StatusOr<HttpProfileRequest> profile) {
  if (!profile.ok()) return Refusal(400, std::string(profile.status().message()));
  if (profiles_.Add(id, *std::move(profile))) return std::nullopt;
  HttpResponse answer = Refusal(503, absl::StrCat(HttpProfiles::kMost, " profiles are already being made; try again"));
  answer.fields.emplace_back("Retry-After", "5");
  return answer;
}

std::string HttpServer::Metrics() const {
  HttpStats stats = connections_.stats();
  stats.refused_profiles = profiles_.refused();
  stats.not_allowed = not_allowed_;
  return FormatMetrics(source_.recording, source_.window_export, source_.blocked.sums(), stats, source_.control_stats(),
                       source_.version);
}

}  // namespace offcpu
