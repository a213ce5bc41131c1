// The service's HTTP on loopback: /metrics for Prometheus, /healthz, and /debug/pprof/offcpu with the manners of Go's
// net/http/pprof, so that `go tool pprof` takes profiles from it. Whoever reaches it may read all: it refuses what did
// not ask for a loopback name, so that no page in a browser is led here.
//
// Has threads of its own; a client that is slow or gone holds one of them for a bounded time.
#ifndef OFFCPU_DAEMON_HTTP_SERVER_H_
#define OFFCPU_DAEMON_HTTP_SERVER_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/dumps.h"
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
  virtual ~HttpServer() = default;  // ends what is being served

  // At "ADDRESS:PORT". Unavailable if it cannot listen there. What `source` names must outlive it.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Listen(const std::string& listen, HttpSource source);
  // Of the port that it listens at, which is another one than was asked for if that was 0.
  virtual int port() const = 0;
};

}  // namespace offcpu

#endif  // OFFCPU_DAEMON_HTTP_SERVER_H_
