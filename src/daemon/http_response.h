// An answer over HTTP, and the bytes that stand before its body. One answer a connection. Pure functions; any thread.
#ifndef OFFCPU_DAEMON_HTTP_RESPONSE_H_
#define OFFCPU_DAEMON_HTTP_RESPONSE_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"

namespace offcpu {

inline constexpr char kTextType[] = "text/plain; charset=utf-8";
inline constexpr char kBytesType[] = "application/octet-stream";

struct HttpResponse {
  int status = 200;
  std::string type;  // of the body
  std::vector<std::pair<std::string, std::string>> fields;
  std::shared_ptr<const std::string> body;
};

std::string HttpHeadOf(const HttpResponse& answer);

HttpResponse WholeAnswer(const char* type, std::string body);
HttpResponse TextAnswer(int status, const std::string& line);
// As Go's servers tell that the text is for the user.
HttpResponse Refusal(int status, const std::string& why);

// The status of HTTP that says most of this one.
int HttpStatusOf(const absl::Status& status);

// The code of an absl::Status that is not OK, so that our own client fails with the same status.
inline constexpr char kCodeField[] = "Offcpu-Code";
HttpResponse ErrorAnswer(const absl::Status& status);

}  // namespace offcpu

#endif  // OFFCPU_DAEMON_HTTP_RESPONSE_H_
