// The service's HTTP: /metrics for Prometheus, /healthz, and /debug/pprof/offcpu with the manners of Go's
// net/http/pprof, so that `go tool pprof` takes profiles from it; and /live, the last hour as a page. A client that
// shows what the configuration asks for may read all, and any client /healthz. Without TLS it refuses what did not ask
// for a loopback name, so that no page in a browser is led here; with TLS the certificate does that.
//
// Has threads of its own: one for all connections (http_connections.h), which answers what is quick, and two for
// profiles (http_profiles.h), so that whatever asks for those, or sends nothing, does not keep the others from their
// answers.
#ifndef OFFCPU_DAEMON_HTTP_SERVER_H_
#define OFFCPU_DAEMON_HTTP_SERVER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/blocked_times.h"
#include "daemon/control_server.h"
#include "daemon/dumps.h"
#include "daemon/http_access.h"
#include "daemon/http_connections.h"
#include "daemon/http_profiles.h"
#include "daemon/recording.h"
#include "daemon/window_export.h"

namespace offcpu {

struct HttpSource {
  Recording& recording;
  Dumps& dumps;
  const WindowExport& window_export;
  const BlockedTimes& blocked;
  std::string version;
  std::function<absl::Status()> check_health;
  std::function<ControlStats()> control_stats = [] { return ControlStats(); };
};

class HttpServer {
 public:
  // Listens at "ADDRESS:PORT", for clients that `access` allows. Unavailable if it cannot listen there. What `source`
  // names must outlive it. Its end is that of what is being served, but for a profile that is being made: that is
  // waited for.
  // `before`: the server whose place it takes, and which goes on until it is destroyed; null: none. Both may have one
  // port, at addresses of which one contains the other.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Listen(const std::string& listen,
                                                            std::shared_ptr<const HttpAccess> access, HttpSource source,
                                                            const HttpLimits& limits = {},
                                                            const HttpServer* before = nullptr);
  // Applies to connections from now on.
  void SetAccess(std::shared_ptr<const HttpAccess> access) { connections_.SetAccess(std::move(access)); }

  // The port that it listens at, which is another one than was asked for if that was 0.
  int port() const { return port_; }

  ~HttpServer();

 private:
  HttpServer(HttpSource source, OwnedFd listener, std::shared_ptr<const HttpAccess> access, const HttpLimits& limits);

  std::optional<HttpResponse> Serve(HttpConnections::Id id, const HttpRequest& request, HttpClient client);
  HttpResponse Health() const;
  std::optional<HttpResponse> ServeProfile(HttpConnections::Id id, const HttpRequest& request, const std::string& name);
  // Has it made; or why not.
  std::optional<HttpResponse> Take(HttpConnections::Id id, absl::StatusOr<HttpProfileRequest> profile);
  std::string Metrics() const;

  const HttpSource source_;
  const int port_;
  uint64_t not_allowed_ = 0;  // of the thread of the connections
  HttpProfiles profiles_;
  HttpConnections connections_;
};

}  // namespace offcpu

#endif  // OFFCPU_DAEMON_HTTP_SERVER_H_
