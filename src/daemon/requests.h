// What clients of the control socket ask for, answered from a recording. Any thread.
//   /status                               how the service is doing, as text; as JSON with json=1
//   /healthz                              "ok", or why it is not well
//   /dump?since_ns=&until_ns=&pid=&comm=  pprof of the windows that have something of this time since 1970 (0: from the
//                                         oldest, to now), the running one too. Windows are whole. pid and comm, where
//                                         * and ? stand for others, may come again: only rows of these, if there are
//                                         any
//   /stacks?pid=&unwind=                  where every thread of a process stands now, as text; as JSON with json=1
//
// Refuses what it does not know, a name in the query too: a client that is newer wants more than it would get.
#ifndef OFFCPU_DAEMON_REQUESTS_H_
#define OFFCPU_DAEMON_REQUESTS_H_

#include <chrono>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "daemon/dumps.h"
#include "daemon/http_request.h"
#include "daemon/http_response.h"
#include "daemon/recording.h"
#include "daemon/service_status.h"
#include "daemon/stack_requests.h"
#include "daemon/window_export.h"

namespace offcpu {

class Requests {
 public:
  // What it is made of must outlive it.
  Requests(Recording& recording, Dumps& dumps, StackRequests& stacks, const WindowExport& window_export,
           std::string version);

  HttpResponse Answer(const HttpRequest& request, const IsCancelled& is_cancelled);

 private:
  absl::StatusOr<HttpResponse> TryAnswer(const HttpRequest& request, const IsCancelled& is_cancelled);
  absl::StatusOr<HttpResponse> StatusAnswer(const HttpRequest& request) const;
  absl::StatusOr<HttpResponse> HealthAnswer(const HttpRequest& request) const;
  ServiceStatus Status() const;
  absl::StatusOr<HttpResponse> Dump(const HttpRequest& request, const IsCancelled& is_cancelled);
  absl::StatusOr<DumpSelection> SelectionOf(const HttpRequest& request);
  absl::StatusOr<HttpResponse> Stacks(const HttpRequest& request, const IsCancelled& is_cancelled);

  Recording& recording_;
  Dumps& dumps_;
  StackRequests& stacks_;
  const WindowExport& window_export_;
  const std::string version_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace offcpu

#endif  // OFFCPU_DAEMON_REQUESTS_H_
