#include "daemon/http_response.h"

#include "absl/strings/str_cat.h"

namespace offcpu {
namespace {

const char* PhraseOf(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 301:
      return "Moved Permanently";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 431:
      return "Request Header Fields Too Large";
    case 503:
      return "Service Unavailable";
    default:
      return "Internal Server Error";
  }
}

}  // namespace

std::string HttpHeadOf(const HttpResponse& answer) {
  std::string head = absl::StrCat("HTTP/1.1 ", answer.status, " ", PhraseOf(answer.status), "\r\n");
  for (const auto& [name, value] : answer.fields) absl::StrAppend(&head, name, ": ", value, "\r\n");
  if (!answer.type.empty()) absl::StrAppend(&head, "Content-Type: ", answer.type, "\r\n");
  absl::StrAppend(&head, "X-Content-Type-Options: nosniff\r\nConnection: close\r\nContent-Length: ",
                  answer.body == nullptr ? 0 : answer.body->size(), "\r\n\r\n");
  return head;
}

HttpResponse WholeAnswer(const char* type, std::string body) {
  return {.type = type, .fields = {}, .body = std::make_shared<const std::string>(std::move(body))};
}

HttpResponse TextAnswer(int status, const std::string& line) {
  HttpResponse answer = WholeAnswer(kTextType, absl::StrCat(line, "\n"));
  answer.status = status;
  return answer;
}

HttpResponse Refusal(int status, const std::string& why) {
  HttpResponse answer = TextAnswer(status, why);
  answer.fields.emplace_back("X-Go-Pprof", "1");
  return answer;
}

int HttpStatusOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kInvalidArgument:
      return 400;
    case absl::StatusCode::kPermissionDenied:
      return 403;
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kUnimplemented:
      return 404;
    case absl::StatusCode::kDeadlineExceeded:
    case absl::StatusCode::kResourceExhausted:
      return 503;
    default:
      return 500;
  }
}

HttpResponse ErrorAnswer(const absl::Status& status) {
  HttpResponse answer = TextAnswer(HttpStatusOf(status), std::string(status.message()));
  answer.fields.emplace_back(kCodeField, absl::StrCat(static_cast<int>(status.code())));
  return answer;
}

}  // namespace offcpu
