#include "daemon/http_server.h"

#include <httplib.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <thread>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "daemon/log.h"
#include "daemon/metrics.h"
#include "daemon/unix_time.h"

namespace offcpu {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kThreads = 8;
constexpr size_t kMaxRequestBytes = 4096;
constexpr std::chrono::seconds kClientPatience(10);  // with a client, for each read and write
constexpr std::chrono::seconds kPatience(45);        // of a client, until its profile is made
constexpr int64_t kMaxSeconds = 3600;
constexpr std::chrono::milliseconds kNoticePeriod(100);  // after which it is seen that a client has gone

constexpr char kText[] = "text/plain; charset=utf-8";
constexpr char kIndex[] = R"(<!DOCTYPE html>
<html><head><meta charset="utf-8"><title>offcpud</title></head><body>
<h1>/debug/pprof/</h1>
<ul>
<li><a href="offcpu">offcpu</a>: where threads wait off the CPU, of all windows that are held;
 <a href="offcpu?seconds=5">of the next 5 seconds</a>; <a href="offcpu?debug=1">as text</a></li>
<li><a href="block">block</a>: the same, where tools look for it</li>
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
  return address;
}

// A name that a stranger's page may have had resolved to this host is none of these.
bool IsLoopbackName(const std::string& host) {
  const std::string name = host.substr(0, host.find(']') == std::string::npos ? host.find(':') : host.find(']') + 1);
  return name.empty() || name == "localhost" || name == "[::1]" ||
         (name.starts_with("127.") && name.find_first_not_of("0123456789.") == std::string::npos);
}

// As Go's servers tell that the text is for the user.
void Refuse(httplib::Response& response, int status, const std::string& why) {
  response.status = status;
  response.set_header("X-Go-Pprof", "1");
  response.set_content(why + "\n", kText);
}

int HttpStatusOf(const absl::Status& status) {
  return status.code() == absl::StatusCode::kDeadlineExceeded || status.code() == absl::StatusCode::kResourceExhausted
             ? 503
             : 500;
}

class HttpServerImpl final : public HttpServer {
 public:
  explicit HttpServerImpl(HttpSource source) : source_(std::move(source)) {
    server_.new_task_queue = [] { return new httplib::ThreadPool(kThreads); };
    server_.set_payload_max_length(kMaxRequestBytes);
    server_.set_read_timeout(kClientPatience);
    server_.set_write_timeout(kClientPatience);
    server_.set_keep_alive_max_count(1);
    // Not SO_REUSEPORT, with which nobody would notice that the port is in use.
    server_.set_socket_options([](socket_t socket) {
      const int yes = 1;
      setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    });
    server_.set_pre_routing_handler([](const httplib::Request& request, httplib::Response& response) {
      response.set_header("X-Content-Type-Options", "nosniff");
      if (IsLoopbackName(request.get_header_value("Host"))) return httplib::Server::HandlerResponse::Unhandled;
      Refuse(response, 403, "ask by a loopback address or as localhost");
      return httplib::Server::HandlerResponse::Handled;
    });
    AddRoutes();
  }

  ~HttpServerImpl() override {
    stopping_ = true;
    server_.stop();
    if (thread_.joinable()) thread_.join();
  }

  absl::Status Start(const std::string& listen) {
    const std::optional<Address> address = ParseAddress(listen);
    if (!address.has_value()) return absl::InvalidArgumentError(absl::StrCat("'", listen, "' is not ADDRESS:PORT"));
    port_ = address->port == 0 ? server_.bind_to_any_port(address->host.c_str())
                               : (server_.bind_to_port(address->host.c_str(), address->port) ? address->port : -1);
    if (port_ < 0) {
      return absl::UnavailableError(
          absl::StrCat("no HTTP: cannot listen at ", listen, ": is the port in use? (http.listen)"));
    }
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    while (!server_.is_running()) std::this_thread::yield();  // before that it could not be stopped
    return absl::OkStatus();
  }

  int port() const override { return port_; }

 private:
  void AddRoutes() {
    const auto profile = [this](const httplib::Request& request, httplib::Response& response) {
      ServeProfile(request, response);
    };
    server_.Get("/debug/pprof/offcpu", profile);
    server_.Get("/debug/pprof/block", profile);
    server_.Get("/debug/pprof", [](const httplib::Request&, httplib::Response& response) {
      response.set_redirect("/debug/pprof/", 301);
    });
    server_.Get("/debug/pprof/", [](const httplib::Request&, httplib::Response& response) {
      response.set_content(kIndex, "text/html; charset=utf-8");
    });
    server_.Get("/debug/pprof/cmdline",
                [](const httplib::Request&, httplib::Response& response) { response.set_content("offcpud", kText); });
    server_.Get(R"(/debug/pprof/(.+))", [](const httplib::Request& request, httplib::Response& response) {
      Refuse(response, 404, absl::StrCat("no profile ", request.matches[1].str(), ": there are offcpu and block"));
    });
    server_.Get("/metrics", [this](const httplib::Request&, httplib::Response& response) {
      response.set_content(FormatMetrics(source_.recording, source_.window_export, source_.version),
                           "text/plain; version=0.0.4; charset=utf-8");
    });
    server_.Get("/healthz", [this](const httplib::Request&, httplib::Response& response) {
      const absl::Status health = source_.check_health();
      response.status = health.ok() ? 200 : 503;
      response.set_content(health.ok() ? "ok\n" : absl::StrCat(std::string(health.message()), "\n"), kText);
    });
  }

  void ServeProfile(const httplib::Request& request, httplib::Response& response) {
    const bool is_text = request.has_param("debug") && request.get_param_value("debug") != "0";
    if (!request.has_param("seconds")) return Send({}, is_text, request, response);
    int64_t seconds = 0;
    if (!absl::SimpleAtoi(request.get_param_value("seconds"), &seconds) || seconds < 0 || seconds > kMaxSeconds)
      return Refuse(response, 400, absl::StrCat("seconds is a whole number from 1 to ", kMaxSeconds));
    if (is_text) return Refuse(response, 400, "seconds and debug are not for one request");
    if (seconds == 0) return Send({}, false, request, response);
    SendNext(std::chrono::seconds(seconds), request, response);
  }

  // Of what the windows hold.
  void Send(const DumpSelection& selection, bool is_text, const httplib::Request& request,
            httplib::Response& response) {
    const OutputFormat format = is_text ? OutputFormat::kText : OutputFormat::kPprof;
    const absl::StatusOr<Dumps::Dump> dump = source_.dumps.Make(selection, format, Clock::now() + kPatience);
    if (!dump.ok()) return Refuse(response, HttpStatusOf(dump.status()), std::string(dump.status().message()));
    if (!is_text) NameFile(request, "", response);
    const auto write = [bytes = *dump](size_t offset, size_t length, httplib::DataSink& sink) {
      return sink.write(bytes->data() + offset, length);
    };
    response.set_content_provider((*dump)->size(), is_text ? kText : "application/octet-stream", write);
  }

  // Of the time from now on. The answer begins at once, so that it is seen if the client goes.
  void SendNext(std::chrono::seconds duration, const httplib::Request& request, httplib::Response& response) {
    // What was recorded before is in other windows.
    const absl::Status cut = source_.recording.CutNow(Clock::now() + kPatience);
    if (!cut.ok()) return Refuse(response, HttpStatusOf(cut), std::string(cut.message()));
    NameFile(request, "-delta", response);
    const DumpSelection selection = {.since_unix_ns = NowUnixNs()};
    const auto write = [this, selection, end = Clock::now() + duration](size_t, httplib::DataSink& sink) {
      while (Clock::now() < end) {
        if (stopping_ || !sink.is_writable()) return false;
        std::this_thread::sleep_for(std::min<Clock::duration>(kNoticePeriod, end - Clock::now()));
      }
      const absl::StatusOr<Dumps::Dump> dump =
          source_.dumps.Make(selection, OutputFormat::kPprof, Clock::now() + kPatience);
      if (!dump.ok()) Log(LogLevel::kWarning, absl::StrCat("no profile: ", std::string(dump.status().message())));
      if (!dump.ok() || !sink.write((*dump)->data(), (*dump)->size())) return false;
      sink.done();
      return true;
    };
    response.set_chunked_content_provider("application/octet-stream", write);
  }

  static void NameFile(const httplib::Request& request, const char* suffix, httplib::Response& response) {
    const std::string name = request.path.substr(request.path.rfind('/') + 1);
    response.set_header("Content-Disposition", absl::StrCat("attachment; filename=\"", name, suffix, "\""));
  }

  const HttpSource source_;
  std::atomic<bool> stopping_{false};
  httplib::Server server_;
  int port_ = -1;
  std::thread thread_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Listen(const std::string& listen, HttpSource source) {
  auto server = std::make_unique<HttpServerImpl>(std::move(source));
  if (absl::Status status = server->Start(listen); !status.ok()) return status;
  return server;
}

}  // namespace offcpu
