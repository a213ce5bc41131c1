// The head of an HTTP/1.x request: its first line and what of its fields the service asks for. Pure. Decodes values of
// the query, and nothing else: no path that is served needs it.
#ifndef OFFCPU_DAEMON_HTTP_REQUEST_H_
#define OFFCPU_DAEMON_HTTP_REQUEST_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace offcpu {

struct HttpRequest {
  std::string method;  // "GET"
  std::string path;    // "/metrics": up to the '?'
  std::vector<std::pair<std::string, std::string>> query;
  std::string host;           // empty: not said
  std::string authorization;  // likewise

  // The first of that name.
  std::optional<std::string> Query(std::string_view name) const;
};

// How many bytes at the front of `bytes` are a head, up to and with its empty line; 0: its end has not come.
size_t HttpHeadLength(std::string_view bytes);

// InvalidArgument if `head` is none, or says twice which host is asked or who asks.
absl::StatusOr<HttpRequest> ParseHttpRequest(std::string_view head);

// As a value of a query, which it comes back from.
std::string PercentEncoded(std::string_view value);

}  // namespace offcpu

#endif  // OFFCPU_DAEMON_HTTP_REQUEST_H_
