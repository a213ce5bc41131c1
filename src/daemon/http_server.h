// The service's HTTP on loopback: /metrics for Prometheus, /healthz, and /debug/pprof/offcpu with the manners of Go's
// net/http/pprof, so that `go tool pprof` takes profiles from it. Whoever reaches it may read all: it refuses what did
// not ask for a loopback name, so that no page in a browser is led here.
//
// Has threads of its own: one for all connections (http_connections.h), which answers what is quick, and two for
// profiles (http_profiles.h), so that whatever asks for those, or sends nothing, does not keep the others from their
// answers.
#ifndef OFFCPU_DAEMON_HTTP_SERVER_H_
#define OFFCPU_DAEMON_HTTP_SERVER_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/dumps.h"
#include "daemon/http_connections.h"
#include "daemon/http_profiles.h"
#include "daemon/recording.h"
#include "daemon/window_export.h"

namespace offcpu {

struct HttpSource {
  Recording& recording;
  Dumps& dumps;
  const WindowExport& window_export;
  std::string version;
  std::function<absl::Status()> check_health;
};

class HttpServer {
 public:
  // At "ADDRESS:PORT". Unavailable if it cannot listen there. What `source` names must outlive it. Its end is that of
  // what is being served, but for a profile that is being made: that is waited for.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Listen(const std::string& listen, HttpSource source,
                                                            const HttpLimits& limits = {});
  // Of the port that it listens at, which is another one than was asked for if that was 0.
  int port() const { return port_; }

  ~HttpServer();

 private:
  HttpServer(HttpSource source, OwnedFd listener, const HttpLimits& limits);

  std::optional<HttpResponse> Serve(HttpConnections::Id id, const HttpRequest& request);
  std::optional<HttpResponse> ServeProfile(HttpConnections::Id id, const HttpRequest& request, const std::string& name);
  std::string Metrics() const;

  const HttpSource source_;
  const int port_;
  HttpProfiles profiles_;
  HttpConnections connections_;
};

}  // namespace offcpu

#endif  // OFFCPU_DAEMON_HTTP_SERVER_H_
